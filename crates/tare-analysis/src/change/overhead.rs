//! The change of what a box costs against its baseline, with its verdict.

use super::cells::unlike;
use super::verdict::decided;
use crate::run::fitness::did_alike;
use crate::run::trials::Trials;
use crate::run::verdict::refused;
use crate::run::{Against, Analysis, Comparison, Estimate, Family, Flag, MetricComparison};
use crate::run::{Refusal, Verdict};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Metric;
use tare_model::sound::is_margin;
use tare_model::study::{Cell, Study};
use tare_stats::{Interval, Looks, PairedInference, Sample, Welch, holm, welch};

/// What one cell costs against one baseline, before and after.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct OverheadChange {
    #[serde(flatten)]
    pub cell: Cell,
    /// Which baseline.
    pub against: Against,
    /// The baseline's cell.
    pub baseline: Cell,
    /// With which others it is corrected for their number.
    pub family: Family,
    /// The primary metric.
    pub metric: Metric,
    /// Whether typical costs of slices are compared: both files have them.
    pub typical: bool,
    pub before: Overhead,
    pub after: Overhead,
    /// exp(mean d after - mean d before): over 1, the box costs more than it did.
    pub change: Option<Estimate>,
    /// The change in logs.
    pub change_log: Option<f64>,
    /// Its standard error.
    pub error_log: Option<f64>,
    /// Degrees of freedom by Welch and Satterthwaite.
    pub freedom: Option<f64>,
    /// p of Welch's t that nothing changed.
    pub p: Option<f64>,
    /// The same after Holm's correction.
    pub p_holm: Option<f64>,
    /// p of the two one-sided tests that the change is within the margin.
    pub p_equal: Option<f64>,
    /// The verdict by the decision table.
    pub verdict: Verdict,
    #[serde(skip)]
    welch: Option<Welch>,
    /// Why there is no verdict, before and after.
    pub refusals: [Vec<Refusal>; 2],
}

/// The overhead in one of the two runs.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Overhead {
    /// Pairs.
    pub n: usize,
    /// Paired ratio; over 1 costs more than the baseline.
    pub ratio: Option<Estimate>,
    /// Reasons to read its interval with care.
    pub flags: Vec<Flag>,
}

impl Overhead {
    fn of(metric: &MetricComparison, typical: bool) -> Self {
        let inference = inference(metric, typical);
        let flags = inference.iter().flat_map(Flag::of_series);
        let contended = |flag: &Flag| typical && matches!(flag, Flag::Contended { .. });
        let others = metric.flags.iter().copied();
        let others = others.filter(|flag| flag.is_tail() || contended(flag));
        Self {
            n: inference.map_or(metric.n, |i| i.n),
            ratio: inference.and_then(|i| Estimate::of_logs(i.mean, i.interval)?.if_telling()),
            flags: flags.chain(others).collect(),
        }
    }
}

/// What the losses in logs of a run say: typical costs of slices are held against
/// typical costs, samples against samples.
fn inference(metric: &MetricComparison, typical: bool) -> Option<PairedInference> {
    if typical { metric.inference } else { metric.sampled }
}

/// A run that was looked at while it grew stopped where its interval was narrow:
/// the wider level and the larger p allow for it.
pub(super) fn looks((before, after): (&Study, &Study)) -> Looks {
    if before.protocol.stopping.is_fixed() && after.protocol.stopping.is_fixed() {
        Looks::None
    } else {
        Looks::Allowed
    }
}

/// The change of every overhead that both files have, and the number of tests.
/// Boxes are held against the baseline limited alike. Of the other baseline,
/// the one without a quota, only the price of the quota is told: with it, the
/// rest follows.
pub(super) fn all(
    studies: (&Study, &Study),
    (before, after): (&Analysis, &Analysis),
    trials: (&Trials, &Trials),
    margin: f64,
) -> (Vec<OverheadChange>, usize) {
    let wanted = |c: &&Comparison| c.against == Against::Native || c.is_price_of_quota();
    let changed = |second: &Comparison| {
        let same = |c: &&Comparison| c.cell == second.cell && c.against == second.against;
        let first = before.comparisons.iter().find(same)?;
        change(studies, (first, second), trials)
    };
    let compared = after.comparisons.iter().filter(wanted);
    let mut changes: Vec<OverheadChange> = compared.filter_map(changed).collect();
    correct(&mut changes);
    let margin = is_margin(margin).then(|| margin.ln_1p());
    for change in &mut changes {
        change.judge(margin, looks(studies));
    }
    let tests = changes.iter().filter(|change| change.p_holm.is_some()).count();
    (changes, tests)
}

/// Holm's correction within the families of the report, of what can get a verdict.
fn correct(changes: &mut [OverheadChange]) {
    for family in Family::ALL {
        let p = |change: &OverheadChange| change.p.filter(|_| change.family == family && change.counts());
        let p_values: Vec<Option<f64>> = changes.iter().map(p).collect();
        for (change, p) in changes.iter_mut().zip(holm(&p_values)) {
            change.p_holm = change.p_holm.or(p);
        }
    }
}

