//! QEMU's command line and that of the guest's kernel.

use super::super::agent_start::{AgentLink, AgentStart, QUIET};
use super::super::architecture::{Architecture, PerArchitecture};
use super::super::contract::{BoxError, BoxSpec, Storage};
use super::super::disk::{self, Drive};
use super::machine::{Accelerator, Machine};
use super::{PORT, Parts, Vm, qemu};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tare_host::places::{DISK, SECOND_DISK};
use tare_host::{carry, program};

/// Time for QEMU to tell of its sandbox.
const SANDBOX_DEADLINE: Duration = Duration::from_secs(10);

/// What QEMU does without once it runs: old calls, another user or more rights, programs, and
/// the schedule of its threads, which the host sees to. It gives up all ways to more rights.
const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

/// Whether this QEMU was built with it; asked once.
fn has_sandbox(architecture: Architecture) -> bool {
    static KNOWN: PerArchitecture<bool> = PerArchitecture::empty();
    // Options are read in their order, and the version ends the program.
    *KNOWN.of(architecture).get_or_init(|| {
        let mut command = Command::new(qemu(architecture));
        command
            .env("PATH", carry::PATH)
            .args(["-sandbox", SANDBOX, "-version"]);
        program::output(&mut command, SANDBOX_DEADLINE).is_ok_and(|ended| ended.status.success())
    })
}

/// What a report is to tell of a QEMU that has none.
pub(super) fn without_sandbox(architecture: Architecture) -> Option<(String, String)> {
    let told = ("sandbox", "none: this QEMU was built without seccomp");
    (!has_sandbox(architecture)).then(|| (told.0.to_owned(), told.1.to_owned()))
}

impl Vm {
    /// QEMU with its ends of the sockets of link and monitor; the guest's console is its
    /// standard output.
    pub(super) fn command(&self, spec: &BoxSpec, parts: &Parts, sockets: [OwnedFd; 2]) -> Command {
        let mebibytes = spec.instance.memory_bytes >> 20;
        let architecture = self.machine.architecture();
        let mut command = Command::new(qemu(architecture));
        let [link, qmp] = sockets.map(|socket| tare_sys::inherit(&mut command, socket));
        command
            .args([
                "-name",
                &spec.name,
                "-M",
                self.machine.argument(),
                "-accel",
                &parts.accelerator.argument(),
            ])
            .args(["-cpu", parts.accelerator.cpu(architecture)])
            .args(["-smp", &spec.instance.cpus.whole().to_string()])
            .args(["-m", &format!("{mebibytes}M")])
            .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"])
            .args(
                has_sandbox(architecture)
                    .then_some(["-sandbox", SANDBOX])
                    .into_iter()
                    .flatten(),
            )
            .args(["-chardev", "stdio,id=console,signal=off"])
            .args(["-serial", "chardev:console"])
            .args(["-chardev", &format!("socket,id=link,fd={link}")])
            .args(["-device", self.machine.serial_device()])
            .args(["-device", &format!("virtserialport,chardev=link,name={PORT}")])
            .args(["-chardev", &format!("socket,id=qmp,fd={qmp}")])
            .args(["-mon", "chardev=qmp,mode=control"])
            .arg("-kernel")
            .arg(&parts.kernel)
            .arg("-initrd")
            .arg(&parts.initramfs);
        if let Some(memory) = self.memory.object(mebibytes) {
            command.args(["-object", &memory, "-machine", "memory-backend=ram"]);
        }
        command
    }

    /// Kernel modules for the guest's devices.
    pub(super) fn modules(&self, holds_boxes: bool, has_image: bool) -> Vec<&'static str> {
        let mut modules = self.machine.modules(holds_boxes, self.network);
        if has_image || matches!(self.storage, Some(Storage::Disk(_))) {
            modules.extend(disk::MODULES);
        }
        modules
    }

    /// The disks of a box: that to work on, then that of its root; or that of the image that it
    /// holds, then that for the boxes in it.
    pub(in super::super) fn make_drives(
        &self,
        spec: &BoxSpec,
        folder: &Path,
    ) -> Result<Vec<Drive>, BoxError> {
        let mut drives = Vec::new();
        if let Some(Storage::Disk(disk)) = self.storage {
            drives.push(disk.make(folder)?);
        }
        if let Some(image) = spec.root_image() {
            drives.push(disk::of_image(image, folder)?);
        }
        if let Some(image) = spec.held_image() {
            drives.extend([disk::held(image)?, disk::of_inner_boxes(folder)?]);
        }
        Ok(drives)
    }

    /// Gives QEMU the disk of this number.
    pub(super) fn add_drive(&self, command: &mut Command, number: usize, drive: &Drive) {
        let Drive {
            disk,
            path,
            is_read_only,
        } = drive;
        // Within the options of a drive a comma is written twice.
        let file = path.display().to_string().replace(',', ",,");
        let (format, cache) = (disk.format.name(), disk.cache.name());
        let closed = if *is_read_only { ",readonly=on" } else { "" };
        let device = self.machine.disk_device();
        command
            .args([
                "-drive",
                &format!("if=none,id=disk{number},format={format},cache={cache}{closed},file={file}"),
            ])
            .args(["-device", &format!("{device},drive=disk{number}")]);
    }
}

/// The disk of the root as the guest names it: behind that to work on, if there is one.
const fn root_disk(storage: Option<Storage>) -> &'static str {
    match storage {
        Some(Storage::Disk(_)) => SECOND_DISK,
        _ => DISK,
    }
}

/// The command line of a guest's kernel, without the address of its network.
///
/// Under TCG the guest's time stamp counter is the host's, and its frequency is
/// told: a guest that measures it against the emulated timer fails when the host
/// disturbs it, and then waits for ever for a tick. `tsc=reliable`, since the
/// kernel would else fall back to a clock that throttling slows down. `nokaslr`,
/// since moving itself takes an emulated kernel half a second, and where it lies
/// matters to nothing that is emulated.
pub(super) fn kernel_command_line(
    (machine, accelerator): (Machine, Accelerator),
    tsc_khz: Option<u64>,
    spec: &BoxSpec,
    storage: Option<Storage>,
) -> String {
    let clock = match (accelerator, tsc_khz) {
        (Accelerator::Tcg, Some(khz)) => format!("tsc=reliable tsc_early_khz={khz} nokaslr "),
        (Accelerator::Tcg, None) => "nokaslr ".to_owned(),
        (Accelerator::Kvm, _) => String::new(),
    };
    let agent = AgentStart {
        new_root: spec.holds_boxes,
        root_disk: spec.root_image().map(|_| root_disk(storage)),
        holds_image: spec.held_image().is_some(),
        work: storage.and_then(Storage::told_to_agent),
        ..AgentStart::over(AgentLink::Port(PORT))
    };
    let console = machine.console();
    agent.command_line(&format!("{clock}console={console} {QUIET} reboot=t panic=-1"))
}
