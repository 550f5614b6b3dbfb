//! The arguments of `tare workloads`.

use super::StateArgs;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct WorkloadsArgs {
    #[command(subcommand)]
    pub command: Option<WorkloadsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What of the workloads; by default the list of them.
#[derive(Debug, Subcommand)]
pub enum WorkloadsCommand {
    /// Print the list of workloads
    List,
    /// Print a workload: what it runs, its parameters, figures and checks
    Show {
        /// A workload of the list, or a file, such as ./redis.toml
        name: String,
        #[command(flatten)]
        state: StateArgs,
    },
    /// Read a workload and run it once, natively: exit code 1 if the trial fails
    Check {
        /// A workload of the list, or a file, such as ./redis.toml
        name: String,
        #[command(flatten)]
        state: StateArgs,
    },
}
