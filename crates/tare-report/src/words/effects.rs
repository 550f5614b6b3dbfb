//! Workloads that are held together, in words: what text and page have in common.

use super::refusal;
use super::remarks::joined;
use crate::show::{MISSING, p_value};
use tare_analysis::{Analysis, Shown, WorkloadEffect};

/// What the figures are and where they come from.
pub(crate) const ABOUT: &str = "Each cost is that of the platform over the baseline with the same kind of limit, in the blocks that have both workloads. Their ratio, computed within each block, is how many times as expensive the platform is with the first workload as with the second.";

/// The effects of one name, with what they hold together.
pub(crate) struct Named<'a> {
    pub title: String,
    pub effects: Vec<&'a WorkloadEffect>,
}

/// The effects by name and workloads, in the order of the study.
pub(crate) fn named(analysis: &Analysis) -> Vec<Named<'_>> {
    let mut all: Vec<Named> = Vec::new();
    for effect in &analysis.workload_effects.effects {
        let title = title(effect);
        match all.iter_mut().find(|known| known.title == title) {
            Some(known) => known.effects.push(effect),
            None => all.push(Named {
                title,
                effects: vec![effect],
            }),
        }
    }
    all
}

/// `Multitasking effect: ffmpeg tasks=30 against ffmpeg`.
fn title(effect: &WorkloadEffect) -> String {
    format!(
        "{}: {} against {}",
        effect.name, effect.of.workload, effect.against.workload
    )
}

/// The size of both boxes, or one behind the other.
pub(crate) fn size(effect: &WorkloadEffect) -> Option<String> {
    let of = effect.of.instance.as_ref()?;
    let against = effect.against.instance.as_ref()?;
    Some(match of == against {
        true => of.clone(),
        false => format!("{of}, {against}"),
    })
}

/// What is shown of an effect, if anything may be.
pub(crate) fn shown_as(shown: Option<Shown>) -> &'static str {
    shown.map_or("no verdict", Shown::name)
}

/// `1 of 10 blocks lost`, if any was.
pub(crate) fn lost(n: usize, lost: usize) -> Option<String> {
    (lost > 0).then(|| format!("{lost} of {} blocks lost", lost + n))
}

/// Both p values of a test, if there was one.
pub(crate) fn p_values(p: Option<f64>, p_holm: Option<f64>) -> Option<String> {
    let holm = p_holm.map_or_else(|| MISSING.to_owned(), p_value);
    p.map(|p| format!("p {}, Holm {holm}", p_value(p)))
}

/// p values, reasons for no verdict, blocks lost.
pub(crate) fn remarks(effect: &WorkloadEffect) -> String {
    let mut parts = refusal::all(&effect.refusals);
    parts.extend(lost(effect.n, effect.lost));
    parts.extend(p_values(effect.p, effect.p_holm));
    joined(parts)
}
