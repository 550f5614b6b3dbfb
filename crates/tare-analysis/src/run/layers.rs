//! The gap of a box in boxes, split by layer: from the baseline to the outermost
//! box, from that to the next one, and so on. Within the same pairs the ratios of
//! the steps multiply to the whole.

use super::estimate::Estimate;
use super::pairing;
use super::trials::{CellTrials, Trials};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Metric;
use tare_model::platform::PlatformPath;
use tare_model::study::{BoxKind, Cell, Study};

/// The gap of one cell, layer by layer. The steps have no verdicts of their own:
/// they are no more tests, but parts of one.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Split {
    #[serde(flatten)]
    pub cell: Cell,
    /// Name of the metric.
    pub metric: String,
    /// From the baseline inwards; each begins where the one before it ends.
    pub steps: Vec<Step>,
    /// From the baseline to the cell.
    pub whole: Step,
}

/// What one layer, or all of them, cost.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Step {
    /// Without it.
    pub from: PlatformPath,
    /// With it.
    pub to: PlatformPath,
    /// Pairs.
    pub n: usize,
    /// Paired ratio; over 1 costs more.
    pub ratio: Option<Estimate>,
}

impl Step {
    /// `vm -> vm/runc`.
    pub fn name(&self) -> String {
        format!("{} -> {}", self.from, self.to)
    }
}

/// Every cell of a box in boxes, where a box around it is in the study too.
pub(crate) fn all(study: &Study, trials: &Trials) -> Vec<Split> {
    let splits = trials
        .cells
        .iter()
        .filter_map(|cell| split(study, trials, &cell.cell));
    splits.collect()
}

fn split(study: &Study, trials: &Trials, cell: &Cell) -> Option<Split> {
    let chain = chain(study, &cell.kind.platform);
    let metric = trials.get(cell)?.metrics.iter().find(|m| m.primary)?;
    let at = |platform: &PlatformPath| {
        trials.get(&Cell {
            kind: BoxKind {
                platform: platform.clone(),
                ..cell.kind.clone()
            },
            workload: cell.workload.clone(),
        })
    };
    let boxes: Option<Vec<&CellTrials>> = chain.iter().map(at).collect();
    let boxes = in_common_blocks(metric, &boxes?);
    let step = |from: usize, to: usize| {
        let compared = pairing::compare(metric, &boxes[to], &boxes[from], study);
        Step {
            from: chain[from].clone(),
            to: chain[to].clone(),
            n: compared.n,
            ratio: compared.paired.map(|p| p.ratio),
        }
    };
    let last = boxes.len() - 1;
    (last > 1).then(|| Split {
        cell: cell.clone(),
        metric: metric.name.clone(),
        whole: step(0, last),
        steps: (0..last).map(|from| step(from, from + 1)).collect(),
    })
}

/// The trials of the blocks in which every box has a figure, or the steps would not be
/// parts of the whole.
fn in_common_blocks<'a>(metric: &Metric, boxes: &[&CellTrials<'a>]) -> Vec<CellTrials<'a>> {
    let has = |cell: &CellTrials, block: &u32| {
        let figure = cell.used.get(block).and_then(|used| used.sample(metric));
        figure.is_some_and(|figure| figure > 0.0)
    };
    let common = |block: &u32| boxes.iter().all(|cell| has(cell, block));
    let cut = |cell: &&CellTrials<'a>| {
        let mut cell = (*cell).clone();
        cell.used.retain(|block, _| common(block));
        cell
    };
    boxes.iter().map(cut).collect()
}

/// The baseline, the boxes around a platform that are in the study, the platform.
fn chain(study: &Study, platform: &PlatformPath) -> Vec<PlatformPath> {
    let mut around = Vec::new();
    let mut path = platform.split_last().0;
    while let Some(outer) = path {
        path = outer.split_last().0;
        if outer != study.baseline && study.platforms.contains(&outer) {
            around.push(outer);
        }
    }
    around.reverse();
    let mut chain = vec![study.baseline.clone()];
    chain.append(&mut around);
    chain.push(platform.clone());
    chain
}
