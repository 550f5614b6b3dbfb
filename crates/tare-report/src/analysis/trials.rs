//! The trials of a file, sorted into the cells of its study.

use super::stops;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tare_model::finding::Finding;
use tare_model::group::GroupRecord;
use tare_model::metric::Metric;
use tare_model::results::{Failure, Outcome, Results, TrialRecord};
use tare_model::study::{Cell, Study};

/// The one trial of a block whose figures count.
#[derive(Clone, Copy)]
pub(crate) struct Used<'a> {
    pub samples: &'a BTreeMap<String, f64>,
    pub findings: &'a [Finding],
    /// The cell whose trial was carried out before it in the block.
    pub after: Option<&'a Cell>,
    /// The group in which it ran slice by slice.
    pub group: Option<&'a GroupRecord>,
}

impl Used<'_> {
    /// The sample of a metric, if it is a finite number.
    pub fn sample(&self, metric: &str) -> Option<f64> {
        self.samples.get(metric).copied().filter(|v| v.is_finite())
    }
}

/// A trial without a result.
#[derive(Clone, Copy)]
pub(crate) struct Unended<'a> {
    pub failure: &'a Failure,
    pub skipped: bool,
}

/// One cell and its trials.
#[derive(Clone)]
pub(crate) struct CellTrials<'a> {
    pub cell: Cell,
    pub metrics: Vec<Metric>,
    /// By block: the last attempt that ended well.
    pub used: BTreeMap<u32, Used<'a>>,
    /// Blocks in which the cell was tried at all.
    pub attempted: BTreeSet<u32>,
    /// Every attempt without a result, in order.
    pub unended: Vec<Unended<'a>>,
    /// Blocks after which it was settled, in an adaptive study.
    settled: Option<u32>,
}

impl<'a> CellTrials<'a> {
    fn new(study: &Study, cell: Cell) -> Self {
        let metrics = study.workload(&cell).map(|w| w.metrics());
        Self {
            cell,
            metrics: metrics.unwrap_or_default(),
            used: BTreeMap::new(),
            attempted: BTreeSet::new(),
            unended: Vec::new(),
            settled: None,
        }
    }

    fn add(&mut self, trial: &'a TrialRecord, after: Option<&'a Cell>, group: Option<&'a GroupRecord>) {
        self.attempted.insert(trial.block);
        let failed = |failure, skipped| Unended { failure, skipped };
        match &trial.outcome {
            Outcome::Ok(success) => {
                // Records are in the order of their end: a later one is a later attempt.
                let used = Used {
                    samples: &success.samples,
                    findings: &trial.findings,
                    after,
                    group,
                };
                self.used.insert(trial.block, used);
            }
            Outcome::Failed(failure) => self.unended.push(failed(failure, false)),
            Outcome::Skipped(failure) => self.unended.push(failed(failure, true)),
        }
    }

    /// The trials that its own comparisons may use: those before it was settled.
    pub fn of_own_comparisons(&self) -> Cow<'_, Self> {
        self.for_comparisons_of(self)
    }

    /// The trials that comparisons of `cell` may use: those before that was settled.
    pub fn for_comparisons_of(&self, cell: &Self) -> Cow<'_, Self> {
        let is_after = |block: &u32| cell.settled.is_some_and(|blocks| *block >= blocks);
        if !self.attempted.iter().any(is_after) {
            return Cow::Borrowed(self);
        }
        let mut before = self.clone();
        before.used.retain(|block, _| !is_after(block));
        before.attempted.retain(|block| !is_after(block));
        Cow::Owned(before)
    }

    /// Every sample of a metric, in the order of the blocks.
    pub fn samples(&self, metric: &str) -> Vec<f64> {
        self.used.values().filter_map(|u| u.sample(metric)).collect()
    }
}

/// Every cell of the study, in its order.
pub(crate) struct Trials<'a> {
    pub cells: Vec<CellTrials<'a>>,
    /// Trials of cells that the study does not have.
    pub strays: usize,
    by_cell: HashMap<Cell, usize>,
}

impl<'a> Trials<'a> {
    pub fn collect(results: &'a Results) -> Self {
        let mut trials = Self::empty(&results.header.study);
        // A number of another block's group is no name of a group that it ran in.
        let groups: HashMap<(u32, u32), &GroupRecord> =
            results.groups().map(|g| ((g.group, g.block), g)).collect();
        let mut last: Option<&TrialRecord> = None;
        for trial in results.trials() {
            let after = last.filter(|l| l.block == trial.block).map(|l| &l.cell);
            match trials.by_cell.get(&trial.cell) {
                Some(&at) => {
                    let group = trial.group.and_then(|group| groups.get(&(group, trial.block)));
                    trials.cells[at].add(trial, after, group.copied());
                }
                None => trials.strays += 1,
            }
            // A skipped trial ran nothing that could be felt after it.
            if !matches!(trial.outcome, Outcome::Skipped(_)) {
                last = Some(trial);
            }
        }
        for (cell, blocks) in stops::settled(results) {
            if let Some(&at) = trials.by_cell.get(cell) {
                trials.cells[at].settled = Some(blocks);
            }
        }
        trials
    }

    fn empty(study: &Study) -> Self {
        let mut trials = Self {
            cells: Vec::new(),
            strays: 0,
            by_cell: HashMap::new(),
        };
        for cell in study.cells() {
            // A platform or workload listed twice is one cell.
            if !trials.by_cell.contains_key(&cell) {
                trials.by_cell.insert(cell.clone(), trials.cells.len());
                trials.cells.push(CellTrials::new(study, cell));
            }
        }
        trials
    }

    pub fn get(&self, cell: &Cell) -> Option<&CellTrials<'a>> {
        self.by_cell.get(cell).map(|&at| &self.cells[at])
    }
}
