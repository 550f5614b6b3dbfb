//! Which of many hosts are shown, and what each is among them.

use tare_analysis::merge::{Merged, MergedComparison, OfHost};

/// Hosts whose figures are shown one by one. Of more: those at the ends, that in the middle, and odd ones.
pub(crate) const MOST_SHOWN: usize = 10;

pub(crate) const fn is_fleet(merged: &Merged) -> bool {
    merged.hosts > MOST_SHOWN
}

pub(crate) fn title(merged: &Merged) -> &'static str {
    if is_fleet(merged) {
        "The cheapest, the middle and the dearest host, and odd ones"
    } else {
        "Each host"
    }
}

/// The hosts of a comparison that are shown, each with what it is among the others.
pub(crate) fn shown(of: &MergedComparison) -> Vec<(&OfHost, String)> {
    let mut hosts: Vec<&OfHost> = of.hosts.iter().collect();
    let is_fleet = hosts.len() > MOST_SHOWN;
    if is_fleet {
        let value = |host: &OfHost| host.cost.map_or(f64::INFINITY, |cost| cost.value);
        hosts.sort_by(|a, b| value(a).total_cmp(&value(b)));
    }
    let last = hosts.len().saturating_sub(1);
    let place = |i: usize| match i {
        _ if !is_fleet => None,
        0 => Some("cheapest"),
        _ if i == last / 2 => Some("middle"),
        _ if i == last => Some("dearest"),
        _ => None,
    };
    let mut odd_left = MOST_SHOWN;
    let told = |(i, host): (usize, &'_ OfHost)| {
        let is_odd = host.is_odd() && odd_left > 0;
        odd_left -= usize::from(is_odd);
        let words = [place(i), is_odd.then_some(UNLIKE)];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        (!is_fleet || !words.is_empty()).then(|| words.join(", "))
    };
    let remarks: Vec<Option<String>> = hosts.iter().copied().enumerate().map(told).collect();
    hosts
        .into_iter()
        .zip(remarks)
        .filter_map(|(host, remark)| Some((host, remark?)))
        .collect()
}

/// Said of a host whose cost is not that of the others.
pub(crate) const UNLIKE: &str = "unlike the others";
