//! The description of a machine, a `.vmx` file: a name and a value per line.

use super::super::contract::{BoxError, BoxSpec};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Socket in the box's folder that the machine connects its first serial port to.
pub(super) const LINK: &str = "link";

/// The description of a box; each line's reason is in `docs/drivers.md`.
pub(super) fn describe(spec: &BoxSpec, folder: &Path, cd: &Path) -> Result<String, BoxError> {
    let [cd, link, console] = [
        told(cd)?,
        told(&folder.join(LINK))?,
        told(&folder.join("console"))?,
    ];
    let cpus = spec.instance.cpus.whole().to_string();
    let memory = (spec.instance.memory_bytes >> 20).to_string();
    let lines = [
        (".encoding", "UTF-8"),
        ("config.version", "8"),
        ("virtualHW.version", "14"),
        ("displayName", &spec.name),
        ("guestOS", "otherlinux-64"),
        ("numvcpus", &cpus),
        ("memsize", &memory),
        ("mainMem.useNamedFile", "FALSE"),
        ("MemTrimRate", "0"),
        ("sched.mem.pshare.enable", "FALSE"),
        ("bios.bootOrder", "cdrom"),
        ("bios.bootDelay", "0"),
        ("ide1:0.present", "TRUE"),
        ("ide1:0.deviceType", "cdrom-image"),
        ("ide1:0.fileName", &cd),
        ("serial0.present", "TRUE"),
        ("serial0.fileType", "pipe"),
        ("serial0.fileName", &link),
        ("serial0.pipe.endPoint", "client"),
        ("serial0.tryNoRxLoss", "TRUE"),
        ("serial1.present", "TRUE"),
        ("serial1.fileType", "file"),
        ("serial1.fileName", &console),
        ("floppy0.present", "FALSE"),
        ("sound.present", "FALSE"),
        ("usb.present", "FALSE"),
        ("msg.autoAnswer", "TRUE"),
        ("uuid.action", "create"),
    ];
    let mut text = String::new();
    for (name, value) in lines {
        let _ = writeln!(text, "{name} = \"{}\"", escaped(value));
    }
    Ok(text)
}

/// A path as text, which the description is.
fn told(path: &Path) -> Result<String, BoxError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let error = io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not UTF-8: choose another --state-dir",
        );
        BoxError::host(format!("pass VMware the path {}", path.display()))(error)
    })
}

/// A value as VMware reads it: what would end it, and what controls a terminal,
/// stands as `|` with two hexadecimal digits.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '"' | '|' | '\u{7f}' => _ = write!(text, "|{:02X}", u32::from(c)),
            _ if c < ' ' && c != '\t' => _ = write!(text, "|{:02X}", u32::from(c)),
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_the_size_of_its_box() {
        let text = describe(&BoxSpec::example(), Path::new("/s/b"), Path::new("/s/boot.iso")).unwrap();
        for line in [
            "numvcpus = \"2\"",
            "memsize = \"512\"",
            "displayName = \"tare-0-1\"",
            "ide1:0.fileName = \"/s/boot.iso\"",
            "serial0.fileName = \"/s/b/link\"",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} in {text}");
        }
    }

    #[test]
    fn no_path_gets_out_of_its_quotes() {
        assert_eq!(escaped("a\"b|c\nd\te\u{7f}ö"), "a|22b|7Cc|0Ad\te|7Fö");
        let hostile = Path::new("/s/x\"\nserial0.fileType = \"device/boot.iso");
        let text = describe(&BoxSpec::example(), Path::new("/s/b"), hostile).unwrap();
        assert_eq!(
            text.lines().filter(|l| l.starts_with("serial0.fileType")).count(),
            1
        );
        assert!(text.lines().all(|l| l.matches('"').count() == 2), "{text}");
    }

    #[test]
    fn a_path_that_cannot_be_told_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/s/\xff/boot.iso"));
        assert!(
            describe(&BoxSpec::example(), Path::new("/s/b"), path)
                .unwrap_err()
                .to_string()
                .contains("--state-dir")
        );
    }
}