/// The change of one overhead, not yet judged; `None` where a file has no figure
/// that carries a verdict.
fn change(
    studies: (&Study, &Study),
    (before, after): (&Comparison, &Comparison),
    trials: (&Trials, &Trials),
) -> Option<OverheadChange> {
    let (first, second) = (before.primary()?, after.primary()?);
    let looks = looks(studies);
    let typical = first.slices.is_some() && second.slices.is_some();
    let parts = || other_part(&[&after.cell, &after.baseline], trials);
    let unlike = not_alike(studies, before, after).or_else(parts);
    let welch = match unlike {
        None => difference(inference(first, typical), inference(second, typical), looks),
        Some(_) => None,
    };
    let refusals =
        |metric: &MetricComparison| metric.verdict.iter().flat_map(|v| v.refusals.clone()).collect();
    let (first_refusals, mut second_refusals): (Vec<Refusal>, Vec<Refusal>) =
        (refusals(first), refusals(second));
    second_refusals.extend(unlike);
    Some(OverheadChange {
        cell: after.cell.clone(),
        against: after.against,
        baseline: after.baseline.clone(),
        family: after.family,
        metric: second.metric.clone(),
        typical,
        before: Overhead::of(first, typical),
        after: Overhead::of(second, typical),
        change: welch.and_then(|w| Estimate::of_logs(w.difference, w.interval)?.if_telling()),
        change_log: welch.map(|w| w.difference),
        error_log: welch.map(|w| w.error),
        freedom: welch.map(|w| w.freedom),
        p: welch
            .and_then(Welch::p_zero)
            .map(|p| (p * looks.p_factor()).min(1.0)),
        p_holm: None,
        p_equal: None,
        verdict: refused(Vec::new()),
        welch,
        refusals: [first_refusals, second_refusals],
    })
}

/// Why the two comparisons are not of the same things.
fn not_alike(studies: (&Study, &Study), before: &Comparison, after: &Comparison) -> Option<Refusal> {
    let metrics = |c: &Comparison| c.primary().map(|m| m.metric.clone());
    if before.baseline != after.baseline {
        return Some(Refusal::OtherBaseline);
    }
    if metrics(before) != metrics(after) {
        return Some(Refusal::OtherWork);
    }
    unlike(studies, &after.cell)
}

/// Where time runs out before the work is done, what is done hangs on the length of the
/// trial and the speed of the host: another part of the work is other work.
fn other_part(cells: &[&Cell], (before, after): (&Trials, &Trials)) -> Option<Refusal> {
    let alike = |cell: &&&Cell| Some(did_alike(before.get(cell)?, after.get(cell)?));
    (!cells.iter().filter_map(|cell| alike(&cell)).all(|alike| alike)).then_some(Refusal::OtherWork)
}

/// d after less d before. The spread of each is widened by its autocorrelation,
/// and stretched as far as the check by bootstrap-t moved an end. Where something else used
/// the CPU, the interval reaches as far as the two may be understated.
fn difference(
    before: Option<PairedInference>,
    after: Option<PairedInference>,
    looks: Looks,
) -> Option<Welch> {
    let sample = |inference: PairedInference| {
        let (low, high) = inference.stretch();
        Sample {
            n: inference.n,
            mean: inference.mean,
            sd: inference.t.sd * low.max(high),
        }
    };
    let (before, after) = (before?, after?);
    let found = welch(sample(before), sample(after), looks.level())?;
    let Interval { low, high } = found.interval;
    let (first, second) = (hidden(before), hidden(after));
    Some(Welch {
        interval: Interval {
            low: low + second.low - first.high,
            high: high + second.high - first.low,
        },
        ..found
    })
}

/// How much less and more than its mean the true one may be.
fn hidden(inference: PairedInference) -> Interval {
    let off = inference.hidden(inference.mean) - inference.mean;
    Interval {
        low: off.min(0.0),
        high: off.max(0.0),
    }
}

impl OverheadChange {
    /// Whether it counts in its family: see the families of a report. The margin is that of
    /// this comparison.
    fn counts(&self) -> bool {
        let counts = |refusal: &Refusal| refusal.rests_on_figures() || *refusal == Refusal::NoMargin;
        self.refusals.iter().flatten().all(counts)
    }

    fn judge(&mut self, margin: Option<f64>, looks: Looks) {
        self.p_equal = margin
            .and_then(|m| self.welch?.p_within(m))
            .map(|p| (p * looks.p_factor()).min(1.0));
        let [before, after] = &mut self.refusals;
        // The margin of this comparison is what counts, not those of the studies.
        before.retain(|r| *r != Refusal::NoMargin);
        after.retain(|r| *r != Refusal::NoMargin);
        after.extend(margin.is_none().then_some(Refusal::NoMargin));
        let fit = before.is_empty() && after.is_empty();
        self.verdict = match (self.welch, self.p_holm, margin) {
            (Some(_), ..) if fit && self.change.is_none() => refused(vec![Refusal::NoEstimate]),
            (Some(welch), Some(p), Some(margin)) if fit => decided(&welch, p, margin),
            _ => refused(self.refusals.concat()),
        };
    }
}
