//! User-Mode Linux: a kernel that is a process, the machine that needs no
//! hardware help and no emulator.

use super::agent_start::{AgentLink, AgentStart, own_words};
use super::apart::can_be_had;
use super::child::{ChildBox, Said, Start};
use super::contract::{
    Absent, BoxError, BoxSpec, HELLO_DEADLINE, MemoryView, Platform, QuotaView, RunningBox, Support,
};
use super::directory::{BoxDirectory, canonical};
use super::disk;
use super::probe::{cgroups_usable, installed, x86_only};
use super::sockets::raw_terminal;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tare_host::jail;
use tare_host::net::Network;
use tare_host::net::Port;
use tare_model::results::PlatformVersion;

const PROGRAM: &str = "linux.uml";

/// The networks that a machine can have.
pub(super) const NETWORKS: [Network; 2] = [Network::None, Network::Bridge];

/// The agent as it is started in a machine.
const AGENT: AgentStart = AgentStart {
    power_off: true,
    ..AgentStart::over(AgentLink::Tty("/dev/tty1"))
};

/// The disk of an image as the machine names it.
const ROOT_DISK: &str = "/dev/ubda";
/// The file in the box's root that takes what is written to that disk.
const WRITTEN: &str = "root.cow";

pub(super) struct Uml {
    pub network: Network,
}

/// Whether /proc/cpuinfo tells of the tile registers of AMX: 8 KiB beyond the state that
/// the kernel of User-Mode Linux (seen with 6.1) keeps of each process.
fn has_amx(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "amx_tile"))
}

impl Platform for Uml {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        x86_only("User-Mode Linux")?;
        let version = installed(
            PROGRAM,
            "install User-Mode Linux (Debian: apt-get install user-mode-linux)",
        )?;
        can_be_had(self.network)?;
        if has_amx(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()) {
            return Err(Absent::new(
                "this CPU has AMX, whose registers are more than User-Mode Linux saves: its first process dies of 'ptrace set fp regs failed'",
                "boot the host with clearcpuid=amx_tile, or use a host without AMX",
            ));
        }
        Ok(PlatformVersion {
            version: format!("User-Mode Linux {version}"),
            ..PlatformVersion::default()
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // What is made once per image is no part of a box's start-up.
        let disk = spec.root_image().map(disk::base).transpose()?;
        let requested = Instant::now();
        let directory = BoxDirectory::make(spec)?;
        let rootfs = directory.rootfs_without_image(spec)?;
        let (said, console) = Said::by_machine()?;
        let (ours, theirs) = UnixStream::pair().map_err(BoxError::host("make a socket pair"))?;
        let mut command = jailed(spec, &directory.path, &rootfs, disk.as_deref())?;
        let port = self.connect(spec, &mut command)?;
        add_words(&mut command, spec);
        command.args(own_words(spec, port.as_ref()));
        command.stdin(OwnedFd::from(theirs)).stdout(console);
        let limits = spec.cpu_limits();
        let start = Start {
            command,
            directory,
            limits: Some(&limits),
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::start(start, said, None, |_, _| raw_terminal(ours))?;
        port.into_iter().for_each(|port| made.use_port(port));
        // A terminal loses what comes faster than it is read.
        match disk {
            Some(_) => made.use_shared(rootfs),
            None => made.use_root(rootfs),
        }
        Ok(Box::new(made))
    }

    fn network(&self) -> Network {
        self.network
    }

    fn supports_image(&self) -> Support {
        disk::supports_base()
    }

    fn quota_view(&self) -> QuotaView {
        QuotaView::HostOnly
    }

    fn memory_view(&self) -> MemoryView {
        MemoryView::Ram
    }

    fn cost(&self) -> (Duration, f64) {
        (Duration::from_millis(2500), 1.3)
    }
}

impl Uml {
    /// Gives the machine the end of a tap, if it is to have a network.
    fn connect(&self, spec: &BoxSpec, command: &mut Command) -> Result<Option<Port>, BoxError> {
        if self.network != Network::Bridge {
            return Ok(None);
        }
        let (port, tap) = Port::tap(&spec.name, &spec.run, false)?;
        let fd = tare_sys::inherit(command, tap);
        // One frame at a time: a tap is no socket, from which many could be taken at once.
        command.arg(format!("vec0:transport=fd,fd={fd},vec=0,mac={}", port.mac()));
        Ok(Some(port))
    }
}

/// The kernel in a jail with the root of the box: a guest reaches whatever its kernel does,
/// by a mount of `hostfs` with a path of its own choice. The disk of an image is the jail's
/// file, which it can read alone.
fn jailed(spec: &BoxSpec, folder: &Path, rootfs: &Path, disk: Option<&Path>) -> Result<Command, BoxError> {
    let place = folder.join("jail");
    fs::create_dir(&place).map_err(BoxError::host(format!("make {}", place.display())))?;
    let mut command = Command::new(&spec.binary);
    command
        .arg(jail::SUBCOMMAND)
        .arg("--folder")
        .arg(rootfs)
        .arg("--place")
        .arg(place);
    if let Some(disk) = disk {
        command.arg("--file").arg(canonical(disk)?);
    }
    command.args(["--own-bytes", &spec.instance.memory_bytes.to_string(), PROGRAM]);
    Ok(command)
}

/// Each word's reason is in `docs/drivers.md`.
fn add_words(command: &mut Command, spec: &BoxSpec) {
    command
        .arg(format!("mem={}M", spec.instance.memory_bytes >> 20))
        .args(["root=/dev/root", "rootfstype=hostfs", "rw"])
        .arg(format!("rootflags={}", jail::FOLDER))
        // Else the kernel adds a console behind the arguments of its first process.
        .args(["console=tty0", "con=null", "con0=null,fd:1", "con1=fd:0", "quiet"])
        .arg(format!("uml_dir={}/", jail::OWN))
        .arg(format!("umid={}", spec.name))
        .args(["panic=-1", "init=/tare"]);
    let mut agent = AGENT;
    if spec.root_image().is_some() {
        // What is written goes to the first file, made by the kernel; the rest is read from the second.
        // Without locks (c): a lock of this kernel's would keep QEMU from the disk.
        command.arg(format!("ubd0c={}/{WRITTEN},{}", jail::FOLDER, jail::FILE));
        agent.root_disk = Some(ROOT_DISK);
    }
    command.arg("--").args(agent.words());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_with_more_registers_than_are_saved_is_told_by_its_flags() {
        assert!(has_amx("model name\t: X\nflags\t\t: fpu amx_tile amx_int8\n"));
        assert!(!has_amx("flags\t\t: fpu avx512f\n"));
        assert!(!has_amx(""));
    }
}
