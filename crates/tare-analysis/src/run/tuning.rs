//! Which parameters of a workload matter, and the best setting that is shown.
//!
//! All figures are contrasts within blocks: in each block one weighted sum of the logarithms of what the settings cost, and over
//! blocks Student's t. What a cluster or a box adds to all its settings of a block is so within the interval.

use super::boxes::BoxFigures;
use super::estimate::Estimate;
use super::refusal::Refusal;
use super::trials::{CellTrials, Trials, Used};
use super::{fitness, margin};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tare_model::metric::{Metric, Unit};
use tare_model::study::{BoxKind, Cell, Study};
use tare_model::tuning::{Tuning, TuningDesign, TuningFactor, TuningSetting};
use tare_stats::{Design, LEVEL, TEstimate, holm, t_estimate};

/// The settings of a workload on one kind of box.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Tuned {
    /// The kind of box.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// The workload without the parameters that are varied.
    pub workload: String,
    /// The primary metric.
    pub metric: String,
    pub unit: Unit,
    pub design: TuningDesign,
    /// Blocks that have a figure of every setting: all effects are of these.
    pub blocks: usize,
    /// Blocks in which every setting was tried and one has no figure.
    pub lost: usize,
    /// Blocks that are needed before anything is shown.
    pub fewest: usize,
    /// Why nothing is concluded, whatever the number of blocks.
    pub refusals: Vec<Refusal>,
    /// What each level costs over the first one of its factor; what does most first.
    pub effects: Vec<LevelEffect>,
    /// What two factors do together, where the design tells.
    pub interactions: Vec<TogetherEffect>,
    pub settings: Vec<SettingFigures>,
    /// The setting that what is shown makes the best, if it is shown to be better than the first.
    pub best: Option<BestSetting>,
    /// Why none is told.
    pub no_best: Option<NoBest>,
}

/// Why no setting is told to be the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoBest {
    /// None is shown to be better than the first.
    NoneBetter,
    /// Pairs that the settings do not tell apart act together.
    MixedPairs,
    /// The trials of the setting that the effects make the best do not show it to be better.
    OwnTrials,
}

/// A level over the first of its factor: the mean over all settings of the others, or with the others at their first.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct LevelEffect {
    pub factor: String,
    /// The first level.
    pub from: String,
    pub to: String,
    #[serde(flatten)]
    pub effect: TuningEffect,
}

/// Factors together beyond what each does alone.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct TogetherEffect {
    /// The pairs of factors; of several the settings show only what all of them do together.
    pub pairs: Vec<[String; 2]>,
    #[serde(flatten)]
    pub effect: TuningEffect,
}

/// How many times as dear something makes a run.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize)]
pub struct TuningEffect {
    /// The cost of a run with it over that without; absent in under two blocks.
    pub cost: Option<Estimate>,
    /// p of it making no difference, after Holm's correction over all factors, or over all that they do together.
    pub p_holm: Option<f64>,
    /// Whether that is under 5 %, in as many blocks as are needed, and it is not equal within the margin.
    pub is_shown: bool,
    /// Whether the whole interval is within the margin.
    pub is_equal: bool,
}

/// One setting by itself.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SettingFigures {
    /// Of each factor its level.
    pub levels: Vec<FactorLevel>,
    /// Blocks that have a figure.
    pub n: usize,
    /// Mean of the metric, in its unit.
    pub mean: Option<f64>,
    /// Its cost over that of the first setting, in the blocks that have both; without a correction for the number of settings.
    pub cost: Option<Estimate>,
}

/// A factor at a level.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FactorLevel {
    pub factor: String,
    pub level: String,
}

/// The setting to take.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct BestSetting {
    /// What differs from the first setting.
    pub changes: Vec<FactorLevel>,
    /// Its cost over that of the first setting.
    pub cost: Estimate,
    /// Whether that is by its own trials; otherwise it did not run, and it is by the effects that are shown.
    pub ran: bool,
}

