//! The CD from which a machine boots that starts no kernel by itself.

use super::super::agent_start::{AgentLink, AgentStart, QUIET};
use super::super::contract::{Absent, BoxError};
use super::super::guest::Guest;
use super::super::probe::installed;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tare_host::program::run;

const MKRESCUE: &str = "grub-mkrescue";

/// What GRUB needs to start from a CD by a BIOS.
const BIOS_MODULES: &str = "/usr/lib/grub/i386-pc";

/// Time to make the image, which takes a second.
const DEADLINE: Duration = Duration::from_secs(60);

/// What GRUB is to do. The kernel's messages go to the second serial port, the link is the
/// first. Ended by powering off: a reset would start the machine anew.
fn menu() -> String {
    let agent = AgentStart {
        power_off: true,
        ..AgentStart::over(AgentLink::Tty("/dev/ttyS0"))
    };
    let words = agent.command_line(&format!("console=ttyS1 {QUIET} panic=0"));
    format!("linux /boot/kernel {words}\ninitrd /boot/initramfs\nboot\n")
}

/// Whether images can be made here.
pub(super) fn can_make() -> Result<(), Absent> {
    let fix = "install GRUB for a BIOS and xorriso (Debian: apt-get install grub-pc-bin grub-common xorriso)";
    installed(MKRESCUE, fix)?;
    installed("xorriso", fix)?;
    if Path::new(BIOS_MODULES).is_dir() {
        Ok(())
    } else {
        Err(Absent::new(format!("no {BIOS_MODULES}"), fix))
    }
}

/// The image of the CD, made once per run.
pub(super) fn make(guest: &Guest, scratch: &Path, binary: &Path) -> Result<PathBuf, BoxError> {
    let path = scratch.join("boot.iso");
    if path.exists() {
        return Ok(path);
    }
    let initramfs = guest.initramfs(scratch, binary)?;
    let root = scratch.join("boot.root");
    let boot = root.join("boot");
    fs::create_dir_all(boot.join("grub"))
        .and_then(|()| fs::write(boot.join("grub/grub.cfg"), menu()))
        .and_then(|()| fs::copy(&guest.kernel, boot.join("kernel")))
        .and_then(|_| fs::copy(&initramfs, boot.join("initramfs")))
        .map_err(BoxError::host(format!("fill {}", root.display())))?;
    let partial = path.with_extension("partial");
    let mut command = Command::new(MKRESCUE);
    command
        // Nothing but what boots: no fonts, no themes, no words in other languages.
        .args(["--fonts=", "--themes=", "--locales="])
        .arg("--install-modules=biosdisk iso9660 linux normal")
        // Nor by EFI, which would need more tools.
        .args(["--directory", BIOS_MODULES])
        .arg("--output")
        .arg(&partial)
        .arg(&root)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    run(command, DEADLINE)?;
    fs::rename(&partial, &path)
        .and_then(|()| fs::remove_dir_all(&root))
        .map_err(BoxError::host(format!("write {}", path.display())))?;
    Ok(path)
}
