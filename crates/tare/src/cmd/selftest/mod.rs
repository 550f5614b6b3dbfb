//! `tare selftest`: the method held against known truths.

mod arms;
mod campaigns;
mod coverage;
mod eta;
mod log;
mod pairs;
mod report;
mod site;

use crate::args::selftest::SelftestCommand;
use std::process::ExitCode;

/// Carries out a self-test.
pub fn run(command: &SelftestCommand) -> anyhow::Result<ExitCode> {
    match command {
        SelftestCommand::Coverage(args) => coverage::run(args),
        SelftestCommand::Aa(args) => campaigns::run(args, 0),
        SelftestCommand::Inject(args) => campaigns::run(&args.campaigns, args.percent.0),
    }
}
