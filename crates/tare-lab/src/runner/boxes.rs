//! The boxes of a run: made and proven, kept or removed.

use super::memory::Counted;
use super::outside::Outside;
use super::{Event, RunError, Runner, Stop};
use crate::against::Known;
use crate::kept_checks::Basis;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};
use tare_box::cgroup::Meter;
use tare_box::link::Link;
use tare_box::platforms::{ANSWER_DEADLINE, BoxError, BoxSpec, MemoryView, QuotaView, RunningBox};
use tare_box::{carry, footprint, host, interrupt, limits};
use tare_model::finding::Reason;
use tare_model::results::{BoxRecord, EarlierCheck, Failure, ProofRecord, Record, RemovedRecord};
use tare_model::study::{BoxKind, Fresh, Workload};
use tare_model::workload::Place;

/// A box that is in use or kept.
pub(super) struct Held {
    pub(super) running: Box<dyn RunningBox>,
    /// The host's counters of its CPU time, where it has them.
    pub(super) meter: Option<Meter>,
    pub(super) id: u32,
    pub(super) kind: BoxKind,
    pub(super) name: String,
    /// Time that freezing it took, while it is frozen.
    pub(super) frozen: Option<Duration>,
    /// Whether the files of a command were carried into it.
    pub(super) supplied: BTreeSet<String>,
    /// Time that the last freeze and the thaw after it took, until a trial tells.
    pub(super) waking: Option<(Duration, Duration)>,
    /// The box on the host for what runs outside of this one, once something did.
    pub(super) outside: Option<Outside>,
    /// Its memory, in bytes.
    pub(super) memory_bytes: u64,
    /// Whether a kernel of its own is in it, which counts whom it kills.
    pub(super) has_own_kernel: bool,
    /// Whether it is in another one, whose kernel may hold it to a limit.
    pub(super) is_nested: bool,
    /// What was counted of its memory before the trial that is under way.
    pub(super) counted: Option<Counted>,
}

impl Held {
    /// The link to the agent in whose box a role runs; outside, once there is such a box.
    pub(super) fn link(&mut self, place: &Place) -> &mut Link {
        match (&mut self.outside, place) {
            (Some(outside), Place::Outside) => outside.running.link(),
            _ => self.running.link(),
        }
    }

    /// The links to the agent in the box, and to that in the box outside, once there is one.
    pub(super) fn links(&mut self) -> (&mut Link, Option<&mut Link>) {
        let outside = self.outside.as_mut().map(|outside| outside.running.link());
        (self.running.link(), outside)
    }

    /// Whether what is told from where a role runs can be held against the host's clock.
    fn keeps_time(&self, place: &Place) -> bool {
        match (&self.outside, place) {
            (Some(outside), Place::Outside) => outside.running.keeps_time(),
            _ => self.running.keeps_time(),
        }
    }
}

/// The boxes of a stand that are there, by kind.
pub(super) type Present = BTreeMap<BoxKind, Held>;

