//! Reasons to doubt the figures, a line for each kind.

use super::findings;
use super::notices::{self, some_clauses, some_of};
use super::reconnects;
use crate::show::cost_change;
use std::collections::BTreeMap;
use tare_analysis::{Analysis, CellFigures, Comparison, FindingShare, Flag, MetricComparison, Notice, Word};
use tare_model::finding::Reason;
use tare_model::platform::PlatformPath;
use tare_model::size::counted;

/// A reason to doubt.
pub(crate) struct Doubt {
    /// In as few words as can be: `disturbed 40/320`.
    pub name: String,
    /// With what it means.
    pub text: String,
}

impl Doubt {
    fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }
}

/// What failed, which whoever ran it wants to mend, what holds for the whole file, then what
/// holds for parts of it.
pub(crate) fn all(analysis: &Analysis) -> Vec<Doubt> {
    let notices = analysis.notices.iter();
    let notices = notices.map(|notice| Doubt::new(notice.name(), clause(&notices::words(notice))));
    failures(analysis)
        .chain(notices)
        .chain(figures(analysis))
        .collect()
}

/// The finding that work is not in the figure.
const LACKING: &str = "work-left-behind";

/// What holds for parts of the file: failures and what may be off with figures.
pub(crate) fn of_parts(analysis: &Analysis) -> Vec<Doubt> {
    failures(analysis).chain(figures(analysis)).collect()
}

/// What is not in the figures at all, or in them beside the work; then tails, intervals that a correction has opened, findings,
/// the most frequent first, intervals that may be off.
fn figures(analysis: &Analysis) -> Vec<Doubt> {
    // What a notice tells of the whole file is told once.
    let is_told = |name: &str| analysis.notices.iter().any(|notice| notice.name() == name);
    let findings = analysis.findings.iter();
    let mut findings: Vec<_> = findings.filter(|f| !is_told(f.finding)).collect();
    findings.sort_by_key(|f| (is_of_emulated(analysis, f), std::cmp::Reverse(f.times)));
    let (lacking, findings): (Vec<_>, Vec<_>) = findings.into_iter().partition(|f| f.finding == LACKING);
    let doubt = |f: &FindingShare| {
        let name = format!("{} {}/{}", f.finding, f.times, f.of);
        let text = format!(
            "{} of {} {}{}: {} ({})",
            f.times,
            f.of,
            if f.of == 1 {
                f.counted.trim_end_matches('s')
            } else {
                f.counted
            },
            mostly(analysis, f),
            findings::meaning(f.finding),
            f.finding
        );
        Doubt::new(name, text)
    };
    let lacking = lacking.into_iter().map(doubt);
    let reconnects = reconnects::doubt(analysis);
    let reconnects = reconnects.map(|(cells, text)| Doubt::new(format!("reconnects {cells}"), text));
    lacking
        .chain(reconnects)
        .chain(tails(analysis))
        .chain(corrected(analysis))
        .chain(findings.into_iter().map(doubt))
        .chain(flags(analysis))
        .collect()
}

/// `, all in vm (emulated)`: of what concerns no figure that anybody may use. Elsewhere `, most in sqlite (30 of 30), fio
/// (21 of 30)`: the few workloads that have half of a finding or more, where it is at least twice as frequent in them
/// as in all.
fn mostly(analysis: &Analysis, share: &FindingShare) -> String {
    if is_of_emulated(analysis, share) {
        let emulated = analysis
            .study
            .platforms
            .iter()
            .filter(|p| analysis.is_emulated(p));
        let names: Vec<String> = emulated.map(ToString::to_string).collect();
        return format!(", all in {} (emulated)", names.join(", "));
    }
    /// So many are named at most.
    const NAMED: usize = 3;
    let mut by_workload: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for cell in &analysis.cells {
        let (found, all) = by_workload.entry(&cell.cell.workload).or_default();
        *found += times(cell, share);
        *all += cell.metrics.iter().map(|m| m.n).max().unwrap_or(0);
    }
    let mut most: Vec<(&str, (usize, usize))> = by_workload.into_iter().collect();
    most.sort_by_key(|(_, (found, _))| std::cmp::Reverse(*found));
    most.truncate(NAMED);
    most.retain(|(_, (found, _))| *found > 0);
    let sum = |of: fn(&(usize, usize)) -> usize| most.iter().map(|(_, counts)| of(counts)).sum::<usize>();
    let (named, tried) = (sum(|(found, _)| *found), sum(|(_, all)| *all));
    let is_half = 2 * named >= share.times;
    if !is_half || named * share.of < 2 * share.times * tried {
        return String::new();
    }
    let told = most
        .iter()
        .map(|(name, (found, all))| format!("{name} ({found} of {all})"));
    let how_many = if named == share.times { "all" } else { "most" };
    format!(", {how_many} in {}", told.collect::<Vec<_>>().join(", "))
}

