//! The text of a study, over what it includes.

use super::error::StudyFileError;
use super::shipped;
use std::path::PathBuf;
use std::rc::Rc;
use tare_toml::{Kind, Node, Place, Source, TomlError, Value};

const STUDY: Kind = Kind {
    name: "study file",
    manual: "docs/study-files.md",
};
/// A study has a few kB.
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

    fn source(&self) -> Result<Rc<Source>, StudyFileError> {
        match self {
            Self::File(path) => Ok(Source::of_file(&STUDY, path, MAX_BYTES)?),
            Self::Shipped(name) => {
                let text = shipped::text(name).ok_or_else(|| shipped::unknown(name))?;
                Ok(Source::of_text(&STUDY, self.name(), text))
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
    let source = origin.source()?;
    with_includes(&origin, &source, &mut vec![origin.identity()])
}

fn with_includes(
    origin: &Origin,
    source: &Rc<Source>,
    chain: &mut Vec<Origin>,
) -> Result<Node, StudyFileError> {
    let mut node = Node::parse(source)?;
    let Some(include) = take_include(&mut node)? else {
        return Ok(node);
    };
    let (text, place) = include;
    let other = origin.included(&text);
    let wrong = |message: String| Err(TomlError::at(&place, message).into());
    if chain.contains(&other.identity()) {
        let names: Vec<String> = chain.iter().chain([&other]).map(short_name).collect();
        return wrong(format!(
            "include \"{text}\" includes itself ({}): remove one include",
            names.join(" -> ")
        ));
    }
    if chain.len() >= MAX_INCLUDES {
        return wrong(format!(
            "include \"{text}\" nests more than {MAX_INCLUDES} files: merge some of them"
        ));
    }
    chain.push(other.identity());
    let read = match other.source() {
        Ok(read) => read,
        Err(cause) => return wrong(format!("include \"{text}\": {cause}")),
    };
    let base = with_includes(&other, &read, chain)?;
    Ok(tare_toml::overlay(base, node))
}

/// The last part of a file's path: enough to see a circle.
fn short_name(origin: &Origin) -> String {
    let name = origin.name();
    name.rsplit('/').next().unwrap_or(&name).to_owned()
}

/// Takes `include` out of a text.
fn take_include(node: &mut Node) -> Result<Option<(String, Place)>, TomlError> {
    let Value::Table(table) = &mut node.value else {
        return Ok(None);
    };
    let Some((_, include)) = table.remove("include") else {
        return Ok(None);
    };
    let text = include.text("include", "\"base.toml\"")?.to_owned();
    Ok(Some((text, include.place)))
}

/// Takes the small size out of a study: the whole with that put over it.
pub(super) fn take_small(node: &mut Node) -> Result<Option<Node>, TomlError> {
    let Value::Table(table) = &mut node.value else {
        return Ok(None);
    };
    let Some((_, small)) = table.remove("small") else {
        return Ok(None);
    };
    let inner = small.table("small", "protocol = { blocks = 10 }")?;
    if let Some((key, (place, _))) = ["title", "include", "small"]
        .iter()
        .find_map(|key| inner.get_key_value(*key))
    {
        return Err(TomlError::at(
            place,
            format!("'{key}' cannot differ in [small]: remove it there"),
        ));
    }
    Ok(Some(tare_toml::overlay(node.clone(), small)))
}
