//! Whether to pin.

use crate::run::{Against, Analysis, Comparison, Estimate, Word};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use tare_model::platform::{PlatformPath, Provisioning};

/// One platform pinned, and by quota, both over the baseline pinned without a quota.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Pinning {
    pub platform: PlatformPath,
    pub workload: String,
    /// Name of the instance type, where the study has several.
    pub instance: Option<String>,
    /// Its cost pinned.
    pub pinned: Estimate,
    /// Its cost by quota.
    pub vanilla: Estimate,
    /// Which costs less, where the verdicts show it.
    pub cheaper: Option<Provisioning>,
}

/// Where both ways were measured.
pub(super) fn all(analysis: &Analysis) -> Vec<Pinning> {
    let vanilla = analysis
        .comparisons
        .iter()
        .filter(|c| c.against == Against::NativeSet);
    vanilla.filter_map(|vanilla| both(analysis, vanilla)).collect()
}

fn both(analysis: &Analysis, vanilla: &Comparison) -> Option<Pinning> {
    let kind = &vanilla.cell.kind;
    let is_same = |c: &&Comparison| {
        let other = &c.cell.kind;
        other.provisioning == Provisioning::Pinned
            && other.platform == kind.platform
            && other.instance == kind.instance
            && c.cell.workload == vanilla.cell.workload
    };
    let by_verdict = |pinned: &Comparison| pinned.beside(vanilla).map(cheaper);
    // The baseline pinned is what both are held against.
    let (pinned, cheaper) = if vanilla.is_price_of_quota() {
        (Estimate::ONE, cheaper_baseline(vanilla.word()))
    } else {
        let pinned = analysis.asked().find(is_same)?;
        (pinned.ratio()?, by_verdict(pinned))
    };
    Some(Pinning {
        platform: kind.platform.clone(),
        workload: vanilla.cell.workload.clone(),
        instance: kind.instance.clone(),
        pinned,
        vanilla: vanilla.ratio()?,
        cheaper,
    })
}

/// By the verdict on its price of the quota.
const fn cheaper_baseline(price_of_quota: Word) -> Option<Provisioning> {
    match price_of_quota {
        Word::Slower => Some(Provisioning::Pinned),
        Word::Faster => Some(Provisioning::Vanilla),
        Word::Equal | Word::Inconclusive | Word::None => None,
    }
}

const fn cheaper(pinned_beside_vanilla: Ordering) -> Provisioning {
    if pinned_beside_vanilla.is_lt() {
        Provisioning::Pinned
    } else {
        Provisioning::Vanilla
    }
}
