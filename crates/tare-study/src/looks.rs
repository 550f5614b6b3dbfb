//! Adaptive stopping: which cells still run, and the looks that decide it.
//!
//! A cell is settled when all its comparisons are, and all those of the same cell
//! in other sizes: size effects need every size in the same blocks. A settled
//! cell leaves the later blocks, but as a baseline it stays while a cell that is
//! held against it is open.

mod losses;

use crate::plan::trials_per_block;
use losses::Losses;
use std::collections::{BTreeMap, BTreeSet};
use tare_model::group::GroupRecord;
use tare_model::looks::{LookFigures, LookJudgement, LookRecord, LookedAt};
use tare_model::metric::Metric;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::results::{Record, Results, TrialRecord};
use tare_model::size::counted;
use tare_model::study::{Against, Cell, Protocol, Stopping, Study};
use tare_stats::{Aim, Judgement, LOOKS, Look, least_noise, look, next_look};

/// Why a study cannot be adaptive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdaptiveError {
    /// No look would be taken, or blocks would follow the last one and decide nothing.
    #[error(
        "an adaptive study ends with a look, and there is none after {}: choose one of {} blocks",
        counted(*.0, "block"), LOOKS.map(|look| look.to_string()).join(", ")
    )]
    Blocks(u32),
    /// There is nothing to look at.
    #[error(
        "an adaptive study stops when its comparisons are settled, but there is nothing to compare: add a platform with -p, or omit --adaptive"
    )]
    NothingToCompare,
}

/// Blocks before the first look.
pub const FEWEST: u32 = LOOKS[0];
/// Blocks before the last look.
pub const MOST: u32 = LOOKS[LOOKS.len() - 1];

/// Numbers of blocks after which a study is looked at; none if it is not adaptive.
pub fn schedule(study: &Study) -> impl Iterator<Item = u32> {
    let looked_at = !study.protocol.stopping.is_fixed();
    let blocks = study.protocol.blocks;
    LOOKS.into_iter().filter(move |look| looked_at && *look <= blocks)
}

/// Whether there is anything to look at.
pub fn compares(study: &Study) -> bool {
    !comparisons(study).is_empty()
}

/// Checks that looks at this study would make sense.
///
/// # Errors
/// [`AdaptiveError`].
pub fn check(study: &Study) -> Result<(), AdaptiveError> {
    let Some(looks) = Looks::of(study) else {
        return Ok(());
    };
    if !LOOKS.contains(&study.protocol.blocks) {
        return Err(AdaptiveError::Blocks(study.protocol.blocks));
    }
    if looks.comparisons.is_empty() && !study.workloads.is_empty() {
        return Err(AdaptiveError::NothingToCompare);
    }
    Ok(())
}

/// The primary metric of a cell against one of its baselines.
#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    pub cell: Cell,
    against: Against,
    pub baseline: Cell,
    pub metric: Metric,
}

/// The state of an adaptive study.
#[derive(Debug, Clone)]
pub struct Looks {
    aim: Aim,
    comparisons: Vec<Comparison>,
    losses: Losses,
    /// Blocks after which a cell was settled.
    settled: BTreeMap<Cell, u32>,
    /// Blocks after which the last look was taken.
    taken: u32,
}

/// What is enough of a comparison; of a study of so many blocks, what would be if it were adaptive.
pub(crate) fn aim(protocol: &Protocol) -> Aim {
    let (half_width, precise) = match protocol.stopping {
        Stopping::Fixed => (narrow(protocol.margin), false),
        Stopping::Adaptive { half_width, precise } => (half_width, precise),
    };
    Aim {
        half_width,
        margin: (!precise).then(|| protocol.margin.ln_1p()),
    }
}

/// The half-width in logs that is narrow enough for a margin, as a ratio less 1: half of it.
pub(crate) fn narrow(margin: f64) -> f64 {
    margin.ln_1p() / 2.0
}

impl Looks {
    /// Before the first block; `None` if every cell runs in every block.
    pub fn of(study: &Study) -> Option<Self> {
        let is_fixed = study.protocol.stopping.is_fixed();
        (!is_fixed).then(|| Self {
            aim: aim(&study.protocol),
            comparisons: comparisons(study),
            losses: Losses::default(),
            settled: BTreeMap::new(),
            taken: 0,
        })
    }

    /// The state that a results file tells of.
    pub fn resumed(results: &Results) -> Option<Self> {
        let mut looks = Self::of(&results.header.study)?;
        for record in &results.records {
            match record {
                Record::Trial(trial) => looks.note(trial),
                Record::Group(group) => looks.note_group(group),
                Record::Look(taken) => looks.replay(taken),
                _ => {}
            }
        }
        Some(looks)
    }

    /// Takes in a trial.
    pub fn note(&mut self, trial: &TrialRecord) {
        let compared = |c: &&Comparison| c.cell == trial.cell || c.baseline == trial.cell;
        if let Some(compared) = self.comparisons.iter().find(compared) {
            self.losses.note(trial, &compared.metric);
        }
    }

    /// Takes in the slices of a group.
    pub fn note_group(&mut self, group: &GroupRecord) {
        self.losses.note_group(group, &self.comparisons);
    }

    fn replay(&mut self, taken: &LookRecord) {
        self.taken = taken.blocks;
        let settled = taken.settled.iter().map(|cell| (cell.clone(), taken.blocks));
        self.settled.extend(settled);
    }

    /// Whether a cell has a trial in this block: its own comparisons are open, or
    /// those of a cell that is held against it; or it is in none, and others are.
    pub fn runs(&self, cell: &Cell, block: u32) -> bool {
        let open = |c: &&Comparison| self.settled.get(&c.cell).is_none_or(|after| block < *after);
        let concerns = |c: &Comparison| c.cell == *cell || c.baseline == *cell;
        let compared = self.comparisons.iter().any(concerns);
        self.comparisons
            .iter()
            .filter(open)
            .any(|c| concerns(c) || !compared)
    }

