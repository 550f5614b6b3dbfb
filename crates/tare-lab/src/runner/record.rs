//! What came of a trial, into the results file.

use super::{Event, RunError, Runner};
use crate::plan::PlannedTrial;
use tare_host::host;
use tare_model::finding::Finding;
use tare_model::results::{HostReadings, Outcome, Record, TrialRecord};

/// A trial that ended, in whatever way.
pub(super) struct Ended {
    pub box_id: Option<u32>,
    /// The group in which it ran slice by slice.
    pub group: Option<u32>,
    /// When it began; `None`: as long ago as it took.
    pub begun_unix_ns: Option<u64>,
    pub findings: Vec<Finding>,
    pub host: Option<HostReadings>,
    pub outcome: Outcome,
}

impl Ended {
    /// One that never got a box.
    pub fn without_box(outcome: Outcome) -> Self {
        Self {
            box_id: None,
            group: None,
            begun_unix_ns: None,
            findings: Vec::new(),
            host: None,
            outcome,
        }
    }
}

impl Runner<'_> {
    /// Appends a trial's record and tells of it; while warming up, counts it alone.
    pub(super) fn record(&mut self, planned: &PlannedTrial, ended: Ended) -> Result<(), RunError> {
        if let Some(ran) = &mut self.warming {
            match ended.outcome {
                Outcome::Ok(_) => ran.trials += 1,
                Outcome::Failed(_) => ran.failed += 1,
                Outcome::Skipped(_) => {}
            }
            return Ok(());
        }
        let record = self.as_record(planned, ended);
        self.append(&record)?;
        let Record::Trial(record) = record else {
            return Ok(());
        };
        if matches!(record.outcome, Outcome::Ok(_)) && record.block == 0 {
            self.succeeded.insert(record.cell.kind.platform.clone());
        }
        let failed = matches!(record.outcome, Outcome::Failed(_));
        self.progress.note(planned.trial, failed && record.attempt == 0);
        self.failed += u32::from(failed && record.attempt > 0);
        let done = self.progress.n_done();
        // Those that ended at the same time count as done, or the rest would look long.
        let remaining_seconds = self.remaining(done + self.coming);
        (self.observe)(Event::Trial {
            record: &record,
            done,
            total: self.total,
            remaining_seconds,
        });
        Ok(())
    }

    fn as_record(&mut self, planned: &PlannedTrial, ended: Ended) -> Record {
        let order = self.progress.orders.entry(planned.block).or_default();
        let wall = ended.host.as_ref().map_or(0, |h| h.wall_ns);
        *order += 1;
        Record::from(TrialRecord {
            trial: planned.trial,
            block: planned.block,
            order: *order - 1,
            attempt: u32::from(self.progress.failed_once(planned.trial)),
            cell: planned.cell.clone(),
            box_id: ended.box_id,
            group: ended.group,
            started_unix_ns: ended
                .begun_unix_ns
                .unwrap_or_else(|| host::unix_ns().saturating_sub(wall)),
            outcome: ended.outcome.brief(),
            findings: ended.findings,
            host: ended.host,
        })
    }

    /// Appends a record that belongs to recorded blocks only; looks go by it.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), RunError> {
        if self.warming.is_some() {
            return Ok(());
        }
        self.writer.append(record)?;
        match (record, &mut self.looks) {
            (Record::Trial(trial), Some(looks)) => looks.note(trial),
            (Record::Group(group), Some(looks)) => looks.note_group(group),
            _ => {}
        }
        Ok(())
    }
}
