//! What a reader of any figure must know, in words: what it is and what follows.

use super::proofs;
use crate::show::or_missing;
use tare_analysis::{Notice, OtherFile};
use tare_model::metric::Unit;
use tare_model::platform::PlatformPath;
use tare_model::results::EndReason;
use tare_model::size::counted;

/// All of them.
pub(crate) fn all(notices: &[Notice]) -> Vec<String> {
    notices.iter().map(words).collect()
}

/// One.
pub fn words(notice: &Notice) -> String {
    of_boxes(notice)
        .or_else(|| of_run(notice))
        .or_else(|| of_trials(notice))
        .or_else(|| of_foreign(notice))
        .unwrap_or_else(|| plain(notice).to_owned())
}

fn of_boxes(notice: &Notice) -> Option<String> {
    let words = match notice {
        Notice::Emulated { platform } => format!(
            "{platform} was emulated: without hardware virtualisation (tcg), its figures say nothing about a VM under kvm"
        ),
        Notice::UntestedDriver { platform } => format!(
            "the driver of {platform} was written from its engine's documentation and is untested: its limits are proven as usual, its start, freeze and removal are not"
        ),
        Notice::NotReached { kinds } => format!(
            "the run stopped before these limits were proven, no verdict on their cells: {}",
            kinds.join(", ")
        ),
        Notice::LimitsNotProven {
            kind,
            readings,
            remarks,
        } => {
            let remarks: String = remarks.iter().map(|r| format!("; {r}")).collect();
            let readings = proofs::readings(readings.as_ref());
            format!("limits not proven for {kind}, no verdict on its cells: {readings}{remarks}")
        }
        Notice::NoBaseline { baseline } => {
            format!("the baseline {baseline} is not among the study's platforms: nothing can be compared")
        }
        Notice::OtherBaseline { of_study } => format!(
            "costs use another baseline than the study's {of_study}: it was chosen after seeing the figures, so measure again before you rely on one that stands out"
        ),
        Notice::EndOutside { workloads, networks } => {
            let told = workloads
                .iter()
                .map(|w| format!("{} ({})", some_of(&w.workloads), w.places));
            format!(
                "parts of a workload ran outside its box ({}): {}",
                ways(networks),
                told.collect::<Vec<_>>().join(", ")
            )
        }
        Notice::Oversubscribed { host_cpus, workloads } => format!(
            "the boxes of a cell have more CPUs together than this host's {host_cpus}, and wait for one another: {}",
            some_of(workloads)
        ),
        _ => return None,
    };
    Some(words)
}

