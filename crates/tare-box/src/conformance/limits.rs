//! Limits, by the same proof as in a run.

use super::site::Site;
use super::{Broken, Kept, expect};
use crate::cgroup::Weight;
use crate::limits::prove;
use crate::platforms::contract::BoxSpec;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::atomic::{AtomicBool, Ordering};
use tare_model::platform::Provisioning;
use tare_model::results::ProofRecord;
use tare_model::size::{Cpus, InstanceType, show_memory};
use tare_model::study::BoxKind;

/// What a box of one CPU must get of it beside a loop of ours, which without a weight gets half.
const LEAST_CORES: f64 = 0.9;

/// A quota that is no whole CPU.
pub(super) fn quota(site: &mut Site<'_>) -> Result<Kept, Broken> {
    let spec = site.spec(Provisioning::Vanilla);
    let instance = InstanceType {
        cpus: Cpus::from_milli(600),
        ..spec.instance
    };
    proven(site, &BoxSpec { instance, ..spec })
}

pub(super) fn pinned(site: &mut Site<'_>) -> Result<Kept, Broken> {
    let spec = site.spec(Provisioning::Pinned);
    proven(site, &spec)
}

pub(super) fn weight(site: &mut Site<'_>) -> Result<Kept, Broken> {
    let spec = site.spec(Provisioning::Pinned);
    if spec.weight == Weight::Usual {
        let why = "its boxes stand in a cgroup with others, which has a weight of its own";
        return Ok(Kept::NotHere(why.to_owned()));
    }
    let proof = beside_a_loop(&spec.pinned_set, || proof(site, &spec))?;
    let cores = cores(&proof).unwrap_or(0.0);
    expect(cores >= LEAST_CORES, || {
        format!("{cores:.3} CPUs beside a loop on the same CPU")
    })?;
    Ok(Kept::Yes(Some(format!("{cores:.3} CPUs beside a loop"))))
}

/// Does something while a thread of ours keeps these CPUs busy.
fn beside_a_loop<T>(cpus: &[u32], act: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut set = CpuSet::new();
            cpus.iter().for_each(|cpu| set.set(*cpu as usize));
            // Where it is refused the loop is elsewhere, and the check proves less.
            let _ = sched_setaffinity(None, &set);
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let done = act();
        stop.store(true, Ordering::Relaxed);
        done
    })
}

fn proven(site: &mut Site<'_>, spec: &BoxSpec) -> Result<Kept, Broken> {
    let proof = proof(site, spec)?;
    expect(proof.proven, || proof.remarks.join("; "))?;
    Ok(Kept::Yes(cores(&proof).map(|cores| {
        format!(
            "{cores:.3} of {} CPUs, {}",
            proof.limit_cores,
            show_memory(proof.limit_bytes)
        )
    })))
}

/// CPUs that the box used while it burned.
fn cores(proof: &ProofRecord) -> Option<f64> {
    let by_box = || {
        let burn = proof.burn.as_ref()?;
        burn.cores_between_edges
            .or(Some(burn.cpu_seconds / burn.wall_seconds))
    };
    proof.host_cores.or_else(by_box)
}

/// The proof of a new box's limits.
fn proof(site: &mut Site<'_>, spec: &BoxSpec) -> Result<ProofRecord, Broken> {
    let kind = BoxKind {
        platform: site.order().path.clone(),
        provisioning: spec.provisioning,
        instance: None,
    };
    let platform = site.platform()?;
    let views = (platform.quota_view(), platform.memory_view());
    let mut made = platform.launch(spec)?;
    let proof = prove(&mut *made, views, &kind, spec)?;
    made.destroy()?;
    Ok(proof)
}
