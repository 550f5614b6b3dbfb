//! The trials of a file, sorted into the cells of its study.

use super::stops;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tare_model::conditions::SHORTEST_READING;
use tare_model::finding::Finding;
use tare_model::group::{GroupRecord, Series};
use tare_model::metric::Metric;
use tare_model::results::{Doubles, Failure, HostReadings, Outcome, Record, Results, TrialRecord};
use tare_model::study::{Cell, Study};
use tare_model::time::nanoseconds;

/// The one trial of a block whose figures count.
#[derive(Clone, Copy)]
pub(crate) struct Used<'a> {
    pub samples: &'a BTreeMap<String, f64>,
    pub findings: &'a [Finding],
    /// How long each request of a load took, as text.
    pub latencies: Option<&'a str>,
    /// Connections of a load that were made again.
    pub reconnects: Option<u64>,
    /// The cell whose trial was carried out before it in the block.
    pub after: Option<&'a Cell>,
    /// The group in which it ran slice by slice.
    pub group: Option<&'a GroupRecord>,
    /// What the host saw of it.
    pub host: Option<&'a HostReadings>,
}

impl Used<'_> {
    /// The sample of a metric, if it is a figure that a machine can come to.
    pub fn sample(&self, metric: &Metric) -> Option<f64> {
        let sample = self.samples.get(&metric.name).copied();
        sample.filter(|value| metric.unit.is_plausible(*value))
    }

    /// Whether the host told what others did meanwhile, and its hypervisor.
    pub fn noise_is_known(&self) -> bool {
        let known = |host: &HostReadings| host.others_load.is_some() && host.steal.is_some();
        self.host.is_some_and(known)
    }

    /// Whether it was too short for the ticks of 10 ms in which a host counts load.
    pub fn is_short_for_ticks(&self) -> bool {
        let is_short = |host: &HostReadings| (1..nanoseconds(SHORTEST_READING)).contains(&host.wall_ns);
        self.host.is_some_and(is_short)
    }
}

/// A trial without a result.
#[derive(Clone, Copy)]
pub(crate) struct Unended<'a> {
    pub block: u32,
    pub failure: &'a Failure,
    pub skipped: bool,
}

/// One cell and its trials.
#[derive(Clone)]
pub(crate) struct CellTrials<'a> {
    pub cell: Cell,
    pub metrics: Vec<Metric>,
    /// By block: the last attempt that succeeded.
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
        let failed = |failure, skipped| Unended {
            block: trial.block,
            failure,
            skipped,
        };
        match &trial.outcome {
            Outcome::Ok(success) => {
                // Records are in the order of their end: a later one is a later attempt.
                let used = Used {
                    samples: &success.samples,
                    findings: &trial.findings,
                    latencies: success.latencies.as_deref(),
                    reconnects: success.reconnects,
                    after,
                    group,
                    host: trial.host.as_ref(),
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

    /// Of each attempt without a result, in order, whether its trial ended with it: no later attempt
    /// succeeded, or otherwise.
    pub fn ended_trials(&self) -> impl Iterator<Item = (&Unended<'a>, bool)> {
        let last: BTreeMap<u32, usize> = self.unended.iter().map(|u| u.block).zip(0..).collect();
        let attempts = self.unended.iter().enumerate();
        attempts.map(move |(at, unended)| {
            let is_last = last.get(&unended.block) == Some(&at);
            (unended, is_last && !self.used.contains_key(&unended.block))
        })
    }

    /// Every sample of a metric, in the order of the blocks.
    pub fn samples(&self, metric: &Metric) -> Vec<f64> {
        self.used.values().filter_map(|u| u.sample(metric)).collect()
    }

    /// The metric that carries its verdicts.
    pub fn primary(&self) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.primary)
    }

    /// As if the trials that the host disturbed had not been.
    fn undisturbed(&self) -> Self {
        let is_disturbed = |used: &Used| used.findings.iter().any(Finding::is_of_host);
        let mut left = self.clone();
        left.used.retain(|_, used| !is_disturbed(used));
        left.attempted
            .retain(|block| left.used.contains_key(block) || !self.used.contains_key(block));
        left
    }

    /// Trials whose host did not tell what else ran.
    pub fn noise_unknown(&self) -> usize {
        self.used.values().filter(|used| !used.noise_is_known()).count()
    }
}

