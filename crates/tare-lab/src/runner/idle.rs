//! Boxes that use CPU while they only wait: machines with their timers, engines with
//! theirs. One that uses much is frozen between its slices.

use super::Stop;
use super::boxes::Boxes;
use super::live::{CellBoxes, LiveBoxes};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tare_host::interrupt;
use tare_model::study::BoxKind;

/// How long boxes are looked at while none works.
const STRETCH: Duration = Duration::from_millis(250);
/// CPUs that a waiting box uses from which on it is frozen. To freeze and thaw a machine
/// takes some 1 ms at each of its slices; over a round of ten slices of 10 ms a box that
/// uses 1 % of a CPU takes as much from the others, and only a part of that falls into
/// what is measured. (An emulated machine was seen to use 0.7 %, containers nothing.)
const MUCH: f64 = 0.02;

impl Boxes<'_> {
    /// Finds out once of each kind of box whether it uses much CPU while it waits.
    pub fn find_idle_use(&self, present: &LiveBoxes, much: &mut BTreeMap<BoxKind, bool>) -> Result<(), Stop> {
        if present.len() < 2 || present.keys().all(|kind| much.contains_key(kind)) {
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
            much.entry(kind).or_insert(cpus > MUCH);
        }
        Ok(())
    }

    /// CPU time of the boxes that the host counts.
    fn used(&self, present: &LiveBoxes) -> BTreeMap<BoxKind, u64> {
        let of = |(kind, held): (&BoxKind, &CellBoxes)| {
            let used = self.monitor.usage(held.own.id).map_or(0, |usage| usage.cpu_ns);
            (kind.clone(), used)
        };
        present.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{study, with_runner};
    use tare_model::results::Outcome;
    use tare_study::design::ProtocolOptions;

    const BASELINE: &str = "fake";
    const FROZEN: &str = "fake?cost=2";

    /// A frozen box answers nothing: whoever asks it something loses it.
    #[test]
    fn a_box_that_is_frozen_between_its_slices_has_two_processes_as_others_have() {
        let workloads = ["syscall", "linpack"];
        let study = study(&[BASELINE, FROZEN], &workloads, ProtocolOptions::default());
        let results = with_runner(&study, |mut runner| {
            for kind in study.box_kinds() {
                let much = kind.platform.to_string() == FROZEN;
                runner.bench.paces.freezes.insert(kind, much);
            }
            runner.run().unwrap();
        });
        let failed = results.trials().find(|t| !matches!(t.outcome, Outcome::Ok(_)));
        assert!(failed.is_none(), "{failed:?}");
        assert_eq!(results.groups().count(), 4);
        let members = results.groups().flat_map(|group| {
            // What costs the same in every round needs fewer of them from the second block on.
            let rounds = if group.block == 0 { 500 } else { 200 };
            group.members.iter().map(move |member| (member, rounds))
        });
        for (member, rounds) in members {
            let is_frozen = member.cell.kind.platform.to_string() == FROZEN;
            assert_eq!(member.frozen, is_frozen);
            assert_eq!((member.processes, member.places.len()), (2, rounds));
        }
    }
}
