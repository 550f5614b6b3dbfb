//! The boxes of a run: made and proven, kept or removed.

use super::live::{CellBoxes, LiveBox};
use super::recorder::Recorder;
use super::{Event, RunError, Stop, hooks};
use crate::kept_checks::{Basis, KeptChecks};
use crate::plausibility::Known;
use crate::preflight::Platforms;
use crate::session::Session;
use crate::settle::HostMonitor;
use crate::trial;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;
use tare_host::net::Network;
use tare_host::{footprint, host, interrupt};
use tare_model::finding::Reason;
use tare_model::platform::Provisioning;
use tare_model::results::{BoxRecord, EarlierCheck, Failure, ProofRecord, Record, RemovedRecord};
use tare_model::study::{BoxKind, Fresh, Study, Workload};
use tare_platforms::state::Run;
use tare_platforms::{ANSWER_DEADLINE, BoxError, BoxSpec, MemoryView, QuotaView, RunningBox};
use tare_platforms::{agent_file, limits};
use tare_study::placement::Placement;
use tare_study::plan::PlannedTrial;

/// Makes boxes, proves their limits, and keeps or removes them.
pub(super) struct Boxes<'a> {
    pub study: &'a Study,
    pub platforms: &'a mut Platforms,
    pub run: &'a Run,
    /// The agent's file in the run's folder.
    pub binary: PathBuf,
    pub monitor: HostMonitor,
    /// Boxes that wait for their next block.
    kept: BTreeMap<BoxKind, CellBoxes>,
    proven: &'a mut BTreeSet<BoxKind>,
    /// Kinds of box whose limits are not proven.
    pub refused: BTreeSet<BoxKind>,
    checks: KeptChecks,
    pub boot_id: Option<String>,
    /// Boxes made so far.
    pub made: &'a mut u32,
}

impl<'a> Boxes<'a> {
    /// Those of a session.
    ///
    /// # Errors
    /// [`RunError::Copy`], [`RunError::Host`].
    pub fn of(session: &'a mut Session) -> Result<Self, RunError> {
        Ok(Self {
            study: &session.study,
            platforms: &mut session.platforms,
            run: &session.run,
            binary: session.run.agent().map_err(RunError::Copy)?,
            monitor: HostMonitor::new()?,
            kept: BTreeMap::new(),
            proven: &mut session.proven,
            refused: BTreeSet::new(),
            checks: KeptChecks::of(session.run.state()),
            boot_id: host::facts().boot_id,
            made: &mut session.boxes,
        })
    }

    /// Whether what runs in two such boxes meets in files or ports of this host.
    pub fn shares_names(&self, kind: &BoxKind) -> bool {
        self.has_host_files(kind) || self.platforms.network(&kind.platform) == Network::Host
    }

    /// Whether boxes of this kind have the host's own files.
    pub fn has_host_files(&self, kind: &BoxKind) -> bool {
        self.platforms.has_host_files(&kind.platform)
    }

    /// Makes the box of a cell ready for a trial: what its workload needs is copied into it, and set up.
    pub fn make_ready(&self, held: &mut CellBoxes, workload: &Workload) -> Result<(), Failure> {
        held.count_memory();
        let has_host_files = self.has_host_files(&held.kind);
        hooks::make_ready(held, workload, has_host_files, trial::timeout(self.study))
    }

    /// A box of this kind: a kept one thawed, or a new one, with its limits
    /// proven. `None` if they could not be.
    pub fn obtain(
        &mut self,
        kind: &BoxKind,
        block: u32,
        recorder: &mut Recorder<'_>,
    ) -> Result<Option<CellBoxes>, Obtain> {
        if let Some(held) = self.kept.remove(kind) {
            return self.thaw(held);
        }
        recorder.observe(Event::Launching(kind));
        let id = *self.made;
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
        let is_first = !self.proven.contains(kind);
        let own = self.launch(kind, &spec, (None, block), recorder)?;
        let mut held = CellBoxes {
            own,
            beside: BTreeMap::new(),
            kind: kind.clone(),
            standing: Vec::new(),
            named: String::new(),
            frozen: None,
            waking: None,
        };
        if !is_first {
            return Ok(Some(held));
        }
        let proof = self.check_limits(&mut held, view, &spec, recorder)?;
        self.judge_proof(proof, held, recorder)
    }