/// Whether it is known of trials of emulated machines alone.
fn is_of_emulated(analysis: &Analysis, share: &FindingShare) -> bool {
    let emulated = analysis
        .cells
        .iter()
        .filter(|cell| analysis.is_emulated(&cell.cell.kind.platform));
    emulated.map(|cell| times(cell, share)).sum::<usize>() == share.times
}

/// How many trials of a cell have it.
fn times(cell: &CellFigures, share: &FindingShare) -> usize {
    let of = cell.findings.iter().filter(|f| f.finding == share.finding);
    of.map(|f| f.trials).sum()
}

/// What failed or was skipped for one reason on one platform, or on several alike.
#[derive(Default)]
struct Failures<'a> {
    platforms: Vec<String>,
    /// Trials that ended so.
    trials: usize,
    /// Attempts, those of trials among them that were repeated.
    attempts: usize,
    /// What was seen the first time.
    detail: Option<&'a str>,
    workloads: Vec<String>,
}

/// What failed and what was skipped, by platform and reason, with what was seen the first time.
fn failures(analysis: &Analysis) -> impl Iterator<Item = Doubt> {
    let mut all: BTreeMap<(bool, &PlatformPath, &str), Failures> = BTreeMap::new();
    // A box whose limits are not proven has a notice with the readings: that its trials were skipped
    // for it is told once.
    let not_proven = Reason::LimitsNotProven.to_string();
    let is_told =
        |notice: &Notice| matches!(notice, Notice::LimitsNotProven { .. } | Notice::NotReached { .. });
    let is_told = analysis.notices.iter().any(is_told);
    for cell in &analysis.cells {
        let failures = cell.failures.iter();
        for failure in failures.filter(|failure| !(is_told && failure.reason == not_proven)) {
            let platform = &cell.cell.kind.platform;
            let key = (failure.skipped, platform, failure.reason.as_str());
            let known = all.entry(key).or_default();
            known.trials += failure.trials;
            known.attempts += failure.attempts;
            known.detail.get_or_insert(&failure.detail);
            // The same work by quota and pinned, or in boxes of several sizes, is named once.
            if !known.workloads.contains(&cell.cell.workload) {
                known.workloads.push(cell.cell.workload.clone());
            }
        }
    }
    let one_workload = analysis.study.workloads.len() == 1;
    alike(all)
        .into_iter()
        .map(move |(skipped, reason, of)| of.told(skipped, reason, one_workload))
}

impl Failures<'_> {
    /// `8 trials failed in lxc (syscall; 16 attempts): timeout: took 30 s`. Where every trial ended
    /// otherwise when it was repeated, that attempts failed.
    fn told(&self, skipped: bool, reason: &str, one_workload: bool) -> Doubt {
        let ended = if skipped { "skipped" } else { "failed" };
        let attempts = counted(self.attempts, "attempt");
        let (what, then) = match self.trials {
            0 if self.attempts == 1 => (attempts.clone(), " and was repeated"),
            0 => (attempts.clone(), " and were repeated"),
            trials => (counted(trials, "trial"), ""),
        };
        let name = format!("{what} {ended} in {}", some_of(&self.platforms));
        let workloads = (!one_workload).then(|| some_of(&self.workloads));
        let more = (self.trials > 0 && self.attempts > self.trials).then_some(attempts);
        let beside: Vec<String> = workloads.into_iter().chain(more).collect();
        let beside = match beside.join("; ") {
            none if none.is_empty() => none,
            told => format!(" ({told})"),
        };
        let detail = self.detail.unwrap_or_default();
        let text = format!("{name}{then}{beside}: {reason}: {detail}");
        Doubt { name, text }
    }
}

/// The same with what several platforms have alike put together: what cannot run anywhere is told once.
fn alike<'a>(
    all: BTreeMap<(bool, &'a PlatformPath, &'a str), Failures<'a>>,
) -> Vec<(bool, &'a str, Failures<'a>)> {
    let mut told: Vec<(bool, &str, Failures)> = Vec::new();
    for ((skipped, platform, reason), of) in all {
        let is_same = |(other, why, known): &&mut (bool, &str, Failures)| {
            *other == skipped
                && *why == reason
                && known.detail == of.detail
                && known.workloads == of.workloads
        };
        match told.iter_mut().find(is_same) {
            Some((_, _, known)) => {
                known.platforms.push(platform.to_string());
                known.trials += of.trials;
                known.attempts += of.attempts;
            }
            None => told.push((
                skipped,
                reason,
                Failures {
                    platforms: vec![platform.to_string()],
                    ..of
                },
            )),
        }
    }
    told
}

