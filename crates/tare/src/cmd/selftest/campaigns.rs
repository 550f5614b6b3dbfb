//! `tare selftest aa` and `inject`: campaigns on real boxes, logged and scored.

use super::arms::{self, Site};
use super::eta::Eta;
use super::log::{Header, Log, Options};
use super::report;
use crate::args::selftest::{CampaignArgs, CampaignFresh};
use crate::out;
use anyhow::Context;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use tare_box::interrupt;
use tare_box::state::Run;
use tare_lab::preflight::Platforms;
use tare_model::size::counted;
use tare_model::study::Fresh;
use tare_selftest::campaign::Campaign;
use tare_selftest::score::{Score, Truth};

/// Runs the campaigns that the log does not have, then scores all; the second arm
/// does so many tenths of a percent more.
pub fn run(args: &CampaignArgs, tenths: u32) -> anyhow::Result<ExitCode> {
    interrupt::install().context("cannot take signals")?;
    let options = options(args, tenths);
    let state = args.state.folder();
    // Whatever is wrong with the options is found before the log is made.
    let study = arms::study(&options, [1000, 1000], 0)?;
    let earlier = args.log.as_deref().filter(|path| path.exists());
    let earlier = earlier.map(|path| Log::resume(path, &options)).transpose()?;
    let run = crate::cmd::begin(&state)?;
    let mut platforms = Platforms::open(&study.platforms, &state)?;
    let path = log_path(args, &run);
    let (mut log, header, mut campaigns) = match earlier {
        Some(earlier) => earlier,
        None => {
            let header = Header::new(options.clone(), arms::iterations(options.trial_seconds, tenths)?);
            (Log::create(&path, &header)?, header, Vec::new())
        }
    };
    out::say(&format!(
        "log: {}, {} done",
        path.display(),
        counted(campaigns.len(), "campaign")
    ));
    let mut site = Site {
        run: &run,
        platforms: &mut platforms,
        binary: std::env::current_exe().context("cannot find the tare binary")?,
        proven: BTreeSet::new(),
        boxes: 0,
    };
    let complete = measure(&mut site, &header, &mut log, &mut campaigns, args.campaigns)?;
    campaigns.truncate(args.campaigns as usize);
    finish(args, &header, &campaigns, &path, complete)
}

fn options(args: &CampaignArgs, tenths: u32) -> Options {
    Options {
        platform: args.platform.clone(),
        tenths,
        blocks: args.blocks,
        fresh: match args.fresh {
            CampaignFresh::Block => Fresh::Block,
            CampaignFresh::Study => Fresh::Study,
        },
        trial_seconds: args.trial_time,
        margin_percent: args.margin,
        batches: args.batches,
        settle: !args.no_settle,
        seed: args.seed,
    }
}

fn log_path(args: &CampaignArgs, run: &Run) -> PathBuf {
    let id = run.name().trim_start_matches("tare-");
    args.log
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("tare-selftest-{id}.jsonl")))
}

/// Runs what is missing up to so many campaigns; false if the user stopped it.
fn measure(
    site: &mut Site<'_>,
    header: &Header,
    log: &mut Log,
    campaigns: &mut Vec<Campaign>,
    wanted: u32,
) -> anyhow::Result<bool> {
    let mut eta = Eta::new();
    let first = u32::try_from(campaigns.len()).unwrap_or(u32::MAX);
    for number in first..wanted {
        let Some(campaign) = arms::campaign(site, header, number)? else {
            eta.finish();
            return Ok(false);
        };
        log.append(&campaign)?;
        campaigns.push(campaign);
        let done = f64::from(number + 1 - first) / f64::from(wanted - first);
        eta.show(done, &format!("campaign {} of {wanted}", number + 1));
    }
    eta.finish();
    Ok(true)
}

fn finish(
    args: &CampaignArgs,
    header: &Header,
    campaigns: &[Campaign],
    path: &std::path::Path,
    complete: bool,
) -> anyhow::Result<ExitCode> {
    let truth = Truth {
        effect: f64::from(header.options.tenths) / 1000.0,
        margin: args.margin / 100.0,
    };
    let score = Score::of(campaigns, truth);
    if args.json {
        out::print_json(&report::Shown::new(header, &score))?;
    } else {
        out::print(&report::text(header, &score))?;
    }
    if !complete {
        out::say(&format!(
            "stopped; go on with the same options and --log {}",
            path.display()
        ));
        return Ok(ExitCode::from(out::INTERRUPTED));
    }
    Ok(if score.passes() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(out::FAILED)
    })
}