    /// Makes a box of this kind and tells of it: that of the cell, or of a role that has it for itself.
    /// What the former occupies is read while nothing has run in it.
    pub fn launch(
        &mut self,
        kind: &BoxKind,
        spec: &BoxSpec,
        (role, block): (Option<&str>, u32),
        recorder: &mut Recorder<'_>,
    ) -> Result<LiveBox, Obtain> {
        let platform = self.platforms.get(&kind.platform);
        let platform = platform.ok_or_else(|| Obtain::Failed(unknown(kind)))?;
        let has_own_kernel = platform.quota_view() == QuotaView::HostOnly;
        let running = platform.launch(spec).map_err(not_made)?;
        let mut boxed = LiveBox {
            has_own_kernel,
            is_nested: kind.platform.segments().len() > 1,
            ..self.take_in(running, spec)
        };
        let running = &mut boxed.running;
        let facts = running.link().facts(ANSWER_DEADLINE);
        let facts = facts.map_err(BoxError::from).map_err(not_made)?;
        let marks = running.marks();
        let is_seen = role.is_none() && !marks.is_empty();
        // Once: there may be a whole image to walk through.
        let footprint = (is_seen && !self.proven.contains(kind))
            .then(|| footprint::footprint(&marks, &spec.scratch.join(&spec.name)));
        let made = BoxRecord {
            box_id: boxed.id,
            kind: kind.clone(),
            role: role.map(str::to_owned),
            block,
            warm_up: recorder.warming().is_some(),
            hello_seconds: running.hello_after().as_secs_f64(),
            facts: facts.brief(),
            footprint,
            resident_bytes: is_seen.then(|| footprint::resident_bytes(&marks)),
        };
        recorder.write(&Record::Box(made))?;
        Ok(boxed)
    }

    /// A box on this host's kernel that was just made, with its number. What it uses from now on is
    /// used for the trials, and by nobody else.
    pub fn take_in(&mut self, running: Box<dyn RunningBox>, spec: &BoxSpec) -> LiveBox {
        let id = *self.made;
        *self.made += 1;
        self.monitor.follow(id, running.meter());
        LiveBox {
            meter: running.meter(),
            running,
            id,
            name: spec.name.clone(),
            supplied: BTreeSet::new(),
            memory_bytes: spec.instance.memory_bytes,
            has_own_kernel: false,
            is_nested: false,
            counted: None,
        }
    }

    /// The limits of a kind of box: as an earlier run found them on the same basis, else
    /// held against measurements now.
    fn check_limits(
        &mut self,
        held: &mut CellBoxes,
        view: (QuotaView, MemoryView),
        spec: &BoxSpec,
        recorder: &mut Recorder<'_>,
    ) -> Result<ProofRecord, Obtain> {
        let basis = self.basis(held);
        let asked = ProofRecord::unproven(&held.kind, (0.0, 0), spec.instance.memory_bytes);
        if let Some(found) = basis.as_ref().and_then(|basis| self.checks.find(basis, &asked)) {
            return Ok(found);
        }
        recorder.observe(Event::Proving(&held.kind));
        let begun = Instant::now();
        let proof = limits::prove(&mut *held.own.running, view, &held.kind, spec)
            .map_err(BoxError::from)
            .map_err(not_made)?;
        recorder.checked_limits(begun.elapsed());
        if let Some(basis) = basis {
            let check = EarlierCheck {
                run: self.run.name().to_owned(),
                unix_ns: host::unix_ns(),
            };
            // One that cannot be kept is taken again by the next run.
            let _ = self.checks.keep(basis, &proof, check);
        }
        Ok(proof)
    }

    /// What a check of this box depends on; `None` where the boot is not known, or the box
    /// is on another host.
    fn basis(&self, held: &CellBoxes) -> Option<Basis> {
        let is_here = !held.own.running.marks().is_empty();
        is_here.then(|| self.basis_of(&held.kind)).flatten()
    }

