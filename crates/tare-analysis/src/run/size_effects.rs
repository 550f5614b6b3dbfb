//! Size effects after ghatrehsamani2020: what a platform costs whatever the size
//! (PTO), what more in small boxes (PSO), and up to which size the latter is felt.

mod measure;

pub(super) use measure::range;

use super::comparison::Comparison;
use super::estimate::Estimate;
use super::margin;
use super::refusal::Refusal;
use super::trials::Trials;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::host::HostFacts;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::{Against, Instance, Study};
use tare_stats::{Interval, PairedInference, Row, decide, holm};

/// The size effects of a file.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SizeEffects {
    /// Why there are none, or none of some sizes.
    pub none: Option<NoEffects>,
    /// One per platform, provisioning and workload.
    pub effects: Vec<SizeEffect>,
    /// Tests in their family of the Holm correction, which is their own.
    pub family: usize,
}

/// How one workload's cost on one platform depends on the size, held against
/// native-set: the baseline platform with as many CPUs by set and no quota.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SizeEffect {
    pub platform: PlatformPath,
    /// How its CPUs are granted.
    pub provisioning: Provisioning,
    pub workload: String,
    /// Its primary metric.
    pub metric: String,
    /// Blocks in which every size has a pair; all figures are over these.
    pub n: usize,
    /// Blocks in which every size was tried and one has no pair.
    pub lost: usize,
    /// The sizes, smallest first.
    pub sizes: Vec<SizePoint>,
    /// Which effects are shown; absent where there are reasons not to judge.
    pub class: Option<Class>,
    /// The reasons.
    pub refusals: Vec<Refusal>,
    /// Cost at the largest size, an upper bound of PTO: PSO may not have died out.
    pub pto: Option<OverheadPart>,
    /// Cost of the smallest size over that of the largest.
    pub pso: Option<OverheadPart>,
    /// The model 1 + PTO + PSO/c.
    pub fit: Fit,
    /// Where PSO dies out.
    pub range: ChrRange,
    /// The estimates in logs behind PTO and PSO.
    #[serde(skip)]
    pub(crate) estimates: [Option<PairedInference>; 2],
}

#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SizePoint {
    /// Name of the instance type.
    pub instance: Option<String>,
    pub cpus: f64,
    /// CPUs over the host's.
    pub chr: Option<f64>,
    /// Paired ratio against native-set of the same size.
    pub ratio: Option<Estimate>,
    /// The ratio over that of the largest size, less 1; absent there.
    pub excess: Option<Estimate>,
}

/// Which effects are shown: verdicts of rows 2 and 3 for PTO and PSO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub enum Class {
    /// Neither PTO nor PSO is shown.
    #[serde(rename = "none")]
    Neither,
    /// Only PTO is shown.
    #[serde(rename = "PTO")]
    Pto,
    /// Only PSO is shown.
    #[serde(rename = "PSO")]
    Pso,
    /// PTO and PSO are shown.
    #[serde(rename = "both")]
    Both,
    /// One of them is not decided by these blocks.
    #[serde(rename = "undecided")]
    Undecided,
}

impl Class {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neither => "none",
            Self::Pto => "PTO",
            Self::Pso => "PSO",
            Self::Both => "PTO and PSO",
            Self::Undecided => "undecided",
        }
    }

    fn of(pto: &OverheadPart, pso: &OverheadPart) -> Self {
        let parts = [pto.shown, pso.shown];
        if parts.contains(&Shown::Undecided) {
            return Self::Undecided;
        }
        match parts.map(|shown| matches!(shown, Shown::Beyond | Shown::Perhaps)) {
            [false, false] => Self::Neither,
            [true, false] => Self::Pto,
            [false, true] => Self::Pso,
            [true, true] => Self::Both,
        }
    }
}

