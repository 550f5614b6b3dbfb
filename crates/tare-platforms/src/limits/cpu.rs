//! The CPU limit: a burn, read between the edges of quota periods by the box's clock
//! and by the host's counters.

use super::{RETRIES, parse, run_proof};
use crate::contract::{BoxSpec, QuotaView, RunningBox};
use crate::link::LinkError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tare_host::cgroup::{Meter, Usage};
use tare_host::control_cpu;
use tare_model::finding::Finding;
use tare_model::kernel::{BurnReport, ProofSpec};
use tare_model::results::ProofRecord;

/// How far above the limit a reading may be, as a factor.
const TOLERANCE: f64 = 1.02;
/// Length of the burn: four whole quota periods lie between edges, enough for 0.5 %.
const BURN_SECONDS: f64 = 0.6;
/// Readings above the limit that refuse a kind of box. A limit that does not hold shows in
/// all of them; one that does is misread where the ends of quota periods come late, as
/// when a hypervisor takes CPU time from the host: that was seen three times in a row.
const READINGS_ABOVE: u32 = 5;

/// Proves it; why the box is refused.
pub(super) fn prove_cpu(
    running: &mut dyn RunningBox,
    view: QuotaView,
    spec: &BoxSpec,
    record: &mut ProofRecord,
) -> Result<Vec<String>, LinkError> {
    let threads = record.burn_threads;
    let refused = judge_cpu(view, record, || burn(running, threads))?;
    let beyond = beyond_set(running, view, spec, record);
    Ok(refused.into_iter().chain(beyond).collect())
}

/// Reads until the limit is seen to hold, or often enough that it is not; why the box is
/// refused.
fn judge_cpu(
    view: QuotaView,
    record: &mut ProofRecord,
    mut read: impl FnMut() -> Result<(BurnReport, Option<HostReading>), LinkError>,
) -> Result<Option<String>, LinkError> {
    let limit = record.limit_cores;
    let (mut above, mut below) = (0, 0);
    loop {
        let (burn, host) = read()?;
        let inside = burn
            .cores_between_edges
            .unwrap_or_else(|| burn.cpu_seconds / burn.wall_seconds.max(1e-9));
        let throttled = host.is_some_and(|h| h.throttled) || burn.edges >= 2;
        record.host_cores = host.map(|h| h.cores);
        record.burn = Some(burn);
        let deciding = match view {
            QuotaView::Inside => inside.max(record.host_cores.unwrap_or(inside)),
            QuotaView::HostOnly => record.host_cores.unwrap_or(f64::INFINITY),
        };
        if deciding > limit * TOLERANCE {
            above += 1;
            if above == READINGS_ABOVE {
                let by_host = record.host_cores.map(|cores| format!("{cores:.3}"));
                return Ok(Some(format!(
                    "CPU: {inside:.3} cores by the box's clock, {} by the host's, where {limit} are granted, in the last of {above} readings above it",
                    by_host.unwrap_or_else(|| "no reading".to_owned())
                )));
            }
            continue;
        }
        if throttled || deciding >= limit / TOLERANCE {
            return Ok(None);
        }
        below += 1;
        if below > RETRIES {
            record.findings.push(Finding::BelowLimit {
                cores: deciding,
                limit,
            });
            return Ok(None);
        }
    }
}

/// CPUs that the box may use beyond its set.
fn beyond_set(
    running: &dyn RunningBox,
    view: QuotaView,
    spec: &BoxSpec,
    record: &ProofRecord,
) -> Option<String> {
    let set = spec.cpu_set();
    if set.is_empty() {
        return None;
    }
    let inside = record.burn.as_ref().map(|burn| burn.allowed_cpus.clone());
    let allowed = match view {
        QuotaView::Inside => inside,
        QuotaView::HostOnly => running.host_allowed_cpus(),
    }?;
    let beyond: Vec<u32> = allowed.into_iter().filter(|cpu| !set.contains(cpu)).collect();
    (!beyond.is_empty()).then(|| format!("CPU set: may also run on CPUs {beyond:?}, beyond {set:?}"))
}

/// What the host's counters say of a burn.
#[derive(Clone, Copy)]
struct HostReading {
    cores: f64,
    throttled: bool,
}

/// Lets so many threads burn in a box for [`BURN_SECONDS`].
///
/// # Errors
/// [`LinkError`].
pub(crate) fn burn_only(running: &mut dyn RunningBox, threads: u32) -> Result<BurnReport, LinkError> {
    let spec = ProofSpec::Burn {
        threads,
        seconds: BURN_SECONDS,
    };
    let (exited, stdout) = run_proof(running, &spec)?;
    parse(&exited, &stdout)
}

fn burn(running: &mut dyn RunningBox, threads: u32) -> Result<(BurnReport, Option<HostReading>), LinkError> {
    let meter = running.meter();
    let stop = AtomicBool::new(false);
    let (report, samples) = std::thread::scope(|scope| {
        // Not from the control CPU: a box that burns there has nearly all of it, and the first reading
        // would come after the last.
        let sampler = meter.map(|meter| control_cpu::away(|| scope.spawn(|| sample(meter, &stop))));
        let report = burn_only(running, threads);
        stop.store(true, Ordering::Relaxed);
        (report, sampler.and_then(|thread| thread.join().ok()))
    });
    Ok((report?, samples.and_then(|samples| reading(&samples))))
}