/// The settings of a study on each of its kinds of box.
pub(crate) fn all(study: &Study, trials: &Trials, boxes: &[BoxFigures]) -> Vec<Tuned> {
    let Some(tuning) = study.tuning.as_ref().filter(|tuning| is_sound(tuning)) else {
        return Vec::new();
    };
    let kinds = study.box_kinds().into_iter();
    kinds
        .filter_map(|kind| tuned(study, tuning, trials, boxes, kind))
        .collect()
}

/// Whether every setting has a level of every factor and is there once, and the first has the first levels: a results file may hold
/// anything.
fn is_sound(tuning: &Tuning) -> bool {
    let has_levels = |levels: &[usize]| {
        let mut pairs = tuning.factors.iter().zip(levels);
        levels.len() == tuning.factors.len() && pairs.all(|(factor, level)| *level < factor.levels.len())
    };
    let changed = |levels: &[usize]| levels.iter().filter(|level| **level > 0).count();
    let is_designed = |(place, levels): (usize, &Vec<usize>)| match tuning.design {
        TuningDesign::OneAtATime => changed(levels) == usize::from(place > 0),
        TuningDesign::Full | TuningDesign::Fractional => place > 0 || changed(levels) == 0,
    };
    let settings = || tuning.settings.iter();
    let workloads: BTreeSet<&String> = settings().map(|setting| &setting.workload).collect();
    let levels: BTreeSet<&Vec<usize>> = settings().map(|setting| &setting.levels).collect();
    let n = tuning.settings.len();
    settings().all(|setting| has_levels(&setting.levels))
        && settings()
            .map(|setting| &setting.levels)
            .enumerate()
            .all(is_designed)
        && (workloads.len(), levels.len()) == (n, n)
}

fn tuned(
    study: &Study,
    tuning: &Tuning,
    trials: &Trials,
    boxes: &[BoxFigures],
    kind: BoxKind,
) -> Option<Tuned> {
    let cell = |workload: &String| Cell {
        kind: kind.clone(),
        workload: workload.clone(),
    };
    let cells = tuning
        .settings
        .iter()
        .map(|setting| trials.get(&cell(&setting.workload)));
    let cells: Vec<&CellTrials> = cells.collect::<Option<_>>()?;
    let metric = cells.first()?.primary()?.clone();
    let logs: Vec<BTreeMap<u32, f64>> = cells.iter().map(|cell| logs(cell, &metric)).collect();
    let in_block = |block: &u32| logs.iter().map(|of| of.get(block).copied()).collect();
    let tried = || cells[0].attempted.iter();
    let rows: Vec<Vec<f64>> = tried().filter_map(in_block).collect();
    let by_all = |block: &&u32| cells.iter().all(|cell| cell.attempted.contains(block));
    let lost = tried().filter(by_all).count() - rows.len();
    let refusals = fitness::of_cells(&cells, study, boxes);
    let fewest = tuning.design.fewest_blocks() as usize;
    let is_fit = rows.len() >= fewest && refusals.is_empty();
    let told = Told::of(tuning, &rows, margin(study).filter(|_| is_fit))?;
    let (best, no_best) = match told.best(|place| over_first(&logs, place)) {
        Ok(best) => (Some(best), None),
        Err(why) => (None, Some(why)),
    };
    let figures = |place: usize| SettingFigures {
        levels: levels(&tuning.factors, &tuning.settings[place].levels),
        n: logs[place].len(),
        mean: tare_stats::mean(&cells[place].samples(&metric)),
        cost: over_first(&logs, place),
    };
    let family = study.workload(&cells[0].cell)?.family;
    Some(Tuned {
        kind,
        workload: family,
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        design: tuning.design,
        blocks: rows.len(),
        lost,
        fewest,
        refusals,
        best,
        no_best,
        effects: told.effects(),
        interactions: told.interactions(),
        settings: (0..cells.len()).map(figures).collect(),
    })
}

