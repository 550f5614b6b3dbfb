//! The same image from every source.

use super::*;
use crate::fixture::{self, WorkFolder, blobs, gzip};
use crate::{ARCHITECTURE, Config, Image, ImageError, OciError, UnpackError};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::json;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

fn inode(image: &Image, path: &str) -> u64 {
    fs::symlink_metadata(image.rootfs().join(path)).unwrap().ino()
}

fn packed(folder: &std::path::Path) -> Vec<u8> {
    Command::new("tar")
        .arg("-C")
        .arg(folder)
        .args(["-c", "."])
        .output()
        .unwrap()
        .stdout
}

/// What `docker save` wrote before it followed OCI.
fn saved(layer: &[u8], arch: &str, tags: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("one")).unwrap();
    fs::write(at.join("one/real.tar"), layer).unwrap();
    // Podman writes links from one image's layers to those of another.
    fs::create_dir(at.join("two")).unwrap();
    std::os::unix::fs::symlink("../one/real.tar", at.join("two/layer.tar")).unwrap();
    fs::write(at.join("c.json"), fixture::config(arch, layer)).unwrap();
    let image = |tag| json!({"Config": "c.json", "RepoTags": [tag], "Layers": ["two/layer.tar"]});
    let list: Vec<_> = tags.iter().map(image).collect();
    fs::write(at.join("manifest.json"), json!(list).to_string()).unwrap();
    packed(at)
}

#[test]
fn one_tree_is_one_image_whatever_its_source() {
    let site = WorkFolder::new();
    let store = site.store();
    let copied = from_directory(&store, "copied", &site.at("rootfs")).unwrap();
    assert_eq!(inode(&copied, "usr/bin/su"), inode(&copied, "usr/bin/su2"));
    assert_eq!(copied.config(), &Config::default());
    let plain = site.tar(&[]);
    let zstd = compress_to_vec(&plain[..], CompressionLevel::Fastest);
    for (name, tar) in [("plain", &plain), ("gz", &gzip(&plain)), ("zst", &zstd)] {
        let image = from_tarball(&store, name, name, &tar[..]).unwrap();
        assert_eq!(image.manifest().digest, copied.manifest().digest, "{name}");
    }
    // Those of OCI say besides how they are run.
    blobs(&plain).write(&site.at("layout"));
    let layout = from_oci_layout(&store, "layout", &site.at("layout"), Some("1.0")).unwrap();
    assert_eq!(
        (&layout.config().cmd[..], &layout.config().user),
        (&["sh".to_owned()][..], &None)
    );
    assert!(layout.has_folder("/w".as_ref()), "the working folder is made");
    assert_ne!(layout.manifest().digest, copied.manifest().digest);
    let archive = gzip(&packed(&site.at("layout")));
    let archive = from_archive(&store, "archive", "a.tar.gz", None, &archive[..]).unwrap();
    let docker = saved(&plain, ARCHITECTURE, &["a:1"]);
    let docker = from_archive(&store, "docker", "saved", Some("a:1"), &docker[..]).unwrap();
    assert_eq!(archive.manifest().digest, layout.manifest().digest);
    assert_eq!(docker.manifest().digest, layout.manifest().digest);
    assert_eq!(docker.manifest().names, ["layout", "archive", "docker"]);
    let kept = fs::read_dir(site.at("store/images").join(docker.manifest().digest.hex())).unwrap();
    assert_eq!(kept.count(), 3, "nothing of the archive is kept");
}

#[test]
fn a_tar_archive_is_told_by_what_is_in_it() {
    let site = WorkFolder::new();
    let store = site.store();
    let plain = site.tar(&[]);
    blobs(&plain).write(&site.at("layout"));
    let layout = from_oci_layout(&store, "layout", &site.at("layout"), None).unwrap();
    let docker = gzip(&saved(&plain, ARCHITECTURE, &["a:1"]));
    for (name, tar) in [("oci", packed(&site.at("layout"))), ("docker", docker)] {
        let image = from_tar(&store, name, name, None, &tar[..]).unwrap();
        assert_eq!(image.manifest().digest, layout.manifest().digest, "{name}");
    }
    // A file of that name makes no image of a root filesystem.
    fs::write(
        site.at("rootfs/manifest.json"),
        r#"{"name": "an app of the web"}"#,
    )
    .unwrap();
    let copied = from_directory(&store, "copied", &site.at("rootfs")).unwrap();
    let image = from_tar(&store, "rootfs", "r.tar", None, &gzip(&site.tar(&[]))[..]).unwrap();
    assert_eq!(image.manifest().digest, copied.manifest().digest);
}

