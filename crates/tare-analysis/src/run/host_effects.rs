//! The host-size effect after ghatrehsamani2020: what the same box costs on hosts with more or
//! fewer CPUs. Its other sizes tell CPUs and CHR apart no more than one host does; this does.

use super::comparison::Comparison;
use super::estimate::Estimate;
use super::refusal::Refusal;
use super::size_effects::{self, ChrRange, RangeEnd, Shown, range, share};
use super::together::{self, Common, Judged, Measured};
use super::trials::Trials;
use super::{margin, question};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::host::HostFacts;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::Study;
use tare_stats::{PairedInference, infer, size_series};

/// The host-size effects of a file.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct HostEffects {
    /// One per platform, provisioning, workload and size that was measured on hosts of several
    /// sizes.
    pub effects: Vec<HostEffect>,
    /// Tests in their family of the Holm correction, which is their own.
    pub family: usize,
}

/// What one size of box costs on hosts of several sizes, held against native-set.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct HostEffect {
    pub platform: PlatformPath,
    /// How its CPUs are granted.
    pub provisioning: Provisioning,
    pub workload: String,
    /// Its primary metric.
    pub metric: String,
    /// CPUs of the box.
    pub cpus: f64,
    /// Blocks in which there is a pair on every host; all figures are over these.
    pub n: usize,
    /// Blocks in which all were tried and one has no pair.
    pub lost: usize,
    /// The hosts, smallest first.
    pub hosts: Vec<HostPoint>,
    /// p that the largest host costs as much as the smallest.
    pub p: Option<f64>,
    /// The same after Holm's correction over all host-size effects.
    pub p_holm: Option<f64>,
    /// What the row of the decision table says of the largest host over the smallest; absent
    /// where there are reasons not to judge.
    pub shown: Option<Shown>,
    /// The reasons.
    pub refusals: Vec<Refusal>,
    /// Where the excess over the smallest host dies out, by CHR.
    pub range: ChrRange,
    /// The estimate in logs of the largest host over the smallest.
    #[serde(skip)]
    estimate: Option<PairedInference>,
}

/// One size of host.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct HostPoint {
    /// Name of the instance type.
    pub instance: Option<String>,
    /// CPUs of the host that boxes run on.
    pub host_cpus: u32,
    /// CPUs of the box over those.
    pub chr: f64,
    /// Paired ratio against native-set on the same host.
    pub ratio: Option<Estimate>,
    /// The ratio over that on the smallest host, less 1; absent there.
    pub excess: Option<Estimate>,
}

/// A host and what was measured on it.
struct Hosted<'a> {
    cpus: u32,
    of: Measured<'a>,
}

/// The effects of every platform, provisioning, workload and size that was measured on at least
/// two sizes of host.
pub(crate) fn all(
    study: &Study,
    host: &HostFacts,
    trials: &Trials,
    comparisons: &[Comparison],
) -> HostEffects {
    let groups = size_effects::groups(study, comparisons, |instance| instance.size);
    let found = groups
        .iter()
        .filter_map(|group| effect(study, host, trials, group));
    let mut effects: Vec<HostEffect> = found.collect();
    let family = together::judge(effects.iter_mut().map(judged), margin(study));
    HostEffects { effects, family }
}

/// The effect of comparisons that differ in the host alone.
fn effect(study: &Study, host: &HostFacts, trials: &Trials, group: &[&Comparison]) -> Option<HostEffect> {
    let mut hosted = group
        .iter()
        .map(|c| on_host(study, host, trials, c))
        .collect::<Option<Vec<Hosted>>>()?;
    // The smallest host is the last one, as the largest box is among sizes: both have the
    // largest CHR, over which the excess of the others is worked out.
    hosted.sort_by_key(|hosted| std::cmp::Reverse(hosted.cpus));
    let (last, alike) = (hosted.last()?, |w: &[Hosted]| w[0].cpus == w[1].cpus);
    if hosted.len() < 2 || last.cpus == 0 || hosted.windows(2).any(alike) {
        return None;
    }
    let common = Common::of(hosted.iter().map(|hosted| &hosted.of));
    let question = question(study);
    let series = size_series(&common.blocks);
    let of_series = |s: tare_stats::SizeSeries| s.excess.iter().map(|e| infer(e, question)).collect();
    let excess: Vec<Option<PairedInference>> = series.map_or_else(|| vec![None; hosted.len() - 1], of_series);
    let kind = &group[0].cell.kind;
    let cpus = study.instance_of(kind)?.size.cpus.as_f64();
    let ratio = |i: usize| together::ratio(common.blocks.iter().map(|block| block[i]), question);
    let point = |(i, hosted): (usize, &Hosted)| HostPoint {
        instance: hosted.of.comparison.cell.kind.instance.clone(),
        host_cpus: hosted.cpus,
        chr: cpus / f64::from(hosted.cpus),
        ratio: ratio(i),
        excess: excess.get(i).and_then(|e| share(e.as_ref()?)),
    };
    let mut hosts: Vec<HostPoint> = hosted.iter().enumerate().map(point).collect();
    let ends: Vec<RangeEnd> = hosts
        .iter()
        .map(|point| RangeEnd {
            cpus,
            chr: Some(point.chr),
        })
        .collect();
    hosts.reverse();
    Some(HostEffect {
        platform: kind.platform.clone(),
        provisioning: kind.provisioning,
        workload: group[0].cell.workload.clone(),
        metric: group[0].primary()?.metric.name.clone(),
        cpus,
        n: common.blocks.len(),
        lost: common.lost,
        hosts,
        p: excess[0].and_then(|e| e.p_t),
        p_holm: None,
        shown: None,
        refusals: common.refusals,
        range: range(&ends, &excess, margin(study)),
        estimate: excess[0],
    })
}

fn on_host<'a>(
    study: &Study,
    host: &HostFacts,
    trials: &Trials,
    comparison: &'a Comparison,
) -> Option<Hosted<'a>> {
    let instance = study.instance_of(&comparison.cell.kind)?;
    Some(Hosted {
        cpus: instance.host_cpus.unwrap_or(host.cpus),
        of: together::measured(trials, comparison)?,
    })
}

fn judged(effect: &mut HostEffect) -> Judged<'_> {
    Judged {
        estimate: effect.estimate,
        is_refused: !effect.refusals.is_empty(),
        p: effect.p,
        p_holm: &mut effect.p_holm,
        shown: &mut effect.shown,
    }
}
