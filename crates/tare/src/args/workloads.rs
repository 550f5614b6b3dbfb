//! The arguments of `tare workloads`.

use super::StateArgs;
use clap::{Args, Subcommand};
use tare_model::size;

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
        /// Give the trial up after this time [default: 60s, or 20 times what the file says it takes]
        #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = size::parse_seconds)]
        timeout: Option<f64>,
        #[command(flatten)]
        state: StateArgs,
    },
}
