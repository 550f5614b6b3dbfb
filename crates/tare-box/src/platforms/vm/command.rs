//! QEMU's command line and that of the guest's kernel.

use super::super::BoxSpec;
use super::machine::Accelerator;
use super::{PORT, Parts, QEMU, Vm};
use std::path::Path;
use std::process::Command;

impl Vm {
    pub(super) fn command(&self, spec: &BoxSpec, parts: &Parts, folder: &Path) -> Command {
        let mut command = Command::new(QEMU);
        command
            .args([
                "-name",
                &spec.name,
                "-M",
                self.machine.name(),
                "-accel",
                parts.accelerator.name(),
            ])
            .args(["-cpu", parts.accelerator.cpu()])
            .args(["-smp", &spec.instance.cpus.whole().to_string()])
            .args(["-m", &format!("{}M", spec.instance.memory_bytes >> 20)])
            .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"])
            .arg("-serial")
            .arg(format!("file:{}", folder.join("console").display()))
            .args([
                "-chardev",
                "socket,id=link,fd=0",
                "-device",
                self.machine.serial_device(),
            ])
            .args(["-device", &format!("virtserialport,chardev=link,name={PORT}")])
            .args([
                "-chardev",
                "socket,id=qmp,fd=1",
                "-mon",
                "chardev=qmp,mode=control",
            ])
            .arg("-kernel")
            .arg(&parts.kernel)
            .arg("-initrd")
            .arg(&parts.initramfs);
        command
    }
}

/// Quiet, since an emulated console is slow; without the self-tests of the
/// kernel's ciphers, a fifth of an emulated boot.
///
/// Under TCG the guest's time stamp counter is the host's, and its frequency is
/// told: a guest that measures it against the emulated timer fails when the host
/// disturbs it, and then waits for ever for a tick. `tsc=reliable`, since the
/// kernel would else fall back to a clock that throttling slows down. `nokaslr`,
/// since moving itself takes an emulated kernel half a second, and where it lies
/// matters to nothing that is emulated.
pub(super) fn kernel_command_line(accelerator: Accelerator, tsc_khz: u64, holds_boxes: bool) -> String {
    let clock = match accelerator {
        Accelerator::Tcg => format!("tsc=reliable tsc_early_khz={tsc_khz} nokaslr "),
        Accelerator::Kvm => String::new(),
    };
    let root = if holds_boxes { " --new-root" } else { "" };
    format!(
        "{clock}console=ttyS0 quiet loglevel=3 cryptomgr.notests reboot=t panic=-1 rdinit=/tare -- agent --init{root} --port {PORT}"
    )
}