/// `native by the host's own network; docker, lxc by a bridge`.
pub(super) fn ways(networks: &[(PlatformPath, &'static str)]) -> String {
    let mut ways: Vec<(&str, Vec<String>)> = Vec::new();
    for (path, name) in networks {
        let path = path.to_string();
        match ways.iter_mut().find(|(known, _)| known == name) {
            Some((_, paths)) => paths.push(path),
            None => ways.push((name, vec![path])),
        }
    }
    let told = ways
        .iter()
        .map(|(name, paths)| format!("{} by {}", paths.join(", "), network(name)));
    told.collect::<Vec<_>>().join("; ")
}

fn network(name: &str) -> &'static str {
    match name {
        "bridge" => "a bridge",
        "published" => "a published port and a bridge",
        _ => "the host's own network",
    }
}

fn of_run(notice: &Notice) -> Option<String> {
    let words = match notice {
        Notice::UnknownRecords { kind, records } => format!(
            "ignored: {} of kind '{kind}', which this version of tare does not know",
            counted(*records, "record")
        ),
        Notice::AheadOfNow { files } => format!(
            "{} later than now, so a clock ran ahead and their place in the order may be wrong: {}; leave them out, or measure them again with the right time",
            begin(files),
            some_of(files)
        ),
        Notice::ClockUnset { files } => format!(
            "{} before 2020, so a clock was not set and their place in the order may be wrong: {}; leave them out, or measure them again with the right time",
            begin(files),
            some_of(files)
        ),
        Notice::SameStart { files } => format!(
            "{} at the same moment as another, so their order is the one in which they were named: {}",
            begin(files),
            some_of(files)
        ),
        Notice::UnnamedFigures { figures } => format!(
            "ignored: figures that the file's header does not name: {}",
            some_of(figures)
        ),
        Notice::Sessions { sessions } => {
            format!("the file was written in {sessions} sessions: the host may have changed between them")
        }
        Notice::Boots { boots } => format!(
            "the sessions span {boots} boots of the host: figures apply to one boot, and intervals do not include what a reboot changes"
        ),
        Notice::Files { others } => format!(
            "not the same program: {}; what changed may be the program, not the box",
            some_of(&others.iter().map(other_file).collect::<Vec<_>>())
        ),
        Notice::Incomplete { end, blocks, planned } => format!(
            "{}; begun: {blocks} of {}",
            ended(*end),
            counted(*planned, "block")
        ),
        Notice::LongTurns { aim_seconds, cells } => {
            let long = cells
                .iter()
                .map(|c| format!("{} ({})", c.cell, Unit::Second.show(c.seconds)));
            format!(
                "turns took longer than {}: {}; something kept tare from ending them, so the overhead of a turn weighs less there than in other cells",
                Unit::Second.show(*aim_seconds),
                long.collect::<Vec<_>>().join(", ")
            )
        }
        Notice::CarryOver {
            comparisons,
            of,
            cells,
        } => format!(
            "{comparisons} of {} affected by what ran right before: {}; longer slices (--slices 50ms) or, in one piece, a longer pause between trials (--pause) reduce that",
            counted(*of, "comparison"),
            some_of(&cells.iter().map(ToString::to_string).collect::<Vec<_>>())
        ),
        _ => return None,
    };
    Some(words)
}

/// `/srv/app 3f2a... before, 9c1d... after`
fn other_file(other: &OtherFile) -> String {
    let of = |digest: &Option<String>| or_missing(digest.as_ref(), |d| format!("{d}..."));
    format!(
        "{} {} before, {} after",
        other.file,
        of(&other.before),
        of(&other.after)
    )
}

fn ended(end: Option<EndReason>) -> &'static str {
    match end {
        Some(EndReason::BudgetSpent) => "the time budget was used up",
        Some(EndReason::Fruitless) => "the first block left nothing to compare, so the run ended there",
        Some(EndReason::Interrupted) => "the user stopped the run",
        Some(EndReason::Aborted) => "an error stopped the run",
        Some(EndReason::ProgramChanged) => {
            "a program was replaced while it was measured, so the last block may have run both"
        }
        Some(EndReason::Complete | EndReason::Settled) => "the run completed",
        None => "the run was killed or is still running: the file has no end record",
    }
}

fn of_trials(notice: &Notice) -> Option<String> {
    let words = match notice {
        Notice::UnsoundStudy { what } => format!(
            "the header has {}, which no study has: the file was altered, or tare did not write it; no verdicts",
            what.join(" and ")
        ),
        Notice::StrayTrials { trials } => {
            format!("ignored: {} of no cell of the study", counted(*trials, "trial"))
        }
        Notice::StrayBlocks { trials } => {
            format!("ignored: {} of no block of the study", counted(*trials, "trial"))
        }
        Notice::StrayMembers { members } => {
            format!(
                "ignored: {} of no cell of the study",
                counted(*members, "group member")
            )
        }
        Notice::ConflictingTrials { trials } => format!(
            "{} in the file more than once with different contents, so none counts; the file was altered, or two files were joined",
            counted(*trials, "trial")
        ),
        Notice::CopiedRecords { records } => format!(
            "{} in the file more than once as exact copies, counted once",
            counted(*records, "record")
        ),
        Notice::NoFigures { samples, of } => format!(
            "ignored: {} beyond what any machine can reach in that unit: {}",
            counted(*samples, "figure"),
            some_of(of)
        ),
        Notice::NoSlices { slices } => format!(
            "ignored: {} with a cost that no machine can reach",
            counted(*slices, "slice")
        ),
        Notice::IdenticalFigures { cells } => format!(
            "identical figures in all trials of {}: made up, or from a clock with too low a resolution; no verdict on them",
            some_of(cells)
        ),
        Notice::HostUnknown { what } => format!(
            "the header does not record the host's {}, as every run does: it is unknown what the figures depend on",
            what.join(" and ")
        ),
        Notice::NoiseUnknown {
            trials,
            of,
            are_short: true,
        } => format!(
            "other load unknown in {trials} of {}, as measuring it takes --trial-time 500ms: the host counts CPU time in ticks of 10 ms, so a trial under 0.4 s without a wait for a quiet host before it (--no-settle) is too short",
            counted(*of, "trial")
        ),
        Notice::NoiseUnknown { trials, of, .. } => format!(
            "other load unknown in {trials} of {}: the file has no readings of it, so nobody knows whether they were disturbed; measure again where tare can read /proc/stat",
            counted(*of, "trial")
        ),
        _ => return None,
    };
    Some(words)
}

