//! `tare watch`: a run that goes on elsewhere, from its results file alone.

use super::place::Place;
use super::{forms, report};
use crate::args::WatchArgs;
use crate::args::forms::FormArgs;
use crate::out;
use anyhow::Context;
use console::Term;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;
use tare_analysis::analyze;
use tare_analysis::{RunFacts, run_facts};
use tare_host::{host, interrupt};
use tare_lab::is_written;
use tare_lab::resume::Progress;
use tare_model::results::Results;
use tare_model::size::{counted, show_seconds};
use tare_report::text;
use tare_study::looks::{Looks, ahead};

/// How often the file is looked at: seldom enough to leave the host quiet.
const EVERY: Duration = Duration::from_secs(2);
/// Without a writer on this host, a file that a run on another one writes may still grow.
const LEFT_AFTER: Duration = Duration::from_secs(60);
/// How often a wish to stop is.
const STEP: Duration = Duration::from_millis(100);

/// Shows the run until it ends.
pub fn run(args: &WatchArgs) -> anyhow::Result<ExitCode> {
    interrupt::install().context("cannot handle signals")?;
    let screen = Term::stdout();
    let mut seen = None;
    let mut is_ours = false;
    loop {
        let length = std::fs::metadata(&args.file).map(|m| m.len()).ok();
        if seen != length || seen.is_none() {
            seen = length;
            let results = Results::read(&args.file)?;
            // Not the whole analysis, which nobody is to wait for beside a run that measures.
            let run = run_facts(&results);
            let ended = run.end.is_some();
            is_ours = is_of_this_user_and_host(&args.file, &results);
            let left = !ended && is_left(&args.file, is_ours);
            let state = state(&results, &run, left);
            if args.once || ended || !screen.is_term() {
                out::print(&format!("{state}\n"))?;
            } else {
                screen.clear_screen()?;
                out::print(&format!("{state}\n\n{}", figures(&results, &args.file)))?;
            }
            if ended && !args.once {
                report::answer(
                    &analyze(&results),
                    &FormArgs::default(),
                    &Place::of(&args.file, None),
                )?;
            }
            if ended || args.once && !left {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if is_left(&args.file, is_ours) {
            let file = out::word(&args.file.display().to_string());
            out::say(&format!(
                "no process on this host writes to {file}: its run was killed, or is on another host; to continue it: {}",
                out::resume(&args.file)
            ));
            return Ok(ExitCode::from(out::FAILED));
        }
        if !wait() {
            return Ok(ExitCode::from(out::INTERRUPTED));
        }
    }
}

/// Whether a lock of its writer would be seen: not that of another user, or on another host.
fn is_of_this_user_and_host(file: &Path, results: &Results) -> bool {
    let is_mine = file
        .metadata()
        .is_ok_and(|about| about.uid() == rustix::process::geteuid().as_raw());
    let id = host::facts().id;
    is_mine && id.is_some() && id == results.header.host.id
}

/// Whether its run is gone: nobody holds the file and, if somebody unseen may, it has not grown for a while.
fn is_left(file: &Path, is_ours: bool) -> bool {
    let age = std::fs::metadata(file)
        .and_then(|about| about.modified())
        .map(|at| at.elapsed().unwrap_or_default());
    age.is_ok_and(|age| is_ours || age > LEFT_AFTER) && !is_written(file)
}

/// Waits; whether nobody wishes to stop.
fn wait() -> bool {
    let steps = EVERY.as_millis() / STEP.as_millis();
    (0..steps).all(|_| {
        sleep(STEP);
        !interrupt::requested()
    })
}

/// `block 3 of 10, 58 of 192 trials, about 12 min left`.
fn state(results: &Results, run: &RunFacts, is_left: bool) -> String {
    let mut study = results.header.study.clone();
    study.protocol.blocks = run.blocks_planned;
    let (blocks, total) = ahead(&study, Looks::resumed(results).as_ref());
    let total = u64::from(total);
    let progress = Progress::of(results);
    let done = u64::from(progress.n_done()).min(total);
    let block = results.trials().map(|t| t.block + 1).max().unwrap_or(0);
    let left = time_left(results, run, done, total).filter(|_| !is_left);
    let left = left.map_or_else(String::new, |left| format!(", about {} left", show_seconds(left)));
    let failed = run.trials.failed;
    let failed = if failed > 0 {
        format!(", {failed} failed")
    } else {
        String::new()
    };
    format!(
        "block {block} of {blocks}, {done} of {}{failed}{left}",
        counted(total, "trial")
    )
}

/// By the time that the trials of the latest session took, seen from its latest trial.
#[expect(clippy::cast_precision_loss, reason = "for people: two digits are shown")]
fn time_left(results: &Results, run: &RunFacts, done: u64, total: u64) -> Option<f64> {
    if run.end.is_some() {
        return None;
    }
    let started = run.sessions.last()?.started_unix_ns;
    let of_session = results.trials().filter(|t| t.started_unix_ns >= started);
    let (n, latest) = of_session.fold((0_u64, started), |(n, latest), t| {
        (n + 1, latest.max(t.started_unix_ns))
    });
    let seconds = latest.checked_sub(started)? as f64 / 1e9;
    (n > 1).then(|| seconds / (n - 1) as f64 * total.saturating_sub(done) as f64)
}

/// The answer as far as it is known.
fn figures(results: &Results, file: &Path) -> String {
    let place = Place::of(file, None);
    text::answer(
        &analyze(results),
        place.told(),
        forms::options(&FormArgs::default()),
    )
}
