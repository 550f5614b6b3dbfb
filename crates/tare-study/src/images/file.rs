//! Image files: what of Debian and Maven an image is made of, in a few lines of TOML.

use super::NoImage;
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use tare_image::{DebianSpec, MavenSpec, NoMaven, NoSpec, Take};
use tare_model::suggest;
use tare_toml::{Kind, Source, Spanned, TomlError};

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
    /// Images that come with tare, all of which it has as well.
    pub includes: Vec<String>,
    /// What it is made of.
    pub debian: DebianSpec,
}

/// As it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: Spanned<String>,
    #[serde(default)]
    about: String,
    includes: Option<Spanned<Included>>,
    suite: Spanned<String>,
    components: Option<Spanned<Vec<String>>>,
    packages: Option<Spanned<Vec<String>>>,
    snapshot: Option<Spanned<String>>,
    prepare: Option<Spanned<String>>,
    #[serde(default)]
    maven: Vec<Artifacts>,
}

/// Images that come with tare.
#[derive(Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "this is neither the name of a shipped image nor a list of names"
)]
enum Included {
    One(String),
    Several(Vec<String>),
}

/// What is wanted of Maven, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Artifacts {
    artifacts: Spanned<Vec<String>>,
    #[serde(default)]
    take: Take,
    exclude: Option<Spanned<Vec<String>>>,
    folder: Spanned<String>,
}

impl Artifacts {
    fn spec(&self) -> MavenSpec {
        MavenSpec {
            artifacts: self.artifacts.get_ref().clone(),
            take: self.take,
            exclude: given(self.exclude.as_ref()).unwrap_or_default(),
            folder: self.folder.get_ref().clone(),
        }
    }

    fn span(&self, wrong: &NoMaven) -> Option<Range<usize>> {
        match wrong {
            NoMaven::Nothing | NoMaven::Artifact(_) | NoMaven::Moving(_) | NoMaven::Packed(_) => {
                Some(self.artifacts.span())
            }
            NoMaven::Exclude(_) | NoMaven::Excluded => self.exclude.as_ref().map(Spanned::span),
            NoMaven::Folder(_) => Some(self.folder.span()),
        }
    }
}

impl Text {
    fn debian(&self) -> DebianSpec {
        DebianSpec {
            suite: self.suite.get_ref().clone(),
            components: given(self.components.as_ref()).unwrap_or_else(|| vec!["main".to_owned()]),
            packages: given(self.packages.as_ref()).unwrap_or_default(),
            snapshot: given(self.snapshot.as_ref()),
            prepare: given(self.prepare.as_ref()),
            maven: self.maven.iter().map(Artifacts::spec).collect(),
        }
    }

    /// Where that stands which cannot be; nowhere if it is absent.
    fn span(&self, wrong: &NoSpec) -> Option<Range<usize>> {
        match wrong {
            NoSpec::Suite(_) => Some(self.suite.span()),
            NoSpec::Component(_) | NoSpec::NoComponent => self.components.as_ref().map(Spanned::span),
            NoSpec::Package(_) => self.packages.as_ref().map(Spanned::span),
            NoSpec::Snapshot(_) => self.snapshot.as_ref().map(Spanned::span),
            NoSpec::Prepare => self.prepare.as_ref().map(Spanned::span),
            NoSpec::Maven { entry, wrong } => self.maven.get(*entry)?.span(wrong),
        }
    }
}

fn given<T: Clone>(value: Option<&Spanned<T>>) -> Option<T> {
    value.map(|value| value.get_ref().clone())
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
    let text: Text = tare_toml::read(source)?;
    let at = |span, message: String| TomlError::at(&source.place(span), message);
    let name = text.name.get_ref();
    super::names::check(name).map_err(|error| at(text.name.span(), error.to_string()))?;
    let includes = match given(text.includes.as_ref()) {
        Some(Included::One(name)) => vec![name],
        Some(Included::Several(names)) => names,
        None => Vec::new(),
    };
    let mut debian = text.debian();
    let place = || text.includes.as_ref().map_or(0..0, Spanned::span);
    refuse_twice(&includes).map_err(|message| at(place(), message))?;
    for name in includes.iter().rev() {
        include(&mut debian, name).map_err(|message| at(place(), message))?;
    }
    let debian = debian.checked();
    Ok(ImageFile {
        name: name.clone(),
        about: text.about.clone(),
        includes,
        debian: debian.map_err(|error| at(text.span(&error).unwrap_or(0..0), error.to_string()))?,
    })
}