/// The host's counters of a box at one moment.
type Sample = (Instant, Usage);

/// Reads the counters every millisecond until told to stop.
fn sample(meter: Meter, stop: &AtomicBool) -> Vec<Sample> {
    let mut samples = Vec::with_capacity(4096);
    // A box that burns on every CPU has nearly all of them. Refused to who is not root.
    let _ = tare_sys::run_first(true);
    while !stop.load(Ordering::Relaxed) {
        let Ok(usage) = meter.read() else { break };
        samples.push((Instant::now(), usage));
        std::thread::sleep(Duration::from_millis(1));
    }
    samples
}

/// CPU time over wall time between the first and the last edge of a quota
/// period; without a quota, between the first and the last sample in which the
/// box was busy.
fn reading(samples: &[Sample]) -> Option<HostReading> {
    let edges: Vec<&Sample> = samples
        .windows(2)
        .filter(|w| w[1].1.periods > w[0].1.periods)
        .map(|w| &w[1])
        .collect();
    let (first, last) = match edges[..] {
        // The first period began before the burn did.
        [_, first, .., last] => (first, last),
        _ => busy_ends(samples)?,
    };
    let wall = last.0.duration_since(first.0).as_secs_f64();
    let cpu = Duration::from_nanos(last.1.cpu_ns.saturating_sub(first.1.cpu_ns)).as_secs_f64();
    let throttled = last.1.throttled_periods > first.1.throttled_periods;
    (wall > 0.0).then(|| HostReading {
        cores: cpu / wall,
        throttled,
    })
}

/// The first and the last sample between which the box used CPU time.
fn busy_ends(samples: &[Sample]) -> Option<(&Sample, &Sample)> {
    let (idle_before, idle_after) = (samples.first()?.1.cpu_ns, samples.last()?.1.cpu_ns);
    let first = samples.iter().rfind(|s| s.1.cpu_ns == idle_before)?;
    let last = samples.iter().find(|s| s.1.cpu_ns == idle_after)?;
    (first.0 < last.0).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::platform::Provisioning;
    use tare_model::study::BoxKind;

    #[test]
    fn a_quota_is_read_between_the_edges_of_periods() {
        let start = Instant::now();
        // Half a core by quota: 50 ms of CPU time at the start of each period of
        // 100 ms, seen from the middle of a period on.
        let sample = |ms: u64| {
            let cpu_ms = (ms / 100) * 50 + (ms % 100).min(50);
            let usage = Usage {
                cpu_ns: cpu_ms * 1_000_000,
                periods: ms / 100,
                throttled_periods: ms / 100,
                throttled_ns: 0,
            };
            (start + Duration::from_millis(ms), usage)
        };
        let samples: Vec<_> = (30..730).map(sample).collect();
        let reading = reading(&samples).unwrap();
        assert!((reading.cores - 0.5).abs() < 1e-9 && reading.throttled);
    }

    /// Judges these readings of one CPU's quota by the box's clock, in their order, each
    /// with whether the box was throttled: the refusal, the readings taken and the record.
    fn judged(readings: &[(f64, bool)]) -> (Option<String>, usize, ProofRecord) {
        let kind = BoxKind {
            platform: "native".parse().unwrap(),
            provisioning: Provisioning::Vanilla,
            instance: None,
        };
        let mut record = ProofRecord::unproven(&kind, (1.0, 4), 1 << 30);
        let mut left = readings.iter();
        let refused = judge_cpu(QuotaView::Inside, &mut record, || {
            let (cores, throttled) = *left.next().unwrap();
            let burn = BurnReport {
                wall_seconds: 1.2,
                cpu_seconds: 1.2,
                cores_between_edges: Some(cores),
                edges: if throttled { 11 } else { 0 },
                allowed_cpus: Vec::new(),
            };
            Ok((burn, None))
        });
        (refused.unwrap(), readings.len() - left.len(), record)
    }

    #[test]
    fn a_limit_that_holds_is_not_refused_for_readings_that_come_late() {
        let late = [(1.023, true); 4];
        let (refused, taken, record) = judged(&[&late[..], &[(1.001, true)]].concat());
        assert_eq!((refused, taken, record.findings.len()), (None, 5, 0));
    }

    #[test]
    fn a_limit_that_does_not_hold_shows_in_five_readings() {
        let (refused, taken, _) = judged(&[(1.05, true); 6]);
        let refused = refused.unwrap();
        assert!(
            refused.contains("1.050 cores by the box's clock") && taken == 5,
            "{refused}"
        );
    }

    #[test]
    fn a_busy_host_is_a_finding_and_no_refusal() {
        let (refused, taken, record) = judged(&[(0.7, false), (1.05, true), (0.7, false), (0.8, false)]);
        assert_eq!((refused, taken, record.findings.len()), (None, 4, 1));
        assert_eq!(judged(&[(0.7, true)]).1, 1, "throttled below its limit: it holds");
    }
}