/// By block the logarithm of what a setting cost.
fn logs(cell: &CellTrials, metric: &Metric) -> BTreeMap<u32, f64> {
    let figure = |(block, used): (&u32, &Used<'_>)| {
        Some((*block, metric.direction.loss_in_logs(used.sample(metric)?, 1.0)?))
    };
    cell.used.iter().filter_map(figure).collect()
}

fn levels(factors: &[TuningFactor], levels: &[usize]) -> Vec<FactorLevel> {
    let level = |(factor, level): (&TuningFactor, &usize)| FactorLevel {
        factor: factor.name.clone(),
        level: factor.levels[*level].clone(),
    };
    factors.iter().zip(levels).map(level).collect()
}

/// What a setting costs over the first one.
fn over_first(logs: &[BTreeMap<u32, f64>], place: usize) -> Option<Estimate> {
    if place == 0 {
        return None;
    }
    let apart = logs[place]
        .iter()
        .filter_map(|(block, log)| Some(log - logs[0].get(block)?));
    ratio(t_estimate(&apart.collect::<Vec<f64>>(), LEVEL, 1.0)?)
}

fn ratio(logs: TEstimate) -> Option<Estimate> {
    Estimate::of_logs(logs.mean, logs.interval)
}

/// A contrast of settings: what it is of, the weight of each setting, and what the blocks say of it.
struct Contrast<T> {
    of: T,
    weights: Vec<f64>,
    effect: TuningEffect,
}

/// A level of a factor, by their places.
#[derive(Clone, Copy)]
struct Level {
    factor: usize,
    level: usize,
}

/// What the blocks tell of factors.
struct Told<'a> {
    tuning: &'a Tuning,
    rows: &'a [Vec<f64>],
    levels: Vec<Contrast<Level>>,
    pairs: Vec<Contrast<Vec<(usize, usize)>>>,
}

impl<'a> Told<'a> {
    /// `None` if the settings are no design. Nothing is shown without a margin.
    fn of(tuning: &'a Tuning, rows: &'a [Vec<f64>], margin: Option<f64>) -> Option<Self> {
        let (levels, pairs) = match tuning.design {
            TuningDesign::OneAtATime => (alone(tuning), Vec::new()),
            TuningDesign::Full | TuningDesign::Fractional => crossed(tuning)?,
        };
        Some(Self {
            tuning,
            rows,
            levels: judged(levels, rows, margin),
            pairs: judged(pairs, rows, margin),
        })
    }

    fn effects(&self) -> Vec<LevelEffect> {
        let effect = |contrast: &Contrast<Level>| {
            let factor = &self.tuning.factors[contrast.of.factor];
            LevelEffect {
                factor: factor.name.clone(),
                from: factor.levels[0].clone(),
                to: factor.levels[contrast.of.level].clone(),
                effect: contrast.effect,
            }
        };
        let mut effects: Vec<LevelEffect> = self.levels.iter().map(effect).collect();
        effects.sort_by(|a, b| size(b.effect).total_cmp(&size(a.effect)));
        effects
    }

    fn interactions(&self) -> Vec<TogetherEffect> {
        let name = |factor: usize| self.tuning.factors[factor].name.clone();
        let effect = |contrast: &Contrast<Vec<(usize, usize)>>| TogetherEffect {
            pairs: contrast
                .of
                .iter()
                .map(|(one, other)| [name(*one), name(*other)])
                .collect(),
            effect: contrast.effect,
        };
        let mut effects: Vec<TogetherEffect> = self.pairs.iter().map(effect).collect();
        effects.sort_by(|a, b| size(b.effect).total_cmp(&size(a.effect)));
        effects
    }

