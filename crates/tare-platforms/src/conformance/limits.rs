//! Limits, by the same proof as in a run.

use super::context::CheckContext;
use super::{Broken, Kept, expect};
use crate::contract::BoxSpec;
use crate::limits::{burn_only, prove};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tare_model::platform::Provisioning;
use tare_model::size::{Cpus, InstanceType, show_memory};
use tare_model::study::BoxKind;

/// What the loop may have of a CPU, as a share of what the box has there; without a weight both
/// have the same.
const SHARE_OF_LOOP: f64 = 0.25;
/// What else runs on the host delays the box's work and leaves the loop alone meanwhile; it never
/// gives a box without weight as much as one with it.
const TRIES: usize = 3;

/// A quota that is no whole CPU.
pub(super) fn quota(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let spec = site.spec(Provisioning::Vanilla);
    let instance = InstanceType {
        cpus: Cpus::from_milli(600),
        ..spec.instance
    };
    proven(site, &BoxSpec { instance, ..spec })
}

pub(super) fn pinned(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    if let Err(why) = site.platform()?.supports_pinning() {
        return Ok(Kept::NotHere(why.to_owned()));
    }
    let spec = site.spec(Provisioning::Pinned);
    proven(site, &spec)
}

pub(super) fn weight(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    if let Err(why) = site.platform()?.supports_weight() {
        return Ok(Kept::NotHere(why.to_owned()));
    }
    let spec = site.spec(Provisioning::Pinned);
    let mut made = site.launch(&spec)?;
    let meter = made
        .meter()
        .ok_or_else(|| Broken::Seen("the host has no counters of the box".to_owned()))?;
    let read = || meter.read().map_err(Broken::host("read the box's counters"));
    let mut seen = String::new();
    for _ in 0..TRIES {
        let before = read()?;
        let (burned, by_loop) = beside_a_loop(&spec.pinned_set, || burn_only(&mut *made, 1));
        burned?;
        let by_box = Duration::from_nanos(read()?.cpu_ns - before.cpu_ns);
        seen = format!("{by_loop:.1?} of CPU time for a loop and {by_box:.1?} for the box");
        if by_loop < by_box.mul_f64(SHARE_OF_LOOP) {
            made.destroy()?;
            return Ok(Kept::Yes(Some(seen)));
        }
    }
    made.destroy()?;
    Err(Broken::Seen(seen))
}

/// Does something while a thread of ours keeps these CPUs busy; what the thread used of them.
fn beside_a_loop<T>(cpus: &[u32], act: impl FnOnce() -> T) -> (T, Duration) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looping = scope.spawn(|| {
            let mut set = CpuSet::new();
            cpus.iter().for_each(|cpu| set.set(*cpu as usize));
            // Where it is refused the loop is elsewhere, and the check proves less.
            let _ = sched_setaffinity(None, &set);
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            let used = clock_gettime(ClockId::ThreadCPUTime);
            Duration::try_from(used).unwrap_or_default()
        });
        let done = act();
        stop.store(true, Ordering::Relaxed);
        (done, looping.join().unwrap_or_default())
    })
}

fn proven(site: &mut CheckContext<'_>, spec: &BoxSpec) -> Result<Kept, Broken> {
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
    expect(proof.proven, || proof.remarks.join("; "))?;
    let cores = proof.host_cores.or_else(|| proof.burn?.cores_between_edges);
    Ok(Kept::Yes(cores.map(|cores| {
        format!(
            "{cores:.3} of {} CPUs, {}",
            proof.limit_cores,
            show_memory(proof.limit_bytes)
        )
    })))
}