#[test]
fn a_file_of_another_kind_is_refused_with_what_it_is() {
    let site = WorkFolder::new();
    let store = site.store();
    let refused = |bytes: &[u8]| {
        let refused = from_tar(&store, "no", "no.tar", None, bytes).unwrap_err();
        assert!(site.is_clean());
        refused.to_string()
    };
    let random: Vec<u8> = (0..4000_u32).map(|n| (n * n % 251) as u8).collect();
    for (bytes, what) in [
        (
            &b"no archive, but a text\n"[..],
            "it is not a tar archive, plain or",
        ),
        (&random, "it is not a tar archive, plain or"),
        (&gzip(&random), "it is not a tar archive, plain or"),
        (
            b"\xfd7zXZ\0\0\x04",
            "it is compressed by xz: unpack it with 'xz -d' first",
        ),
        (b"PK\x03\x04\x14\0", "it is a zip archive"),
        (b"\x7fELF\x02\x01\x01", "it is a program"),
        (b"#!/bin/sh\n", "it is a script"),
        (b"", "tarball no.tar has no files: give a root filesystem"),
        (&[0; 10_240], "tarball no.tar has no files"),
        (&gzip(b""), "tarball no.tar has no files"),
    ] {
        assert!(refused(bytes).contains(what), "{what}: {}", refused(bytes));
    }
    let cut = &gzip(&site.tar(&[]))[..100];
    assert!(refused(cut).contains("damaged or truncated"), "{}", refused(cut));
    fs::create_dir(site.at("nothing")).unwrap();
    let refused = from_directory(&store, "no", &site.at("nothing")).unwrap_err();
    assert!(matches!(refused, ImageError::Empty { .. }), "{refused}");
}

#[test]
fn a_helm_chart_is_no_image() {
    let site = WorkFolder::new();
    let store = site.store();
    fs::create_dir_all(site.at("packed/nginx/templates")).unwrap();
    fs::write(site.at("packed/nginx/Chart.yaml"), "name: nginx\n").unwrap();
    let chart = gzip(&packed(&site.at("packed")));
    let refused = from_tar(&store, "no", "nginx-1.tgz", None, &chart[..]).unwrap_err();
    assert!(matches!(refused, ImageError::HelmChart { .. }), "{refused}");
    // As registries keep it.
    let kind = "application/vnd.cncf.helm.config.v1+json";
    fixture::blobs_of(kind, &site.tar(&[])).write(&site.at("layout"));
    let refused = from_oci_layout(&store, "no", &site.at("layout"), None).unwrap_err();
    assert!(
        refused.to_string().contains("it is no image but a Helm chart"),
        "{refused}"
    );
    assert!(site.is_clean());
}

#[test]
fn another_architecture_is_refused_with_what_there_is() {
    let site = WorkFolder::new();
    let store = site.store();
    let docker = saved(&site.tar(&[]), "arm64", &["a:1"]);
    let refused = from_archive(&store, "a", "saved", None, &docker[..]).unwrap_err();
    assert!(refused.to_string().contains("only for linux/arm64"), "{refused}");
    let platform = |arch| {
        json!({"mediaType": "m", "size": 1, "digest": crate::Digest::of(b"x"),
        "platform": {"os": "linux", "architecture": arch}})
    };
    let index = json!({"schemaVersion": 2, "manifests": [platform("arm64"), platform("s390x")]});
    fs::create_dir(site.at("layout")).unwrap();
    fs::write(site.at("layout/index.json"), index.to_string()).unwrap();
    let refused = from_oci_layout(&store, "a", &site.at("layout"), None).unwrap_err();
    assert!(
        refused.to_string().contains("only for linux/arm64, linux/s390x"),
        "{refused}"
    );
    assert!(site.is_clean());
}

#[test]
fn one_of_several_images_must_be_named() {
    let site = WorkFolder::new();
    let store = site.store();
    let docker = saved(&site.tar(&[]), ARCHITECTURE, &["a:1", "b:2"]);
    let refuse = |name| {
        from_archive(&store, "a", "saved", name, &docker[..])
            .unwrap_err()
            .to_string()
    };
    assert!(
        refuse(None).ends_with("--part NAME': a:1, b:2"),
        "{}",
        refuse(None)
    );
    assert!(refuse(Some("c:3")).contains("no image \"c:3\", only a:1, b:2"));
    blobs(&site.tar(&[])).write(&site.at("layout"));
    let refused = from_oci_layout(&store, "a", &site.at("layout"), Some("2.0")).unwrap_err();
    assert!(
        refused.to_string().ends_with("no image \"2.0\", only 1.0"),
        "{refused}"
    );
    assert!(site.is_clean());
}

