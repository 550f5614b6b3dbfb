//! Findings: how often they occur, what they mean, which of them disqualify.

use super::boxes::BoxFigures;
use super::carry_over::CarryOver;
use super::comparison::Comparison;
use super::trials::{CellTrials, Trials};
use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::finding::Finding;

/// How many trials carry a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingCount {
    /// Its name.
    pub finding: &'static str,
    /// Trials that carry it.
    pub trials: usize,
}

/// What a finding that occurs in the file means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingMeaning {
    /// Its name.
    pub finding: &'static str,
    /// Trials, limit checks and comparisons that carry it.
    pub times: usize,
    /// Of so many.
    pub of: usize,
    /// What is counted: `trials`, `trials and limit checks`, `comparisons`.
    pub counted: &'static str,
    /// One sentence.
    pub meaning: &'static str,
}

impl FindingMeaning {
    /// `disturbed in 40 of 320 trials`.
    pub fn share(&self) -> String {
        format!(
            "{} in {} of {} {}",
            self.finding, self.times, self.of, self.counted
        )
    }
}

/// Said of trials of which nobody knows what else the host did: that nothing was found does
/// not mean that nothing was there.
pub(crate) const NOISE_UNKNOWN: &str = "noise-unknown";
const NOISE_UNKNOWN_MEANING: &str = "the host did not tell what others or its hypervisor did meanwhile: whether the trial was disturbed is not known";

/// Counts findings by name. A trial carries each at most once.
pub(crate) fn count<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<FindingCount> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.name()).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(finding, trials)| FindingCount { finding, trials })
        .collect()
}

pub(crate) fn meanings(
    trials: &Trials,
    boxes: &[BoxFigures],
    comparisons: &[Comparison],
) -> Vec<FindingMeaning> {
    let used: Vec<_> = trials.cells.iter().flat_map(|c| c.used.values()).collect();
    let proofs: Vec<_> = boxes.iter().filter_map(|b| b.proof.as_ref()).collect();
    let of_trials = used
        .iter()
        .flat_map(|u| u.findings)
        .map(|f| (f, TRIALS, used.len()));
    let both = used.len() + proofs.len();
    let of_proofs = proofs
        .iter()
        .flat_map(|p| &p.findings)
        .map(|f| (f, "trials and limit checks", both));
    let mut found: BTreeMap<&'static str, FindingMeaning> = BTreeMap::new();
    for (finding, counted, of) in of_trials.chain(of_proofs) {
        let entry = found.entry(finding.name()).or_insert_with(|| FindingMeaning {
            finding: finding.name(),
            times: 0,
            of,
            counted,
            meaning: meaning(finding),
        });
        entry.times += 1;
        (entry.counted, entry.of) = (counted, of);
    }
    let unknown = trials.cells.iter().map(CellTrials::noise_unknown).sum();
    let unknown = FindingMeaning {
        finding: NOISE_UNKNOWN,
        times: unknown,
        of: used.len(),
        counted: TRIALS,
        meaning: NOISE_UNKNOWN_MEANING,
    };
    let carried = comparisons.iter().filter(|c| !c.carry_over.is_empty());
    let carried = FindingMeaning {
        finding: CarryOver::NAME,
        times: carried.count(),
        of: comparisons.len(),
        counted: "comparisons",
        meaning: CarryOver::MEANING,
    };
    let others = [unknown, carried].into_iter().filter(|one| one.times > 0);
    found.into_values().chain(others).collect()
}

/// What most findings are counted by.
const TRIALS: &str = "trials";

const fn meaning(finding: &Finding) -> &'static str {
    match finding {
        Finding::HostBusy { .. } => {
            "others used the host's CPUs before the trial, and the wait for quiet ran out"
        }
        Finding::Disturbed { .. } => "others used the host's CPUs during the trial",
        Finding::Stolen { .. } => "the hypervisor below the host took CPU time during the trial",
        Finding::ClockDrift { .. } => {
            "the clock of the box ran at another speed than the host's, so its times are off"
        }
        Finding::BelowLimit { .. } => {
            "the box got less CPU than granted without being throttled: the host was busy"
        }
        Finding::ShortForQuota { .. } => {
            "the trial was throttled and too short to average over quota periods, which flatters it"
        }
        Finding::PartialWork { .. } => {
            "time ran out before one whole unit of work: the rate is that of its first part, which may fit into caches that the whole does not"
        }
        Finding::Swapped { .. } => "the host swapped during the trial",
        Finding::SetBusy { .. } => "others ran on the CPUs of the pinned box during the trial",
        Finding::SiblingBusy { .. } => {
            "the cores of the pinned box were shared: their other threads were busy during the trial"
        }
        Finding::MajorFaults { .. } => {
            "the workload waited for pages from a disk: its time is in part that of storage"
        }
        Finding::MemoryPressure { .. } => "processes of the host, the box perhaps, waited for memory",
        Finding::BoxSwapped { .. } => "memory of the box was in swap: it had less than it was granted",
        Finding::FrequencyChanged { .. } => {
            "the CPUs ran at another frequency than in the first trial of the run, by over 2 %"
        }
        Finding::Overheated { .. } => "the CPUs were throttled by heat during the trial",
        Finding::DirtyPages { .. } => {
            "data waited to be written back when the trial began, and may have competed with it"
        }
    }
}

/// Whether a finding in either cell forbids a verdict on the pair.
///
/// A throttled trial that is short for its quota is biased alike in cells that
/// are limited alike, else not. A drift of the box's clock is an error of the
/// figure itself: a quarter of the margin is too much.
pub(crate) fn disqualifying(finding: &Finding, limited_alike: bool, margin: Option<f64>) -> bool {
    match finding {
        Finding::ShortForQuota { .. } => !limited_alike,
        // The negation keeps a ratio that is no number: it disqualifies.
        Finding::ClockDrift { ratio } => !margin.is_some_and(|m| ratio.ln().abs() <= m / 4.0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_trial_is_fit_only_beside_one_limited_alike() {
        let short = Finding::ShortForQuota { periods: 20 };
        assert!(!disqualifying(&short, true, Some(0.01)));
        assert!(disqualifying(&short, false, Some(0.01)));
    }

    #[test]
    fn a_drifting_clock_disqualifies_from_a_quarter_of_the_margin_on() {
        for (ratio, unfit) in [
            (1.002, false),
            (1.003, true),
            (0.997, true),
            (f64::NAN, true),
            (-1.0, true),
        ] {
            let drift = Finding::ClockDrift { ratio };
            assert_eq!(disqualifying(&drift, true, Some(0.01)), unfit, "{ratio}");
        }
    }

    #[test]
    fn other_findings_are_only_shown() {
        assert!(!disqualifying(
            &Finding::HostBusy { load: 0.5 },
            false,
            Some(0.01)
        ));
        assert!(!disqualifying(
            &Finding::PartialWork { share: 0.5 },
            false,
            Some(0.01)
        ));
    }
}