/// Every cell of the study, in its order.
pub(crate) struct Trials<'a> {
    pub cells: Vec<CellTrials<'a>>,
    /// Trials of cells that the study does not have.
    pub strays: usize,
    /// Trials of blocks that it does not have.
    pub beyond: usize,
    /// Slices of cells that it does not have: members of groups.
    pub stray_members: usize,
    /// Slices whose cost no machine comes to.
    pub no_figures: usize,
    /// What the file holds more than once.
    pub doubles: Doubles,
    by_cell: HashMap<Cell, usize>,
}

impl<'a> Trials<'a> {
    pub fn collect(results: &'a Results) -> Self {
        let mut trials = Self::empty(&results.header.study);
        trials.doubles = results.doubles();
        trials.take(results);
        trials.void();
        trials.count_slices(results);
        for (cell, blocks) in stops::settled(results) {
            if let Some(&at) = trials.by_cell.get(cell) {
                trials.cells[at].settled = Some(blocks);
            }
        }
        trials
    }

    /// Sorts the trials into the cells.
    fn take(&mut self, results: &'a Results) {
        // A number of another block's group is no name of a group that it ran in.
        let groups: HashMap<(u32, u32), &GroupRecord> =
            results.groups().map(|g| ((g.group, g.block), g)).collect();
        let planned = results.blocks_planned();
        let mut last: Option<&TrialRecord> = None;
        for (place, record) in results.records.iter().enumerate() {
            let Record::Trial(trial) = record else { continue };
            if self.doubles.copies.contains(&place) {
                continue;
            }
            if trial.block >= planned {
                self.beyond += 1;
                continue;
            }
            let after = last.filter(|l| l.block == trial.block).map(|l| &l.cell);
            match self.by_cell.get(&trial.cell) {
                Some(&at) => {
                    let group = trial.group.and_then(|group| groups.get(&(group, trial.block)));
                    self.cells[at].add(trial, after, group.copied());
                }
                None => self.strays += 1,
            }
            // A skipped trial ran nothing that could be felt after it.
            if !matches!(trial.outcome, Outcome::Skipped(_)) {
                last = Some(trial);
            }
        }
    }

    /// Cells were tried where their records contradict one another, and have no figure there.
    fn void(&mut self) {
        for (block, cell) in &self.doubles.conflicts {
            if let Some(&at) = self.by_cell.get(cell) {
                self.cells[at].used.remove(block);
            }
        }
    }

    /// Counts the slices that are of no use.
    fn count_slices(&mut self, results: &Results) {
        for member in results.groups().flat_map(|group| &group.members) {
            self.stray_members += usize::from(!self.by_cell.contains_key(&member.cell));
            self.no_figures += member.parts.values().map(Series::no_figures).sum::<usize>();
        }
    }

    fn empty(study: &Study) -> Self {
        let mut trials = Self {
            cells: Vec::new(),
            strays: 0,
            beyond: 0,
            stray_members: 0,
            no_figures: 0,
            doubles: Doubles::default(),
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

    /// As if the trials that the host disturbed had not been.
    pub fn undisturbed(&self) -> Self {
        Self {
            cells: self.cells.iter().map(CellTrials::undisturbed).collect(),
            doubles: self.doubles.clone(),
            by_cell: self.by_cell.clone(),
            ..*self
        }
    }

    /// Trials that count.
    pub fn with_figures(&self) -> usize {
        self.cells.iter().map(|cell| cell.used.len()).sum()
    }

    pub fn get(&self, cell: &Cell) -> Option<&CellTrials<'a>> {
        self.by_cell.get(cell).map(|&at| &self.cells[at])
    }
}
