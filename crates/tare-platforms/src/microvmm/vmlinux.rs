//! The kernel itself, out of the file in /boot that unpacks itself when a BIOS
//! or QEMU starts it: Firecracker starts only what is unpacked.
//!
//! Distributions pack by half a dozen methods, each with its program, which
//! is there where such kernels are made and installed. So the host's programs
//! unpack, rather than as many libraries in every agent.

use super::super::contract::{Absent, BoxError};
use super::super::guest::Guest;
use super::super::probe::installed;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tare_host::program::run;

/// Time to unpack a kernel, which takes about a second.
const DEADLINE: Duration = Duration::from_secs(60);

/// Beginnings of packed kernels, and the program that unpacks each.
const PACKERS: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x02\x21\x4c\x18", "lz4"),
    (b"BZh", "bzip2"),
];

/// What a kernel's file holds.
#[derive(Debug, PartialEq, Eq)]
enum Kernel<'a> {
    /// The kernel itself.
    Plain,
    /// The kernel packed, and the program that unpacks it.
    Packed(&'a [u8], &'static str),
}

/// Whether a kernel can be unpacked here.
pub(super) fn can_unpack(kernel: &Path) -> Result<(), Absent> {
    let fix = "install another kernel with its modules (Debian: apt-get install linux-image-cloud-amd64)";
    let image = fs::read(kernel).map_err(|e| Absent::new(format!("read {}: {e}", kernel.display()), fix))?;
    match look(&image) {
        Some(Kernel::Plain) => Ok(()),
        Some(Kernel::Packed(_, program)) => {
            let fix = format!(
                "install it, since {} is packed by it (Debian: apt-get install {program})",
                kernel.display()
            );
            installed(program, fix).map(drop)
        }
        None => Err(Absent::new(unknown(kernel), fix)),
    }
}

/// The kernel as an ELF file, made once per run.
pub(super) fn unpack(guest: &Guest, scratch: &Path) -> Result<PathBuf, BoxError> {
    let failed = |e| BoxError::host(format!("unpack {}", guest.kernel.display()))(e);
    let path = scratch.join(format!("vmlinux-{}", guest.release));
    if path.exists() {
        return Ok(path);
    }
    let image = fs::read(&guest.kernel).map_err(failed)?;
    let (packed, program) = match look(&image) {
        Some(Kernel::Plain) => return Ok(guest.kernel.clone()),
        Some(Kernel::Packed(packed, program)) => (packed, program),
        None => return Err(failed(io::Error::other(unknown(&guest.kernel)))),
    };
    let (input, partial) = (path.with_extension("packed"), path.with_extension("partial"));
    fs::write(&input, packed).map_err(failed)?;
    let mut command = Command::new(program);
    command
        .arg("-dc")
        .stdin(Stdio::from(fs::File::open(&input).map_err(failed)?))
        .stdout(fs::File::create(&partial).map_err(failed)?);
    run(command, DEADLINE)?;
    fs::remove_file(&input)
        .and_then(|()| fs::rename(&partial, &path))
        .map_err(failed)?;
    Ok(path)
}

fn unknown(kernel: &Path) -> String {
    format!("{} is packed in no way that is known", kernel.display())
}

/// Finds the packed kernel by the header of Linux's boot protocol
/// (Documentation/arch/x86/boot.rst); `None` if that is older than 2.08, or is none.
fn look(image: &[u8]) -> Option<Kernel<'_>> {
    if image.starts_with(b"\x7fELF") {
        return Some(Kernel::Plain);
    }
    let number = |at: usize| {
        let bytes = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let version = u16::from_le_bytes(image.get(0x206..0x208)?.try_into().ok()?);
    if image.get(0x202..0x206)? != b"HdrS" || version < 0x208 {
        return None;
    }
    // Sectors of the real-mode code beside the first; 0 stands for 4.
    let sectors = match image.get(0x1f1)? {
        0 => 4,
        n => usize::from(*n),
    };
    let start = (sectors + 1) * 512 + number(0x248)?;
    let payload = image.get(start..)?.get(..number(0x24c)?)?;
    let (_, program) = PACKERS.iter().find(|(magic, _)| payload.starts_with(magic))?;
    // The kernel's build appends the unpacked size, but to gzip's output, which has it.
    let size = if *program == "gzip" { 0 } else { 4 };
    Some(Kernel::Packed(
        payload.get(..payload.len().checked_sub(size)?)?,
        program,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel's file with this payload behind one sector of real-mode code.
    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 1024];
        image[0x1f1] = 1;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x206..0x208].copy_from_slice(&0x20f_u16.to_le_bytes());
        image[0x248..0x24c].copy_from_slice(&16_u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
        image.extend([0; 16]);
        image.extend(payload);
        image.extend(b"what follows");
        image
    }

    #[test]
    fn the_packed_kernel_is_found_without_the_size_behind_it() {
        let lz4 = image(b"\x02\x21\x4c\x18abcSIZE");
        assert_eq!(look(&lz4), Some(Kernel::Packed(b"\x02\x21\x4c\x18abc", "lz4")));
        let gzip = image(b"\x1f\x8babc");
        assert_eq!(look(&gzip), Some(Kernel::Packed(b"\x1f\x8babc", "gzip")));
        assert_eq!(look(b"\x7fELF..."), Some(Kernel::Plain));
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        assert_eq!(look(b""), None);
        assert_eq!(look(&[0; 4096]), None);
        assert_eq!(look(&image(b"no packer")), None);
        let cut = image(b"\x02\x21\x4c\x18abcSIZE");
        assert_eq!(look(&cut[..1030]), None);
        let mut far = image(b"BZh");
        far[0x248..0x250].fill(0xff);
        assert_eq!(look(&far), None);
    }

    #[test]
    fn a_packed_kernel_is_unpacked_once() {
        let scratch = tempfile::tempdir().unwrap();
        let packed = Command::new("gzip")
            .args(["-c", "/proc/self/cmdline"])
            .output()
            .unwrap();
        let kernel = scratch.path().join("vmlinuz");
        fs::write(&kernel, image(&packed.stdout)).unwrap();
        let guest = Guest::of(kernel, "6.1");
        let unpacked = unpack(&guest, scratch.path()).unwrap();
        assert_eq!(fs::read(&unpacked).unwrap(), b"gzip\0-c\0/proc/self/cmdline\0");
        assert_eq!(unpack(&guest, scratch.path()).unwrap(), unpacked);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 2);
    }
}
