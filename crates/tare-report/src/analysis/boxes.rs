//! Kinds of box: start-up, shut-down, footprint and the proof of their limits.

use crate::show::{mebibytes, or_missing};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use tare_model::host::BoxFacts;
use tare_model::results::{BoxRecord, Footprint, Outcome, ProofRecord, Record, Results};
use tare_model::study::{BoxKind, Fresh};
use tare_stats::{mean, median, sd};

/// One kind of box.
#[derive(Debug, Clone, Serialize)]
pub struct BoxFigures {
    /// Platform and provisioning.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// From the request to the agent's hello.
    pub startup: Latency,
    /// From the request to remove it until nothing of it is left.
    pub shutdown: Latency,
    /// What the first idle box of its latest run occupied.
    pub footprint: Option<Footprint>,
    /// What the agent of its latest box saw.
    pub facts: Option<BoxFacts>,
    /// The latest proof of its limits.
    pub proof: Option<ProofRecord>,
    /// Attempts at trials in it.
    pub attempts: usize,
    /// Attempts that ended well.
    pub ended_well: usize,
}

/// A latency over boxes, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latency {
    /// Boxes.
    pub n: usize,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Least.
    pub min: Option<f64>,
    /// Median.
    pub median: Option<f64>,
}

impl BoxFigures {
    /// Whether its cells count.
    pub fn proven(&self) -> bool {
        self.proof.as_ref().is_some_and(|p| p.proven)
    }

    /// Whether the run ended before it came to this kind of box.
    pub(crate) fn not_reached(&self) -> bool {
        self.proof.is_none() && self.attempts == 0
    }

    /// Whether it was used or refused without proven limits. Where it could not
    /// be made, or its workloads cannot run in it, the trials say so.
    pub(crate) fn not_proven(&self) -> bool {
        self.proof.as_ref().map_or(self.ended_well > 0, |p| !p.proven)
    }

    /// What was granted and what was used, in words.
    pub fn readings(&self) -> String {
        let Some(proof) = &self.proof else {
            return "no proof in the file".to_owned();
        };
        format!("{}; {}", cpu_readings(proof), memory_readings(proof))
    }
}

fn cpu_readings(proof: &ProofRecord) -> String {
    let cores = |reading: Option<f64>| or_missing(reading.filter(|c| c.is_finite()), |c| format!("{c:.2}"));
    let inside = proof.burn.as_ref().and_then(|b| b.cores_between_edges);
    format!(
        "CPUs: {} granted, {} used by the host's counters, {} by the box's clocks",
        cores(Some(proof.limit_cores)),
        cores(proof.host_cores),
        cores(inside)
    )
}

fn memory_readings(proof: &ProofRecord) -> String {
    let bytes = |reading: Option<u64>| or_missing(reading, |b| format!("{} MiB", mebibytes(b)));
    format!(
        "memory: {} granted, {} touched, {} refused",
        bytes(Some(proof.limit_bytes)),
        bytes(proof.touched_bytes),
        bytes(proof.refused_bytes)
    )
}

/// The kinds of box of the study, in its order.
pub(crate) fn figures(results: &Results) -> Vec<BoxFigures> {
    let mut hellos: HashMap<&BoxKind, Vec<f64>> = HashMap::new();
    let mut ends: HashMap<&BoxKind, Vec<f64>> = HashMap::new();
    let mut footprints: HashMap<&BoxKind, Footprint> = HashMap::new();
    let mut facts: HashMap<&BoxKind, &BoxFacts> = HashMap::new();
    let mut proofs: HashMap<&BoxKind, &ProofRecord> = HashMap::new();
    let mut counts: HashMap<&BoxKind, (usize, usize)> = HashMap::new();
    let mut warm_ups = HashSet::new();
    for record in &results.records {
        match record {
            Record::Box(made) => {
                // A box of the warm-up is no sample, but where it is kept for the study.
                if made.warm_up && results.header.study.protocol.fresh != Fresh::Study {
                    warm_ups.insert(made.box_id);
                } else {
                    hellos.entry(&made.kind).or_default().extend(hello(made));
                }
                facts.insert(&made.kind, &made.facts);
                footprints.extend(made.footprint.map(|footprint| (&made.kind, footprint)));
            }
            Record::Removed(gone) if warm_ups.contains(&gone.box_id) => {}
            Record::Removed(gone) => {
                let seconds = Some(gone.seconds).filter(|s| s.is_finite());
                ends.entry(&gone.kind).or_default().extend(seconds);
            }
            Record::Proof(proof) => {
                proofs.insert(&proof.kind, proof);
            }
            Record::Trial(trial) => {
                let (attempts, ended_well) = counts.entry(&trial.cell.kind).or_default();
                *attempts += 1;
                *ended_well += usize::from(matches!(trial.outcome, Outcome::Ok(_)));
            }
            _ => {}
        }
    }
    let mut kinds = results.header.study.box_kinds();
    let mut seen = HashSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    let figures = |kind: BoxKind| {
        let (attempts, ended_well) = counts.get(&kind).copied().unwrap_or_default();
        BoxFigures {
            startup: latency(hellos.get(&kind).map_or(&[], Vec::as_slice)),
            shutdown: latency(ends.get(&kind).map_or(&[], Vec::as_slice)),
            footprint: footprints.get(&kind).copied(),
            facts: facts.get(&kind).map(|f| (*f).clone()),
            proof: proofs.get(&kind).map(|p| (*p).clone()),
            attempts,
            ended_well,
            kind,
        }
    };
    kinds.into_iter().map(figures).collect()
}

fn hello(made: &BoxRecord) -> Option<f64> {
    made.hello_seconds.is_finite().then_some(made.hello_seconds)
}

fn latency(seconds: &[f64]) -> Latency {
    Latency {
        n: seconds.len(),
        mean: mean(seconds),
        sd: sd(seconds),
        min: seconds.iter().copied().reduce(f64::min),
        median: median(seconds),
    }
}
