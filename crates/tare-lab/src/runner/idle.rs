//! Boxes that use CPU while they only wait: machines with their timers, engines with
//! theirs. One that uses much is frozen between its slices.

use super::boxes::Present;
use super::{Runner, Stop};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tare_box::interrupt;
use tare_model::study::BoxKind;

/// How long boxes are looked at while none works.
const STRETCH: Duration = Duration::from_millis(250);
/// CPUs that a waiting box uses from which on it is frozen. To freeze and thaw a machine
/// takes some 1 ms at each of its slices; over a round of ten slices of 10 ms a box that
/// uses 1 % of a CPU takes as much from the others, and only a part of that falls into
/// what is measured. (An emulated machine was seen to use 0.7 %, containers nothing.)
const MUCH: f64 = 0.02;

impl Runner<'_> {
    /// Finds out once of each kind of box how much CPU it uses while it waits.
    pub(super) fn find_idle_use(&mut self, present: &Present) -> Result<(), Stop> {
        let unknown = |kind: &&BoxKind| !self.paces.freezes.contains_key(*kind);
        if present.len() < 2 || !present.keys().any(|kind| unknown(&kind)) {
            return Ok(());
        }
        let before = self.used(present);
        let begun = Instant::now();
        while let Ok(slice) = interrupt::next_slice(begun + STRETCH) {
            std::thread::sleep(slice);
        }
        if interrupt::requested() {
            return Err(Stop::Interrupted);
        }
        let seconds = begun.elapsed().as_secs_f64();
        for (kind, used_ns) in self.used(present) {
            let since = used_ns.saturating_sub(before.get(&kind).copied().unwrap_or(used_ns));
            let cpus = Duration::from_nanos(since).as_secs_f64() / seconds;
            self.paces.freezes.entry(kind).or_insert(cpus > MUCH);
        }
        Ok(())
    }

    /// CPU time of the boxes that the host counts.
    fn used(&self, present: &Present) -> BTreeMap<BoxKind, u64> {
        let of = |(kind, held): (&BoxKind, &super::boxes::Held)| {
            let used = self.watch.usage(held.id).map_or(0, |usage| usage.cpu_ns);
            (kind.clone(), used)
        };
        present.iter().map(of).collect()
    }
}