    /// What a check of such a box depends on; `None` where the boot is not known.
    fn basis_of(&self, kind: &BoxKind) -> Option<Basis> {
        Some(Basis {
            boot_id: self.boot_id.clone()?,
            agent: agent_file::build_id().to_owned(),
            engine: self.platforms.version(&kind.platform)?.clone(),
            instance: self.study.instance_of(kind)?.clone(),
        })
    }

    /// How many kinds of box need no check, since an earlier one holds for them.
    pub fn n_checked(&self) -> usize {
        let is_checked = |kind: &&BoxKind| {
            let size = self
                .study
                .instance_of(kind)
                .map(|instance| instance.size.memory_bytes);
            let (basis, size) = (self.basis_of(kind), size.unwrap_or_default());
            let asked = ProofRecord::unproven(kind, (0.0, 0), size);
            basis.is_some_and(|basis| self.checks.find(&basis, &asked).is_some())
        };
        self.study.box_kinds().iter().filter(is_checked).count()
    }

    fn judge_proof(
        &mut self,
        proof: ProofRecord,
        held: CellBoxes,
        recorder: &mut Recorder<'_>,
    ) -> Result<Option<CellBoxes>, Obtain> {
        recorder.observe(Event::Proven(&proof));
        let proven = proof.proven;
        recorder.write(&Record::Proof(proof))?;
        if proven {
            self.proven.insert(held.kind.clone());
            return Ok(Some(held));
        }
        self.refused.insert(held.kind.clone());
        self.destroy(held, recorder)?;
        Ok(None)
    }

    fn thaw(&mut self, mut held: CellBoxes) -> Result<Option<CellBoxes>, Obtain> {
        if let Some(freeze) = held.frozen.take() {
            for (_, boxed) in held.of_its_kind() {
                self.monitor.follow_again(boxed.id, boxed.running.meter());
            }
            let begun = Instant::now();
            for (_, boxed) in held.of_its_kind() {
                boxed.running.thaw().map_err(not_made)?;
            }
            held.waking = Some((freeze, begun.elapsed()));
        }
        Ok(Some(held))
    }

    /// What is known of a box, and of where its work is timed, before anything is told.
    pub fn known(&mut self, kind: &BoxKind, held: &CellBoxes, timed: &Placement) -> Known {
        let platform = self.platforms.get(&kind.platform);
        let instance = self.study.instance_of(kind);
        Known {
            keeps_time: held.at(timed).running.keeps_time(),
            shares_kernel: platform.is_some_and(|platform| platform.quota_view() == QuotaView::Inside),
            cpus: instance.map_or(f64::INFINITY, |instance| instance.size.cpus.as_f64()),
        }
    }

