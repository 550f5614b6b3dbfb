//! Workloads that a study holds together, such as one large task and many small ones: how many
//! times dearer a platform is at one than at the other.

use super::Shown;
use super::comparison::Comparison;
use super::estimate::Estimate;
use super::refusal::Refusal;
use super::together::{self, Common, Judged};
use super::trials::Trials;
use super::{margin, question};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::{Against, Effect, Study};
use tare_stats::{PairedInference, infer};

/// The effects of a file.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct WorkloadEffects {
    /// One per pair of workloads, platform, provisioning and size, or pair of sizes.
    pub effects: Vec<WorkloadEffect>,
    /// Tests in their family of the Holm correction, which is their own.
    pub family: usize,
}

/// What one kind of box costs two workloads, both against the baseline limited alike.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct WorkloadEffect {
    /// What the study calls it.
    pub name: String,
    pub platform: PlatformPath,
    /// How its CPUs are granted.
    pub provisioning: Provisioning,
    /// Blocks in which both workloads have a pair; all figures are over these.
    pub n: usize,
    /// Blocks in which both were tried and one has no pair.
    pub lost: usize,
    /// The workload that shows the effect.
    pub of: WorkloadCost,
    /// The workload that does not.
    pub against: WorkloadCost,
    /// The cost of the first over that of the second: 1.2 is a platform that is 1.2 times as
    /// dear with it.
    pub ratio: Option<Estimate>,
    /// p that it is 1.
    pub p: Option<f64>,
    /// The same after Holm's correction over all of the study's effects.
    pub p_holm: Option<f64>,
    /// What its row of the decision table says; absent where there are reasons not to judge.
    pub shown: Option<Shown>,
    /// The reasons.
    pub refusals: Vec<Refusal>,
    /// The estimate in logs behind the ratio.
    #[serde(skip)]
    estimate: Option<PairedInference>,
}

/// What a platform costs one workload.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct WorkloadCost {
    pub workload: String,
    /// The size of its box, where the study has several.
    pub instance: Option<String>,
    /// Its primary metric.
    pub metric: String,
    /// Paired ratio against the baseline.
    pub ratio: Option<Estimate>,
}

/// Every effect of the study on every platform that ran both of its workloads.
pub(crate) fn all(study: &Study, trials: &Trials, comparisons: &[Comparison]) -> WorkloadEffects {
    let mut effects = Vec::new();
    for effect in &study.effects {
        let native = comparisons.iter().filter(|c| c.against == Against::Native);
        let [of, against]: [Vec<&Comparison>; 2] = [&effect.of, &effect.against].map(|workload| {
            let its = native.clone().filter(|c| c.cell.workload == *workload);
            its.collect()
        });
        for first in &of {
            let other = other(first, &of, &against);
            effects.extend(other.and_then(|second| measure(study, trials, effect, [first, second])));
        }
    }
    let family = together::judge(effects.iter_mut().map(judged), margin(study));
    WorkloadEffects { effects, family }
}

/// What one comparison is held against: that of the other workload in a box of the same kind. Where each workload has a
/// size of its own, as one large box and many small ones, it is that of the other size.
fn other<'a>(first: &Comparison, of: &[&Comparison], against: &[&'a Comparison]) -> Option<&'a Comparison> {
    let kind = &first.cell.kind;
    let here = |c: &&&Comparison| {
        let other = &c.cell.kind;
        (&other.platform, other.provisioning) == (&kind.platform, kind.provisioning)
    };
    let others: Vec<&Comparison> = against.iter().filter(here).copied().collect();
    let same = others.iter().find(|c| c.cell.kind == *kind);
    match (same, &others[..]) {
        (None, [only]) if of.iter().filter(here).count() == 1 => Some(only),
        _ => same.copied(),
    }
}

fn measure(
    study: &Study,
    trials: &Trials,
    effect: &Effect,
    both: [&Comparison; 2],
) -> Option<WorkloadEffect> {
    let [of, against] = [
        together::measured(trials, both[0])?,
        together::measured(trials, both[1])?,
    ];
    let common = Common::of([&of, &against].into_iter());
    let question = question(study);
    let cost = |i: usize| {
        Some(WorkloadCost {
            workload: both[i].cell.workload.clone(),
            instance: both[i].cell.kind.instance.clone(),
            metric: both[i].primary()?.metric.name.clone(),
            ratio: together::ratio(common.blocks.iter().map(|block| block[i]), question),
        })
    };
    let apart: Vec<f64> = common.blocks.iter().map(|block| block[0] - block[1]).collect();
    let estimate = infer(&apart, question);
    let kind = &both[0].cell.kind;
    Some(WorkloadEffect {
        name: effect.name.clone(),
        platform: kind.platform.clone(),
        provisioning: kind.provisioning,
        n: common.blocks.len(),
        lost: common.lost,
        of: cost(0)?,
        against: cost(1)?,
        ratio: estimate.as_ref().and_then(together::as_ratio),
        p: estimate.and_then(|e| e.p_t),
        p_holm: None,
        shown: None,
        refusals: common.refusals,
        estimate,
    })
}

fn judged(effect: &mut WorkloadEffect) -> Judged<'_> {
    Judged {
        estimate: effect.estimate,
        is_refused: !effect.refusals.is_empty(),
        p: effect.p,
        p_holm: &mut effect.p_holm,
        shown: &mut effect.shown,
    }
}
