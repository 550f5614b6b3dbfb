//! Images as OCI describes them: an index of platforms, a manifest, a configuration, layers. Each
//! is a blob that bears the digest of its bytes, which is checked, wherever blobs come from.

mod choose;
mod error;

pub use error::OciError;

use crate::digest::Digesting;
use crate::sources::RegistryError;
use crate::store::{Filled, ROOTFS};
use crate::unpack::stream::{Allowance, Metered};
use crate::unpack::{Counts, UnpackError, Unpacker};
use crate::{ARCHITECTURE, Config, Digest, ImageError, SYSTEM, Store, config};
use oci_spec::image::{Descriptor, ImageConfiguration, ImageIndex, ImageManifest};
use std::cmp::Ordering;
use std::io::{self, Read};
use std::path::Path;

/// More than any description in use takes; it is kept in memory.
pub(crate) const DOCUMENT_BYTES: u64 = 4 << 20;
/// Indexes that lie in one another.
const DEEPEST: usize = 4;

/// Where blobs come from.
pub(crate) trait Blobs {
    /// A blob from its beginning. Whoever reads it checks it.
    fn open(&self, digest: &Digest, part: BlobKind) -> Result<Box<dyn Read + '_>, ImageError>;
}

/// What a blob is, as registries are asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlobKind {
    /// A manifest or an index.
    Manifest,
    /// A configuration or a layer.
    Blob,
}

/// A manifest or an index, as its bytes show.
enum Document {
    Index(Box<ImageIndex>),
    Manifest(Box<ImageManifest>),
}

/// Unpacks the image that some descriptors offer: the one for this system, and of several that
/// with the given reference.
pub(crate) fn fill(
    store: &Store,
    blobs: &impl Blobs,
    offered: &[Descriptor],
    reference: Option<&str>,
    at: &Path,
    source: String,
) -> Result<Filled, ImageError> {
    let manifest = manifest(blobs, offered, reference)?;
    choose::check_image(manifest.config())?;
    let digest = parse(manifest.config())?;
    let bytes = document(blobs, &digest, manifest.config().size(), BlobKind::Blob)?;
    let oci = configuration(&bytes, &digest)?;
    let layers = manifest.layers();
    let diff_ids = oci.rootfs().diff_ids();
    if layers.len() != diff_ids.len() {
        return Err(OciError::Layers(layers.len(), diff_ids.len()).into());
    }
    let mut unpacker = unpacker(store, at)?;
    for (layer, diff_id) in layers.iter().zip(diff_ids) {
        unpack(store, blobs, &mut unpacker, layer, diff_id)?;
    }
    finish(unpacker, &oci, source)
}

/// Unpacks a layer, checked as it is and unpacked.
fn unpack(
    store: &Store,
    blobs: &impl Blobs,
    unpacker: &mut Unpacker,
    layer: &Descriptor,
    diff_id: &str,
) -> Result<(), ImageError> {
    choose::check_layer(layer)?;
    if layer.size() > store.limits().bytes {
        return Err(OciError::TooLarge(layer.size()).into());
    }
    let digest = parse(layer)?;
    let source = Remember::new(
        blobs
            .open(&digest, BlobKind::Blob)?
            .take(layer.size().saturating_add(1)),
    );
    let mut blob = Digesting::new(source);
    let unpacked = unpacker.layer(&mut blob);
    if matches!(unpacked, Err(UnpackError::Stopped)) {
        return Err(ImageError::Stopped);
    }
    // What is wrong with the source is told before what came of it: a layer that ended
    // half-way, or was changed, unpacks to anything.
    let mut rest = Metered::new(&mut blob, Allowance::new(u64::MAX), store.stop());
    drop(io::copy(&mut rest, &mut io::sink()));
    let so_far = blob.so_far();
    if let Some(error) = blob.into_inner().error {
        return Err(broken(&digest, error));
    }
    check(so_far, &digest, layer.size())?;
    let unpacked = unpacked.map_err(ImageError::unpack(format!("the layer {digest}")))?;
    check_unpacked(&digest, &unpacked, diff_id)
}

/// A reader that keeps its error, whatever becomes of it in those who read through it.
struct Remember<R> {
    inner: R,
    error: Option<io::Error>,
}

impl<R: Read> Remember<R> {
    fn new(inner: R) -> Self {
        Self { inner, error: None }
    }
}

impl<R: Read> Read for Remember<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(into) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                let kind = e.kind();
                self.error.get_or_insert(e);
                Err(kind.into())
            }
            read => read,
        }
    }
}

