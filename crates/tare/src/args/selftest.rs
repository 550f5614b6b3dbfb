//! The arguments of `tare selftest`.

use super::protocol::seed;
use super::{StateArgs, whole_number};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use tare_model::size::parse_seconds;
use tare_model::study::Slicing;

/// What to validate.
#[derive(Debug, Subcommand)]
pub enum SelftestCommand {
    /// Simulate data with a known truth and count how often the method is right
    #[command(
        after_help = "Exit codes: 0 all figures match the documentation; 1 a figure differs; 2 bad input; 130 stopped."
    )]
    Coverage(CoverageArgs),
    /// Compare a platform with itself many times and count false differences
    #[command(after_help = CAMPAIGN_CODES)]
    Aa(CampaignArgs),
    /// Inject a known cost many times and count how often it is found
    #[command(after_help = CAMPAIGN_CODES)]
    Inject(InjectArgs),
}

const CAMPAIGN_CODES: &str = "Exit codes: 0 passed (with 400 or more campaigns: error rates confirmed); 1 failed; 2 bad input, or nothing can run; 130 stopped (the log is intact and can be continued).";

/// Campaigns: complete comparisons of two arms on one platform.
#[derive(Debug, Args)]
pub struct CampaignArgs {
    /// Platform, such as native or vm/docker
    #[arg(short, long, value_name = "PLATFORM")]
    pub platform: String,
    /// Number of campaigns, each a complete comparison; 400 or 1000 show whether the promises hold
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = campaigns, default_value_t = 400)]
    pub campaigns: u32,
    /// Blocks per campaign
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = campaign_blocks, default_value_t = 10)]
    pub blocks: u32,
    /// When an arm gets a new box: per block, or per campaign
    #[arg(long, value_name = "WHEN", default_value = "block")]
    pub fresh: CampaignFresh,
    /// Interleave the arms in slices: off, auto, or a slice length such as 20ms [default: auto, of 10 ms, or the setting of the continued log]
    #[arg(long, allow_negative_numbers = true, value_name = "HOW", value_parser = slices)]
    pub slices: Option<Slicing>,
    /// Intended duration of a trial [default: 20 slices, or 100ms in one piece]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    pub trial_time: Option<f64>,
    /// Add a third box whose slices touch over half of its memory, to check that its cache use does not bias the comparison
    #[arg(long)]
    pub polluter: bool,
    /// Largest difference that counts as equal, in percent
    #[arg(long, allow_negative_numbers = true, value_name = "PERCENT", value_parser = super::percentage, default_value_t = 1.0)]
    pub margin: f64,
    /// Also measure each arm in its own batch, for Welch's test; needs --slices off and doubles the time
    #[arg(long)]
    pub batches: bool,
    /// Do not wait for a quiet host before a trial; no effect on trials in slices
    #[arg(long)]
    pub no_settle: bool,
    /// Base seed; each campaign derives its own
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = seed, default_value_t = 1)]
    pub seed: u64,
    /// Log of the campaigns, as JSON lines; an existing one is continued [default: tare-selftest-RUN.jsonl]
    #[arg(long, value_name = "FILE", value_parser = super::file_to_make())]
    pub log: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub state: StateArgs,
}

#[derive(Debug, Args)]
pub struct InjectArgs {
    /// Extra work of the second arm in percent: 5 means 21 iterations instead of 20
    #[arg(long, allow_negative_numbers = true, value_name = "PERCENT", value_parser = injected, default_value = "5")]
    pub percent: Tenths,
    #[command(flatten)]
    pub campaigns: CampaignArgs,
}

/// A percentage in tenths, so that it is a whole number of iterations; 1 to 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenths(pub u32);

/// When an arm gets a new box.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CampaignFresh {
    /// In every block
    Block,
    /// Once per campaign, frozen when it is not its turn
    Study,
}

#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// Draws per case, at least 500; slow cases use 1/10 or 1/4 of them
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = draws, default_value_t = 20_000)]
    pub draws: u32,
    /// Seed of the simulation; the same seed gives the same table on any number of CPUs
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = seed, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn draws(text: &str) -> Result<u32, String> {
    // With fewer draws, the simulation cannot separate any claim from chance.
    whole_number(text, 500..=10_000_000)
}

fn campaigns(text: &str) -> Result<u32, String> {
    whole_number(text, 1..=1_000_000)
}

fn campaign_blocks(text: &str) -> Result<u32, String> {
    // With fewer pairs there is no verdict.
    whole_number(text, 10..=10_000)
}

fn slices(text: &str) -> Result<Slicing, String> {
    match text.parse() {
        Ok(Slicing::Turns { .. }) => {
            Err("turns are for commands: give off, auto, or a slice length".to_owned())
        }
        Ok(slicing) => Ok(slicing),
        Err(error) => Err(error.to_string()),
    }
}

fn injected(text: &str) -> Result<Tenths, String> {
    let refused = || "give a percentage from 0.1 to 100 in whole tenths, such as 0.5".to_owned();
    let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| -> Option<u32> {
        let all = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        all.then(|| part.parse().ok()).flatten()
    };
    let whole = digits(whole).filter(|whole| *whole <= 100).ok_or_else(refused)?;
    let tenths = digits(tenths).filter(|_| tenths.len() == 1).ok_or_else(refused)?;
    Some(Tenths(10 * whole + tenths))
        .filter(|all| (1..=1000).contains(&all.0))
        .ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_counted_in_tenths() {
        let read = |text| injected(text).ok().map(|tenths| tenths.0);
        assert_eq!(
            [read("5"), read("0.5"), read("100"), read("1.0")],
            [Some(50), Some(5), Some(1000), Some(10)]
        );
        for bad in [
            "0",
            "0.05",
            "100.1",
            "-1",
            "5%",
            "",
            ".",
            "5.",
            ".5",
            "1e1",
            "99999999999",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
