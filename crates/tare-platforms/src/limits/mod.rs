//! Proof of a box's limits: two things apart.
//!
//! *Never more than the limit*: CPU time between the edges of quota periods (a
//! fixed window misreads a quota by up to 47 %), CPUs beyond the set, memory
//! that can be touched and memory that cannot. Else the box is refused, with the
//! readings. *Less, without being throttled*: the host is busy. That is tried
//! again and is then a finding.

mod cpu;

use crate::contract::{ANSWER_DEADLINE, BoxSpec, MemoryView, QuotaView, RunningBox};
use crate::link::{LinkError, unexpected};
pub(crate) use cpu::burn_only;
use cpu::prove_cpu;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tare_model::kernel::{ProofSpec, TouchReport};
use tare_model::platform::Provisioning;
use tare_model::protocol::{Bounds, ExitStatus, Exited, Reply, Request};
use tare_model::results::ProofRecord;
use tare_model::size::show_memory;
use tare_model::study::BoxKind;
use tare_model::time::nanoseconds;

/// How often a burn below the limit is repeated on a busy host, and a touch that failed.
const RETRIES: u32 = 2;
/// Time for one proof on the slowest box.
const PROOF_DEADLINE: Duration = Duration::from_secs(120);
/// How far RAM by the memory map may be from a VM's size.
const RAM_TOLERANCE: f64 = 0.01;

/// Proves the limits of a box, and of those around it, by measurement.
///
/// # Errors
/// [`LinkError`] if the box fails meanwhile; a limit that does not hold is no
/// error but a record that says so.
pub fn prove(
    running: &mut dyn RunningBox,
    views: (QuotaView, MemoryView),
    kind: &BoxKind,
    spec: &BoxSpec,
) -> Result<ProofRecord, LinkError> {
    // The inner box first: an outer one whose memory is touched drops what the inner
    // one has of its files, which would then count as the inner one's.
    let mut record = prove_layer(running, views, kind, spec, 0)?;
    let mut outer = Vec::new();
    running.on_each_outer(&mut |around, layer| {
        let kind = BoxKind {
            platform: layer.path.clone(),
            ..kind.clone()
        };
        outer.push(prove_layer(
            around,
            layer.views,
            &kind,
            &layer.spec,
            layer.reserved_bytes,
        )?);
        Ok(())
    })?;
    for around in &outer {
        record.proven &= around.proven;
        let told = |remark: &String| format!("{} around it: {remark}", around.kind.platform);
        record.remarks.extend(around.remarks.iter().map(told));
    }
    record.outer = outer;
    Ok(record)
}

/// CPUs that a box is believed to see: each gets two threads that burn.
const MOST_CPUS: u32 = 4096;

/// Proves the limits of one box, of whose memory what is in it may have taken
/// `reserved_bytes`.
fn prove_layer(
    running: &mut dyn RunningBox,
    (quota, memory): (QuotaView, MemoryView),
    kind: &BoxKind,
    spec: &BoxSpec,
    reserved_bytes: u64,
) -> Result<ProofRecord, LinkError> {
    // A box may be on another host than the controller.
    let cpus = running
        .link()
        .facts(ANSWER_DEADLINE)?
        .online_cpus
        .min(MOST_CPUS)
        .max(u32::try_from(tare_host::host::online_cpus().len()).unwrap_or(1));
    let mut record = ProofRecord::unproven(kind, (limit_cores(spec), 2 * cpus), spec.instance.memory_bytes);
    let mut refusals = prove_cpu(running, quota, spec, &mut record)?;
    refusals.extend(match memory {
        MemoryView::Touch => prove_memory(running, reserved_bytes, &mut record)?,
        MemoryView::Ram => prove_ram(running, &mut record)?,
        MemoryView::HostLimit => prove_host_limit(running, &mut record),
    });
    record.proven = refusals.is_empty();
    record.remarks = refusals;
    Ok(record)
}

#[expect(clippy::cast_precision_loss, reason = "a number of CPUs")]
fn limit_cores(spec: &BoxSpec) -> f64 {
    match spec.provisioning {
        Provisioning::Vanilla => spec.instance.cpus.as_f64(),
        Provisioning::Pinned => spec.pinned_set.len() as f64,
    }
}

/// What must be touchable below a limit: page tables, the agent and an inner box
/// need the rest.
fn touchable(limit: u64, reserved: u64) -> u64 {
    limit - (limit / 100).max(2 << 20).max(reserved).min(limit)
}

