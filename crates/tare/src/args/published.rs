//! The arguments of `tare published`.

use super::forms::FormArgs;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct PublishedArgs {
    #[command(subcommand)]
    pub command: Option<PublishedCommand>,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// What of the published results; by default the list of studies.
#[derive(Debug, Subcommand)]
pub enum PublishedCommand {
    /// Print the list of studies
    List,
    /// Print a study: how it measured, its tables, claims and errata
    Show {
        /// The study, such as li2018
        study: String,
    },
    /// Derive what every claim speaks of from the study's own tables, beside the study's words; exit code 1 if a figure does not follow from the tables (words that differ are told, and are no failure)
    Check {
        /// The study [default: all]
        study: Option<String>,
    },
    /// Print what all studies say of a workload, and where they differ
    Workload {
        /// A workload or kind of resource, such as redis, stream or storage
        name: String,
    },
    /// Print which study defines which score
    Scores,
}