fn of_foreign(notice: &Notice) -> Option<String> {
    let words = match notice {
        Notice::Direction { metrics } => format!(
            "assumed to be better when lower, like times: {}; change that with a column 'direction' or with --direction",
            some_of(metrics)
        ),
        Notice::Repetitions { files } => format!(
            "{} of a benchmark tool: each is one block, and a figure is the mean of its repetitions, which share the conditions of their run; for more blocks, run the tool again and give all files",
            counted(*files, "file")
        ),
        Notice::WithoutBaseline { cells } => format!(
            "compared with nothing, as they have no baseline: {}; choose one with --baseline",
            some_of(cells)
        ),
        Notice::NoLogarithm { comparisons, of } => format!(
            "{comparisons} of {} {} values of 0 or less, which have no log ratio: they get the ratio of means (if the baseline's mean is above 0), but no paired ratio, test or verdict",
            counted(*of, "comparison"),
            if *of == 1 { "has" } else { "have" }
        ),
        Notice::NoSpread { comparisons, of } => format!(
            "{comparisons} of {} have the same ratio in every block: the interval is a point. Counters can do that, times hardly: check for copied or rounded values",
            counted(*of, "comparison")
        ),
        _ => return None,
    };
    Some(words)
}

fn begin(files: &[String]) -> String {
    let verb = if files.len() == 1 { "begins" } else { "begin" };
    format!("{} {verb}", counted(files.len(), "file"))
}

/// Those without figures.
const fn plain(notice: &Notice) -> &'static str {
    match notice {
        Notice::NoMargin => "the study's margin is not one of 0.01 to 100 %: no verdicts",
        Notice::KeptBoxes => {
            "one box per platform served the whole study: figures apply to these boxes, and platforms get no verdict"
        }
        Notice::Torn => {
            "the file ends in the middle of a record, from a run that was killed while writing; that record is ignored"
        }
        Notice::BlockOrder => {
            "the blocks have names: tare assumes that they ran in the order in which the file first names them, which affects the flag for autocorrelation and steadiness"
        }
        Notice::Builds => {
            "the files were measured by different builds of the agent: the machine code of the built-in workloads may differ"
        }
        Notice::Slices => {
            "only one of the runs used slices: figures of whole trials are compared, not typical costs"
        }
        Notice::Order => "the first file is the newer one: 'after' was measured before 'before'",
        Notice::SameRun => "both files have trials of the same run: they are not independent measurements",
        _ => "",
    }
}

/// The first few names and how many there are beside them: a file can hold any number.
pub(crate) fn some_of(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| tare_analysis::foreign::short(name))
        .collect();
    shown.join(", ") + &beside(names.len())
}

/// The same of clauses, whole.
pub(super) fn some_clauses(clauses: &[String]) -> String {
    some_whole(clauses, "; ")
}

/// The same with what stands between them.
pub(super) fn some_whole(clauses: &[String], between: &str) -> String {
    let shown = &clauses[..clauses.len().min(SHOWN)];
    shown.join(between) + &beside(clauses.len())
}

/// So many are told by name.
const SHOWN: usize = 6;

/// ` and 3 more`, if there are more than are told.
fn beside(all: usize) -> String {
    match all.saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}
