//! Images in one file: OCI's archive, and what `docker save` and `podman save` write, by
//! themselves or over an engine's API.

use super::layout::{self, Files};
use crate::digest::Digesting;
use crate::oci::{self, OciError};
use crate::store::{self, Filled, ROOTFS};
use crate::unpack::{Counts, UnpackError, Unpacker};
use crate::{Config, Digest, Image, ImageError, Store};
use serde::Deserialize;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Where the archive is unpacked while it is read: its parts come in any order.
const ARCHIVE: &str = "archive";

/// An image as a stream of an archive: an OCI archive, or that of `docker save`, which engines
/// give by their API too; packed by gzip or zstd, or not. Of several images it is that which is
/// called `reference`. `what` says which archive, in messages.
///
/// # Errors
/// [`ImageError`].
pub fn from_archive(
    store: &Store,
    name: &str,
    what: &str,
    reference: Option<&str>,
    archive: impl Read,
) -> Result<Image, ImageError> {
    store.make(
        name,
        || None,
        |at| {
            let folder = at.join(ARCHIVE);
            unpack(store, &folder, archive).map_err(ImageError::unpack(what))?;
            let filled = fill(store, &folder, reference, at, format!("archive {what}"))?;
            store::remove_tree(&folder).map_err(ImageError::file("remove", &folder))?;
            Ok(filled)
        },
    )
}

/// What is in a tar archive: an image as [`from_archive`] takes it, else a root filesystem by
/// itself, as [`super::from_tarball`] does.
///
/// # Errors
/// [`ImageError`].
pub fn from_tar(
    store: &Store,
    name: &str,
    what: &str,
    reference: Option<&str>,
    tar: impl Read,
) -> Result<Image, ImageError> {
    store.make(
        name,
        || None,
        |at| {
            let (folder, rootfs) = (at.join(ARCHIVE), at.join(ROOTFS));
            let counts = unpack(store, &folder, tar).map_err(ImageError::unpack(what))?;
            if is_image(&folder)? {
                let filled = fill(store, &folder, reference, at, format!("archive {what}"))?;
                store::remove_tree(&folder).map_err(ImageError::file("remove", &folder))?;
                return Ok(filled);
            }
            fs::rename(&folder, &rootfs).map_err(ImageError::file("give its place to", &folder))?;
            Ok(Filled {
                config: Config::default(),
                source: format!("tarball {what}"),
                left_out: counts.left_out,
            })
        },
    )
}

fn unpack(store: &Store, folder: &Path, tar: impl Read) -> Result<Counts, UnpackError> {
    fs::create_dir(folder).map_err(UnpackError::Folder)?;
    let mut unpacker = Unpacker::new(folder, store.limits(), store.stop())?;
    unpacker.layer(tar)?;
    unpacker.finish()
}

/// Whether what was unpacked describes itself as an image. A root filesystem may have a file
/// called `manifest.json` as well.
fn is_image(folder: &Path) -> Result<bool, ImageError> {
    let files = Files::open(folder)?;
    if files.small("oci-layout")?.is_some() {
        return Ok(true);
    }
    let list = files.small("manifest.json")?;
    Ok(list.is_some_and(|list| serde_json::from_slice::<Vec<Saved>>(&list).is_ok_and(|all| !all.is_empty())))
}

fn fill(
    store: &Store,
    folder: &Path,
    reference: Option<&str>,
    at: &Path,
    source: String,
) -> Result<Filled, ImageError> {
    let files = Files::open(folder)?;
    // Newer engines write both: their manifest.json is the one that has whole names.
    if let Some(list) = files.small("manifest.json")? {
        return saved(store, &files, &list, reference, at, source);
    }
    let index = files.small("index.json")?.ok_or(OciError::NoImage)?;
    layout::fill(store, &files, &index, reference, at, source)
}

/// An image as `docker save` lists it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    #[serde(default)]
    repo_tags: Option<Vec<String>>,
    layers: Vec<String>,
}

/// What `docker save` lists. Its files bear no digest that could be relied on: layers are held
/// against the configuration, whose own digest is the image's id where the engine tells that.
fn saved(
    store: &Store,
    files: &Files,
    list: &[u8],
    reference: Option<&str>,
    at: &Path,
    source: String,
) -> Result<Filled, ImageError> {
    let all: Vec<Saved> = serde_json::from_slice(list).map_err(|source| {
        let what = "manifest.json".to_owned();
        OciError::Document { what, source }
    })?;
    let image = pick(&all, reference)?;
    let bytes = files.small(&image.config)?.ok_or(OciError::NoImage)?;
    let digest = Digest::of(&bytes);
    let oci = oci::configuration(&bytes, &digest)?;
    let diff_ids = oci.rootfs().diff_ids();
    if image.layers.len() != diff_ids.len() {
        return Err(OciError::Layers(image.layers.len(), diff_ids.len()).into());
    }
    let mut unpacker = oci::unpacker(store, at)?;
    for (layer, diff_id) in image.layers.iter().zip(diff_ids) {
        let file = files.file(layer)?.ok_or_else(|| ImageError::Tree {
            path: layer.into(),
            source: io::ErrorKind::NotFound.into(),
        })?;
        let mut file = Digesting::new(file);
        let unpacked = unpacker.layer(&mut file);
        let unpacked = unpacked.map_err(ImageError::unpack(format!("the layer {layer}")))?;
        oci::check_unpacked(&file.so_far().0, &unpacked, diff_id)?;
    }
    oci::finish(unpacker, &oci, source)
}

fn pick<'a>(all: &'a [Saved], reference: Option<&str>) -> Result<&'a Saved, OciError> {
    let tags = |image: &'a Saved| image.repo_tags.iter().flatten();
    let fits =
        |image: &&Saved| reference.is_none_or(|r| image.repo_tags.iter().flatten().any(|tag| tag == r));
    let fitting: Vec<&Saved> = all.iter().filter(fits).collect();
    let called = || {
        let names: Vec<String> = all
            .iter()
            .flat_map(tags)
            .map(|tag| tag.escape_debug().to_string())
            .collect();
        names.join(", ")
    };
    match (&fitting[..], reference) {
        ([one], _) => Ok(one),
        ([], Some(name)) => Err(OciError::Unknown(name.to_owned(), called())),
        ([], None) => Err(OciError::NoImage),
        _ => Err(OciError::Several(called())),
    }
}
