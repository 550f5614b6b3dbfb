//! The boxes of a run: made and proven, kept or removed.

use super::held::{Boxed, Held, Present};
use super::{Event, RunError, Runner, Stop};
use crate::against::Known;
use crate::home::Home;
use crate::kept_checks::Basis;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tare_host::{footprint, host, interrupt};
use tare_model::finding::Reason;
use tare_model::results::{BoxRecord, EarlierCheck, Failure, ProofRecord, Record, RemovedRecord};
use tare_model::study::{BoxKind, Fresh};
use tare_platforms::{ANSWER_DEADLINE, BoxError, BoxSpec, MemoryView, QuotaView, RunningBox};
use tare_platforms::{agent_file, limits};

impl Runner<'_> {
    /// A box of this kind: a kept one thawed, or a new one, with its limits
    /// proven. `None` if they could not be.
    pub(super) fn obtain(&mut self, kind: &BoxKind, block: u32) -> Result<Option<Held>, Obtain> {
        if let Some(held) = self.kept.remove(kind) {
            return self.thaw(held);
        }
        self.recorder.observe(Event::Launching(kind));
        let id = *self.boxes;
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
        let own = self.launch(kind, &spec, None, block)?;
        let mut held = Held {
            own,
            beside: BTreeMap::new(),
            kind: kind.clone(),
            frozen: None,
            waking: None,
        };
        if !is_first {
            return Ok(Some(held));
        }
        let proof = self.check_limits(&mut held, view, &spec)?;
        self.judge_proof(kind, proof, held)
    }

    /// Makes a box of this kind and tells of it: that of the cell, or of a role that has it for itself.
    /// What the former occupies is read while nothing has run in it.
    pub(super) fn launch(
        &mut self,
        kind: &BoxKind,
        spec: &BoxSpec,
        role: Option<&str>,
        block: u32,
    ) -> Result<Boxed, Obtain> {
        let platform = self.platforms.get(&kind.platform);
        let platform = platform.ok_or_else(|| Obtain::Failed(unknown(kind)))?;
        let has_own_kernel = platform.quota_view() == QuotaView::HostOnly;
        let running = platform.launch(spec).map_err(not_made)?;
        let mut boxed = Boxed {
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
            warm_up: self.recorder.warming().is_some(),
            hello_seconds: running.hello_after().as_secs_f64(),
            facts: facts.brief(),
            footprint,
            resident_bytes: is_seen.then(|| footprint::resident_bytes(&marks)),
        };
        self.recorder
            .write(&Record::Box(made))
            .map_err(|e| Obtain::Stop(e.into()))?;
        Ok(boxed)
    }

    /// A box on this host's kernel that was just made, with its number. What it uses from now on is
    /// used for the trials, and by nobody else.
    pub(super) fn take_in(&mut self, running: Box<dyn RunningBox>, spec: &BoxSpec) -> Boxed {
        let id = *self.boxes;
        *self.boxes += 1;
        self.watch.follow(id, running.meter());
        Boxed {
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
        self.recorder.observe(Event::Proving(&held.kind));
        let begun = Instant::now();
        let proof = limits::prove(&mut *held.own.running, view, &held.kind, spec)
            .map_err(BoxError::from)
            .map_err(not_made)?;
        self.recorder.checked_limits(begun.elapsed());
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
            self.recorder.checked_limits(Duration::ZERO);
        }
    }

    fn judge_proof(
        &mut self,
        kind: &BoxKind,
        proof: ProofRecord,
        held: Held,
    ) -> Result<Option<Held>, Obtain> {
        self.recorder.observe(Event::Proven(&proof));
        let proven = proof.proven;
        self.recorder
            .write(&Record::Proof(proof))
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
            for (_, boxed) in held.of_its_kind() {
                self.watch.follow_again(boxed.id, boxed.running.meter());
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
    pub(super) fn known(&mut self, kind: &BoxKind, held: &Held, timed: &Home) -> Known {
        let platform = self.platforms.get(&kind.platform);
        let instance = self.study.instance_of(kind);
        Known {
            keeps_time: held.at(timed).running.keeps_time(),
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
            for (_, boxed) in held.of_its_kind() {
                self.watch.forget(boxed.id);
            }
            let begun = Instant::now();
            if held.freeze().is_err() {
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

    /// Removes the box of a cell, behind those beside it. All are tried, whatever becomes of one.
    pub(super) fn destroy(&mut self, held: Held) -> Result<(), RunError> {
        let Held {
            own, beside, kind, ..
        } = held;
        let mut outcome = Ok(());
        for (home, boxed) in beside {
            let ended = match home {
                // Of what is the same beside every cell nothing is told.
                Home::Host | Home::Cell => self.end(boxed).map(drop),
                Home::Own(role) => self.end_and_tell(boxed, &kind, Some(role)),
            };
            outcome = outcome.and(ended);
        }
        self.end_and_tell(own, &kind, None).and(outcome)
    }

    fn end_and_tell(&mut self, boxed: Boxed, kind: &BoxKind, role: Option<String>) -> Result<(), RunError> {
        let begun = Instant::now();
        let box_id = self.end(boxed)?;
        self.recorder.write(&Record::Removed(RemovedRecord {
            box_id,
            kind: kind.clone(),
            role,
            seconds: begun.elapsed().as_secs_f64(),
        }))
    }

    /// Ends a box: its number.
    fn end(&mut self, mut boxed: Boxed) -> Result<u32, RunError> {
        self.watch.forget(boxed.id);
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