/// Begins to unpack layers.
pub(crate) fn unpacker(store: &Store, at: &Path) -> Result<Unpacker, ImageError> {
    let unpacker = Unpacker::new(&at.join(ROOTFS), store.limits(), store.stop());
    unpacker.map_err(ImageError::unpack("the image"))
}

/// What there is when all layers are unpacked.
pub(crate) fn finish(
    mut unpacker: Unpacker,
    oci: &ImageConfiguration,
    source: String,
) -> Result<Filled, ImageError> {
    let config = Config::from_oci(oci);
    if let Some(folder) = &config.working_dir {
        // Engines make it when they start a container.
        let made = unpacker.make_folder(folder);
        made.map_err(ImageError::unpack("the image's working folder"))?;
    }
    let finished: Result<Counts, UnpackError> = unpacker.finish();
    let counts = finished.map_err(ImageError::unpack("the image"))?;
    Ok(Filled {
        config,
        source,
        left_out: counts.left_out,
    })
}

/// A configuration for this system.
pub(crate) fn configuration(bytes: &[u8], what: &Digest) -> Result<ImageConfiguration, ImageError> {
    let oci: ImageConfiguration = read(bytes, what)?;
    let (system, arch) = (oci.os().to_string(), config::arch_name(oci.architecture()));
    if system != SYSTEM || arch != ARCHITECTURE {
        return Err(OciError::Platform(format!("{system}/{arch}")).into());
    }
    Ok(oci)
}

/// A layer's digest unpacked against that of its image's configuration: both name the same bytes.
pub(crate) fn check_unpacked(layer: &Digest, unpacked: &Digest, diff_id: &str) -> Result<(), ImageError> {
    if unpacked.as_str() == diff_id {
        return Ok(());
    }
    Err(OciError::Digest {
        what: format!("the layer {layer}, unpacked,"),
        wanted: Digest::parse(diff_id)?,
        found: unpacked.clone(),
    }
    .into())
}

/// The manifest for this system, through as many indexes as there are.
fn manifest(
    blobs: &impl Blobs,
    offered: &[Descriptor],
    reference: Option<&str>,
) -> Result<ImageManifest, ImageError> {
    let mut chosen = choose::one(offered, reference)?.clone();
    for _ in 0..DEEPEST {
        let digest = parse(&chosen)?;
        let bytes = document(blobs, &digest, chosen.size(), BlobKind::Manifest)?;
        match self::parse_document(&bytes, &digest)? {
            Document::Manifest(manifest) => return Ok(*manifest),
            Document::Index(index) => chosen = choose::one(index.manifests(), None)?.clone(),
        }
    }
    Err(OciError::Nested.into())
}

fn parse_document(bytes: &[u8], what: &Digest) -> Result<Document, ImageError> {
    let value: serde_json::Value = read(bytes, what)?;
    if value.get("manifests").is_some() {
        return Ok(Document::Index(Box::new(read(bytes, what)?)));
    }
    Ok(Document::Manifest(Box::new(read(bytes, what)?)))
}

/// A blob that is kept in memory, checked.
fn document(blobs: &impl Blobs, digest: &Digest, size: u64, part: BlobKind) -> Result<Vec<u8>, ImageError> {
    if size > DOCUMENT_BYTES {
        return Err(OciError::Large(digest.clone()).into());
    }
    let mut blob = Digesting::new(blobs.open(digest, part)?.take(size + 1));
    let mut bytes = Vec::new();
    blob.read_to_end(&mut bytes).map_err(|e| broken(digest, e))?;
    check(blob.so_far(), digest, size)?;
    Ok(bytes)
}

fn check((found, bytes): (Digest, u64), wanted: &Digest, size: u64) -> Result<(), ImageError> {
    match bytes.cmp(&size) {
        Ordering::Less => Err(OciError::Short(wanted.clone(), bytes, size).into()),
        Ordering::Greater => Err(OciError::Long(wanted.clone(), size).into()),
        Ordering::Equal if found == *wanted => Ok(()),
        Ordering::Equal => Err(OciError::Digest {
            what: "a blob".to_owned(),
            wanted: wanted.clone(),
            found,
        }
        .into()),
    }
}

/// What a blob says that cannot be read; a registry says more than the system.
fn broken(digest: &Digest, error: io::Error) -> ImageError {
    match error.downcast::<RegistryError>() {
        Ok(error) => error.into(),
        Err(error) => OciError::blob(digest, error).into(),
    }
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8], what: &Digest) -> Result<T, ImageError> {
    serde_json::from_slice(bytes).map_err(|source| {
        let what = what.to_string();
        OciError::Document { what, source }.into()
    })
}

fn parse(descriptor: &Descriptor) -> Result<Digest, ImageError> {
    Ok(Digest::parse(descriptor.digest().as_ref())?)
}
