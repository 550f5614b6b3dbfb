//! Overlays: layers of the host's files as one file system.

use rustix::mount::{MountFlags, mount};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where what is written to an overlay goes.
pub(super) struct Upper {
    /// The folder of what was written.
    pub upper: PathBuf,
    /// An empty one beside it, for the kernel.
    pub work: PathBuf,
}

/// Mounts layers, the uppermost first, on a folder; nobody can write to an overlay without an
/// upper one.
pub(super) fn mount_overlay(
    lower: &[PathBuf],
    upper: Option<&Upper>,
    on: &Path,
    flags: MountFlags,
) -> io::Result<()> {
    let lower = lower
        .iter()
        .map(|layer| plain(layer))
        .collect::<io::Result<Vec<_>>>()?;
    let mut options = [b"lowerdir=", lower.join(&b':').as_slice()].concat();
    if let Some(Upper { upper, work }) = upper {
        options.extend([b",upperdir=", plain(upper)?, b",workdir=", plain(work)?].concat());
    }
    Ok(mount(
        "tare",
        on,
        "overlay",
        flags,
        CString::new(options)?.as_c_str(),
    )?)
}

/// A path that divides neither layers nor options: these cannot be escaped in all kernels.
fn plain(path: &Path) -> io::Result<&[u8]> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.iter().any(|byte| b":,\\".contains(byte)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_whose_names_would_be_options_are_refused() {
        let layers = ["/state/a,upperdir=b", "/state/empty"].map(PathBuf::from);
        let on = Path::new("/state/overlay");
        let refused = mount_overlay(&layers, None, on, MountFlags::RDONLY).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }
}
