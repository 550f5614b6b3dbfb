//! Which parameters matter, in sentences.

use super::{effects, refusal};
use crate::show::{change_beside, change_interval};
use std::collections::BTreeSet;
use tare_analysis::{
    FactorLevel, LevelEffect, NoBest, SettingFigures, TogetherEffect, Tuned, TuningEffect, Word,
};
use tare_model::tuning::TuningDesign;

/// What matters, and which setting to take: two sentences for each kind of box.
pub(crate) fn answer(tunings: &[Tuned]) -> Vec<String> {
    tunings
        .iter()
        .flat_map(|of| [what_matters(of), best(of)])
        .flatten()
        .collect()
}

/// `native vanilla spot-prices: compress=lzo is 5.0 % faster than none (3 to 7 %); not shown to matter: sort, timeout`.
fn what_matters(of: &Tuned) -> Option<String> {
    let name = name(of);
    if !of.refusals.is_empty() {
        return Some(format!(
            "{name}: nothing is concluded: {}",
            refusal::all(&of.refusals).join("; ")
        ));
    }
    if of.blocks < of.fewest {
        return Some(format!("{name}: nothing is concluded: {}", too_few(of)));
    }
    let shown = || of.effects.iter().filter(|level| level.effect.is_shown);
    let pairs = || of.interactions.iter().filter(|pairs| pairs.effect.is_shown);
    let mut told: Vec<String> = shown().filter_map(level).collect();
    told.extend(pairs().filter_map(together));
    let of_levels = |which: fn(&TuningEffect) -> bool| {
        let levels = of.effects.iter().filter(move |level| which(&level.effect));
        levels
            .map(|level| level.factor.as_str())
            .collect::<BTreeSet<&str>>()
    };
    let all = of_levels(|_| true);
    let open = of_levels(|effect| !effect.is_shown && !effect.is_equal);
    let matters: BTreeSet<&str> = shown().map(|level| level.factor.as_str()).collect();
    let in_pairs = pairs().flat_map(|pairs| pairs.pairs.iter().flatten());
    let in_pairs: BTreeSet<&str> = in_pairs.map(String::as_str).collect();
    let rest = |is_open: bool| {
        let rest = all.iter().filter(|factor| open.contains(*factor) == is_open);
        let rest = rest.filter(|factor| !matters.contains(*factor) && !in_pairs.contains(*factor));
        rest.copied().collect::<Vec<_>>().join(", ")
    };
    for (words, rest) in [
        ("equal within the margin", rest(false)),
        ("not shown to matter", rest(true)),
    ] {
        told.extend((!rest.is_empty()).then(|| format!("{words}: {rest}")));
    }
    told.extend(effects::lost(of.blocks, of.lost));
    Some(format!("{name}: {}", told.join("; ")))
}

/// `that needs 5 blocks with all 16 settings, and there are 3; without any figure: sort=128`.
fn too_few(of: &Tuned) -> String {
    let first = of.settings.first();
    let absent = of.settings.iter().filter(|setting| setting.n == 0);
    let absent: Vec<String> = absent.map(|setting| setting_name(setting, first)).collect();
    let without = match absent.len() {
        0 => String::new(),
        _ => format!("; without any figure: {}", absent.join("; ")),
    };
    format!(
        "that needs {} blocks with all {} settings, and there are {}{without}",
        of.fewest,
        of.settings.len(),
        of.blocks
    )
}

/// What differs from the first setting; all of the first one.
pub(crate) fn setting_name(setting: &SettingFigures, first: Option<&SettingFigures>) -> String {
    let is_own = |level: &&FactorLevel| first.is_none_or(|first| !first.levels.contains(level));
    let own: Vec<FactorLevel> = setting.levels.iter().filter(is_own).cloned().collect();
    changes(if own.is_empty() { &setting.levels } else { &own })
}

/// `sort and workers together are 33 % faster than both alone add up to (30 to 36 %)`.
fn together(of: &TogetherEffect) -> Option<String> {
    let cost = of.effect.cost?;
    Some(format!(
        "{} together: {} than both alone come to ({})",
        pair_names(of),
        change_beside(cost.value, cost.low, cost.high),
        change_interval(cost.value, cost.low, cost.high)
    ))
}

/// `sort and workers, or spill and timeout`.
pub(crate) fn pair_names(of: &TogetherEffect) -> String {
    let names = of.pairs.iter().map(|[one, other]| format!("{one} and {other}"));
    names.collect::<Vec<_>>().join(", or ")
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
    if of.blocks < of.fewest || !of.refusals.is_empty() {
        return None;
    }
    let name = name(of);
    let Some(best) = &of.best else {
        return of.no_best.map(|why| format!("{name}: {}", no_best(why)));
    };
    let cost = best.cost;
    let how = match (of.design, best.ran) {
        (TuningDesign::OneAtATime, _) => "; levels were not measured together",
        (_, true) => "",
        (_, false) => "; it did not run itself: this is the sum of the effects",
    };
    Some(format!(
        "{name}: best setting shown: {}, {} than the first setting ({}){how}",
        changes(&best.changes),
        change_beside(cost.value, cost.low, cost.high),
        change_interval(cost.value, cost.low, cost.high),
    ))
}

const fn no_best(why: NoBest) -> &'static str {
    match why {
        NoBest::NoneBetter => "no setting is shown to be better than the first",
        NoBest::MixedPairs => {
            "no best setting: pairs that this fraction does not tell apart act together; a full design of these parameters tells which"
        }
        NoBest::OwnTrials => {
            "no best setting: the one that the effects make the best is not shown to be by its own trials, so three or more parameters may act together"
        }
    }
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
        None if effect.is_equal => ("equal", Word::Equal),
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
