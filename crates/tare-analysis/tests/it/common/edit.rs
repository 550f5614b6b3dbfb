//! Changes to results that are built.

use super::Pinned;
use tare_model::finding::{Finding, Reason};
use tare_model::platform::Provisioning;
use tare_model::results::*;

/// The trials of one kind of box.
pub fn trials_of<'a>(
    results: &'a mut Results,
    platform: &'a str,
    by: Provisioning,
) -> impl Iterator<Item = &'a mut TrialRecord> {
    results.records.iter_mut().filter_map(move |r| match r {
        Record::Trial(t)
            if t.cell.kind.platform.to_string() == platform && t.cell.kind.provisioning == by =>
        {
            Some(&mut **t)
        }
        _ => None,
    })
}

/// The proof of one kind of box.
pub fn proof_of<'a>(results: &'a mut Results, platform: &str) -> &'a mut ProofRecord {
    let found = results.records.iter_mut().find_map(|r| match r {
        Record::Proof(p) if p.kind.platform.to_string() == platform => Some(p),
        _ => None,
    });
    found.unwrap()
}

pub fn failure(reason: Reason, detail: &str) -> Failure {
    Failure::new(reason, detail)
}

/// Makes the trials of `platform` in the first `blocks` blocks fail.
pub fn fail(results: &mut Results, platform: &str, blocks: u32, reason: Reason) {
    for trial in trials_of(results, platform, Pinned).filter(|t| t.block < blocks) {
        trial.outcome = Outcome::Failed(failure(reason, "what was seen"));
    }
}

/// Adds a finding to the trials of `platform` in the first `blocks` blocks.
pub fn find(results: &mut Results, platform: &str, by: Provisioning, blocks: u32, finding: &Finding) {
    for trial in trials_of(results, platform, by).filter(|t| t.block < blocks) {
        trial.findings.push(finding.clone());
    }
}

/// Changes every sample of a trial.
pub fn scale(trial: &mut TrialRecord, factor: f64) {
    if let Outcome::Ok(success) = &mut trial.outcome {
        success.samples.values_mut().for_each(|v| *v *= factor);
    }
}
