//! `tare selftest aa` and `inject`: campaigns on real boxes, logged and scored.

use super::arms;
use super::eta::Eta;
use super::log::{Earlier, Log};
use super::report;
use super::site::CampaignSite;
use crate::args::selftest::{CampaignArgs, CampaignFresh};
use crate::out;
use anyhow::Context;
use std::path::PathBuf;
use std::process::ExitCode;
use tare_host::{host, interrupt};
use tare_lab::session::Session;
use tare_model::size::counted;
use tare_model::study::{Fresh, Slicing};
use tare_platforms::state::Run;
use tare_selftest::campaign::Campaign;
use tare_selftest::log::{Header, Options, Scored};
use tare_selftest::score::{Score, Truth};

/// Rounds of a trial in slices where nobody says: a median over them is steady, and the
/// campaigns take minutes.
const ROUNDS: f64 = 20.0;
/// Seconds of a trial in one piece where nobody says.
const PIECE: f64 = 0.1;

/// Runs the campaigns that the log does not have, then scores all; the second arm
/// does so many tenths of a percent more.
pub fn run(args: &CampaignArgs, tenths: u32) -> anyhow::Result<ExitCode> {
    interrupt::install().context("cannot handle signals")?;
    let earlier = args.log.as_deref().filter(|path| path.exists());
    let earlier = earlier.map(Earlier::read).transpose()?;
    let options = options(args, tenths, earlier.as_ref().map(|log| &log.header.options))?;
    let state = args.state.folder();
    // Whatever is wrong with the options is found before the log is made.
    let study = arms::comparison(&options, [1000, 1000], 0)?.study;
    let earlier = earlier.map(|log| log.resume(&options)).transpose()?;
    let run = crate::cmd::begin(&state)?;
    let session = Session::open(study, run, None)?;
    let path = log_path(args, &session.run);
    let (mut log, header, mut campaigns) = match earlier {
        Some(earlier) => earlier,
        None => {
            let header = Header::new(
                tare_platforms::agent_file::build_id(),
                options.clone(),
                arms::iterations(&options)?,
                host::facts(),
            );
            (Log::create(&path, &header)?, header, Vec::new())
        }
    };
    out::say(&format!(
        "log: {}, {} done",
        out::path(&path),
        counted(campaigns.len(), "campaign")
    ));
    let mut site = CampaignSite { session };
    let complete = measure(&mut site, &header, &mut log, &mut campaigns, args.campaigns)?;
    campaigns.truncate(args.campaigns as usize);
    finish(args, &header, &campaigns, &path, complete)
}

/// What is asked; a log that is continued says how it is sliced where nobody else does.
fn options(args: &CampaignArgs, tenths: u32, earlier: Option<&Options>) -> anyhow::Result<Options> {
    let begun = earlier.map(|options| options.slicing);
    let slicing = args.slices.or(begun).unwrap_or(Slicing::AUTO);
    anyhow::ensure!(
        slicing.is_off() || !args.batches,
        "--batches measures each arm by itself, in one piece: add --slices off"
    );
    anyhow::ensure!(
        !slicing.is_off() || !args.polluter,
        "--polluter works between the slices of the arms: omit --slices off"
    );
    Ok(Options {
        platform: args.platform.clone(),
        tenths,
        blocks: args.blocks,
        fresh: match args.fresh {
            CampaignFresh::Block => Fresh::Block,
            CampaignFresh::Study => Fresh::Study,
        },
        slicing,
        trial_seconds: args.trial_time.unwrap_or_else(|| trial_seconds(slicing)),
        polluter: args.polluter,
        margin_percent: args.margin,
        batches: args.batches,
        settle: !args.no_settle,
        seed: args.seed,
    })
}

/// Seconds of a trial where nobody says.
fn trial_seconds(slicing: Slicing) -> f64 {
    match slicing {
        Slicing::Off => PIECE,
        Slicing::Auto { seconds, .. } | Slicing::Turns { seconds } => ROUNDS * seconds,
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
    site: &mut CampaignSite,
    header: &Header,
    log: &mut Log,
    campaigns: &mut Vec<Campaign>,
    wanted: u32,
) -> anyhow::Result<bool> {
    let mut eta = Eta::new();
    let first = u32::try_from(campaigns.len()).unwrap_or(u32::MAX);
    for number in first..wanted {
        let Some(campaign) = site.campaign(header, number)? else {
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
        out::print_json(&Scored::new(header, &score))?;
    } else {
        out::print(&report::text(header, &score))?;
    }
    if !complete {
        out::say(&format!(
            "stopped; continue with the same options and --log {}",
            out::word(&path.display().to_string())
        ));
        return Ok(ExitCode::from(out::INTERRUPTED));
    }
    Ok(if score.passes() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(out::FAILED)
    })
}