fn prove_memory(
    running: &mut dyn RunningBox,
    reserved: u64,
    record: &mut ProofRecord,
) -> Result<Vec<String>, LinkError> {
    let mut refusals = Vec::new();
    let limit = record.limit_bytes;
    let below = touchable(limit, reserved);
    // What could be touched once is there: the kernel may kill before it has taken
    // back what else was charged to the box.
    let mut touched = 0;
    for _ in 0..=RETRIES {
        touched = touched.max(touch(running, below)?);
        if touched >= below {
            break;
        }
    }
    if touched >= below {
        record.touched_bytes = Some(below);
    } else {
        refusals.push(format!(
            "memory: only {} could be touched where {} of the limit of {} must be",
            show_memory(touched),
            show_memory(below),
            show_memory(limit)
        ));
    }
    refusals.extend(prove_refusal(running, record)?);
    Ok(refusals)
}

/// Touching the limit itself must fail.
fn prove_refusal(
    running: &mut dyn RunningBox,
    record: &mut ProofRecord,
) -> Result<Option<String>, LinkError> {
    let limit = record.limit_bytes;
    if touch(running, limit)? >= limit {
        return Ok(Some(format!(
            "memory: all of the limit of {} could be touched",
            show_memory(limit)
        )));
    }
    record.refused_bytes = Some(limit);
    Ok(None)
}

/// The limit in force must be the one that was asked for. Touching it would end
/// the box, not a process in it.
fn prove_host_limit(running: &dyn RunningBox, record: &mut ProofRecord) -> Vec<String> {
    record.host_limit_bytes = running.host_memory_limit();
    if record.host_limit_bytes == Some(record.limit_bytes) {
        return Vec::new();
    }
    vec![format!(
        "memory: the limit in force is {}, where {} are granted",
        record
            .host_limit_bytes
            .map_or_else(|| "unknown".to_owned(), show_memory),
        show_memory(record.limit_bytes)
    )]
}

/// A VM's size is its limit: the memory map that its kernel got must have that
/// size. What the kernel keeps for itself is recorded.
fn prove_ram(running: &mut dyn RunningBox, record: &mut ProofRecord) -> Result<Vec<String>, LinkError> {
    let facts = running.link().facts(ANSWER_DEADLINE)?;
    let mut refusals = Vec::new();
    match facts.firmware_ram_bytes {
        Some(ram) => {
            record.kernel_share_bytes = Some(ram.saturating_sub(facts.memory_bytes));
            if differs(ram, record.limit_bytes) {
                refusals.push(format!(
                    "memory: the VM has {} of RAM, not {}",
                    show_memory(ram),
                    show_memory(record.limit_bytes)
                ));
            }
        }
        None if facts.memory_bytes > record.limit_bytes => {
            refusals.push(format!(
                "memory: the guest sees {}",
                show_memory(facts.memory_bytes)
            ));
        }
        None => {}
    }
    refusals.extend(prove_refusal(running, record)?);
    Ok(refusals)
}

#[expect(clippy::cast_precision_loss, reason = "a comparison within a percent")]
fn differs(ram: u64, limit: u64) -> bool {
    (ram as f64 / limit as f64 - 1.0).abs() > RAM_TOLERANCE
}

/// Bytes that a process in the box could touch; 0 if it was killed.
fn touch(running: &mut dyn RunningBox, bytes: u64) -> Result<u64, LinkError> {
    let (exited, stdout) = run_proof(running, &ProofSpec::Touch { bytes })?;
    match exited.status {
        ExitStatus::Signal(_) => Ok(0),
        _ => parse::<TouchReport>(&exited, &stdout).map(|report| report.touched_bytes),
    }
}

fn run_proof(running: &mut dyn RunningBox, spec: &ProofSpec) -> Result<(Exited, Vec<u8>), LinkError> {
    let bounds = Bounds {
        timeout_ns: nanoseconds(PROOF_DEADLINE),
        max_stdout_bytes: 1 << 20,
        max_stderr_bytes: 4096,
        padding_bytes: 0,
    };
    let request = Request::Proof {
        spec: spec.clone(),
        bounds,
    };
    let answer = running
        .link()
        .request(&request, PROOF_DEADLINE + ANSWER_DEADLINE)?;
    match answer.reply {
        Reply::Exited(exited) => Ok((exited, answer.stdout)),
        other => Err(unexpected("prove limits", &other)),
    }
}

fn parse<T: DeserializeOwned>(exited: &Exited, stdout: &[u8]) -> Result<T, LinkError> {
    serde_json::from_slice(stdout).map_err(|e| LinkError::Unexpected {
        doing: "prove limits",
        detail: format!("{e}; the process ended with {:?}", exited.status),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_limits_leave_room_for_the_agent() {
        assert_eq!(touchable(64 << 20, 0), 62 << 20);
        assert_eq!(touchable(1 << 20, 0), 0);
        assert_eq!(touchable(1000 << 20, 0), 990 << 20);
        assert_eq!(touchable(1000 << 20, 200 << 20), 800 << 20);
    }
}
