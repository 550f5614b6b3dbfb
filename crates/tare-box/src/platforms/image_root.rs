//! The root of a box that is an image: all of its files, and none of the box's writes in them.
//!
//! It is an overlay, whose lower layer is the image in the store and whose upper one lies in the
//! box's directory and goes with it. Where the kernel makes none there, it is a copy.

use super::contract::BoxError;
use super::directory::canonical;
use super::overlay::{Upper, mount_overlay};
use crate::places::root;
use crate::program;
use rustix::mount::MountFlags;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time for a copy: a gigabyte takes some seconds.
const COPY_DEADLINE: Duration = Duration::from_secs(600);

/// Lays an image on `rootfs`, an empty folder in the directory of a box.
pub(super) fn lay(image: &Path, directory: &Path, rootfs: &Path) -> Result<(), BoxError> {
    let directory = canonical(directory)?;
    let upper = Upper {
        upper: directory.join("upper"),
        work: directory.join("overlay"),
    };
    for folder in [&upper.upper, &upper.work] {
        fs::create_dir(folder).map_err(BoxError::host(format!("make {}", folder.display())))?;
    }
    match mount_overlay(&[canonical(image)?], Some(&upper), rootfs, MountFlags::NODEV) {
        Ok(()) => Ok(()),
        // The state folder may itself lie on an overlay, or on a network.
        Err(_) => copy(image, rootfs),
    }
}

fn copy(image: &Path, rootfs: &Path) -> Result<(), BoxError> {
    let mut command = Command::new("cp");
    // A folder with a dot behind it is what is in it.
    command
        .args(["-a", "--reflink=auto"])
        .arg(image.join("."))
        .arg(rootfs);
    Ok(program::run(command, COPY_DEADLINE)?)
}

/// As [`root::file`], for a box that is being made.
pub(super) fn make_file(path: &Path) -> Result<(), BoxError> {
    root::file(path).map_err(BoxError::host(format!("make {}", path.display())))
}

/// As [`root::folder`], for a box that is being made.
pub(super) fn make_folder(path: &Path) -> Result<(), BoxError> {
    root::folder(path).map_err(BoxError::host(format!("make {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_what_is_in_the_image() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        let rootfs = folder.path().join("rootfs");
        fs::create_dir_all(image.join("etc")).unwrap();
        fs::write(image.join("etc/hostname"), "a").unwrap();
        fs::create_dir(&rootfs).unwrap();
        copy(&image, &rootfs).unwrap();
        assert_eq!(fs::read_to_string(rootfs.join("etc/hostname")).unwrap(), "a");
    }
}