/// PTO or PSO without a model.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct OverheadPart {
    /// The figure as a share: a ratio less 1.
    pub share: Estimate,
    /// p that it is 0.
    pub p: f64,
    /// The same after Holm's correction over all size effects.
    pub p_holm: f64,
    /// What its row of the decision table says.
    pub shown: Shown,
}

/// A row of the decision table, as it reads for a part of a size effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The effect is larger than the margin.
    Beyond,
    /// There is an effect, possibly smaller than the margin.
    Perhaps,
    /// The effect lies within the margin.
    Within,
    /// The effect is a gain.
    Reversed,
    /// These blocks do not decide whether there is an effect.
    Undecided,
}

impl Shown {
    /// In a word or two.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Beyond => "shown",
            Self::Perhaps => "shown, perhaps less than the margin",
            Self::Within => "within the margin",
            Self::Reversed => "the other way round",
            Self::Undecided => "undecided",
        }
    }

    /// What is shown by an estimate with its p with Holm's correction; `None` where one is
    /// missing.
    pub(super) fn of(
        estimate: Option<PairedInference>,
        p_holm: Option<f64>,
        margin: Option<f64>,
    ) -> Option<Self> {
        Some(decide(estimate?.interval, p_holm?, margin?).into())
    }
}

impl From<Row> for Shown {
    fn from(row: Row) -> Self {
        match row {
            Row::SlowerBeyond => Self::Beyond,
            Row::SlowerPerhaps => Self::Perhaps,
            Row::Equal => Self::Within,
            Row::FasterBeyond | Row::FasterPerhaps => Self::Reversed,
            Row::Inconclusive => Self::Undecided,
        }
    }
}

impl OverheadPart {
    fn judged(estimate: &PairedInference, p_holm: f64, margin: f64) -> Option<Self> {
        Some(Self {
            share: share(estimate)?,
            p: estimate.p_t?,
            p_holm,
            shown: decide(estimate.interval, p_holm, margin).into(),
        })
    }
}

/// What the figures of a fit are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// There is no fit: fewer than three sizes, or no figures.
    Absent,
    /// The fit is drawn, and its figures are not quoted.
    Drawn,
    /// The data contradict the model.
    Void,
    /// The figures of the fit are quoted.
    Quoted,
}

/// Why there are no size effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoEffects {
    /// The study has one size of box.
    OneSize,
    /// The baseline native-set was not measured.
    NoSet,
    /// Two sizes have the same number of CPUs.
    SameCpus,
}

/// Why a fit is worth no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoFit {
    /// Fewer than three sizes.
    FewSizes,
    /// Too few blocks.
    FewBlocks,
    /// Not four sizes that span a factor of 8.
    NarrowRange,
    /// Whether the model holds cannot be tested with these blocks.
    Untested,
    /// The cost rises with the size.
    Rising,
    /// The sizes do not follow the model.
    LackOfFit,
}

/// r(c) = 1 + PTO + PSO/c, fitted in each block by least squares with equal weights.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Fit {
    /// What it is worth.
    pub standing: Standing,
    /// Why no more than that.
    pub reason: Option<NoFit>,
    /// PTO as a share; where quoted.
    pub pto: Option<Estimate>,
    /// PSO of one CPU as a share; where quoted.
    pub pso: Option<Estimate>,
    /// p that the model holds.
    pub p_fits: Option<f64>,
    /// PTO and PSO of the line to draw.
    #[serde(skip)]
    pub drawn: Option<(f64, f64)>,
}

/// From the largest size whose excess over the largest is shown beyond the
/// margin to the smallest from which on it is shown within: a range in which
/// PSO dies out, relative to the plateau. Sizes that show neither lie inside.
/// Of one size on hosts of several sizes it is the range of the CHR likewise.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct ChrRange {
    /// Lower end.
    pub beyond: Option<RangeEnd>,
    /// Upper end.
    pub within: Option<RangeEnd>,
}

/// An end of the range.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct RangeEnd {
    pub cpus: f64,
    /// CPUs over the host's.
    pub chr: Option<f64>,
}

