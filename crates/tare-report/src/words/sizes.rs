//! Size effects in words: what text and page have in common.

use super::refusal;
use super::remarks::joined;
use crate::show::{MISSING, or_missing, p_value, percent, percent_with_interval};
use tare_analysis::{Analysis, NoEffects, NoFit, OverheadPart, RangeEnd, SizeEffect, SizePoint, Standing};

/// What the figures are and where they come from.
pub(crate) const ABOUT: &str = "PTO is the cost at the largest size, PSO that of the smallest over the largest, both without a model; an effect counts as shown if its interval and Holm's p agree. Compared with native-set: as many CPUs by set, no quota.";

/// CPUs without needless decimals.
pub(crate) fn cpus(cpus: f64) -> String {
    let shown = format!("{cpus:.2}");
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// CPUs, with the CHR where the host's CPUs are known: `2 CPUs (CHR 0.25)`.
pub(crate) fn size(point: &SizePoint) -> String {
    with_chr(point.cpus, point.chr)
}

fn with_chr(n: f64, chr: Option<f64>) -> String {
    let noun = if cpus(n) == "1" { "CPU" } else { "CPUs" };
    let chr = chr.map_or_else(String::new, |chr| format!(" (CHR {chr:.2})"));
    format!("{} {noun}{chr}", cpus(n))
}

/// The same for the axis of a chart: `2 (0.25)`.
pub(crate) fn tick(point: &SizePoint) -> String {
    let chr = point.chr.map_or_else(String::new, |chr| format!(" ({chr:.2})"));
    cpus(point.cpus) + &chr
}

/// Class of the effect, or that there is no verdict.
pub(crate) fn class(effect: &SizeEffect) -> String {
    effect
        .class
        .map_or_else(|| "no verdict".to_owned(), |class| class.name().to_owned())
}

/// What is shown of a part; nothing where there is no verdict.
pub(crate) fn shown_as(effect: &SizeEffect, part: Option<&OverheadPart>) -> &'static str {
    match (effect.class, part) {
        (Some(_), Some(part)) => part.shown.name(),
        _ => "",
    }
}

/// The fit with its figures, or why there are none.
pub(crate) fn fit(effect: &SizeEffect) -> String {
    let fit = &effect.fit;
    let figure = |e: tare_analysis::Estimate| percent_with_interval(e.value, e.low, e.high);
    let reason = fit
        .reason
        .map_or_else(String::new, |reason| no_fit(reason, fit.p_fits));
    match fit.standing {
        Standing::Absent => format!("none: {reason}"),
        Standing::Drawn => format!("drawn, not quoted: {reason}"),
        Standing::Void => format!("void: {reason}"),
        Standing::Quoted if effect.class.is_none() => {
            "drawn, not quoted: no verdict on the effect".to_owned()
        }
        Standing::Quoted => format!(
            "PTO {}, PSO {} at one CPU (lack of fit p {})",
            or_missing(fit.pto, figure),
            or_missing(fit.pso, figure),
            or_missing(fit.p_fits, p_value)
        ),
    }
}

/// The range of sizes in which PSO dies out: `2 CPUs (CHR 0.25) to 4 CPUs (CHR 0.50)`.
pub(crate) fn range(effect: &SizeEffect) -> String {
    if effect.class.is_none() {
        // Its ends are what is shown, and without a verdict nothing is.
        return MISSING.to_owned();
    }
    let range = &effect.range;
    let end = |end: RangeEnd| with_chr(end.cpus, end.chr);
    match (range.beyond, range.within) {
        (Some(from), Some(to)) => format!("{} to {}", end(from), end(to)),
        (Some(from), None) => format!("above {}", end(from)),
        (None, Some(to)) => format!("below {}", end(to)),
        (None, None) => "not found".to_owned(),
    }
}

/// Reasons for no verdict, and blocks lost.
pub(crate) fn remarks(effect: &SizeEffect) -> String {
    let lost =
        (effect.lost > 0).then(|| format!("{} of {} blocks lost", effect.lost, effect.lost + effect.n));
    let mut parts = refusal::all(&effect.refusals);
    parts.extend(lost);
    joined(parts)
}

/// p values of both parts, for the detail.
pub(crate) fn p_values(effect: &SizeEffect) -> String {
    let of = |part: Option<&OverheadPart>| {
        part.map_or_else(
            || MISSING.to_owned(),
            |p| format!("p {}, Holm {}", p_value(p.p), p_value(p.p_holm)),
        )
    };
    format!("PTO {}; PSO {}", of(effect.pto.as_ref()), of(effect.pso.as_ref()))
}

/// Whose effect it is.
pub(crate) fn label(effect: &SizeEffect) -> String {
    format!("{} {}", effect.platform, effect.provisioning)
}

/// PTO and PSO in a few words, for a chart.
pub(crate) fn brief(effect: &SizeEffect) -> String {
    let of = |part: &Option<OverheadPart>| or_missing(part.as_ref(), |p| percent(p.share.value));
    format!(
        "{}: PTO {}, PSO {}",
        class(effect),
        of(&effect.pto),
        of(&effect.pso)
    )
}

/// Why a fit is worth no more.
fn no_fit(reason: NoFit, p: Option<f64>) -> String {
    match reason {
        NoFit::FewSizes => "a fit needs three sizes".to_owned(),
        NoFit::FewBlocks => "too few blocks for a fit".to_owned(),
        NoFit::NarrowRange => "figures need four sizes that span a factor of 8".to_owned(),
        NoFit::Untested => "these blocks cannot test the model".to_owned(),
        NoFit::Rising => "the cost rises with the size, which the model does not cover".to_owned(),
        NoFit::LackOfFit => format!("the sizes do not follow the model (p {})", or_missing(p, p_value)),
    }
}

/// Why there are no effects, or none of some sizes.
pub(crate) fn none(analysis: &Analysis) -> Option<String> {
    let words = match analysis.size_effects.none? {
        // Such a study asks nothing of sizes.
        NoEffects::OneSize => return None,
        NoEffects::NoSet => format!(
            "size effects need {}-set, which was not measured: add pinned boxes to the study",
            analysis.study.baseline
        ),
        NoEffects::SameCpus => {
            "size effects are by CPUs: there are none if two sizes have the same number of CPUs".to_owned()
        }
    };
    Some(words)
}
