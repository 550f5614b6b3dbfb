//! The proof of a kind of box's limits: granted and measured.

use crate::show::{mebibytes, or_missing};
use tare_analysis::{BoxFigures, Readings};
use tare_model::digits::digits;
use tare_model::results::ProofRecord;

/// The proof of one box, or of one around it.
pub(crate) struct Proof {
    pub kind: String,
    pub state: &'static str,
    pub proven: bool,
    /// Absent without a proof.
    pub readings: Option<Readings>,
    pub remarks: String,
}

/// The proofs of a kind of box: its own, then those of the boxes around it.
pub(crate) fn of(figures: &BoxFigures) -> Vec<Proof> {
    let own = proof(figures.kind.to_string(), figures.proof.as_ref());
    let around = figures.proof.iter().flat_map(|p| &p.outer).map(|layer| {
        let name = format!("{}: {} around it", figures.kind, layer.kind.platform);
        proof(name, Some(layer))
    });
    std::iter::once(own).chain(around).collect()
}

fn proof(kind: String, proof: Option<&ProofRecord>) -> Proof {
    Proof {
        kind,
        state: match proof {
            Some(proof) if proof.proven => "proven",
            Some(_) => "not proven",
            None => "no proof",
        },
        proven: proof.is_some_and(|p| p.proven),
        readings: proof.map(Readings::of),
        remarks: proof.map_or_else(String::new, remarks),
    }
}

/// What was granted and what was used.
pub(crate) fn readings(of: Option<&Readings>) -> String {
    let Some(of) = of else {
        return "no proof in the file".to_owned();
    };
    let cores = |reading: Option<f64>| or_missing(reading, |c| digits(c, 2));
    let memory = |reading: Option<u64>| or_missing(reading, |b| format!("{} MiB", mib(b)));
    format!(
        "CPUs: {} granted, {} used by the host's counters, {} by the box's clocks; memory: {} granted, {} touched, {} refused",
        cores(Some(of.limit_cores)),
        cores(of.host_cores),
        cores(of.box_cores),
        memory(Some(of.limit_bytes)),
        memory(of.touched_bytes),
        memory(of.refused_bytes)
    )
}

#[expect(clippy::cast_precision_loss, reason = "one decimal of MiB is shown")]
fn mib(bytes: u64) -> String {
    mebibytes(bytes as f64)
}

fn remarks(proof: &ProofRecord) -> String {
    let findings = proof.findings.iter().map(|f| format!("{}: {f}", f.name()));
    let host_limit = proof.host_limit_bytes.map(|bytes| {
        format!(
            "the host enforces {} MiB; tare does not exhaust it, which would kill the box",
            mib(bytes)
        )
    });
    let all = proof.remarks.iter().cloned().chain(host_limit).chain(findings);
    all.collect::<Vec<_>>().join("; ")
}
