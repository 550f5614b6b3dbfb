//! What is wrong with a workload file, where, and what would be right.

use tare_toml::TomlError;

/// What is wrong with a workload file, or with how one was asked for.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadFileError {
    /// Something that stands in it, or the file as a whole.
    #[error(transparent)]
    Text(#[from] TomlError),
    /// A parameter that it does not have.
    #[error("workload '{workload}' has no parameter '{key}': {known}")]
    Parameter {
        workload: String,
        /// What was given.
        key: String,
        /// Which there are, in words.
        known: String,
    },
    /// A preset that there is not.
    #[error("workload '{0}' has no preset '{1}': choose small or paper")]
    Preset(String, String),
    /// What stands behind its name cannot be read.
    #[error("'{0}' is not a workload: write parameters after its name, as in NAME?key=value&key=value")]
    Form(String),
}
