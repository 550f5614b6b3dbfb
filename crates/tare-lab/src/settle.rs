//! A quiet host before each trial, and what the host saw during it.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::{Duration, Instant};
use tare_host::cgroup::{MemoryFolder, Meter, Usage};
use tare_host::conditions::ConditionMeter;
use tare_host::host::{CpuTimes, HostMeter};
use tare_host::interrupt;
use tare_model::conditions::SHORTEST_READING;
use tare_model::finding::Finding;

/// Share of the host's CPUs that others may use.
pub(crate) const QUIET_LOAD: f64 = 0.02;
/// Length of the stretch that must have been quiet. It may lie before the
/// question: a host that was quiet all along is not waited for.
const QUIET_STRETCH: Duration = Duration::from_secs(1);
/// Longest wait for a quiet host or for dirty pages.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest wait once a full one was in vain: a host that is always busy shall
/// not make a study of minutes last hours. A quiet stretch restores it.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);
/// Snapshots are not taken more often: each costs some 20 us.
const SNAPSHOT_EVERY: Duration = Duration::from_millis(50);
/// Dirty pages that may be left, in bytes.
const FEW_DIRTY: u64 = 1 << 20;
/// Longest stretch that tells of a short trial at its end: what others do changes over seconds.
const FURTHEST_BACK: Duration = Duration::from_secs(5);

/// CPU time of the host and of ourselves at one moment.
#[derive(Debug, Clone, Copy)]
struct Snapshot {
    host: CpuTimes,
    own_ns: u64,
    swapped: u64,
}

/// What a stretch of time on the host was like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stretch {
    /// CPU time of others over the host's CPU time.
    pub others: f64,
    /// Steal over the host's CPU time.
    pub steal: f64,
    /// Pages swapped.
    pub swapped: u64,
}

/// A box whose CPU time is ours.
struct Followed {
    meter: Meter,
    /// CPU time from which on it counts.
    first_ns: u64,
    last_ns: u64,
}

impl Followed {
    /// What it used since it is followed, as far as can be told.
    fn used_ns(&mut self) -> u64 {
        if let Ok(usage) = self.meter.read() {
            self.last_ns = usage.cpu_ns;
        }
        self.last_ns.saturating_sub(self.first_ns)
    }
}

/// Watches the host: which CPU time is ours, which is that of others.
pub(crate) struct HostMonitor {
    host: HostMeter,
    snapshots: VecDeque<Snapshot>,
    /// CPU time of boxes that are gone or rest.
    gone_ns: u64,
    /// The boxes that stand, by their numbers.
    present: BTreeMap<u32, Followed>,
    patience: Duration,
    conditions: ConditionMeter,
    /// Frequency of the CPUs in the first trial of the run.
    first_frequency: Option<f64>,
}