    /// The setting that what is shown makes the cheapest, if that is shown to be cheaper than the first; `own` is the cost of one of
    /// the settings over the first by its own trials.
    fn best(&self, own: impl Fn(usize) -> Option<Estimate>) -> Result<BestSetting, NoBest> {
        match self.tuning.design {
            TuningDesign::OneAtATime => self.best_alone().ok_or(NoBest::NoneBetter),
            TuningDesign::Full | TuningDesign::Fractional => self.best_of_all(own),
        }
    }

    fn best_alone(&self) -> Option<BestSetting> {
        let shown = self.levels.iter().filter(|contrast| contrast.effect.is_shown);
        let costs = shown.filter_map(|contrast| Some((contrast.effect.cost?, contrast.of)));
        let (cost, of) = costs.min_by(|a, b| a.0.value.total_cmp(&b.0.value))?;
        let changes = vec![self.change(of.factor, of.level)];
        (cost.high < 1.0).then_some(BestSetting {
            changes,
            cost,
            ran: true,
        })
    }

    fn best_of_all(&self, own: impl Fn(usize) -> Option<Estimate>) -> Result<BestSetting, NoBest> {
        if self.pairs.iter().any(|of| of.effect.is_shown && of.of.len() > 1) {
            return Err(NoBest::MixedPairs);
        }
        let n = self.tuning.factors.len();
        let all = (0..1_u32 << n).map(|set| (set, self.over_none(set)));
        let predicted = |weights: &Vec<f64>| -> f64 {
            let rows = self.rows.iter();
            rows.map(|row| weighted(row, weights)).sum()
        };
        // Of those alike the one that changes least: what is not shown to matter stays.
        let best = all.min_by(|a, b| {
            let by_cost = predicted(&a.1).total_cmp(&predicted(&b.1));
            by_cost.then(a.0.count_ones().cmp(&b.0.count_ones()))
        });
        let (set, weights) = best.ok_or(NoBest::NoneBetter)?;
        let is_on = |factor: usize| set >> factor & 1 == 1;
        let is_better = |cost: &Estimate| cost.high < 1.0;
        let by_effects = estimate(self.rows, &weights).and_then(ratio).filter(is_better);
        let by_effects = by_effects.ok_or(NoBest::NoneBetter)?;
        let levels: Vec<usize> = (0..n).map(|factor| usize::from(is_on(factor))).collect();
        let ran = self
            .tuning
            .settings
            .iter()
            .position(|setting| setting.levels == levels);
        let cost = match ran {
            Some(place) => own(place).filter(is_better).ok_or(NoBest::OwnTrials)?,
            None => by_effects,
        };
        Ok(BestSetting {
            changes: (0..n)
                .filter(|factor| is_on(*factor))
                .map(|factor| self.change(factor, 1))
                .collect(),
            cost,
            ran: ran.is_some(),
        })
    }

    fn change(&self, factor: usize, level: usize) -> FactorLevel {
        let factor = &self.tuning.factors[factor];
        FactorLevel {
            factor: factor.name.clone(),
            level: factor.levels[level].clone(),
        }
    }

    /// The weights of what this set of second levels does over none of them, by what is shown.
    fn over_none(&self, set: u32) -> Vec<f64> {
        let on = |factor: usize| set >> factor & 1 == 1;
        let mut sum = vec![0.0; self.tuning.settings.len()];
        let mut add = |weights: &[f64], times: f64| {
            sum.iter_mut()
                .zip(weights)
                .for_each(|(sum, weight)| *sum += times * weight);
        };
        for contrast in self
            .levels
            .iter()
            .filter(|of| of.effect.is_shown && on(of.of.factor))
        {
            add(&contrast.weights, 1.0);
        }
        for contrast in self.pairs.iter().filter(|of| of.effect.is_shown) {
            // Of several pairs nobody knows whose it is.
            let [(one, other)] = contrast.of[..] else { continue };
            // An effect is the mean over both levels of the other factor.
            if on(one) != on(other) {
                add(&contrast.weights, -0.5);
            }
        }
        sum
    }
}

