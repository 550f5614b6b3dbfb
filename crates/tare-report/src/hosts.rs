//! Host-size effects in words: what text and page have in common.

use crate::analysis::{HostEffect, HostPoint, RangeEnd};
use crate::effects;
use crate::remarks::joined;
use crate::show::{MISSING, or_missing, percent_with_interval, ratio_with_interval};
use tare_model::size::counted;

/// The title.
pub(crate) const TITLE: &str = "Host-size effect";

/// What the figures are and where they come from.
pub(crate) const ABOUT: &str = "The same box on fewer or more CPUs of the host, against native-set: as many CPUs by set, no quota. The excess is the ratio over that on the smallest host. CHR: the box's CPUs over the host's.";

/// Whose effect it is, with the CPUs of the box.
pub(crate) fn label(effect: &HostEffect) -> String {
    let (cpus, noun) = (effect.cpus, if effect.cpus == 1.0 { "CPU" } else { "CPUs" });
    format!("{} {}, {cpus} {noun}", effect.platform, effect.provisioning)
}

/// `2 CPUs of the host (CHR 0.50)`.
pub(crate) fn host(point: &HostPoint) -> String {
    format!(
        "{} of the host (CHR {:.2})",
        counted(point.host_cpus, "CPU"),
        point.chr
    )
}

/// The cost on one host.
pub(crate) fn ratio(point: &HostPoint) -> String {
    or_missing(point.ratio, |e| ratio_with_interval(e.value, e.low, e.high))
}

/// That cost over the cost on the smallest host.
pub(crate) fn excess(point: &HostPoint) -> String {
    or_missing(point.excess, |e| percent_with_interval(e.value, e.low, e.high))
}

/// What the largest host costs over the smallest, and what that shows.
pub(crate) fn largest(effect: &HostEffect) -> String {
    let excess = effect.hosts.last().map_or_else(|| MISSING.to_owned(), excess);
    format!("{excess}: {}", effects::shown_as(effect.shown))
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
    let mut parts = effect.refusals.clone();
    parts.extend(effects::lost(effect.n, effect.lost));
    parts.extend(effects::p_values(effect.p, effect.p_holm));
    joined(parts)
}