/// Refuses images of which one has all of another: its script would run twice.
fn refuse_twice(includes: &[String]) -> Result<(), String> {
    for (place, name) in includes.iter().enumerate() {
        let mut others = includes.iter().enumerate().filter(|(other, _)| *other != place);
        if let Some((_, other)) = others.find(|(_, other)| super::shipped::has_all_of(other, name)) {
            return Err(format!("'{other}' has all of '{name}': name one of them, once"));
        }
    }
    Ok(())
}

/// Adds all of an image that comes with tare; its script runs first.
fn include(debian: &mut DebianSpec, name: &str) -> Result<(), String> {
    let Some(included) = super::shipped(name).map(|file| file.debian) else {
        let known = super::names();
        let among = suggest::among(name, &known, "there");
        return Err(format!("there is no image '{name}' to include: {among}"));
    };
    debian.components.extend(included.components);
    debian.packages.extend(included.packages);
    debian.maven.extend(included.maven);
    let scripts = [included.prepare, debian.prepare.take()];
    let scripts: Vec<String> = scripts.into_iter().flatten().collect();
    debian.prepare = (!scripts.is_empty()).then(|| scripts.join("\ncd /\n"));
    Ok(())
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
    fn artifacts_of_maven_are_part_of_what_an_image_is_made_of() {
        let text = "name = \"mine\"\nsuite = \"bookworm\"\n[[maven]]\nartifacts = [\"g:a:1\"]\nexclude = [\"g:b\"]\n\
            folder = \"/opt/a\"\n[[maven]]\nartifacts = [\"g:c:1:tar.gz\"]\ntake = \"unpacked\"\nfolder = \"/opt/c\"\n";
        let debian = parse("mine.toml", text).unwrap().debian;
        let takes: Vec<Take> = debian.maven.iter().map(|spec| spec.take).collect();
        assert_eq!(takes, [Take::All, Take::Unpacked]);
        let other = |from, to| parse("mine.toml", &text.replace(from, to)).unwrap().debian.name();
        assert_eq!(debian.name(), other("mine", "yours"));
        for (from, to) in [
            ("a:1", "a:2"),
            ("g:b", "g:d"),
            ("/opt/a", "/opt/b"),
            ("unpacked", "alone"),
        ] {
            assert_ne!(debian.name(), other(from, to), "{to}");
        }
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
        for (more, begin, what) in [
            (
                "packages = [\"a b\"]",
                "f.toml:3:12: \"a b\"",
                "is not a Debian package",
            ),
            ("snapshot = \"2025\"", "f.toml:3:12: \"2025\"", "20250520T000000Z"),
            ("components = []", "f.toml:3:14: ", "give at least main"),
            ("prepare = \"\\u0000\"", "f.toml:3:11: ", "NUL"),
            (
                "[[maven]]\nartifacts = [\"g:a:1\", \"-Dx=y\"]\nfolder = \"/opt/a\"",
                "f.toml:4:13: \"-Dx=y\"",
                "group:artifact:version",
            ),
            (
                "[[maven]]\nartifacts = [\"g:a:1\"]\nfolder = \"/opt/../etc\"",
                "f.toml:5:10: \"/opt/../etc\"",
                "below /opt",
            ),
            (
                "[[maven]]\nartifacts = [\"g:a:1\"]\nfolder = \"/opt/a\"\ntake = \"al\"",
                "f.toml:6:",
                "did you mean 'all'?",
            ),
        ] {
            let told = of(more);
            assert!(told.starts_with(begin) && told.contains(what), "{told}");
        }
        let named = told("name = \"./a\"\nsuite = \"bookworm\"\n");
        assert!(
            named.starts_with("f.toml:1:8: ") && named.contains("cannot be the name"),
            "{named}"
        );
        assert!(
            told("name = \"a\"\nsuite = \"B\"\n").starts_with("f.toml:2:9: \"B\" is not a Debian release")
        );
    }
}