fn size(effect: TuningEffect) -> f64 {
    effect
        .cost
        .map_or(f64::NEG_INFINITY, |cost| cost.value.ln().abs())
}

fn weighted(row: &[f64], weights: &[f64]) -> f64 {
    row.iter().zip(weights).map(|(log, weight)| log * weight).sum()
}

fn estimate(rows: &[Vec<f64>], weights: &[f64]) -> Option<TEstimate> {
    let values: Vec<f64> = rows.iter().map(|row| weighted(row, weights)).collect();
    t_estimate(&values, LEVEL, 1.0)
}

/// Contrasts of one family with what the blocks say of them; of which nothing is shown without a margin.
fn judged<T>(contrasts: Vec<(T, Vec<f64>)>, rows: &[Vec<f64>], margin: Option<f64>) -> Vec<Contrast<T>> {
    let estimates = contrasts.iter().map(|(_, weights)| estimate(rows, weights));
    let estimates: Vec<Option<TEstimate>> = estimates.collect();
    let p_values: Vec<Option<f64>> = estimates
        .iter()
        .map(|of| of.and_then(TEstimate::p_zero))
        .collect();
    let is_equal = |of: TEstimate, margin: f64| of.interval.low > -margin && of.interval.high < margin;
    let contrast = |(((of, weights), estimate), p_holm): (((T, _), Option<TEstimate>), Option<f64>)| {
        let is_equal = estimate
            .zip(margin)
            .is_some_and(|(of, margin)| is_equal(of, margin));
        let effect = TuningEffect {
            cost: estimate.and_then(ratio),
            p_holm,
            is_shown: margin.is_some() && !is_equal && p_holm.is_some_and(|p| p < 1.0 - LEVEL),
            is_equal,
        };
        Contrast { of, weights, effect }
    };
    let judged = contrasts.into_iter().zip(estimates).zip(holm(&p_values));
    judged.map(contrast).collect()
}

/// Each setting that differs from the first in one factor.
fn alone(tuning: &Tuning) -> Vec<(Level, Vec<f64>)> {
    let level = |(place, setting): (usize, &TuningSetting)| {
        let mut changed = setting.levels.iter().enumerate().filter(|(_, level)| **level > 0);
        let (factor, level) = changed.next()?;
        let mut weights = vec![0.0; tuning.settings.len()];
        weights[0] = -1.0;
        weights[place] = 1.0;
        Some((
            Level {
                factor,
                level: *level,
            },
            weights,
        ))
    };
    tuning
        .settings
        .iter()
        .enumerate()
        .skip(1)
        .filter_map(level)
        .collect()
}

type Crossed = (Vec<(Level, Vec<f64>)>, Vec<(Vec<(usize, usize)>, Vec<f64>)>);

/// Factors of two levels, and pairs of them; `None` if the settings do not tell every factor.
fn crossed(tuning: &Tuning) -> Option<Crossed> {
    let set = |levels: &[usize]| {
        let places = levels.iter().enumerate();
        places
            .filter(|(_, level)| **level > 0)
            .fold(0, |set, (place, _)| set | 1 << place)
    };
    let n = tuning.factors.len();
    if n > Design::MOST_FACTORS || tuning.factors.iter().any(|factor| factor.levels.len() != 2) {
        return None;
    }
    let sets: Vec<u32> = tuning
        .settings
        .iter()
        .map(|setting| set(&setting.levels))
        .collect();
    let design = Design::of(n, &sets)?;
    let level = |factor| Some((Level { factor, level: 1 }, design.effect(factor)?));
    let levels = (0..n).map(level).collect::<Option<_>>()?;
    let pairs = design.aliases().into_iter();
    let pairs = pairs.filter_map(|pairs| Some((pairs.clone(), design.together(&pairs)?)));
    Some((levels, pairs.collect()))
}