    /// Why no box of this kind can be made, if it is to be pinned.
    pub fn unpinned(&self, kind: &BoxKind) -> Option<&'static str> {
        let is_pinned = kind.provisioning == Provisioning::Pinned;
        is_pinned
            .then(|| self.platforms.unpinned(&kind.platform))
            .flatten()
    }

    /// Why a trial cannot run in its box.
    pub fn cannot_run(&self, planned: &PlannedTrial) -> Option<Failure> {
        if let Some(why) = self.unpinned(&planned.cell.kind) {
            return Some(Failure::new(Reason::CannotRun, why));
        }
        let workload = self.study.workload(&planned.cell)?;
        let barrier = workload.cannot_run.as_ref();
        if let Some(barrier) = barrier.filter(|barrier| barrier.bars(&planned.cell.kind.platform)) {
            return Some(Failure::new(Reason::CannotRun, barrier.why.clone()));
        }
        if let Some(why) = self.platforms.barrier(&planned.cell.kind.platform, &workload) {
            return Some(Failure::new(Reason::CannotRun, why));
        }
        let detail = workload.boxed().find_map(|role| role.host_only.clone())?;
        let has_host_files = self.has_host_files(&planned.cell.kind);
        (!has_host_files).then(|| Failure::new(Reason::CannotRun, detail))
    }

    /// After a cohort: a box is removed, or frozen where it is kept.
    pub fn put_away(&mut self, mut held: CellBoxes, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        if self.study.protocol.fresh != Fresh::Study || interrupt::requested() {
            return self.destroy(held, recorder);
        }
        held.end_standing(None);
        // The only kind of box has nobody to be frozen for.
        if self.study.box_kinds().len() > 1 {
            for (_, boxed) in held.of_its_kind() {
                self.monitor.forget(boxed.id);
            }
            let begun = Instant::now();
            if held.freeze().is_err() {
                // A box that cannot be stopped would disturb the others: a new one takes its place.
                return self.destroy(held, recorder);
            }
            held.frozen = Some(begun.elapsed());
        }
        self.kept.insert(held.kind.clone(), held);
        Ok(())
    }

    /// Removes the boxes that wait for their next block.
    pub fn destroy_kept(&mut self, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let mut kept = std::mem::take(&mut self.kept).into_values();
        kept.try_for_each(|held| self.destroy(held, recorder))
    }

    /// Removes the box of a cell, behind those beside it. All are tried, whatever becomes of one.
    pub fn destroy(&mut self, held: CellBoxes, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let CellBoxes {
            own, beside, kind, ..
        } = held;
        let mut outcome = Ok(());
        for (placement, boxed) in beside {
            let ended = match placement {
                // Of what is the same beside every cell nothing is told.
                Placement::Host | Placement::Cell => self.end(boxed).map(drop),
                Placement::Own(role) => self.end_and_tell(boxed, &kind, Some(role), recorder),
            };
            outcome = outcome.and(ended);
        }
        self.end_and_tell(own, &kind, None, recorder).and(outcome)
    }

    fn end_and_tell(
        &mut self,
        boxed: LiveBox,
        kind: &BoxKind,
        role: Option<String>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        let begun = Instant::now();
        let box_id = self.end(boxed)?;
        recorder.write(&Record::Removed(RemovedRecord {
            box_id,
            kind: kind.clone(),
            role,
            seconds: begun.elapsed().as_secs_f64(),
        }))
    }

    /// Ends a box: its number.
    fn end(&mut self, mut boxed: LiveBox) -> Result<u32, RunError> {
        self.monitor.forget(boxed.id);
        boxed.running.destroy().map_err(|source| {
            self.run.leave_for_sweep();
            RunError::Left {
                name: boxed.name.clone(),
                source,
            }
        })?;
        Ok(boxed.id)
    }
}

/// Why there is no box.
pub(super) enum Obtain {
    /// It could not be made: the trial failed.
    Failed(Failure),
    /// The run ends.
    Stop(Stop),
}

impl<E: Into<Stop>> From<E> for Obtain {
    fn from(error: E) -> Self {
        Self::Stop(error.into())
    }
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

/// The failure of a trial in a kind of box that the study does not have.
pub(super) fn unknown(kind: &BoxKind) -> Failure {
    Failure::new(Reason::Launch, format!("the study has no boxes of {kind}"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{study, with_runner};
    use super::*;
    use crate::runner::bench::Bench;
    use tare_study::design::ProtocolOptions;

    /// Boxes that are had one after another for the first kind of box of a study, each put away.
    fn had(fresh: Fresh) -> (Vec<u32>, usize) {
        let protocol = ProtocolOptions {
            fresh: Some(fresh),
            ..ProtocolOptions::default()
        };
        let study = study(&["fake", "fake?cost=2"], &["syscall"], protocol);
        let kind = &study.box_kinds()[0];
        let mut ids = Vec::new();
        let results = with_runner(&study, |runner| {
            let Bench {
                mut boxes,
                mut recorder,
                ..
            } = runner.bench;
            for block in 0..2 {
                let Ok(Some(held)) = boxes.obtain(kind, block, &mut recorder) else {
                    panic!("no box");
                };
                ids.push(held.own.id);
                boxes.put_away(held, &mut recorder).unwrap();
            }
            boxes.destroy_kept(&mut recorder).unwrap();
        });
        let is_removed = |record: &&Record| matches!(record, Record::Removed(_));
        (ids, results.records.iter().filter(is_removed).count())
    }

    #[test]
    fn a_box_is_kept_for_the_study_or_made_anew_and_removed_once() {
        assert_eq!(had(Fresh::Study), (vec![0, 0], 1));
        assert_eq!(had(Fresh::Block), (vec![0, 1], 2));
    }
}
