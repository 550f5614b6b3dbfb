//! The text of a study and of what it includes, and places in it.

use super::error::StudyFileError;
use super::place::{Place, Source, line_and_column};
use super::shipped;
use super::tree::{self, Node};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tare_model::regular;

/// A study has a few kB; what is larger is something else.
const MAX_BYTES: u64 = 1 << 20;
/// Files that include one another, at most.
const MAX_INCLUDES: usize = 16;

/// Where a text comes from, and what its includes are relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    File(PathBuf),
    Shipped(String),
}

impl Origin {
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Shipped(name) => format!("{name}.toml"),
        }
    }

    /// What an `include` in this text names.
    fn included(&self, text: &str) -> Self {
        match self {
            Self::File(path) => Self::File(path.with_file_name(text)),
            Self::Shipped(_) => Self::Shipped(text.trim_end_matches(".toml").to_owned()),
        }
    }

    /// The same for every way to write its path.
    fn identity(&self) -> Self {
        match self {
            Self::File(path) => Self::File(path.canonicalize().unwrap_or_else(|_| path.clone())),
            Self::Shipped(_) => self.clone(),
        }
    }

    fn text(&self) -> Result<String, StudyFileError> {
        match self {
            Self::File(path) => read_file(path),
            Self::Shipped(name) => {
                let text = shipped::text(name).ok_or_else(|| shipped::unknown(name))?;
                Ok(text.to_owned())
            }
        }
    }
}

/// Reads a study, what it includes below it.
pub(super) fn load(study: &str) -> Result<Node, StudyFileError> {
    let is_path = study.ends_with(".toml") || study.contains('/');
    let origin = if is_path {
        Origin::File(PathBuf::from(study))
    } else {
        Origin::Shipped(study.to_owned())
    };
    let text = origin.text()?;
    with_includes(&origin, text, &mut vec![origin.identity()])
}

fn with_includes(origin: &Origin, text: String, chain: &mut Vec<Origin>) -> Result<Node, StudyFileError> {
    let source = Rc::new(Source {
        name: origin.name(),
        text,
    });
    let whole = Place { source, span: 0..0 };
    let mut node = tree::parse(&whole.source.text, &whole)?;
    let Some(include) = tree::take_include(&mut node)? else {
        return Ok(node);
    };
    let (text, place) = include;
    let other = origin.included(&text);
    let wrong = |message: String| Err(StudyFileError::at(&place, message));
    if chain.contains(&other.identity()) {
        let names: Vec<String> = chain.iter().chain([&other]).map(short_name).collect();
        return wrong(format!(
            "include \"{text}\" leads back to itself ({}): leave one include out",
            names.join(" -> ")
        ));
    }
    if chain.len() >= MAX_INCLUDES {
        return wrong(format!(
            "include \"{text}\" makes more than {MAX_INCLUDES} files that include one another: put what they say into fewer"
        ));
    }
    chain.push(other.identity());
    let read = match other.text() {
        Ok(read) => read,
        Err(cause) => return wrong(format!("include \"{text}\": {cause}")),
    };
    let base = with_includes(&other, read, chain)?;
    Ok(tree::overlay(base, node))
}

/// The last part of a file's path: enough to see a circle.
fn short_name(origin: &Origin) -> String {
    let name = origin.name();
    name.rsplit('/').next().unwrap_or(&name).to_owned()
}

fn read_file(path: &Path) -> Result<String, StudyFileError> {
    let name = path.display().to_string();
    let wrong = |message: String| StudyFileError::file(&name, message);
    let unreadable = |e: std::io::Error| wrong(format!("cannot read the study file: {e}; check the path"));
    let Some(file) = regular::open(path).map_err(unreadable)? else {
        return Err(wrong(
            "is no regular file: give the path of a study file".to_owned(),
        ));
    };
    let has_bytes = file.metadata().map_err(unreadable)?.len();
    if has_bytes > MAX_BYTES {
        return Err(wrong(format!(
            "has {has_bytes} B, and a study file at most {MAX_BYTES}: is it another file that was meant?"
        )));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let bytes = e.as_bytes();
        let (line, column) = line_and_column(&bytes[..good]);
        StudyFileError::At {
            file: name.clone(),
            line,
            column,
            message: format!(
                "the byte 0x{:02x} is no UTF-8 text: save the file as UTF-8",
                bytes[good]
            ),
        }
    })
}