impl Runner<'_> {
    /// A box of this kind: a kept one thawed, or a new one, with its limits
    /// proven. `None` if they could not be.
    pub(super) fn obtain(&mut self, kind: &BoxKind, block: u32) -> Result<Option<Held>, Obtain> {
        if let Some(held) = self.kept.remove(kind) {
            return self.thaw(held);
        }
        (self.observe)(Event::Launching(kind));
        let id = self.progress.boxes;
        let Some(spec) = self
            .platforms
            .spec(self.study, kind, (self.run, &self.binary), &id)
        else {
            return Ok(None);
        };
        let Some(platform) = self.platforms.get(&kind.platform) else {
            return Ok(None);
        };
        let view = (platform.quota_view(), platform.memory_view());
        let running = platform.launch(&spec).map_err(not_made)?;
        self.progress.boxes += 1;
        let name = spec.name.clone();
        let mut held = Held {
            meter: running.meter(),
            running,
            id,
            kind: kind.clone(),
            name,
            frozen: None,
            supplied: BTreeSet::new(),
            waking: None,
            outside: None,
            memory_bytes: spec.instance.memory_bytes,
            has_own_kernel: view.0 == QuotaView::HostOnly,
            is_nested: kind.platform.segments().len() > 1,
            counted: None,
        };
        self.watch.follow(id, held.running.meter());
        let facts = held
            .running
            .link()
            .facts(ANSWER_DEADLINE)
            .map_err(BoxError::from)
            .map_err(not_made)?;
        let hello_seconds = held.running.hello_after().as_secs_f64();
        let is_first = !self.proven.contains(kind);
        let marks = held.running.marks();
        let footprint = (is_first && !marks.is_empty())
            .then(|| footprint::footprint(&marks, &spec.scratch.join(&spec.name)));
        let made = BoxRecord {
            box_id: id,
            kind: kind.clone(),
            block,
            warm_up: self.warming.is_some(),
            hello_seconds,
            facts: facts.brief(),
            footprint,
        };
        self.writer
            .append(&Record::Box(made))
            .map_err(|e| Obtain::Stop(e.into()))?;
        if self.proven.contains(kind) {
            return Ok(Some(held));
        }
        let proof = self.check_limits(&mut held, view, &spec)?;
        self.judge_proof(kind, proof, held)
    }

    /// The limits of a kind of box: as an earlier run found them on the same basis, else
    /// held against measurements now.
    fn check_limits(
        &mut self,
        held: &mut Held,
        view: (QuotaView, MemoryView),
        spec: &BoxSpec,
    ) -> Result<ProofRecord, Obtain> {
        let basis = self.basis(held);
        let asked = ProofRecord::unproven(&held.kind, (0.0, 0), spec.instance.memory_bytes);
        if let Some(found) = basis
            .as_ref()
            .and_then(|basis| self.kept_checks.find(basis, &asked))
        {
            return Ok(found);
        }
        (self.observe)(Event::Proving(&held.kind));
        let begun = Instant::now();
        let proof = limits::prove(&mut *held.running, view, &held.kind, spec)
            .map_err(BoxError::from)
            .map_err(not_made)?;
        self.left.checked(begun.elapsed());
        if let Some(basis) = basis {
            let check = EarlierCheck {
                run: self.run.name().to_owned(),
                unix_ns: host::unix_ns(),
            };
            // One that cannot be kept is taken again by the next run.
            let _ = self.kept_checks.keep(basis, &proof, check);
        }
        Ok(proof)
    }

    /// What a check of this box depends on; `None` where the boot is not known, or the box
    /// is on another host.
    fn basis(&self, held: &Held) -> Option<Basis> {
        let is_here = !held.running.marks().is_empty();
        is_here.then(|| self.basis_of(&held.kind)).flatten()
    }

    /// What a check of such a box depends on; `None` where the boot is not known.
    fn basis_of(&self, kind: &BoxKind) -> Option<Basis> {
        Some(Basis {
            boot_id: self.boot_id.clone()?,
            build: tare_model::BUILD_ID.to_owned(),
            engine: self.platforms.version(&kind.platform)?.clone(),
            instance: self.study.instance_of(kind)?.clone(),
        })
    }

    /// Takes the checks that need not be made out of the time left.
    pub(super) fn expect_kept_checks(&mut self) {
        let is_kept = |kind: &&BoxKind| {
            let size = self
                .study
                .instance_of(kind)
                .map(|instance| instance.size.memory_bytes);
            let (basis, size) = (self.basis_of(kind), size.unwrap_or_default());
            let asked = ProofRecord::unproven(kind, (0.0, 0), size);
            basis.is_some_and(|basis| self.kept_checks.find(&basis, &asked).is_some())
        };
        for _ in 0..self.study.box_kinds().iter().filter(is_kept).count() {
            self.left.checked(Duration::ZERO);
        }
    }

    fn judge_proof(
        &mut self,
        kind: &BoxKind,
        proof: ProofRecord,
        held: Held,
    ) -> Result<Option<Held>, Obtain> {
        (self.observe)(Event::Proven(&proof));
        let proven = proof.proven;
        self.writer
            .append(&Record::Proof(proof))
            .map_err(|e| Obtain::Stop(e.into()))?;
        if proven {
            self.proven.insert(kind.clone());
            return Ok(Some(held));
        }
        self.refused.insert(kind.clone());
        self.destroy(held).map_err(|e| Obtain::Stop(e.into()))?;
        Ok(None)
    }

    fn thaw(&mut self, mut held: Held) -> Result<Option<Held>, Obtain> {
        if let Some(freeze) = held.frozen.take() {
            self.watch.follow_again(held.id, held.running.meter());
            let begun = Instant::now();
            held.running.thaw().map_err(not_made)?;
            held.waking = Some((freeze, begun.elapsed()));
        }
        Ok(Some(held))
    }

    /// What is known of a box, and of where its work is timed, before anything is told.
    pub(super) fn known(&mut self, kind: &BoxKind, held: &Held, timed: &Place) -> Known {
        let platform = self.platforms.get(&kind.platform);
        let instance = self.study.instance_of(kind);
        Known {
            keeps_time: held.keeps_time(timed),
            shares_kernel: platform.is_some_and(|platform| platform.quota_view() == QuotaView::Inside),
            cpus: instance.map_or(f64::INFINITY, |instance| instance.size.cpus.as_f64()),
        }
    }

    /// After a stand: a box is removed, or frozen where it is kept.
    pub(super) fn put_away(&mut self, mut held: Held) -> Result<(), RunError> {
        if self.study.protocol.fresh != Fresh::Study || interrupt::requested() {
            return self.destroy(held);
        }
        if !self.alone {
            self.watch.forget(held.id);
            let begun = Instant::now();
            if held.running.freeze().is_err() {
                // A box that cannot be stopped would disturb the others: a new one takes its place.
                return self.destroy(held);
            }
            held.frozen = Some(begun.elapsed());
        }
        self.kept.insert(held.kind.clone(), held);
        Ok(())
    }

    /// Removes the box of this kind from a stand, if it is there.
    pub(super) fn remove(&mut self, kind: &BoxKind, present: &mut Present) -> Result<(), RunError> {
        match present.remove(kind) {
            Some(held) => self.destroy(held),
            None => Ok(()),
        }
    }

    pub(super) fn destroy_kept(&mut self) -> Result<(), RunError> {
        let kept: Vec<Held> = std::mem::take(&mut self.kept).into_values().collect();
        kept.into_iter().try_for_each(|held| self.destroy(held))
    }

    pub(super) fn destroy(&mut self, mut held: Held) -> Result<(), RunError> {
        let outside = held.outside.take();
        let lowered = outside.map_or(Ok(()), |mut outside| {
            self.end(outside.id, &outside.name, &mut *outside.running)
        });
        let begun = Instant::now();
        self.end(held.id, &held.name, &mut *held.running)?;
        self.writer.append(&Record::Removed(RemovedRecord {
            box_id: held.id,
            kind: held.kind,
            seconds: begun.elapsed().as_secs_f64(),
        }))?;
        lowered
    }

    fn end(&mut self, id: u32, name: &str, running: &mut dyn RunningBox) -> Result<(), RunError> {
        self.watch.forget(id);
        running.destroy().map_err(|source| {
            self.run.leave_for_sweep();
            RunError::Left {
                name: name.to_owned(),
                source,
            }
        })
    }
}

