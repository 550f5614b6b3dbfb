//! What a deployment would save by doing without a mechanism.

use crate::run::{Analysis, Estimate};
use crate::why::Gap;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::study::Cell;

/// A mechanism of a cell that is shown to cost something, the margin of verdicts at least.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Saving {
    #[serde(flatten)]
    pub cell: Cell,
    /// What the mechanism is.
    pub mechanism: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// Of the cell's whole cost: 0.1 is a tenth of it.
    pub saves: Estimate,
}

pub(super) fn all(analysis: &Analysis) -> Vec<Saving> {
    let real = analysis
        .gaps
        .iter()
        .filter(|gap| !analysis.is_emulated(&gap.cell.kind.platform));
    let margin = analysis.study.protocol.margin;
    let is_worth = |saving: &Saving| saving.saves.value >= margin;
    let mut all: Vec<Saving> = real.flat_map(of_gap).filter(is_worth).collect();
    all.sort_by(|a, b| b.saves.value.total_cmp(&a.saves.value));
    all
}

fn of_gap(gap: &Gap) -> impl Iterator<Item = Saving> {
    gap.parts.iter().filter_map(|part| {
        Some(Saving {
            cell: gap.cell.clone(),
            mechanism: part.mechanism,
            remedy: part.remedy,
            saves: part.saving()?,
        })
    })
}
