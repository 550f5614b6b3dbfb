//! What is wrong with a workload file, where, and what would be right.

use crate::design::PrintedError;
use crate::study_file::line_and_column;
use std::ops::Range;

/// What is wrong with a workload file, or with how one was asked for.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadFileError {
    /// Something that stands in it.
    #[error("{file}:{line}:{column}: {message}")]
    At {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What, and what would be right.
        message: String,
    },
    /// It cannot be read.
    #[error("cannot read the workload file {file}: {why}; check the path")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// A parameter that it does not have.
    #[error("workload '{workload}' has no parameter '{key}': {known}")]
    Parameter {
        /// The workload.
        workload: String,
        /// What was given.
        key: String,
        /// Which there are, in words.
        known: String,
    },
    /// A preset that there is not.
    #[error("workload '{0}' has no preset '{1}': give small or paper")]
    Preset(String, String),
    /// What stands behind its name cannot be read.
    #[error("'{0}' is no workload: parameters follow its name as in NAME?key=value&key=value")]
    Form(String),
}

impl WorkloadFileError {
    /// Something that stands at this place of a text.
    pub(super) fn at(file: &str, text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let (line, column) = line_and_column(&text.as_bytes()[..span.start.min(text.len())]);
        Self::At {
            file: file.to_owned(),
            line,
            column,
            message: message.into(),
        }
    }

    /// What options would have been told, at this place of a file.
    pub(super) fn of_printed(file: &str, text: &str, span: Range<usize>, error: &PrintedError) -> Self {
        let message = match error {
            PrintedError::Check(source) => source.to_string(),
            other => other.to_string(),
        };
        Self::at(file, text, span, message)
    }
}