    /// Whether a block lies before the last look: nothing of it is caught up on,
    /// since the look would have been another one.
    pub fn is_past(&self, block: u32) -> bool {
        block < self.taken
    }

    /// Whether no comparison is open.
    pub fn all_settled(&self) -> bool {
        self.comparisons
            .iter()
            .all(|c| self.settled.contains_key(&c.cell))
    }

    /// Blocks after which the next look is due, of a study of so many.
    pub fn next(&self, blocks: u32) -> u32 {
        next_look(self.taken).unwrap_or(blocks).min(blocks)
    }

    /// The look that is due after so many blocks, if one is.
    pub fn take(&mut self, blocks: u32) -> Option<LookRecord> {
        if !LOOKS.contains(&blocks) || blocks <= self.taken || self.all_settled() {
            return None;
        }
        let is_open = |(_, c): &(usize, &Comparison)| !self.settled.contains_key(&c.cell);
        let open = self.comparisons.iter().enumerate().filter(is_open);
        let comparisons: Vec<LookedAt> = open.map(|(number, c)| self.look_at(number, c)).collect();
        let taken = LookRecord {
            blocks,
            settled: settled(&comparisons),
            comparisons,
        };
        self.replay(&taken);
        Some(taken)
    }

    fn look_at(&self, number: usize, comparison: &Comparison) -> LookedAt {
        let by_block = self.losses.of(number, comparison);
        let tried = self.losses.tried(comparison);
        let lost = tried.iter().filter(|block| !by_block.contains_key(block)).count();
        let losses: Vec<f64> = by_block.values().map(|loss| loss.in_logs).collect();
        let looked = look(
            &losses,
            least_noise(by_block.values().map(|loss| loss.noise)),
            self.aim,
        );
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        LookedAt {
            cell: comparison.cell.clone(),
            against: comparison.against,
            n: count(losses.len()),
            lost: count(lost),
            figures: looked.as_ref().map(figures),
            judgement: judgement(count(losses.len()), looked),
        }
    }
}

/// The cells of comparisons all of whose sizes are settled.
fn settled(comparisons: &[LookedAt]) -> Vec<Cell> {
    let open: BTreeSet<_> = comparisons
        .iter()
        .filter(|c| !c.judgement.is_settled())
        .map(|c| in_any_size(&c.cell))
        .collect();
    let closed = comparisons
        .iter()
        .filter(|c| !open.contains(&in_any_size(&c.cell)));
    let cells: BTreeSet<Cell> = closed.map(|c| c.cell.clone()).collect();
    cells.into_iter().collect()
}

/// What cells that differ in size alone have in common.
fn in_any_size(cell: &Cell) -> (&PlatformPath, Provisioning, &str) {
    (&cell.kind.platform, cell.kind.provisioning, &cell.workload)
}

/// Blocks and trials of a study by which it is clear how it goes on: up to its next look, or all.
pub fn ahead(study: &Study, looks: Option<&Looks>) -> (u32, u32) {
    let blocks = study.protocol.blocks;
    let Some(looks) = looks else {
        return (blocks, trials_per_block(study).saturating_mul(blocks));
    };
    let (blocks, cells) = (looks.next(blocks), study.cells());
    let of_block = |block| cells.iter().filter(|cell| looks.runs(cell, block)).count();
    let trials: usize = (0..blocks).map(of_block).sum();
    (blocks, u32::try_from(trials).unwrap_or(u32::MAX))
}

/// What a study compares by its primary metrics. What a quota costs by itself is not waited for where platforms are
/// compared.
pub(crate) fn comparisons(study: &Study) -> Vec<Comparison> {
    let of_platforms = comparisons_with(study, &[Against::Native]);
    if of_platforms.is_empty() {
        comparisons_with(study, &Against::ALL)
    } else {
        of_platforms
    }
}

fn comparisons_with(study: &Study, baselines: &[Against]) -> Vec<Comparison> {
    let cells = study.cells();
    let compared = |cell: &Cell, against| {
        let baseline = study.baseline_cell(cell, against)?;
        let metric = study.workload(cell)?.metrics().into_iter().find(|m| m.primary)?;
        cells.contains(&baseline).then(|| Comparison {
            cell: cell.clone(),
            against,
            baseline,
            metric,
        })
    };
    let of = |cell| {
        let compared = &compared;
        baselines
            .iter()
            .filter_map(move |against| compared(cell, *against))
    };
    cells.iter().flat_map(of).collect()
}

fn figures(look: &Look) -> LookFigures {
    LookFigures {
        mean: look.mean,
        interval: [look.interval.low, look.interval.high],
        precise: [look.precise.low, look.precise.high],
        autocorrelated: look.autocorrelated,
        skewed: look.skewed,
    }
}

/// Where pairs were lost there may be too few for any verdict, and where there is
/// none after a whole look there will be none.
fn judgement(pairs: u32, look: Option<Look>) -> LookJudgement {
    let Some(look) = look.filter(|_| pairs >= FEWEST) else {
        return if pairs == 0 {
            LookJudgement::NoPairs
        } else {
            LookJudgement::TooFewPairs
        };
    };
    match look.judgement {
        Judgement::Narrow => LookJudgement::Narrow,
        Judgement::Within => LookJudgement::Within,
        Judgement::Beyond => LookJudgement::Beyond,
        Judgement::TooWide => LookJudgement::TooWide,
        Judgement::Autocorrelated => LookJudgement::Autocorrelated,
        Judgement::Skewed => LookJudgement::Skewed,
    }
}
