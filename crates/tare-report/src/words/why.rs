//! What a gap consists of, in sentences.

use crate::show::{between, change_beside, change_interval, percent, percent_range};
use tare_analysis::why::{Amount, Gap, NoShares, Part, Why};
use tare_analysis::{Estimate, FEWEST_PAIRS, InKernel};

/// The answer for each gap, in one sentence.
pub(crate) fn answer(why: &Why) -> Vec<String> {
    why.gaps.iter().map(sentence).collect()
}

/// `docker pinned syscall is 24 % slower than native (23 to 25 %): 99 % of that (95 to 103 %) is its seccomp filter`.
pub(crate) fn sentence(gap: &Gap) -> String {
    let (cell, baseline) = (&gap.cell, baseline(gap));
    let Some(cost) = gap.gap.map(ratio_of) else {
        return format!("{cell}: no two blocks have all its cells");
    };
    match gap.no_shares {
        Some(NoShares::TooFewBlocks) => format!(
            "{cell}: shares need at least {FEWEST_PAIRS} blocks, and {} have all its cells",
            gap.blocks
        ),
        Some(NoShares::NoVerdict) => format!(
            "{cell}: no shares, as one of its cells has no verdict ('tare report FILE --details' says why)"
        ),
        Some(NoShares::NoGap) => format!(
            "{cell} is not shown to cost more or less than {baseline} ({}), so there are no shares{}",
            between(cost.low, cost.high),
            adding(gap)
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

/// `11.0 ± 1.2 %`; times in states have no error.
pub(crate) fn in_kernel(seen: InKernel) -> String {
    let open = match seen.standard_error {
        0.0 => String::new(),
        error => format!(" ± {:.1}", 200.0 * error),
    };
    format!("{:.1}{open} %", 100.0 * seen.adds)
}

/// `docker pinned syscall, 24 % slower than native: 99 % of that (95 to 103 %) is its seccomp filter`, of those whose options were switched.
pub(crate) fn brief<'a>(gaps: impl Iterator<Item = &'a Gap>) -> String {
    let told = gaps
        .filter(|gap| gap.has_options() && gap.no_shares.is_none())
        .filter_map(|gap| {
            let cost = gap.gap.map(ratio_of)?;
            Some(format!("{}, {}: {}", gap.cell, beside(gap, cost), whose(gap)))
        });
    told.collect::<Vec<_>>().join("; ")
}

/// What is shown to have part in a gap, the mechanisms first.
fn whose(gap: &Gap) -> String {
    let mut told: Vec<String> = gap.parts.iter().filter_map(of_mechanism).collect();
    if told.is_empty() {
        told.push("no mechanism that was switched off is shown to have part in that".to_owned());
    }
    let rest = gap.rest.filter(|rest| rest.has_part);
    told.extend(rest.map(|rest| match telling_share(rest) {
        Some(share) => format!("{share} is left with all of them off"),
        None => format!("all else {}", adds(rest)),
    }));
    told.join("; ")
}

/// `; its seccomp filter adds 4.2 % (2.4 to 6.1 %)`, of mechanisms that are shown to although the whole is not.
fn adding(gap: &Gap) -> String {
    gap.parts
        .iter()
        .filter_map(of_mechanism)
        .map(|told| format!("; {told}"))
        .collect()
}

/// `99 % of that (95 to 103 %) is its seccomp filter`, if it is shown to add something.
fn of_mechanism(part: &Part) -> Option<String> {
    let amount = part.amount.filter(|amount| amount.has_part)?;
    Some(match telling_share(amount) {
        Some(share) => format!("{share} is its {}", part.mechanism),
        None => format!("its {} {}", part.mechanism, adds(amount)),
    })
}

/// A share that a person can picture: not a multiple of the gap, and not of the other sign.
fn telling_share(amount: Amount) -> Option<String> {
    let share = amount
        .share
        .filter(|share| share.low > LEAST && share.high < MOST)?;
    let range = percent_range(share.low, share.high);
    Some(format!("{} of that ({range})", percent(share.value)))
}

const LEAST: f64 = -0.1;
const MOST: f64 = 1.6;

/// `adds 4.2 % (2.4 to 6.1 %)`, of the baseline's cost.
fn adds(amount: Amount) -> String {
    let Estimate { value, low, high } = amount.adds;
    if value < 0.0 {
        return format!("takes off {} ({})", percent(-value), percent_range(-high, -low));
    }
    format!("adds {} ({})", percent(value), percent_range(low, high))
}