/// A ratio less 1, from an estimate in logs.
pub(super) fn share(estimate: &PairedInference) -> Option<Estimate> {
    let interval = Interval {
        low: estimate.interval.low.exp_m1(),
        high: estimate.interval.high.exp_m1(),
    };
    Estimate::new(estimate.mean.exp_m1(), interval)
}

/// The size effects of every platform, provisioning and workload that was
/// measured in at least two sizes against native-set.
pub(crate) fn all(
    study: &Study,
    host: &HostFacts,
    trials: &Trials,
    comparisons: &[Comparison],
) -> SizeEffects {
    let mut effects = Vec::new();
    let mut none = none_at_all(study, comparisons);
    for group in groups(study, comparisons, |instance| instance.host_cpus) {
        match measure::effect(study, host, trials, &group) {
            Some(effect) => effects.push(effect),
            None => none = none.or_else(|| same_cpus(study)),
        }
    }
    let family = judge(&mut effects, study);
    SizeEffects {
        none,
        effects,
        family,
    }
}

/// Comparisons with native-set that are alike in `what` of their size, and differ in the rest of
/// it alone.
pub(super) fn groups<'a, K: PartialEq>(
    study: &Study,
    comparisons: &'a [Comparison],
    what: impl Fn(&Instance) -> K,
) -> Vec<Vec<&'a Comparison>> {
    let with_set = |c: &&Comparison| match c.cell.kind.provisioning {
        Provisioning::Vanilla => c.against == Against::NativeSet,
        Provisioning::Pinned => c.against == Against::Native,
    };
    let key = |c: &Comparison| {
        let kind = &c.cell.kind;
        let alike = study.instance_of(kind).map(&what);
        (
            kind.platform.clone(),
            kind.provisioning,
            c.cell.workload.clone(),
            alike,
        )
    };
    let mut groups: Vec<Vec<&Comparison>> = Vec::new();
    for comparison in comparisons.iter().filter(with_set) {
        match groups.iter_mut().find(|g| key(g[0]) == key(comparison)) {
            Some(group) => group.push(comparison),
            None => groups.push(vec![comparison]),
        }
    }
    groups
}

/// Why a study has no size effects at all, if so.
fn none_at_all(study: &Study, comparisons: &[Comparison]) -> Option<NoEffects> {
    if comparisons.is_empty() {
        None
    } else if study.instances.len() < 2 {
        Some(NoEffects::OneSize)
    } else {
        (!study.provisioning.contains(&Provisioning::Pinned)).then_some(NoEffects::NoSet)
    }
}

/// Why sizes of one study have no effects, if some are alike in CPUs and host.
fn same_cpus(study: &Study) -> Option<NoEffects> {
    let key = |instance: &Instance| (instance.size.cpus, instance.host_cpus);
    let sizes = &study.instances;
    let alike = (0..sizes.len()).any(|i| sizes[..i].iter().any(|size| key(size) == key(&sizes[i])));
    alike.then_some(NoEffects::SameCpus)
}

/// Holm's correction over all parts, then their verdicts and the classes. The
/// answer is the number of tests.
fn judge(effects: &mut [SizeEffect], study: &Study) -> usize {
    let p_values = |effect: &SizeEffect| effect.estimates.map(|e| e.and_then(|e| e.p_t));
    let p_values: Vec<Option<f64>> = effects.iter().flat_map(p_values).collect();
    let corrected = holm(&p_values);
    for (i, effect) in effects.iter_mut().enumerate() {
        let part = |side: usize| {
            let p_holm = corrected[2 * i + side]?;
            OverheadPart::judged(&effect.estimates[side]?, p_holm, margin(study)?)
        };
        (effect.pto, effect.pso) = (part(0), part(1));
        if let (Some(pto), Some(pso), true) = (&effect.pto, &effect.pso, effect.refusals.is_empty()) {
            effect.class = Some(Class::of(pto, pso));
        }
    }
    p_values.iter().flatten().count()
}
