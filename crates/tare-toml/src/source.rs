//! Texts by their names, and places in them.

use crate::error::TomlError;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use tare_sys::regular;

/// What kind of file a text is, for its reader and for messages.
#[derive(Debug)]
pub struct Kind {
    /// `study file`.
    pub name: &'static str,
    /// The page that shows how one is written.
    pub manual: &'static str,
}

impl Kind {
    /// `a study file`.
    pub(crate) fn one(&self) -> String {
        let article = if self.name.starts_with(['a', 'e', 'i', 'o', 'u']) {
            "an"
        } else {
            "a"
        };
        format!("{article} {}", self.name)
    }
}

/// A text by its name.
#[derive(Debug)]
pub struct Source {
    pub(crate) kind: &'static Kind,
    name: String,
    pub(crate) text: String,
}

/// A stretch of a text.
#[derive(Debug, Clone)]
pub struct Place {
    source: Rc<Source>,
    pub(crate) span: Range<usize>,
}

impl Source {
    /// A text that is there already; `name` is how messages call it.
    pub fn of_text(kind: &'static Kind, name: impl Into<String>, text: impl Into<String>) -> Rc<Self> {
        Rc::new(Self {
            kind,
            name: name.into(),
            text: text.into(),
        })
    }

    /// Reads a regular file of at most so many bytes: what is larger is something else.
    ///
    /// # Errors
    /// Where it is none, is larger, or holds no text.
    pub fn of_file(kind: &'static Kind, path: &Path, max_bytes: u64) -> Result<Rc<Self>, TomlError> {
        let name = path.display().to_string();
        let wrong = |message: String| TomlError::file(&name, message);
        let unreadable = |e: io::Error| wrong(format!("cannot read the {}: {e}; check the path", kind.name));
        let Some(file) = regular::open(path).map_err(unreadable)? else {
            return Err(wrong(format!(
                "is not a regular file: give the path of {}",
                kind.one()
            )));
        };
        let has_bytes = file.metadata().map_err(unreadable)?.len();
        if has_bytes > max_bytes {
            return Err(wrong(format!(
                "has {has_bytes} B, but {} at most {max_bytes}: is it the wrong file?",
                kind.one()
            )));
        }
        let mut bytes = Vec::new();
        // It may have grown since.
        file.take(max_bytes).read_to_end(&mut bytes).map_err(unreadable)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self::of_text(kind, name, text)),
            Err(e) => Err(no_text(name, e.as_bytes(), e.utf8_error().valid_up_to())),
        }
    }

    /// A stretch of it.
    pub fn place(self: &Rc<Self>, span: Range<usize>) -> Place {
        Place {
            source: Rc::clone(self),
            span,
        }
    }
}

/// The error that the byte behind so many good ones is none of a text.
fn no_text(file: String, bytes: &[u8], good: usize) -> TomlError {
    let (line, column) = line_and_column(&bytes[..good]);
    TomlError::At {
        file,
        line,
        column,
        message: format!(
            "the byte 0x{:02x} is not UTF-8: save the file as UTF-8",
            bytes[good]
        ),
    }
}

impl Place {
    /// The name of its text.
    pub(crate) fn file(&self) -> &str {
        &self.source.name
    }

    pub(crate) const fn source(&self) -> &Rc<Source> {
        &self.source
    }

    /// Line and column in characters, from 1.
    pub(crate) fn line_and_column(&self) -> (usize, usize) {
        let text = self.source.text.as_bytes();
        line_and_column(&text[..self.span.start.min(text.len())])
    }

    /// What stands there: its first line, cut short.
    pub fn snippet(&self) -> String {
        const LONGEST: usize = 40;
        let text = self.source.text.get(self.span.clone()).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let short: String = line.chars().take(LONGEST).collect();
        if short.len() < text.trim_end().len() {
            format!("{short}...")
        } else {
            short
        }
    }
}

/// Line and column in characters, from 1, of what stands behind this beginning of a text.
fn line_and_column(before: &[u8]) -> (usize, usize) {
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let begin = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[begin..]).chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KIND: Kind = Kind {
        name: "example file",
        manual: "docs/examples.md",
    };

    fn of_bytes(bytes: &[u8], most: u64) -> Result<Rc<Source>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.toml");
        std::fs::write(&path, bytes).unwrap();
        let cut = |e: TomlError| {
            e.to_string()
                .replace(&format!("{}/", folder.path().display()), "")
        };
        Source::of_file(&KIND, &path, most).map_err(cut)
    }

    #[test]
    fn a_file_is_read_to_its_bound() {
        assert_eq!(of_bytes(b"a = 1", 5).unwrap().text, "a = 1");
        assert_eq!(
            of_bytes(b"a = 1", 4).unwrap_err(),
            "e.toml: has 5 B, but an example file at most 4: is it the wrong file?"
        );
        let told = |path: &str| {
            Source::of_file(&KIND, Path::new(path), 9)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            told("/dev/zero"),
            "/dev/zero: is not a regular file: give the path of an example file"
        );
        assert_eq!(
            told("/no/such.toml"),
            "/no/such.toml: cannot read the example file: No such file or directory (os error 2); check the path"
        );
    }

    #[test]
    fn a_place_is_told_in_lines_and_characters() {
        let source = Source::of_text(&KIND, "e.toml", "a = 1\n# é\nname = 'x\ny'");
        let place = source.place(11..23);
        assert_eq!(
            (place.line_and_column(), place.snippet().as_str()),
            ((3, 1), "name = 'x...")
        );
        assert_eq!(source.place(900..901).line_and_column(), (4, 3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn any_bytes_are_a_text_or_told_where_they_are_none(bytes: Vec<u8>) {
            match of_bytes(&bytes, 1 << 16) {
                Ok(source) => prop_assert_eq!(source.text.as_bytes(), &bytes),
                Err(told) => prop_assert!(told.ends_with("is not UTF-8: save the file as UTF-8"), "{}", told),
            }
        }
    }
}
