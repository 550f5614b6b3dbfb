//! Kinds of box: start-up, shut-down, footprint and the proof of their limits.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use tare_model::host::BoxFacts;
use tare_model::results::{BoxRecord, Footprint, Outcome, ProofRecord, Record, RemovedRecord, Results};
use tare_model::study::{BoxKind, Fresh};
use tare_stats::{mean, median, sd};

/// One kind of box.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct BoxFigures {
    /// Platform and provisioning.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// From the request to the agent's hello.
    pub startup: Latency,
    /// From the request to remove it until nothing of it is left.
    pub shutdown: Latency,
    /// Memory of an idle box, over its boxes.
    pub memory: IdleMemory,
    /// What else the first idle box of its latest run occupied.
    pub footprint: Option<Footprint>,
    /// What the agent of its latest box saw.
    pub facts: Option<BoxFacts>,
    /// The latest proof of its limits.
    pub proof: Option<ProofRecord>,
    /// Attempts at trials in it.
    pub attempts: usize,
    /// Attempts that succeeded.
    pub ended_well: usize,
}

/// What a limit check read.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Readings {
    /// CPUs granted.
    pub limit_cores: f64,
    /// CPUs used, by the host's counters.
    pub host_cores: Option<f64>,
    /// CPUs used, by the box's clocks.
    pub box_cores: Option<f64>,
    /// Bytes of memory granted.
    pub limit_bytes: u64,
    /// Bytes that could be touched.
    pub touched_bytes: Option<u64>,
    /// Bytes that could not.
    pub refused_bytes: Option<u64>,
}

impl Readings {
    pub fn of(proof: &ProofRecord) -> Self {
        Self {
            limit_cores: proof.limit_cores,
            host_cores: proof.host_cores,
            box_cores: proof.burn.as_ref().and_then(|b| b.cores_between_edges),
            limit_bytes: proof.limit_bytes,
            touched_bytes: proof.touched_bytes,
            refused_bytes: proof.refused_bytes,
        }
    }
}

/// A latency over boxes, in seconds.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Latency {
    /// Boxes.
    pub n: usize,
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Least.
    pub min: Option<f64>,
    pub median: Option<f64>,
}

/// Memory over idle boxes, in bytes: of each, every page once and in full, whoever else has it.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize)]
pub struct IdleMemory {
    /// Boxes.
    pub n: usize,
    pub median: Option<f64>,
    /// Least.
    pub min: Option<f64>,
    /// Most.
    pub max: Option<f64>,
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

    /// What was granted and what was used.
    pub fn readings(&self) -> Option<Readings> {
        self.proof.as_ref().map(Readings::of)
    }
}

/// What the records say of one kind of box.
#[derive(Default)]
struct BoxKindRecords<'a> {
    hellos: Vec<f64>,
    ends: Vec<f64>,
    memory: Vec<f64>,
    footprint: Option<Footprint>,
    facts: Option<&'a BoxFacts>,
    proof: Option<&'a ProofRecord>,
    attempts: usize,
    ended_well: usize,
}

impl BoxKindRecords<'_> {
    fn figures(&self, kind: BoxKind) -> BoxFigures {
        BoxFigures {
            kind,
            startup: latency(&self.hellos),
            shutdown: latency(&self.ends),
            memory: idle_memory(&self.memory),
            footprint: self.footprint,
            facts: self.facts.cloned(),
            proof: self.proof.cloned(),
            attempts: self.attempts,
            ended_well: self.ended_well,
        }
    }
}

/// The kinds of box of the study, in its order.
pub(crate) fn figures(results: &Results) -> Vec<BoxFigures> {
    let seen = seen(results);
    let mut told = HashSet::new();
    let mut kinds = results.header.study.box_kinds();
    kinds.retain(|kind| told.insert(kind.clone()));
    let nothing = BoxKindRecords::default();
    let figures = |kind: BoxKind| seen.get(&kind).unwrap_or(&nothing).figures(kind);
    kinds.into_iter().map(figures).collect()
}

fn seen(results: &Results) -> HashMap<&BoxKind, BoxKindRecords<'_>> {
    let mut seen: HashMap<&BoxKind, BoxKindRecords> = HashMap::new();
    let mut warm_ups = HashSet::new();
    for record in &results.records {
        match record {
            // Those beside the box of a cell are made on other CPUs, and while that one is there.
            Record::Box(BoxRecord { role: Some(_), .. })
            | Record::Removed(RemovedRecord { role: Some(_), .. }) => {}
            Record::Box(made) => {
                let of = seen.entry(&made.kind).or_default();
                // A box of the warm-up is no sample, but where it is kept for the study.
                if made.warm_up && results.header.study.protocol.fresh != Fresh::Study {
                    warm_ups.insert(made.box_id);
                } else {
                    of.hellos.extend(hello(made));
                    of.memory.extend(made.resident_bytes.map(float));
                }
                of.facts = Some(&made.facts);
                of.footprint = made.footprint.or(of.footprint);
            }
            Record::Removed(gone) if warm_ups.contains(&gone.box_id) => {}
            Record::Removed(gone) => {
                let seconds = Some(gone.seconds).filter(|s| s.is_finite());
                seen.entry(&gone.kind).or_default().ends.extend(seconds);
            }
            Record::Proof(proof) => seen.entry(&proof.kind).or_default().proof = Some(proof),
            Record::Trial(trial) => {
                let of = seen.entry(&trial.cell.kind).or_default();
                of.attempts += 1;
                of.ended_well += usize::from(matches!(trial.outcome, Outcome::Ok(_)));
            }
            _ => {}
        }
    }
    seen
}

fn hello(made: &BoxRecord) -> Option<f64> {
    made.hello_seconds.is_finite().then_some(made.hello_seconds)
}

/// Bytes, or a number of boxes.
#[expect(clippy::cast_precision_loss, reason = "no memory has 2^52 bytes")]
pub(crate) fn float(bytes: u64) -> f64 {
    bytes as f64
}

fn idle_memory(bytes: &[f64]) -> IdleMemory {
    IdleMemory {
        n: bytes.len(),
        median: median(bytes),
        min: bytes.iter().copied().reduce(f64::min),
        max: bytes.iter().copied().reduce(f64::max),
    }
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
