//! What a gap consists of, in sentences.

use crate::show::{between, change_beside, change_interval, percent, percent_range};
use tare_analysis::why::{Amount, Gap, NoShares, Part, Why};
use tare_analysis::{Estimate, FEWEST_PAIRS};

/// The answer for each gap, in one sentence.
pub(crate) fn answer(why: &Why) -> Vec<String> {
    why.gaps.iter().map(sentence).collect()
}

/// `docker pinned syscall is 24 % slower than native (23 to 25 %): 99 % of that (95 to 103 %) is its seccomp filter`.
pub(crate) fn sentence(gap: &Gap) -> String {
    let (cell, baseline) = (&gap.cell, baseline(gap));
    let Some(cost) = gap.cost.map(ratio_of) else {
        return format!("{cell}: no two blocks have all its cells");
    };
    match gap.no_shares {
        Some(NoShares::TooFewBlocks) => format!(
            "{cell}: shares need at least {FEWEST_PAIRS} blocks, and {} have all its cells",
            gap.blocks
        ),
        Some(NoShares::NoGap) => format!(
            "{cell} is not shown to cost more or less than {baseline} ({}): there is nothing to share out",
            between(cost.low, cost.high)
        ),
        None => format!(
            "{cell} is {} ({}): {}",
            beside(gap, cost),
            change_interval(cost.value, cost.low, cost.high),
            whose(gap)
        ),
    }
}

/// `native`, and `native pinned` of a box by quota that is compared with it.
fn baseline(gap: &Gap) -> String {
    let of = &gap.baseline.kind;
    if of.provisioning == gap.cell.kind.provisioning {
        return of.platform.to_string();
    }
    format!("{} {}", of.platform, of.provisioning)
}

/// `24 % slower than native`, `3.21 times as slow as native`.
fn beside(gap: &Gap, cost: Estimate) -> String {
    let change = change_beside(cost.value, cost.low, cost.high);
    match change.strip_suffix(" long") {
        Some(times) => format!("{times} slow as {}", baseline(gap)),
        None => format!("{change} than {}", baseline(gap)),
    }
}

/// The cost over the baseline's of a gap.
pub(crate) fn ratio_of(gap: Estimate) -> Estimate {
    Estimate {
        value: 1.0 + gap.value,
        low: 1.0 + gap.low,
        high: 1.0 + gap.high,
    }
}

/// `11.0 ± 1.2 %, agrees`; empty where nothing is known.
pub(crate) fn in_kernel(part: &Part) -> String {
    let Some(seen) = part.in_kernel else {
        return String::new();
    };
    let judged = match part.agrees() {
        Some(true) => ", agrees",
        Some(false) => ", does not agree",
        None => "",
    };
    format!(
        "{:.1} ± {}{judged}",
        100.0 * seen.adds,
        percent(2.0 * seen.standard_error)
    )
}

/// `docker pinned syscall, 24 % slower than native: 99 % of that (95 to 103 %) is its seccomp filter`, of those whose options were switched.
pub(crate) fn brief<'a>(gaps: impl Iterator<Item = &'a Gap>) -> String {
    let told = gaps
        .filter(|gap| gap.has_options() && gap.no_shares.is_none())
        .filter_map(|gap| {
            let cost = gap.cost.map(ratio_of)?;
            Some(format!("{}, {}: {}", gap.cell, beside(gap, cost), whose(gap)))
        });
    told.collect::<Vec<_>>().join("; ")
}

/// What is shown to have part in a gap, the mechanisms first.
fn whose(gap: &Gap) -> String {
    let of_mechanism = |part: &Part| Some(format!("{} its {}", shown(part.amount?)?, part.mechanism));
    let mut told: Vec<String> = gap.parts.iter().filter_map(of_mechanism).collect();
    if told.is_empty() {
        told.push("no mechanism that was switched off is shown to have part in that".to_owned());
    }
    let rest = gap.rest.and_then(shown);
    told.extend(rest.map(|rest| format!("{rest} left with all of them off")));
    told.join("; ")
}

/// `99 % of that (95 to 103 %) is`, if that is shown.
fn shown(amount: Amount) -> Option<String> {
    let share = amount.share.filter(|_| amount.has_part)?;
    let range = percent_range(share.low, share.high);
    Some(format!("{} of that ({range}) is", percent(share.value)))
}