#[test]
fn changed_blobs_are_refused() {
    let site = WorkFolder::new();
    let store = site.store();
    for begins in [
        &b"{\"architecture"[..],
        &[0x1f, 0x8b],
        b"{\"config",
        b"{\"manifests",
    ] {
        let mut blobs = blobs(&site.tar(&[]));
        blobs.damage(begins);
        let folder = tempfile::tempdir().unwrap();
        blobs.write(folder.path());
        let refused = from_oci_layout(&store, "a", folder.path(), None).unwrap_err();
        assert!(
            matches!(refused, ImageError::Oci(OciError::Digest { .. })),
            "{refused}"
        );
    }
    // One that is cut off, one that is gone, and one that a link would take from elsewhere.
    let blobs = blobs(&site.tar(&[]));
    blobs.write(&site.at("layout"));
    let layer = blobs.all.iter().find(|(_, bytes)| bytes[0] == 0x1f).unwrap();
    let path = site.at("layout/blobs/sha256").join(layer.0.hex());
    let refuse = || {
        from_oci_layout(&store, "a", &site.at("layout"), None)
            .unwrap_err()
            .to_string()
    };
    fs::write(&path, &layer.1[..100]).unwrap();
    assert!(refuse().contains("ended after 100 of"), "{}", refuse());
    fs::remove_file(&path).unwrap();
    assert!(refuse().contains("cannot read the blob"), "{}", refuse());
    fs::write(site.at("elsewhere"), &layer.1).unwrap();
    std::os::unix::fs::symlink(site.at("elsewhere"), &path).unwrap();
    assert!(refuse().contains("cannot read the blob"), "{}", refuse());
    assert!(site.is_clean());
}

#[test]
fn what_is_no_image_is_told() {
    let site = WorkFolder::new();
    let store = site.store();
    let rootfs = from_archive(&store, "a", "x.tar", None, &site.tar(&[])[..]).unwrap_err();
    assert!(rootfs.to_string().contains("as a tarball"), "{rootfs}");
    let absent = from_oci_layout(&store, "a", &site.at("absent"), None).unwrap_err();
    assert!(matches!(absent, ImageError::File { .. }), "{absent}");
    let absent = from_directory(&store, "a", &site.at("absent")).unwrap_err();
    assert!(absent.to_string().contains("absent"), "{absent}");
    let cut = from_tarball(&store, "a", "x.tar", &site.tar(&[])[..70_000]).unwrap_err();
    assert!(
        matches!(
            cut,
            ImageError::Unpack {
                source: UnpackError::Entry { .. },
                ..
            }
        ),
        "{cut}"
    );
    assert!(site.is_clean());
}

#[test]
fn a_folder_is_copied_without_devices_and_what_is_too_much() {
    let site = WorkFolder::new();
    let pipe = site.at("rootfs/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RWXU).unwrap();
    let big = fs::File::create(site.at("rootfs/big")).unwrap();
    big.set_len(50 << 20).unwrap();
    let image = from_directory(&site.store(), "a", &site.at("rootfs")).unwrap();
    assert_eq!(image.manifest().left_out, 1);
    let big = fs::metadata(image.rootfs().join("big")).unwrap();
    assert!(big.len() == 50 << 20 && big.blocks() < 64, "holes stay holes");
    let small = crate::Store::open(&site.at("small"), 1 << 20).unwrap();
    let refused = from_directory(&small, "a", &site.at("rootfs")).unwrap_err();
    assert!(
        refused.to_string().contains("raise the store's limit"),
        "{refused}"
    );
}

#[test]
fn the_user_can_stop_while_one_large_file_is_read() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    // Once per folder, once per piece of a file.
    const SOON: usize = 20;
    let site = WorkFolder::new();
    let big = fs::File::create(site.at("rootfs/big")).unwrap();
    big.set_len(100 << 20).unwrap();
    let store = site
        .store()
        .with_stop(|| ASKED.fetch_add(1, Ordering::Relaxed) > SOON);
    let tar = site.tar(&["-S"]);
    let is_stopped = |made: Result<Image, ImageError>| {
        assert!(matches!(made, Err(ImageError::Stopped)), "{made:?}");
        // Not asked again to the end of the file.
        assert!(ASKED.swap(0, Ordering::Relaxed) < 10 * SOON);
    };
    is_stopped(from_directory(&store, "a", &site.at("rootfs")));
    is_stopped(from_tarball(&store, "a", "t", &tar[..]));
    let measured = crate::tree::measure(&site.at("rootfs"), &Config::default(), 9, store.stop());
    assert!(matches!(measured, Err(ImageError::Stopped)), "{measured:?}");
    assert!(site.is_clean());
}
