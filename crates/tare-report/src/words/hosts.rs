//! Host-size effects in words: what text and page have in common.

use super::effects;
use super::refusal;
use super::remarks::joined;
use crate::show::{MISSING, or_missing};
use tare_analysis::{HostEffect, RangeEnd};

pub(crate) const TITLE: &str = "Host-size effect";

/// What the figures are and where they come from.
pub(crate) const ABOUT: &str = "The same box on fewer or more CPUs of the host, compared with native-set: as many CPUs by set, no quota. The excess is the ratio over that on the smallest host. CHR: the box's CPUs over the host's.";

/// CPUs of the box: `2 CPUs`.
pub(crate) fn cpus(effect: &HostEffect) -> String {
    let noun = if effect.cpus == 1.0 { "CPU" } else { "CPUs" };
    format!("{} {noun}", effect.cpus)
}

/// The range of the CHR in which the excess dies out.
pub(crate) fn range(effect: &HostEffect) -> String {
    let chr = |end: RangeEnd| or_missing(end.chr, |chr| format!("CHR {chr:.2}"));
    match (effect.shown, effect.range.beyond, effect.range.within) {
        (None, ..) => MISSING.to_owned(),
        (_, Some(from), Some(to)) => format!("{} to {}", chr(from), chr(to)),
        (_, Some(from), None) => format!("above {}", chr(from)),
        (_, None, Some(to)) => format!("below {}", chr(to)),
        (_, None, None) => "not found".to_owned(),
    }
}

/// p values, reasons for no verdict, blocks lost.
pub(crate) fn remarks(effect: &HostEffect) -> String {
    let mut parts = refusal::all(&effect.refusals);
    parts.extend(effects::lost(effect.n, effect.lost));
    parts.extend(effects::p_values(effect.p, effect.p_holm));
    joined(parts)
}
