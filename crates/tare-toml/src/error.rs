//! What is wrong with a file, where, and what would be right.

use crate::source::Place;

/// What is wrong with a file of TOML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TomlError {
    /// Something that stands in it.
    #[error("{file}:{line}:{column}: {message}")]
    At {
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What, the offending text, and what would be right.
        message: String,
    },
    /// The file as a whole.
    #[error("{file}: {message}")]
    File {
        file: String,
        /// What, and what would be right.
        message: String,
    },
}

impl TomlError {
    /// Something that stands at a place.
    pub fn at(place: &Place, message: impl Into<String>) -> Self {
        let (line, column) = place.line_and_column();
        Self::At {
            file: place.file().to_owned(),
            line,
            column,
            message: message.into(),
        }
    }

    /// A file as a whole.
    pub fn file(file: &str, message: impl Into<String>) -> Self {
        Self::File {
            file: file.to_owned(),
            message: message.into(),
        }
    }
}