/// Intervals that seem to show a difference which the correction takes back.
fn corrected(analysis: &Analysis) -> Option<Doubt> {
    let excludes_one = |comparison: &&Comparison| {
        let interval = comparison.ratio();
        let verdict = comparison.primary().and_then(|m| m.verdict.as_ref());
        verdict.is_some_and(|verdict| verdict.word == Word::Inconclusive)
            && interval.is_some_and(|e| e.low > 1.0 || e.high < 1.0)
    };
    let told: Vec<String> = analysis
        .real()
        .filter(excludes_one)
        .map(|comparison| comparison.cell.to_string())
        .collect();
    let asked = analysis.real().filter(|c| c.ratio().is_some()).count();
    // Of intervals of 95 % one in 20 does without any difference.
    let by_chance = asked.div_ceil(20);
    (!told.is_empty()).then(|| {
        Doubt::new(
            format!("corrected {}", told.len()),
            format!(
                "inconclusive although {} 1: about 1 in 20 does by chance, so about {by_chance} of these {asked}: {}",
                if told.len() == 1 { "its interval excludes" } else { "their intervals exclude" },
                some_clauses(&told)
            ),
        )
    })
}

/// The first clause of a notice, which says what is the matter; the rest says what follows.
fn clause(text: &str) -> &str {
    /// What is shorter is a mere word of introduction.
    const SHORTEST: usize = 16;
    let ends = ["; ", ": ", " ("].iter().filter_map(|mark| {
        let found = text.match_indices(mark).find(|(at, _)| *at >= SHORTEST);
        found.map(|(at, _)| at)
    });
    ends.min().map_or(text, |end| &text[..end])
}

/// Where the mean tells another story than the typical cost, both are headlines; the most unlike first.
fn tails(analysis: &Analysis) -> Option<Doubt> {
    let mut told: Vec<(f64, String)> = analysis.real().filter_map(tail).collect();
    told.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let told: Vec<String> = told.into_iter().map(|(_, words)| words).collect();
    (!told.is_empty()).then(|| {
        let name = format!("tail {}", told.len());
        let text = format!(
            "slow moments make the mean cost differ from the typical one, by which verdicts go, in {}; mean: {}",
            counted(told.len(), "row"),
            some_clauses(&told)
        );
        Doubt { name, text }
    })
}

/// How far the mean cost is from the typical one, in logs, and what it is.
fn tail(comparison: &Comparison) -> Option<(f64, String)> {
    let primary = comparison.primary()?;
    let mean = primary.flags.iter().find_map(|flag| match flag {
        Flag::TailOfSlices { mean_cost: cost } | Flag::Tail { ratio_of_means: cost } => Some(*cost),
        _ => None,
    })?;
    let apart = (mean / primary.cost()?).ln().abs();
    Some((apart, format!("{} {}", comparison.cell, cost_change(mean))))
}

/// `intervals widened or to read with care (see --details): autocorrelated 2 of 16, skewed 6 of 16`.
fn flags(analysis: &Analysis) -> Option<Doubt> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let primary: Vec<&MetricComparison> = analysis.asked().filter_map(|c| c.primary()).collect();
    for flag in primary.iter().flat_map(|m| &m.flags).filter(|f| !f.is_tail()) {
        *counts.entry(flag.name()).or_default() += 1;
    }
    let told = |between: &str| {
        let told = counts.iter();
        let told = told.map(|(name, n)| format!("{name} {n}{between}{}", primary.len()));
        told.collect::<Vec<_>>().join(", ")
    };
    (!counts.is_empty()).then(|| {
        let text = format!(
            "intervals widened or to read with care (see --details): {}",
            told(" of ")
        );
        Doubt::new(told("/"), text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_told_by_its_first_clause() {
        assert_eq!(
            clause("vm ran without hardware virtualisation (tcg: all in software): its figures"),
            "vm ran without hardware virtualisation"
        );
        assert_eq!(
            clause("ignored: 3 records of kind 'x', which is new"),
            "ignored: 3 records of kind 'x', which is new"
        );
        assert_eq!(clause("short"), "short");
    }
}
