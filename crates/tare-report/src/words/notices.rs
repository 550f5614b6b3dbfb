//! What a reader of any figure must know, in words: what it is and what follows.

use super::proofs;
use tare_analysis::Notice;
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
            "{platform} ran without hardware virtualisation (tcg: every guest instruction is translated in software): its figures are those of emulation, not of a VM under kvm"
        ),
        Notice::UntestedDriver { platform } => format!(
            "the driver of {platform} was written by its engine's documentation and not tested on it: its limits are proven as everywhere, its start, freezing and end are not"
        ),
        Notice::NotReached { kinds } => format!(
            "the run stopped before the limits of these were proven, no verdict on their cells: {}",
            kinds.join(", ")
        ),
        Notice::LimitsNotProven {
            kind,
            readings,
            remarks,
        } => {
            let remarks: String = remarks.iter().map(|r| format!("; {r}")).collect();
            let readings = proofs::readings(readings.as_ref());
            format!("limits not proven of {kind}, no verdict on its cells: {readings}{remarks}")
        }
        Notice::NoBaseline { baseline } => {
            format!("the baseline {baseline} is not among the study's platforms: nothing can be compared")
        }
        Notice::OtherBaseline { of_study } => format!(
            "costs are over another baseline than the study's, which is {of_study}: chosen when the figures were there, so that what stands out among many is to be measured anew before it is relied on"
        ),
        Notice::EndOutside { workloads, networks } => {
            let told = workloads
                .iter()
                .map(|w| format!("{} ({})", some_of(&w.workloads), w.places));
            format!(
                "one end ran outside of the box, and messages crossed from place to place ({}): so with {}",
                ways(networks),
                told.collect::<Vec<_>>().join(", ")
            )
        }
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
        Notice::UnnamedFigures { figures } => format!(
            "ignored: figures that the file's header does not name: {}",
            some_of(figures)
        ),
        Notice::Sessions { sessions } => {
            format!("the file was written in {sessions} sessions: the host may have changed between them")
        }
        Notice::Boots { boots } => format!(
            "the sessions ran on {boots} boots of the host: figures hold for one boot, and the intervals do not show what a boot changes"
        ),
        Notice::Incomplete { end, blocks, planned } => format!(
            "{}; begun: {blocks} of {}",
            ended(*end, *blocks == *planned as usize),
            counted(*planned, "block")
        ),
        Notice::LongTurns { aim_seconds, cells } => {
            let long = cells
                .iter()
                .map(|c| format!("{} ({})", c.cell, Unit::Second.show(c.seconds)));
            format!(
                "turns took longer than {}: {}; something kept tare from ending them, and what a turn costs weighs less there than in cells with more of them",
                Unit::Second.show(*aim_seconds),
                long.collect::<Vec<_>>().join(", ")
            )
        }
        Notice::CarryOver {
            comparisons,
            of,
            cells,
        } => format!(
            "{comparisons} of {} moved by what ran right before: {}; longer slices (--slices 50ms) or, in one piece, a longer reset between trials (--pause) make that less",
            counted(*of, "comparison"),
            some_of(&cells.iter().map(ToString::to_string).collect::<Vec<_>>())
        ),
        _ => return None,
    };
    Some(words)
}

fn ended(end: Option<EndReason>, is_whole: bool) -> &'static str {
    match end {
        Some(EndReason::BudgetSpent) if is_whole => "the blocks were spent with comparisons still open",
        Some(EndReason::BudgetSpent) => "the time budget was spent",
        Some(EndReason::Fruitless) => "the first block left nothing to compare, so the run ended there",
        Some(EndReason::Interrupted) => "the user stopped the run",
        Some(EndReason::Aborted) => "an error stopped the run",
        Some(EndReason::Complete | EndReason::Settled) => "the run came to its end",
        None => "the run was killed or is still going on: the file has no end",
    }
}

fn of_trials(notice: &Notice) -> Option<String> {
    let words = match notice {
        Notice::UnsoundStudy { what } => format!(
            "the header tells of {}, which no study has: the file was altered, or tare did not write it; no verdicts",
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
            "{} in the file more than once with unlike contents: which is the true one cannot be told, so none counts; the file was altered, or two were joined",
            counted(*trials, "trial")
        ),
        Notice::CopiedRecords { records } => format!(
            "{} in the file again as an exact copy, and counted once",
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
            "identical figures in all trials of {}: made up, or of a clock too coarse to tell them apart; no verdict on them",
            some_of(cells)
        ),
        Notice::HostUnknown { what } => format!(
            "the header does not tell of the host's {}, which every run finds out: what the figures depend on is not known",
            what.join(" and ")
        ),
        Notice::NoiseUnknown { trials, of } => format!(
            "in {trials} of {} the host did not tell what else ran, or what its hypervisor took: whether they were disturbed is not known",
            counted(*of, "trial")
        ),
        _ => return None,
    };
    Some(words)
}

fn of_foreign(notice: &Notice) -> Option<String> {
    let words = match notice {
        Notice::Direction { metrics } => format!(
            "taken as better when lower, as times are: {}; say otherwise in a column 'direction' or by --direction",
            some_of(metrics)
        ),
        Notice::WithoutBaseline { cells } => format!(
            "without a baseline, and held against none: {}; name one with --baseline",
            some_of(cells)
        ),
        Notice::NoLogarithm { comparisons, of } => format!(
            "{comparisons} of {} {} values of 0 or less, which have no ratio in logs: they get the ratio of means (where the mean that it is divided by is above 0), and no paired ratio, test or verdict",
            counted(*of, "comparison"),
            if *of == 1 { "holds" } else { "hold" }
        ),
        Notice::NoSpread { comparisons, of } => format!(
            "{comparisons} of {} have the same ratio in every block: the interval is a point. Counters may be so, times hardly: look whether values were copied or rounded",
            counted(*of, "comparison")
        ),
        _ => return None,
    };
    Some(words)
}

/// Those without figures.
const fn plain(notice: &Notice) -> &'static str {
    match notice {
        Notice::NoMargin => "the study's margin is not one of 0.01 to 100 %: no verdicts",
        Notice::KeptBoxes => {
            "one box per platform served the whole study: figures hold for these boxes, and no verdict speaks of a platform"
        }
        Notice::Torn => {
            "the file ended in half a record, left by a run that was killed while it wrote; it was left out"
        }
        Notice::BlockOrder => {
            "the blocks have names: they are taken to have run in the order in which the file first names them, which matters to the flag for autocorrelation and to steadiness"
        }
        Notice::Builds => {
            "the files were measured by different builds of tare: the machine code of the built-in workloads may differ"
        }
        Notice::Slices => {
            "only one of the runs worked in slices: what is compared are the figures of whole trials, not typical costs"
        }
        Notice::Order => "the first file is the younger one: 'after' was measured before 'before'",
        Notice::SameRun => "both files hold trials of one run: they are no independent measurements",
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

/// The same of clauses.
pub(super) fn some_clauses(clauses: &[String]) -> String {
    let shown = &clauses[..clauses.len().min(SHOWN)];
    shown.join("; ") + &beside(clauses.len())
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