/// Why there is no box.
pub(super) enum Obtain {
    /// It could not be made: the trial failed.
    Failed(Failure),
    /// The run ends.
    Stop(Stop),
}

pub(super) fn not_made(error: BoxError) -> Obtain {
    if error.is_interruption() {
        return Obtain::Stop(Stop::Interrupted);
    }
    let reason = match error {
        BoxError::Link(_) | BoxError::NoHello { .. } => Reason::Handshake,
        BoxError::Cgroup(_)
        | BoxError::Net(_)
        | BoxError::Host { .. }
        | BoxError::Engine { .. }
        | BoxError::Taken(_) => Reason::Launch,
    };
    Obtain::Failed(Failure::new(reason, error.to_string()))
}

/// Copies the files of what runs in a box into it, if it has its own root.
pub(super) fn supply(held: &mut Held, workload: &Workload, has_host_files: bool) -> Result<(), Failure> {
    if has_host_files {
        return Ok(());
    }
    let files = workload.tested().flat_map(|role| &role.files);
    carry_in(&mut *held.running, &mut held.supplied, files)
}

/// Copies files into a box that were not copied before.
pub(super) fn carry_in<'a>(
    running: &mut dyn RunningBox,
    supplied: &mut BTreeSet<String>,
    files: impl Iterator<Item = &'a String>,
) -> Result<(), Failure> {
    for path in files {
        if supplied.contains(path) {
            continue;
        }
        let failed = |detail: String| Failure::new(Reason::CannotRun, detail);
        let content = carry::content(Path::new(path)).map_err(|e| failed(e.to_string()))?;
        let within = ANSWER_DEADLINE + Duration::from_secs(content.len() as u64 / 1_000_000);
        running
            .carry(path, 0o755, &content, within)
            .map_err(|e| failed(e.to_string()))?;
        supplied.insert(path.clone());
    }
    Ok(())
}
