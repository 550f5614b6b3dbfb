//! `tare compare`: what changed between two results files; a file beside a published study.

use super::forms;
use crate::args::CompareArgs;
use crate::out;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tare_analysis::Notice;
use tare_analysis::change::{self, Change, RawChange};
use tare_model::results::Results;
use tare_model::size::counted;
use tare_report::{benchmarks, sections};

/// Puts a file beside a study, or before another.
pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let files_read: Vec<&Path> = std::iter::once(&args.results)
        .chain(&args.after)
        .map(PathBuf::as_path)
        .collect();
    forms::check(args.forms.forms.html.as_deref(), &files_read)?;
    match (&args.published, &args.after) {
        (Some(study), _) => super::published::beside(&args.results, study, &args.forms.forms),
        (None, Some(after)) => files(args, after),
        (None, None) => anyhow::bail!("name a second results file, or a study with --published"),
    }
}

/// Reads both files, compares and prints; a regression is exit code 1.
fn files(args: &CompareArgs, after: &Path) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !is_one_file(&args.results, after),
        "{} is given twice: give the results of two runs",
        args.results.display()
    );
    let sources = [args.results.as_path(), after];
    let (before, after) = (Results::read(&args.results)?, Results::read(after)?);
    let margin = args.fail_above.map(|percent| percent / 100.0);
    let change = change::compare(&before, &after, margin)?;
    let gated = args.fail_above.or(args.raw_fail_above);
    anyhow::ensure!(
        gated.is_none() || change.notices.iter().all(|n| !matches!(n, Notice::SameRun)),
        "{} and {} have trials of the same run, so nothing can have changed: give the results of two runs with --fail-above",
        args.results.display(),
        args.after.as_deref().unwrap_or(&args.results).display()
    );
    let names = sources.map(|path| path.display().to_string());
    let document = sections::change(&change, names.each_ref().map(String::as_str));
    let costs = benchmarks::of_change(&change);
    forms::tell_costs(&args.forms, &sources, &document, &change, &costs)?;
    let costs = args.fail_above.map(|percent| gate(&change, percent));
    let figures = args.raw_fail_above.map(|percent| raw_gate(&change, percent));
    let failed = [costs.transpose()?, figures.transpose()?].contains(&Some(true));
    Ok(if failed {
        ExitCode::from(out::FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// Whether two paths lead to one file.
fn is_one_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok();
    place(one).is_some() && place(one) == place(other)
}

/// Whether a cell's own figure is worse by more than this. Where nothing could be judged, a gate
/// that let everything through would be none.
fn raw_gate(change: &Change, percent: f64) -> anyhow::Result<bool> {
    anyhow::ensure!(
        change.raw.iter().any(RawChange::is_judged),
        "--raw-fail-above {percent}: no figure can be judged; it takes the same workload and 10 trials in each file"
    );
    let mut failed = false;
    for regression in change.raw_regressions(percent / 100.0) {
        failed = true;
        out::say(&format!(
            "regression: {} itself is over {percent} % worse than before, whatever the cause",
            out::one_line(&regression.cell.to_string())
        ));
    }
    Ok(failed)
}

/// Whether a cost is worse by more than the margin: only that fails. Where nothing could be
/// judged, a gate that let everything through would be none.
fn gate(change: &Change, percent: f64) -> anyhow::Result<bool> {
    anyhow::ensure!(
        change.judged(),
        "--fail-above {percent}: no change got a verdict, for the reasons shown for each cell; a verdict needs the same work in both files and 10 pairs in each"
    );
    for regression in change.regressions() {
        out::say(&format!(
            "regression: {} costs over {percent} % more than before",
            out::one_line(&regression.cell.to_string())
        ));
    }
    for doubtful in change.doubtful() {
        out::say(&format!(
            "warning: {} costs more than before, but perhaps by less than {percent} %",
            out::one_line(&doubtful.cell.to_string())
        ));
    }
    let open = change.open().filter(|(_, c)| c.high > 1.0 + percent / 100.0);
    let (n, most) = open.fold((0, 1.0_f64), |(n, most), (_, c)| (n + 1, most.max(c.high)));
    if n > 0 {
        out::say(&format!(
            "not judged: {n} of {}: rises of up to {:.0} % are not ruled out",
            counted(change.overheads.len(), "cost change"),
            100.0 * (most - 1.0)
        ));
    }
    Ok(change.regressions().next().is_some())
}
