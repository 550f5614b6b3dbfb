use crate::fixture::WorkFolder;
use crate::{ImageError, from_directory, from_tarball};
use std::fs;
use std::process::Command;

#[test]
fn a_layer_is_the_same_image_again() {
    let site = WorkFolder::new();
    let store = site.store();
    let long = format!("rootfs/{}", "l".repeat(180));
    fs::write(site.at(&long), "long").unwrap();
    std::os::unix::fs::symlink("t".repeat(180), site.at("rootfs/far")).unwrap();
    let su = site.at("rootfs/usr/bin/su");
    let ping = site.at("rootfs/ping");
    fs::copy(&su, &ping).unwrap();
    // cap_net_raw, as setcap writes it; only root may.
    let capability = [1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let flags = rustix::fs::XattrFlags::empty();
    let is_set = rustix::fs::setxattr(&ping, "security.capability", &capability, flags).is_ok();
    let image = from_directory(&store, "a", &site.at("rootfs")).unwrap();
    let mut layer = Vec::new();
    image.layer_tar(&mut layer).unwrap();
    let again = from_tarball(&store, "b", "layer", &layer[..]).unwrap();
    assert_eq!(again.manifest().digest, image.manifest().digest);
    let mut kept = [0; 64];
    let kept = rustix::fs::getxattr(again.rootfs().join("ping"), "security.capability", &mut kept);
    assert_eq!(kept.is_ok(), is_set);
    let mut twice = Vec::new();
    image.layer_tar(&mut twice).unwrap();
    assert!(layer == twice);
}

#[test]
fn a_disk_is_made_once_and_holds_the_image() {
    let site = WorkFolder::new();
    let image = from_directory(&site.store(), "a", &site.at("rootfs")).unwrap();
    let disk = match image.disk(|| false) {
        Ok(disk) => disk,
        Err(ImageError::Start { .. }) => return println!("skipped: there is no mke2fs"),
        Err(error) => panic!("{error}"),
    };
    let before = fs::metadata(&disk).unwrap();
    assert_eq!(image.disk_by("no-such-program".as_ref(), || false).unwrap(), disk);
    let mut debugfs = Command::new("debugfs");
    debugfs
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .args(["-R", "stat usr/bin/su"])
        .arg(&disk);
    let told = String::from_utf8(debugfs.output().unwrap().stdout).unwrap();
    assert!(
        told.contains("Mode:  04755") && told.contains("Links: 2"),
        "{told}"
    );
    assert!(before.len() >= 5 << 30);
    // One of an earlier tare, with less room, is made anew.
    fs::OpenOptions::new()
        .write(true)
        .open(&disk)
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    image.disk(|| false).unwrap();
    assert_eq!(fs::metadata(&disk).unwrap().len(), before.len());
    // What it occupies counts for the store.
    assert!(site.store().list().unwrap()[0].bytes > image.manifest().bytes);
    let names = fs::read_dir(disk.parent().unwrap()).unwrap().count();
    assert_eq!(names, 5, "the image, its disk and the lock of that");
}

#[test]
fn a_disk_that_fails_leaves_nothing_but_what_was_said() {
    let site = WorkFolder::new();
    let image = from_directory(&site.store(), "a", &site.at("rootfs")).unwrap();
    let error = image.disk_by("false".as_ref(), || false).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("false failed (exit status: 1): nothing; its"),
        "{error}"
    );
    let error = image.disk_by("false".as_ref(), || true).unwrap_err();
    assert!(
        matches!(error, ImageError::Stopped | ImageError::Program { .. }),
        "{error}"
    );
}
