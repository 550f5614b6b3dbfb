//! Row 0 of the decision table: whether a comparison is fit for a verdict.

use super::boxes::BoxFigures;
use super::comparison::Comparison;
use super::findings::disqualifying;
use super::margin;
use super::refusal::Refusal;
use super::trials::{CellTrials, Trials};
use super::verdict::Word;
use crate::run::clipped;
use std::borrow::Cow;
use std::collections::BTreeSet;
use tare_model::finding::{Finding, Reason};
use tare_model::metric::Quantity;
use tare_model::sound::{self, Unsound};
use tare_model::study::{Fresh, Study};

/// Fewest pairs that carry a verdict.
pub const MIN_PAIRS: usize = 10;
/// By how much less work a cell did than another before it counts as less, as a share:
/// what is done in the same time differs by chance.
pub(super) const LESS_WORK: f64 = 0.05;

/// Every reason not to judge a figure of a comparison, of so many pairs and pairs lost;
/// empty where it may be judged.
pub(crate) fn refusals(
    comparison: &Comparison,
    (used, lost): (usize, usize),
    study: &Study,
    trials: &Trials,
    boxes: &[BoxFigures],
) -> Vec<Refusal> {
    let cells: Vec<&CellTrials> = [&comparison.cell, &comparison.baseline]
        .into_iter()
        .filter_map(|cell| trials.get(cell))
        .collect();
    let mut refusals = of_boxes(&cells, boxes);
    let is_baseline = |c: &CellTrials| c.cell == comparison.baseline;
    let cannot_run = cells.iter().filter_map(|c| cannot_run(c, is_baseline(c)));
    let cannot_run: Vec<Refusal> = cannot_run.collect();
    refusals.extend(cells.iter().filter_map(|c| wrong_answer(c)));
    if cannot_run.is_empty() {
        refusals.extend(pairs(used, lost));
    }
    refusals.extend(cannot_run);
    refusals.extend(disqualified(comparison, trials, study));
    refusals.extend(carried_over(comparison));
    refusals.extend(identical(comparison, &cells));
    refusals.extend(unsound(study));
    if study.protocol.fresh == Fresh::Study {
        refusals.push(Refusal::KeptBoxes);
    }
    if margin(study).is_none() {
        refusals.push(Refusal::NoMargin);
    }
    refusals
}

/// The same of figures of these cells by themselves, all of one kind of box.
pub(super) fn of_cells(cells: &[&CellTrials], study: &Study, boxes: &[BoxFigures]) -> Vec<Refusal> {
    let mut refusals = of_boxes(cells, boxes);
    refusals.extend(cells.iter().filter_map(|c| cannot_run(c, false)));
    refusals.extend(cells.iter().filter_map(|c| wrong_answer(c)));
    refusals.extend(cells.iter().filter_map(|c| identical_of(c)));
    refusals.extend(unsound(study));
    refusals.extend((study.protocol.fresh == Fresh::Study).then_some(Refusal::KeptBoxes));
    refusals
}

/// The reasons that lie in the boxes of these cells.
fn of_boxes(cells: &[&CellTrials], boxes: &[BoxFigures]) -> Vec<Refusal> {
    let of_cells = |b: &&BoxFigures| cells.iter().any(|c| c.cell.kind == b.kind);
    let boxes: Vec<&BoxFigures> = boxes.iter().filter(of_cells).collect();
    let stopped = stopped(&boxes).into_iter();
    stopped
        .chain(boxes.iter().filter_map(|b| not_proven(b)))
        .collect()
}

fn stopped(boxes: &[&BoxFigures]) -> Option<Refusal> {
    let missed = boxes.iter().filter(|b| b.not_reached());
    let kinds: Vec<String> = missed.map(|b| b.kind.to_string()).collect();
    (!kinds.is_empty()).then_some(Refusal::RunStopped { kinds })
}

fn not_proven(figures: &BoxFigures) -> Option<Refusal> {
    figures.not_proven().then(|| Refusal::LimitsNotProven {
        kind: figures.kind.to_string(),
        readings: figures.readings(),
    })
}

fn cannot_run(cell: &CellTrials, is_baseline: bool) -> Option<Refusal> {
    let skipped = cell.unended.iter().find(|u| u.skipped)?;
    cell.used.is_empty().then(|| Refusal::CannotRun {
        cell: cell.cell.to_string(),
        is_baseline,
        detail: clipped(&skipped.failure.detail),
    })
}

/// One wrong answer is enough, also where its repetition was right: such a box
/// cannot be relied upon.
fn wrong_answer(cell: &CellTrials) -> Option<Refusal> {
    let wrong = |u: &&super::trials::Unended| u.failure.reason == Reason::WrongAnswer;
    let wrong = cell.unended.iter().filter(wrong);
    let trials = wrong.map(|u| u.block).collect::<BTreeSet<_>>().len();
    (trials > 0).then(|| Refusal::WrongAnswer {
        cell: cell.cell.to_string(),
        trials,
    })
}

/// Too few pairs, or too many lost.
pub(crate) fn pairs(pairs: usize, lost: usize) -> Vec<Refusal> {
    let of = lost + pairs;
    let lost = (lost * 10 > of).then_some(Refusal::PairsLost { lost, of });
    let few = (pairs < MIN_PAIRS).then_some(Refusal::FewPairs {
        pairs,
        needed: MIN_PAIRS,
    });
    lost.into_iter().chain(few).collect()
}

