//! A small image in every form, in tests.

use crate::{ARCHITECTURE, Digest, Store};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Blobs by digest, and the descriptor of what leads to them.
pub struct Blobs {
    pub all: Vec<(Digest, Vec<u8>)>,
    pub top: Value,
}

/// A folder to work in, with a root filesystem in `rootfs`.
pub struct WorkFolder(tempfile::TempDir);

impl WorkFolder {
    pub fn new() -> Self {
        let site = Self(tempfile::tempdir().unwrap());
        let at = site.at("rootfs");
        fs::create_dir_all(at.join("usr/bin")).unwrap();
        for folder in ["", "usr", "usr/bin"] {
            fs::set_permissions(at.join(folder), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(at.join("usr/bin/su"), "program").unwrap();
        fs::set_permissions(at.join("usr/bin/su"), fs::Permissions::from_mode(0o4755)).unwrap();
        fs::hard_link(at.join("usr/bin/su"), at.join("usr/bin/su2")).unwrap();
        fs::write(at.join("text"), "t".repeat(100_000)).unwrap();
        fs::set_permissions(at.join("text"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("usr/bin", at.join("bin")).unwrap();
        site
    }
    pub fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }
    pub fn store(&self) -> Store {
        Store::open(&self.at("store"), 1 << 30).unwrap()
    }
    /// The root filesystem by the host's tar.
    pub fn tar(&self, more: &[&str]) -> Vec<u8> {
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(self.at("rootfs")).args(more).args(["-c", "."]);
        tar.output().unwrap().stdout
    }
    /// Nothing of an image that was not made.
    pub fn is_clean(&self) -> bool {
        let hidden = |e: fs::DirEntry| e.file_name().as_encoded_bytes().starts_with(b".");
        let images = fs::read_dir(self.at("store/images")).unwrap().count();
        images == 0
            && !fs::read_dir(self.at("store"))
                .unwrap()
                .any(|e| hidden(e.unwrap()))
    }
}

pub fn gzip(data: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    to.write_all(data).unwrap();
    to.finish().unwrap()
}

/// The configuration of an image of one layer.
pub fn config(arch: &str, layer: &[u8]) -> Vec<u8> {
    let config = json!({
        "architecture": arch, "os": "linux",
        "config": {"Cmd": ["sh"], "Env": ["A=1"], "User": "", "WorkingDir": "/w"},
        "rootfs": {"type": "layers", "diff_ids": [Digest::of(layer)]},
    });
    serde_json::to_vec(&config).unwrap()
}

/// An index of an image for arm64 that is not there and one for amd64.
pub fn blobs(layer: &[u8]) -> Blobs {
    blobs_of("application/vnd.oci.image.config.v1+json", layer)
}

/// The same with a configuration of a type.
pub fn blobs_of(kind: &str, layer: &[u8]) -> Blobs {
    let mut all = Vec::new();
    let mut put = |kind: &str, bytes: Vec<u8>| {
        let digest = Digest::of(&bytes);
        let descriptor = json!({"mediaType": kind, "size": bytes.len(), "digest": digest});
        all.push((digest, bytes));
        descriptor
    };
    let config = put(kind, config(ARCHITECTURE, layer));
    let layer = put("application/vnd.oci.image.layer.v1.tar+gzip", gzip(layer));
    let kind = "application/vnd.oci.image.manifest.v1+json";
    let manifest = json!({"schemaVersion": 2, "mediaType": kind, "config": config, "layers": [layer]});
    let mut ours = put(kind, serde_json::to_vec(&manifest).unwrap());
    ours["platform"] = json!({"os": "linux", "architecture": ARCHITECTURE});
    let mut other = ours.clone();
    other["digest"] = json!(Digest::of(b"arm"));
    other["platform"] = json!({"os": "linux", "architecture": "arm64"});
    let kind = "application/vnd.oci.image.index.v1+json";
    let index = json!({"schemaVersion": 2, "mediaType": kind, "manifests": [other, ours]});
    let top = put(kind, serde_json::to_vec(&index).unwrap());
    Blobs { all, top }
}

impl Blobs {
    /// As a layout in a folder.
    pub fn write(&self, folder: &Path) {
        fs::create_dir_all(folder.join("blobs/sha256")).unwrap();
        for (digest, bytes) in &self.all {
            fs::write(folder.join("blobs/sha256").join(digest.hex()), bytes).unwrap();
        }
        let mut top = self.top.clone();
        top["annotations"] = json!({"org.opencontainers.image.ref.name": "1.0"});
        let index = json!({"schemaVersion": 2, "manifests": [top]});
        fs::write(folder.join("index.json"), index.to_string()).unwrap();
        fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    }
    /// Changes a byte of a blob that begins so.
    pub fn damage(&mut self, begins: &[u8]) {
        let blob = self
            .all
            .iter_mut()
            .find(|(_, bytes)| bytes.starts_with(begins))
            .unwrap();
        let middle = blob.1.len() / 2;
        blob.1[middle] ^= 1;
    }
}
