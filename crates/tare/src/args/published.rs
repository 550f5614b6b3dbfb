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

/// What to show of the published results; the default is the list of studies.
#[derive(Debug, Subcommand)]
pub enum PublishedCommand {
    /// List the studies
    List,
    /// Show a study: how it measured, its tables, claims and errata
    Show {
        /// Study, such as li2018
        study: String,
    },
    /// Recompute every claim from the study's own tables; exit with 1 if a figure does not follow from them (differing words are reported but do not fail)
    Check {
        /// Study [default: all]
        study: Option<String>,
    },
    /// Show what the studies say about a workload, and where they differ
    Workload {
        /// Workload or kind of resource, such as redis, stream or storage
        name: String,
    },
    /// List the scores and which study defines each
    Scores,
}
