//! Which of the images that an index offers is meant.

use super::OciError;
use crate::{ARCHITECTURE, SYSTEM};
use oci_spec::image::Descriptor;

/// Under which keys an index says what an image is called.
const NAMES: [&str; 2] = ["io.containerd.image.name", "org.opencontainers.image.ref.name"];

/// The image for this system; of several the one of that name.
///
/// # Errors
/// [`OciError::Platform`] with what is offered, [`OciError::Unknown`], [`OciError::Several`].
pub fn one<'a>(offered: &'a [Descriptor], name: Option<&str>) -> Result<&'a Descriptor, OciError> {
    let named: Vec<&Descriptor> = match name {
        Some(name) => offered.iter().filter(|d| names(d).any(|n| n == name)).collect(),
        None => offered.iter().collect(),
    };
    if named.is_empty() && !offered.is_empty() {
        return Err(OciError::Unknown(
            name.unwrap_or_default().to_owned(),
            called(offered),
        ));
    }
    let mut fitting: Vec<&Descriptor> = named
        .iter()
        .filter(|d| is_ours(d) == Some(true))
        .copied()
        .collect();
    if fitting.is_empty() {
        // Without a platform it is told by the configuration, or by an index within.
        fitting = named.iter().filter(|d| is_ours(d).is_none()).copied().collect();
    }
    let [first, others @ ..] = &fitting[..] else {
        return Err(OciError::Platform(platforms(&named)));
    };
    if others.iter().any(|other| other.digest() != first.digest()) {
        return Err(OciError::Several(called(offered)));
    }
    Ok(first)
}

/// Whether a manifest is that of an image, by the type of its configuration: registries keep charts,
/// signatures and policies as well.
///
/// # Errors
/// [`OciError::Artifact`].
pub fn check_image(config: &Descriptor) -> Result<(), OciError> {
    const IMAGES: [&str; 3] = [
        "application/vnd.oci.image.config.v1+json",
        "application/vnd.docker.container.image.v1+json",
        // That of Docker before 1.10.
        "application/octet-stream",
    ];
    let kind = config.media_type().to_string();
    if IMAGES.contains(&&*kind) {
        return Ok(());
    }
    Err(OciError::Artifact(kind.escape_debug().to_string()))
}

/// Whether a blob is a layer that can be unpacked.
///
/// # Errors
/// [`OciError::Kind`].
pub fn check_layer(layer: &Descriptor) -> Result<(), OciError> {
    let kind = layer.media_type().to_string();
    let is_tar = [".tar", "+tar", "/tar"].iter().any(|part| kind.contains(part));
    if is_tar && !kind.ends_with("+encrypted") {
        return Ok(());
    }
    Err(OciError::Kind(kind))
}

/// Whether an image is for this system; `None` if that is not said.
fn is_ours(descriptor: &Descriptor) -> Option<bool> {
    let platform = descriptor.platform().as_ref()?;
    let arch = platform.architecture().to_string();
    Some(platform.os().to_string() == SYSTEM && arch == ARCHITECTURE)
}

fn names(descriptor: &Descriptor) -> impl Iterator<Item = &str> {
    let notes = descriptor.annotations().as_ref();
    NAMES
        .iter()
        .filter_map(move |key| notes?.get(*key))
        .map(String::as_str)
}

fn called(offered: &[Descriptor]) -> String {
    let names: Vec<&str> = offered.iter().filter_map(|d| names(d).next()).collect();
    listed(names.iter().map(ToString::to_string))
}

fn platforms(offered: &[&Descriptor]) -> String {
    let platforms = offered.iter().filter_map(|d| d.platform().as_ref());
    // Notes on how an image was made call themselves so.
    let known = platforms
        .map(|p| format!("{}/{}", p.os(), p.architecture()))
        .filter(|p| p != "unknown/unknown");
    listed(known)
}

fn listed(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.map(|one| one.escape_debug().to_string()).collect();
    match all.is_empty() {
        true => "none with a name".to_owned(),
        false => all.join(", "),
    }
}