/// No clock tells the same of every trial.
fn identical(comparison: &Comparison, cells: &[&CellTrials]) -> Option<Refusal> {
    let of_slices = || {
        let times = comparison.primary()?.slices.as_ref()?.wall_times();
        let mut cells = [&comparison.cell, &comparison.baseline].into_iter().zip(times);
        cells.find_map(|(cell, times)| {
            Some(Refusal::IdenticalFigures {
                cell: cell.to_string(),
                trials: all_the_same(&times)?,
            })
        })
    };
    cells
        .iter()
        .find_map(|cell| identical_of(cell))
        .or_else(of_slices)
}

fn identical_of(cell: &CellTrials) -> Option<Refusal> {
    Some(Refusal::IdenticalFigures {
        cell: cell.cell.to_string(),
        trials: stuck(cell)?,
    })
}

/// How many trials of a cell have the same figure, if all have and it was timed. What is
/// counted or weighed, such as memory, may be the same each time.
pub(crate) fn stuck(cell: &CellTrials) -> Option<usize> {
    let timed = cell.primary().filter(|m| m.quantity != Quantity::Amount)?;
    all_the_same(&cell.samples(timed))
}

/// How many there are, if it is three at least: two may be the same by chance where a clock
/// counts whole microseconds.
fn all_the_same(figures: &[f64]) -> Option<usize> {
    let first = figures.first()?.to_bits();
    let same = figures.len() >= 3 && figures.iter().all(|figure| figure.to_bits() == first);
    same.then_some(figures.len())
}

fn unsound(study: &Study) -> Option<Refusal> {
    // A margin has a reason of its own, since a comparison of two files may have another.
    let faults = sound::faults(study).into_iter();
    let others = faults.filter(|fault| !matches!(fault, Unsound::Margin(_)));
    let what: Vec<String> = others.map(|fault| fault.to_string()).collect();
    (!what.is_empty()).then_some(Refusal::UnsoundStudy { what })
}

fn carried_over(comparison: &Comparison) -> Option<Refusal> {
    let biasing = comparison.carry_over.iter().filter(|c| c.disqualifies);
    let mut after: Vec<String> = biasing.map(|c| c.after.to_string()).collect();
    after.dedup();
    (!after.is_empty()).then_some(Refusal::CarryOver { after })
}

/// A part of the work is easier than the whole, since it fits into the caches sooner: a
/// cell that did less of it than the other may still be called worse, but neither equal
/// nor better. Where the slower one did less, as it does in the same time, the cost is
/// rather more than it seems.
pub(crate) fn smaller_work(comparison: &Comparison, trials: &Trials, word: Word) -> Option<Refusal> {
    let [cell, baseline] = compared(comparison, trials)?;
    let (cell, baseline) = (&*cell, &*baseline);
    let less = |one: &CellTrials, other: &CellTrials| did_less(one, other).then(|| parts(one).count());
    let trials = match word {
        Word::Faster => less(cell, baseline),
        Word::Slower => less(baseline, cell),
        Word::Equal => less(cell, baseline).or_else(|| less(baseline, cell)),
        Word::None | Word::Inconclusive => None,
    }?;
    Some(Refusal::Disqualified {
        finding: "partial-work",
        trials,
    })
}

/// Whether one did markedly less of the work than the other.
fn did_less(one: &CellTrials, other: &CellTrials) -> bool {
    work_done(one) < (1.0 - LESS_WORK) * work_done(other)
}

/// Whether both did about as much of the work.
pub(crate) fn did_alike(one: &CellTrials, other: &CellTrials) -> bool {
    !did_less(one, other) && !did_less(other, one)
}

/// The trials that a comparison uses, of the cell and of its baseline.
fn compared<'t>(comparison: &Comparison, trials: &'t Trials) -> Option<[Cow<'t, CellTrials<'t>>; 2]> {
    let (cell, baseline) = (trials.get(&comparison.cell)?, trials.get(&comparison.baseline)?);
    Some([cell.of_own_comparisons(), baseline.for_comparisons_of(cell)])
}

/// Shares of the work that was done, of the trials in which that was not the whole.
fn parts<'a>(cell: &'a CellTrials) -> impl Iterator<Item = f64> + 'a {
    let findings = cell.used.values().flat_map(|used| used.findings);
    findings.filter_map(|finding| match finding {
        Finding::PartialWork { share } => Some(*share),
        _ => None,
    })
}

/// The mean share of the work that a trial did.
#[expect(clippy::cast_precision_loss, reason = "no cell has 2^52 trials")]
pub(super) fn work_done(cell: &CellTrials) -> f64 {
    let missing: f64 = parts(cell).map(|share| 1.0 - share).sum();
    1.0 - missing / cell.used.len().max(1) as f64
}

fn disqualified(comparison: &Comparison, trials: &Trials, study: &Study) -> Vec<Refusal> {
    let (cell, baseline) = (&comparison.cell.kind, &comparison.baseline.kind);
    let limited_alike = cell.provisioning == baseline.provisioning;
    let cells = compared(comparison, trials);
    let used = cells.iter().flatten().flat_map(|c| c.used.values());
    let found = used.flat_map(|u| u.findings);
    let unfit = found.filter(|finding| disqualifying(finding, limited_alike, margin(study)));
    super::findings::count(unfit)
        .into_iter()
        .map(|c| Refusal::Disqualified {
            finding: c.finding,
            trials: c.trials,
        })
        .collect()
}
