//! The binary that the boxes of a run share: one copy, so that its pages are in memory once, on a
//! file system that nobody can write.
//!
//! A box gets it by a bind mount. That is read-only, but root in some boxes may mount it again
//! without that. So it lies on an overlay without an upper layer: the kernel lets nobody write to
//! such a one, whatever rights he has. What is below the overlay is in no box, and the host runs
//! another copy still.

use super::contract::{BoxError, BoxSpec};
use super::directory::{canonical, copy_binary};
use super::overlay::mount_overlay;
use rustix::mount::MountFlags;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tare_host::places::SHARED;

/// Layers of the overlay, beside it: one that cannot be written takes two of old kernels.
const LAYERS: [&str; 2] = ["binary", "empty"];
/// The name of the binary in it.
const FILE: &str = "tare";

/// The shared copy as the host sees it, made for the first box of a run; `None` where each box has
/// to have its own: the folder is not that of a run that keeps its binary, or the kernel makes no
/// overlay there.
pub(super) fn shared_binary(spec: &BoxSpec) -> Result<Option<PathBuf>, BoxError> {
    if spec.holds_boxes || spec.binary.parent() != Some(&spec.scratch) {
        return Ok(None);
    }
    let overlay = spec.scratch.join(SHARED);
    if !overlay.exists() {
        make(spec, &overlay)?;
    }
    // Where it could not be mounted, that is not tried again for each box.
    let binary = overlay.join(FILE);
    binary.exists().then(|| canonical(&binary)).transpose()
}

fn make(spec: &BoxSpec, overlay: &Path) -> Result<(), BoxError> {
    let folder = overlay.parent().unwrap_or(&spec.scratch);
    let what = || BoxError::host(format!("make {}", folder.display()));
    let layers = LAYERS.map(|layer| folder.join(layer));
    for path in [folder, &layers[0], &layers[1], overlay] {
        // Root of a user namespace is a user of the host who must get through, whatever the umask.
        let opened = fs::create_dir(path).and_then(|()| set_mode(path, 0o755));
        opened.map_err(what())?;
    }
    let binary = layers[0].join(FILE);
    copy_binary(&spec.binary, &binary)?;
    set_mode(&binary, 0o755).map_err(what())?;
    let canonical = [canonical(&layers[0])?, canonical(&layers[1])?];
    // Without an overlay each box has a copy.
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    let _ = mount_overlay(&canonical, None, overlay, flags);
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_that_the_run_does_not_keep_is_not_shared() {
        let folder = tempfile::tempdir().unwrap();
        let spec = BoxSpec {
            scratch: folder.path().to_owned(),
            binary: std::env::current_exe().unwrap(),
            ..BoxSpec::example()
        };
        assert_eq!(shared_binary(&spec).unwrap(), None);
        assert!(!folder.path().join("shared").exists());
    }
}
