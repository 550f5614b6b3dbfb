//! The gap of a box in boxes, split by layer: from the baseline to the outermost
//! box, from that to the next one, and so on. Within the same pairs the ratios of
//! the steps multiply to the whole.

use super::cells::Estimate;
use super::trials::Trials;
use super::{pairing, question};
use serde::Serialize;
use tare_model::platform::PlatformPath;
use tare_model::study::{BoxKind, Cell, Study};

/// The gap of one cell, layer by layer. The steps have no verdicts of their own:
/// they are no more tests, but parts of one.
#[derive(Debug, Clone, Serialize)]
pub struct Split {
    /// The cell.
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
#[derive(Debug, Clone, Serialize)]
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
    let step = |from: &PlatformPath, to: &PlatformPath| {
        let at = |platform: &PlatformPath| {
            trials.get(&Cell {
                kind: BoxKind {
                    platform: platform.clone(),
                    ..cell.kind.clone()
                },
                workload: cell.workload.clone(),
            })
        };
        let compared = pairing::compare(metric, at(to)?, at(from)?, question(study));
        Some(Step {
            from: from.clone(),
            to: to.clone(),
            n: compared.n,
            ratio: compared.paired.map(|p| p.ratio),
        })
    };
    let steps: Option<Vec<Step>> = chain.windows(2).map(|pair| step(&pair[0], &pair[1])).collect();
    Some(Split {
        cell: cell.clone(),
        metric: metric.name.clone(),
        whole: step(chain.first()?, chain.last()?)?,
        steps: steps.filter(|steps| steps.len() > 1)?,
    })
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
