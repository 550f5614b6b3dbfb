//! What is wrong with a study file, where, and what would be right.

use crate::design::DesignError;
use tare_toml::TomlError;

/// What is wrong with a study file.
#[derive(Debug, thiserror::Error)]
pub enum StudyFileError {
    /// Something that stands in the file, or the file as a whole.
    #[error(transparent)]
    Text(#[from] TomlError),
    /// A name of no shipped study.
    #[error("there is no study '{name}': {} A file's name ends with .toml, and 'tare plan --list' lists the shipped ones", .advice)]
    Unknown {
        name: String,
        /// What may be meant.
        advice: String,
    },
    /// Platforms for a study that lists its cells.
    #[error(
        "the study lists its own cells, which --platforms cannot change: copy the study and edit its [design]"
    )]
    Platforms,
    /// What options of the command line made of it.
    #[error(transparent)]
    Design(#[from] DesignError),
}

/// A message about options as one about the keys of a file, which are the same words.
pub(super) fn in_keys(message: &str) -> String {
    let mut parts = message.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part
            .find(|c: char| !(c.is_ascii_lowercase() || c == '-'))
            .unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        let key = if option == "instance" { "instances" } else { option };
        text += &key.replace('-', "_");
        text += rest;
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn options_become_keys() {
        assert_eq!(
            super::in_keys("--trial-time is 0: give --instance no --memory"),
            "trial_time is 0: give instances no memory"
        );
    }
}
