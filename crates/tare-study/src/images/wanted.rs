//! What kind of image a text means.

use super::file::ImageFile;
use super::names::is_path;
use super::{NoImage, file, shipped};
use std::path::PathBuf;
use tare_platforms::IMAGE_ENGINES;

/// What a text means, before anything is looked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// What is made of Debian's packages: an image that comes with tare, or a file of the user's.
    Debian(ImageFile),
    /// A folder or an archive.
    Path(PathBuf),
    /// An image of a local engine.
    Engine(&'static str, String),
    /// A name: of the store, of a local engine or of a registry.
    Name(String),
}

impl Wanted {
    /// # Errors
    /// Those of an image file, and [`NoImage::Empty`].
    pub fn read(text: &str) -> Result<Self, NoImage> {
        if text.is_empty() {
            return Err(NoImage::Empty);
        }
        if text.ends_with(".toml") {
            return file::read(text).map(Self::Debian);
        }
        if is_path(text) {
            return Ok(Self::Path(text.into()));
        }
        if let Some(file) = shipped(text) {
            return Ok(Self::Debian(file));
        }
        let of_engine = |engine: &&'static str| {
            let image = text.strip_prefix(*engine)?.strip_prefix(':')?;
            Some(Self::Engine(engine, image.to_owned()))
        };
        let engine = IMAGE_ENGINES.iter().find_map(of_engine);
        Ok(engine.unwrap_or_else(|| Self::Name(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_means_one_thing() {
        let read = |text| Wanted::read(text).unwrap();
        for path in ["/a", "./a.tar", "../a", ".", ".."] {
            assert_eq!(read(path), Wanted::Path(path.into()));
        }
        assert!(matches!(read("micro"), Wanted::Debian(file) if file.name == "micro"));
        assert_eq!(read("docker:a:1"), Wanted::Engine("docker", "a:1".to_owned()));
        assert_eq!(read("podman:a"), Wanted::Engine("podman", "a".to_owned()));
        for name in [
            "docker",
            "docker.io/library/docker:24",
            "micro:1",
            "sha256:0123",
            "debian",
        ] {
            assert_eq!(read(name), Wanted::Name(name.to_owned()));
        }
        assert!(matches!(Wanted::read(""), Err(NoImage::Empty)));
        assert!(matches!(Wanted::read("./none.toml"), Err(NoImage::Text(_))));
    }
}
