//! Findings: how often they occur, which of them disqualify.

use super::boxes::BoxFigures;
use super::carry_over::CarryOver;
use super::comparison::Comparison;
use super::trials::{CellTrials, Trials};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::finding::Finding;

/// How many trials carry a finding.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FindingCount {
    pub finding: &'static str,
    /// Trials that carry it.
    pub trials: usize,
}

/// How often a finding occurs in the file.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FindingShare {
    pub finding: &'static str,
    /// Trials, limit checks and comparisons that carry it.
    pub times: usize,
    /// Of so many.
    pub of: usize,
    /// What is counted: `trials`, `trials and limit checks`, `comparisons`.
    pub counted: &'static str,
}

/// Said of trials of which nobody knows what else the host did: that nothing was found does
/// not mean that nothing was there.
pub(crate) const NOISE_UNKNOWN: &str = "noise-unknown";

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

pub(crate) fn shares(trials: &Trials, boxes: &[BoxFigures], comparisons: &[Comparison]) -> Vec<FindingShare> {
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
    let mut found: BTreeMap<&'static str, FindingShare> = BTreeMap::new();
    for (finding, counted, of) in of_trials.chain(of_proofs) {
        let entry = found.entry(finding.name()).or_insert_with(|| FindingShare {
            finding: finding.name(),
            times: 0,
            of,
            counted,
        });
        entry.times += 1;
        (entry.counted, entry.of) = (counted, of);
    }
    let unknown = trials.cells.iter().map(CellTrials::noise_unknown).sum();
    let unknown = FindingShare {
        finding: NOISE_UNKNOWN,
        times: unknown,
        of: used.len(),
        counted: TRIALS,
    };
    let carried = comparisons.iter().filter(|c| !c.carry_over.is_empty());
    let carried = FindingShare {
        finding: CarryOver::NAME,
        times: carried.count(),
        of: comparisons.len(),
        counted: "comparisons",
    };
    let others = [unknown, carried].into_iter().filter(|one| one.times > 0);
    found.into_values().chain(others).collect()
}

/// What most findings are counted by.
const TRIALS: &str = "trials";

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
