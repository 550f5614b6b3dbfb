//! Image files: what of Debian an image is made of, in a few lines of TOML.

use super::NoImage;
use crate::study_file::line_and_column;
use serde::Deserialize;
use std::io;
use std::path::Path;
use tare_image::DebianSpec;
use tare_model::regular;

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
}

fn main() -> Vec<String> {
    vec!["main".to_owned()]
}

/// Reads the text of an image file; `path` is how messages call it.
///
/// # Errors
/// [`NoImage::At`] where it is no TOML or has another key, [`NoImage::File`] where a value cannot be one.
pub fn parse(path: &str, text: &str) -> Result<ImageFile, NoImage> {
    let parsed: Text = toml::from_str(text).map_err(|e| {
        let begin = e.span().unwrap_or(0..0).start.min(text.len());
        let (line, column) = line_and_column(&text.as_bytes()[..begin]);
        NoImage::At {
            file: path.to_owned(),
            line,
            column,
            message: e.message().replace('`', "'"),
        }
    })?;
    let wrong = |why: String| NoImage::File {
        file: path.to_owned(),
        why,
    };
    super::names::check(&parsed.name).map_err(|error| wrong(error.to_string()))?;
    let debian = DebianSpec {
        suite: parsed.suite,
        components: parsed.components,
        packages: parsed.packages,
        snapshot: parsed.snapshot,
    };
    Ok(ImageFile {
        name: parsed.name,
        about: parsed.about,
        debian: debian.checked().map_err(|error| wrong(error.to_string()))?,
    })
}

/// Reads an image file of the user's.
///
/// # Errors
/// As [`parse`]; [`NoImage::File`] where it cannot be read.
pub(super) fn read(path: &str) -> Result<ImageFile, NoImage> {
    let unreadable = |why: String| NoImage::File {
        file: path.to_owned(),
        why,
    };
    let told = |e: io::Error| unreadable(format!("{e}; check the path"));
    let file = regular::open(Path::new(path)).map_err(told)?;
    let file = file.ok_or_else(|| unreadable("it is no regular file; give one".to_owned()))?;
    let bytes = file.metadata().map_err(told)?.len();
    if bytes > MAX_BYTES {
        return Err(unreadable(format!(
            "it has {bytes} B, and an image file at most {MAX_BYTES}; an archive of an image does not end with .toml"
        )));
    }
    let parsed = parse(path, &io::read_to_string(file).map_err(told)?)?;
    if super::shipped(&parsed.name).is_some() {
        return Err(NoImage::Reserved(parsed.name));
    }
    Ok(parsed)
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
        assert!(told("name = \"a\"\nsiute = \"b\"\n").starts_with("f.toml:2:1: unknown field 'siute'"));
        assert!(told("name = \n").starts_with("f.toml:1:"));
        let of = |more: &str| told(&format!("name = \"a\"\nsuite = \"bookworm\"\n{more}\n"));
        assert!(of("packages = [\"a b\"]").contains("cannot be a package"));
        assert!(of("snapshot = \"2025\"").contains("20250520T000000Z"));
        assert!(of("components = []").contains("name main at least"));
        let named = told("name = \"./a\"\nsuite = \"bookworm\"\n");
        assert!(named.contains("cannot be the name"), "{named}");
    }
}
