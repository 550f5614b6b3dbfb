//! Image files: what of Debian an image is made of, in a few lines of TOML.

use super::NoImage;
use serde::Deserialize;
use std::path::Path;
use std::rc::Rc;
use tare_image::DebianSpec;
use tare_toml::{Kind, Source};

const IMAGE: Kind = Kind {
    name: "image file",
    manual: "docs/images.md",
};
/// An image file has some hundred bytes.
const MAX_BYTES: u64 = 1 << 16;

/// What an image file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFile {
    /// The name of the image in the store.
    pub name: String,
    /// What it is for, in a line.
    pub about: String,
    /// What it is made of.
    pub debian: DebianSpec,
}

/// As it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: String,
    #[serde(default)]
    about: String,
    suite: String,
    #[serde(default = "main")]
    components: Vec<String>,
    #[serde(default)]
    packages: Vec<String>,
    snapshot: Option<String>,
    prepare: Option<String>,
}

fn main() -> Vec<String> {
    vec!["main".to_owned()]
}

/// Reads the text of an image file; `path` is how messages call it.
///
/// # Errors
/// [`NoImage::Text`] where it is no TOML, has another key, or a value that cannot be one.
pub fn parse(path: &str, text: &str) -> Result<ImageFile, NoImage> {
    of_source(&Source::of_text(&IMAGE, path, text))
}

/// Reads an image file of the user's.
///
/// # Errors
/// As [`parse`]; also where it cannot be read, or takes the name of an image that comes with tare.
pub(super) fn read(path: &str) -> Result<ImageFile, NoImage> {
    let parsed = of_source(&Source::of_file(&IMAGE, Path::new(path), MAX_BYTES)?)?;
    if super::shipped(&parsed.name).is_some() {
        return Err(NoImage::Reserved(parsed.name));
    }
    Ok(parsed)
}

fn of_source(source: &Rc<Source>) -> Result<ImageFile, NoImage> {
    let parsed: Text = tare_toml::read(source)?;
    super::names::check(&parsed.name).map_err(|error| source.wrong(error.to_string()))?;
    let debian = DebianSpec {
        suite: parsed.suite,
        components: parsed.components,
        packages: parsed.packages,
        snapshot: parsed.snapshot,
        prepare: parsed.prepare,
    };
    Ok(ImageFile {
        name: parsed.name,
        about: parsed.about,
        debian: debian
            .checked()
            .map_err(|error| source.wrong(error.to_string()))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_of_debian_it_is_made_of() {
        let text = "name = \"mine\"\nsuite = \"bookworm\"\npackages = [\"fio\", \"curl\"]\n";
        let file = parse("mine.toml", text).unwrap();
        assert_eq!((file.name.as_str(), file.about.as_str()), ("mine", ""));
        assert_eq!(file.debian.components, ["main"]);
        assert_eq!(file.debian.packages, ["curl", "fio"]);
        assert_eq!(file.debian.snapshot, None);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = |text: &str| parse("f.toml", text).unwrap_err().to_string();
        assert_eq!(
            told("name = \"a\"\nsiute = \"b\"\n"),
            "f.toml:2:1: unknown key 'siute' in an image file: did you mean 'suite'?"
        );
        assert_eq!(
            told("name = \"a\"\n"),
            "f.toml:1:1: 'suite' is missing in an image file: add suite = ..."
        );
        assert!(told("name = \n").starts_with("f.toml:1:"));
        let of = |more: &str| told(&format!("name = \"a\"\nsuite = \"bookworm\"\n{more}\n"));
        assert!(of("packages = [\"a b\"]").contains("cannot be a package"));
        assert!(of("snapshot = \"2025\"").contains("20250520T000000Z"));
        assert!(of("components = []").contains("name main at least"));
        let named = told("name = \"./a\"\nsuite = \"bookworm\"\n");
        assert!(named.contains("cannot be the name"), "{named}");
    }
}
