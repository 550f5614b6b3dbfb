//! The root of a box that is an image: all of its files, and none of the box's writes in them.
//!
//! It is an overlay, whose lower layer is the image in the store and whose upper one lies in the
//! box's directory and goes with it. Where the kernel makes none there, it is a copy.

use super::contract::BoxError;
use super::contract::security::{FIRST_USER, USERS};
use super::directory::canonical;
use super::overlay::{Upper, mount_overlay};
use rustix::mount::{MountFlags, UnmountFlags, unmount};
use std::fs;
use std::io;
use std::os::unix::fs::lchown;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tare_host::places::root;
use tare_host::program;

/// Time for a copy: a gigabyte takes some seconds.
const COPY_DEADLINE: Duration = Duration::from_secs(600);

/// The folder of what was written above an image, in the directory of a box.
const UPPER: &str = "upper";

/// Lays an image on `rootfs`, an empty folder in the directory of a box.
pub(super) fn lay(image: &Path, directory: &Path, rootfs: &Path) -> Result<(), BoxError> {
    let upper = upper(directory)?;
    match mount_overlay(&[canonical(image)?], Some(&upper), rootfs, MountFlags::NODEV) {
        Ok(()) => Ok(()),
        // The state folder may itself lie on an overlay, or on a network.
        Err(_) => copy(image, rootfs),
    }
}

/// As [`lay`], for a box whose users are others on the host: what belongs to root in the image, belongs
/// to root in the box. There is no copy of that.
pub(super) fn lay_for_others(image: &Path, directory: &Path, rootfs: &Path) -> Result<(), BoxError> {
    let upper = upper(directory)?;
    let lower = canonical(directory)?.join("lower");
    make_folder(&lower)?;
    tare_sys::shifted::mount(image, &lower, FIRST_USER, USERS)
        .and_then(|()| mount_overlay(std::slice::from_ref(&lower), Some(&upper), rootfs, MountFlags::NODEV))
        // The overlay has a mount of its own of it.
        .and_then(|()| Ok(unmount(&lower, UnmountFlags::DETACH)?))
        .map_err(BoxError::host(
            "mount an image in a user namespace (needs Linux 5.19 and a file system such as ext4, XFS or Btrfs)",
        ))
}

/// Gives what was made above an image to root in a box whose users are others on the host.
pub(super) fn give_made(directory: &Path, rootfs: &Path) -> io::Result<()> {
    give_made_at(&directory.join(UPPER), rootfs)
}

/// By the overlay: what is below it does not change behind its back.
fn give_made_at(made: &Path, seen: &Path) -> io::Result<()> {
    lchown(seen, Some(FIRST_USER), Some(FIRST_USER))?;
    if made.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(made)? {
            let name = entry?.file_name();
            give_made_at(&made.join(&name), &seen.join(&name))?;
        }
    }
    Ok(())
}

fn upper(directory: &Path) -> Result<Upper, BoxError> {
    let directory = canonical(directory)?;
    let upper = Upper {
        upper: directory.join(UPPER),
        work: directory.join("overlay"),
    };
    for folder in [&upper.upper, &upper.work] {
        fs::create_dir(folder).map_err(BoxError::host(format!("make {}", folder.display())))?;
    }
    Ok(upper)
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
