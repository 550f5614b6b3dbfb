//! Platforms against one another that the study holds against its baseline alone.
//!
//! They are figures to look at: there are many of them, nobody asked for one beforehand, and no test is corrected for
//! their number. So none has a verdict.

use super::estimate::Estimate;
use super::facts::{PlatformFacts, is_emulated};
use super::pairing;
use super::trials::{CellTrials, Trials};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::platform::PlatformPath;
use tare_model::study::{Cell, Study};

/// What a cell costs over the same cell of a platform that is not its baseline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OtherPair {
    #[serde(flatten)]
    pub cell: Cell,
    /// The platform that it is held against.
    pub against: PlatformPath,
    /// Blocks in which both have a figure.
    pub n: usize,
    /// What one typical run costs over what it costs there, by the metric that carries the verdicts.
    pub ratio: Estimate,
}

/// Every two platforms of the study, none of them its baseline, the later over the earlier. An emulated machine is held
/// against another one alone.
pub(crate) fn all(study: &Study, trials: &Trials, platforms: &[PlatformFacts]) -> Vec<OtherPair> {
    let is_baseline = |platform: &PlatformPath| *platform == study.baseline;
    let is_emulated = |platform: &PlatformPath| is_emulated(platforms, platform);
    let pairs_of = |cell: &CellTrials| {
        let own = &cell.cell.kind.platform;
        let others = study.platforms.iter().take_while(|other| *other != own);
        let others = others.filter(|other| !is_baseline(other) && is_emulated(other) == is_emulated(own));
        let pairs = others.filter_map(|other| pair(study, trials, cell, other));
        if is_baseline(own) {
            Vec::new()
        } else {
            pairs.collect()
        }
    };
    trials.cells.par_iter().flat_map(pairs_of).collect()
}

fn pair(study: &Study, trials: &Trials, cell: &CellTrials, other: &PlatformPath) -> Option<OtherPair> {
    let mut against = cell.cell.clone();
    against.kind.platform = other.clone();
    let [own, against] = [cell, trials.get(&against)?].map(CellTrials::of_own_comparisons);
    let compared = pairing::compare(cell.primary()?, &own, &against, study);
    Some(OtherPair {
        cell: cell.cell.clone(),
        against: other.clone(),
        n: compared.n,
        ratio: compared.paired?.ratio,
    })
}