impl HostMonitor {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            host: HostMeter::open()?,
            snapshots: VecDeque::new(),
            gone_ns: 0,
            present: BTreeMap::new(),
            patience: PATIENCE,
            conditions: ConditionMeter::open()?,
            first_frequency: None,
        })
    }

    /// Counts the CPU time of this box as ours: also what it used before, by its boot.
    pub(crate) fn follow(&mut self, box_id: u32, meter: Option<Meter>) {
        self.add(box_id, meter, |_| 0);
    }

    /// Follows a box again that was followed before: what it used until now is counted already.
    pub(crate) fn follow_again(&mut self, box_id: u32, meter: Option<Meter>) {
        self.add(box_id, meter, |usage| usage.cpu_ns);
    }

    fn add(&mut self, box_id: u32, meter: Option<Meter>, first: impl Fn(Usage) -> u64) {
        let Some(meter) = meter else { return };
        let Ok(usage) = meter.read() else { return };
        let followed = Followed {
            meter,
            first_ns: first(usage),
            last_ns: usage.cpu_ns,
        };
        self.present.insert(box_id, followed);
    }

    /// Follows a box no longer: it is about to be removed or frozen.
    pub(crate) fn forget(&mut self, box_id: u32) {
        if let Some(mut followed) = self.present.remove(&box_id) {
            self.gone_ns += followed.used_ns();
        }
    }

    /// A box's counters.
    pub(crate) fn usage(&self, box_id: u32) -> Option<Usage> {
        self.present.get(&box_id)?.meter.read().ok()
    }

    /// Where what happens to a box's memory is counted.
    pub(crate) fn memory(&self, box_id: u32) -> Option<&MemoryFolder> {
        Some(self.present.get(&box_id)?.meter.memory())
    }

    /// Memory of a box that is in swap.
    pub(crate) fn swap_bytes(&self, box_id: u32) -> Option<u64> {
        self.present.get(&box_id)?.meter.swap_bytes()
    }

    /// Further counters of the host.
    pub(crate) fn conditions(&self) -> &ConditionMeter {
        &self.conditions
    }

    /// A frequency over that of the first trial of the run, which this may be.
    pub(crate) fn frequency_ratio(&mut self, frequency: f64) -> f64 {
        frequency / *self.first_frequency.get_or_insert(frequency)
    }

    /// CPU time of the controller and of all boxes so far.
    pub(crate) fn own_ns(&mut self) -> u64 {
        let present: u64 = self.present.values_mut().map(Followed::used_ns).sum();
        self.gone_ns + present + process_cpu_ns()
    }

    fn snapshot(&mut self) -> io::Result<Snapshot> {
        let host = self.host.cpu_times()?;
        let snapshot = Snapshot {
            host,
            own_ns: self.own_ns(),
            swapped: self.host.swapped_pages()?,
        };
        self.snapshots.push_back(snapshot);
        // One snapshot older than the stretch is enough.
        while self
            .snapshots
            .get(1)
            .is_some_and(|s| s.host.at.elapsed() >= QUIET_STRETCH)
        {
            self.snapshots.pop_front();
        }
        Ok(snapshot)
    }

    /// The last snapshot if it is recent, else a new one.
    fn recent(&mut self) -> io::Result<Snapshot> {
        match self.snapshots.back() {
            Some(last) if last.host.at.elapsed() < SNAPSHOT_EVERY => Ok(*last),
            _ => self.snapshot(),
        }
    }

    /// Waits until the host is quiet. Costs nothing noticeable when it has been
    /// quiet all along.
    pub(crate) fn settle(&mut self) -> io::Result<(Duration, Vec<Finding>)> {
        let fresh = self
            .snapshots
            .back()
            .is_some_and(|last| last.host.at.elapsed() < SNAPSHOT_EVERY);
        let mut findings = Vec::new();
        if fresh && self.is_quiet() == Some(true) {
            return Ok((Duration::ZERO, findings));
        }
        let begun = Instant::now();
        findings.extend(self.write_back()?);
        findings.extend(self.wait_for_quiet()?);
        Ok((begun.elapsed(), findings))
    }

    fn write_back(&self) -> io::Result<Option<Finding>> {
        let begun = Instant::now();
        if self.host.unwritten_bytes()? < FEW_DIRTY {
            return Ok(None);
        }
        rustix::fs::sync();
        loop {
            let bytes = self.host.unwritten_bytes()?;
            if bytes < FEW_DIRTY {
                return Ok(None);
            }
            if begun.elapsed() > self.patience || interrupt::requested() {
                return Ok(Some(Finding::DirtyPages { bytes }));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for_quiet(&mut self) -> io::Result<Option<Finding>> {
        let begun = Instant::now();
        loop {
            self.snapshot()?;
            if self.is_quiet() == Some(true) {
                self.patience = PATIENCE;
                return Ok(None);
            }
            if interrupt::requested() {
                return Ok(None);
            }
            if begun.elapsed() > self.patience {
                self.patience = SHORT_PATIENCE;
                return Ok(self.last_load().map(|load| Finding::HostBusy { load }));
            }
            std::thread::sleep(SNAPSHOT_EVERY);
        }
    }

    /// Whether the last stretch was quiet; `None` if it is not long enough yet.
    fn is_quiet(&self) -> Option<bool> {
        let first = self
            .snapshots
            .front()
            .filter(|s| s.host.at.elapsed() >= QUIET_STRETCH)?;
        let last = self.snapshots.back()?;
        Some(self.between(first, last).others < QUIET_LOAD)
    }

    fn last_load(&self) -> Option<f64> {
        Some(
            self.between(self.snapshots.front()?, self.snapshots.back()?)
                .others,
        )
    }

    #[expect(clippy::cast_precision_loss, reason = "shares are printed with a digit")]
    fn between(&self, first: &Snapshot, last: &Snapshot) -> Stretch {
        let wall = last.host.at.duration_since(first.host.at).as_nanos() as f64;
        let capacity = (wall * f64::from(self.host.cpus())).max(1.0);
        let busy = last.host.busy_ns.saturating_sub(first.host.busy_ns);
        let own = last.own_ns.saturating_sub(first.own_ns);
        Stretch {
            others: busy.saturating_sub(own) as f64 / capacity,
            steal: last.host.steal_ns.saturating_sub(first.host.steal_ns) as f64 / capacity,
            swapped: last.swapped.saturating_sub(first.swapped),
        }
    }

    /// CPUs of the host.
    pub(crate) fn cpus(&self) -> f64 {
        f64::from(self.host.cpus())
    }

    /// Begins to observe a trial.
    pub(crate) fn begin(&mut self) -> io::Result<Observation> {
        Ok(Observation {
            first: self.recent()?,
        })
    }

    /// What the host was like since. Ticks tell of a short trial only roughly: the stretch that
    /// is told to within 2 % begins before it then, with the last snapshot that is long enough
    /// ago.
    pub(crate) fn end(&mut self, observation: &Observation) -> io::Result<Observed> {
        let first = observation.first;
        let is_long_ago = |snapshot: &Snapshot| snapshot.host.at.elapsed() >= SHORTEST_READING;
        let earlier = self.snapshots.iter().rev().find(|s| is_long_ago(s)).copied();
        let earlier = earlier.filter(|snapshot| snapshot.host.at.elapsed() <= FURTHEST_BACK);
        let reaching_back = if is_long_ago(&first) { Some(first) } else { earlier };
        let last = self.snapshot()?;
        let during = self.between(&first, &last);
        let told = reaching_back.map(|from| Told {
            stretch: Stretch {
                // Pages are counted one by one: no ticks make them rough.
                swapped: during.swapped,
                ..self.between(&from, &last)
            },
            length: last.host.at.duration_since(from.host.at),
            is_longer: from.host.at < first.host.at,
        });
        Ok(Observed { during, told })
    }
}

/// What the host was like while a trial ran.
pub(crate) struct Observed {
    /// In its time alone; of a short one told only roughly.
    pub during: Stretch,
    /// To within 2 %; none where nothing was looked at early enough.
    pub told: Option<Told>,
}

/// A stretch that ends with a trial, long enough for ticks.
pub(crate) struct Told {
    pub stretch: Stretch,
    pub length: Duration,
    /// Whether it began before the trial did.
    pub is_longer: bool,
}

/// A trial under observation.
pub(crate) struct Observation {
    first: Snapshot,
}

/// What a stretch gives reason to doubt.
pub(crate) fn findings(stretch: Stretch) -> Vec<Finding> {
    let mut findings = Vec::new();
    if stretch.others > QUIET_LOAD {
        findings.push(Finding::Disturbed { load: stretch.others });
    }
    if stretch.steal > QUIET_LOAD {
        findings.push(Finding::Stolen { share: stretch.steal });
    }
    if stretch.swapped > 0 {
        findings.push(Finding::Swapped {
            pages: stretch.swapped,
        });
    }
    findings
}

/// CPU time of this process.
fn process_cpu_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_by_others_is_told_from_our_own() {
        let mut monitor = HostMonitor::new().unwrap();
        let (before, first) = (process_cpu_ns(), monitor.snapshot().unwrap());
        while process_cpu_ns() - before < 300_000_000 {
            std::hint::spin_loop();
        }
        let last = monitor.snapshot().unwrap();
        // What this process burned is ours, and nothing of it counts as others'.
        let ours = last.own_ns - first.own_ns;
        assert!(ours > 250_000_000, "{ours} ns");
        let capacity =
            last.host.at.duration_since(first.host.at).as_secs_f64() * f64::from(monitor.host.cpus());
        let others = monitor.between(&first, &last).others;
        assert!(others <= 1.0 - ours as f64 / 1e9 / capacity + 0.1, "{others}");
    }

    #[test]
    fn noise_of_a_short_trial_is_that_of_a_stretch_which_ends_with_it() {
        let mut monitor = HostMonitor::new().unwrap();
        let begun = monitor.begin().unwrap();
        assert!(
            monitor.end(&begun).unwrap().told.is_none(),
            "nothing was looked at before"
        );
        std::thread::sleep(SHORTEST_READING);
        let begun = monitor.begin().unwrap();
        let told = monitor.end(&begun).unwrap().told.unwrap();
        assert!(told.is_longer && told.length >= SHORTEST_READING);
        let begun = monitor.begin().unwrap();
        std::thread::sleep(SHORTEST_READING);
        assert!(!monitor.end(&begun).unwrap().told.unwrap().is_longer);
    }

    #[test]
    fn a_disturbed_stretch_is_named() {
        let stretch = Stretch {
            others: 0.5,
            steal: 0.0,
            swapped: 3,
        };
        let names: Vec<_> = findings(stretch).iter().map(Finding::name).collect();
        assert_eq!(names, ["disturbed", "swapped"]);
    }
}
