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

/// What to do with workloads; the default is to list them.
#[derive(Debug, Subcommand)]
pub enum WorkloadsCommand {
    /// List the workloads
    List,
    /// Show a workload: what it runs, its parameters, figures and checks
    Show {
        /// A listed workload, or a file, such as ./redis.toml
        name: String,
        #[command(flatten)]
        state: StateArgs,
    },
    /// Run a workload once natively; exit with 1 if the trial fails
    Check {
        /// A listed workload, or a file, such as ./redis.toml
        name: String,
        /// Abort the trial after this time [default: 60s, or 20 times the duration in the workload file]
        #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = size::parse_seconds)]
        timeout: Option<f64>,
        #[command(flatten)]
        state: StateArgs,
    },
}
