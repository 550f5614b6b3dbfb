//! Which parameters matter, in sentences.

use crate::show::{change_beside, change_interval};
use tare_analysis::{FactorLevel, LevelEffect, Tuned, TuningEffect, Word};
use tare_model::tuning::TuningDesign;

/// What matters, and which setting to take: two sentences for each kind of box.
pub(crate) fn answer(tunings: &[Tuned]) -> Vec<String> {
    tunings
        .iter()
        .flat_map(|of| [what_matters(of), best(of)])
        .flatten()
        .collect()
}

/// `native vanilla spot-prices: compress=lzo is 5.0 % faster than none (3 to 7 %); the other 6 parameters are not shown to matter`.
fn what_matters(of: &Tuned) -> Option<String> {
    let name = name(of);
    if of.blocks < of.fewest {
        return Some(format!(
            "{name}: nothing is concluded: that needs {} blocks with all {} settings, and {} have them",
            of.fewest,
            of.settings.len(),
            of.blocks
        ));
    }
    let shown = || of.effects.iter().filter(|level| level.effect.is_shown);
    let mut told: Vec<String> = shown().filter_map(level).collect();
    let matters = |factor: &str| shown().any(|level| level.factor == factor);
    let mut rest: Vec<&str> = of.effects.iter().map(|level| level.factor.as_str()).collect();
    rest.dedup();
    rest.retain(|factor| !matters(factor));
    rest.sort_unstable();
    rest.dedup();
    if !rest.is_empty() {
        told.push(format!("not shown to matter: {}", rest.join(", ")));
    }
    Some(format!("{name}: {}", told.join("; ")))
}

/// `compress=lzo is 5.0 % faster than none (3 to 7 %)`.
fn level(of: &LevelEffect) -> Option<String> {
    let cost = of.effect.cost?;
    let change = change_beside(cost.value, cost.low, cost.high);
    let beside = match change.strip_suffix(" long") {
        Some(times) => format!("{times} slow as"),
        None => format!("{change} than"),
    };
    let interval = change_interval(cost.value, cost.low, cost.high);
    Some(format!(
        "{}={} is {beside} {} ({interval})",
        of.factor, of.to, of.from
    ))
}

/// `best setting shown: compress=lzo, 5.0 % faster than the first setting (3 to 7 %)`.
fn best(of: &Tuned) -> Option<String> {
    if of.blocks < of.fewest {
        return None;
    }
    let name = name(of);
    let Some(best) = &of.best else {
        return Some(format!("{name}: no setting is shown to be better than the first"));
    };
    let cost = best.cost;
    let alone = match of.design {
        TuningDesign::OneAtATime => ", alone: levels were not measured together",
        TuningDesign::Full | TuningDesign::Fractional => "",
    };
    Some(format!(
        "{name}: best setting shown: {}, {} than the first ({}){alone}",
        changes(&best.changes),
        change_beside(cost.value, cost.low, cost.high),
        change_interval(cost.value, cost.low, cost.high),
    ))
}

fn name(of: &Tuned) -> String {
    format!("{} {}", of.kind, of.workload)
}

/// `compress=lzo, sort=128`.
pub(crate) fn changes(levels: &[FactorLevel]) -> String {
    let levels = levels.iter().map(|of| format!("{}={}", of.factor, of.level));
    levels.collect::<Vec<_>>().join(", ")
}

/// What is shown, coloured as a verdict is.
pub(crate) fn shown(effect: TuningEffect) -> (&'static str, Word) {
    match effect.cost.filter(|_| effect.is_shown) {
        Some(cost) if cost.value < 1.0 => ("faster", Word::Faster),
        Some(_) => ("slower", Word::Slower),
        None => ("not shown", Word::Inconclusive),
    }
}

/// How the settings were chosen.
pub(crate) fn design(of: &Tuned) -> String {
    let n = of.settings.len();
    match of.design {
        TuningDesign::Full => format!("all {n} settings"),
        TuningDesign::Fractional => format!("a fraction of resolution IV: {n} settings"),
        TuningDesign::OneAtATime => format!("one parameter at a time: {n} settings"),
    }
}
