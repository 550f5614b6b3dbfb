//! What a row of the decision table means in words.

use super::refusal;
use crate::show::{known_change, margin, p_value, percent};
use tare_analysis::{Basis, MOST_ADDED, Refusal, Verdict, Word};

/// What is said beside a verdict: of none, why there is none.
pub fn phrase(verdict: &Verdict) -> String {
    match (&verdict.basis, verdict.word) {
        (Some(basis), Word::Inconclusive) => open(basis, verdict.more_blocks),
        (Some(basis), _) => decided(verdict, basis),
        (None, _) => refusal::all(&verdict.refusals).join("; "),
    }
}

/// The same of a change between two files, with the reasons before and after: the run before cannot
/// be prolonged.
pub(crate) fn of_change(verdict: &Verdict, [before, after]: [&[Refusal]; 2]) -> String {
    let told = |when: &str, refusals: &[Refusal]| -> Vec<String> {
        refusal::all(refusals)
            .iter()
            .map(|r| format!("{when}: {r}"))
            .collect()
    };
    match (&verdict.basis, verdict.word) {
        (Some(basis), Word::Inconclusive) => bounds(basis),
        (Some(basis), _) => decided(verdict, basis),
        (None, _) => [told("before", before), told("after", after)].concat().join("; "),
    }
}

/// The same of a mean over hosts: more blocks are no more hosts.
pub(crate) fn of_hosts(verdict: &Verdict) -> String {
    match (&verdict.basis, verdict.word) {
        (Some(basis), Word::Inconclusive) => format!("{}; measure more hosts", bounds(basis)),
        _ => phrase(verdict),
    }
}

fn decided(verdict: &Verdict, basis: &Basis) -> String {
    match verdict.word {
        Word::Equal if basis.spans_nought() => within(basis),
        Word::Equal => format!(
            "measurably {}, within the margin of {}",
            known_change(1.0 + basis.cost),
            margin(basis.margin)
        ),
        _ if verdict.beyond_margin => "by more than the margin".to_owned(),
        _ => "possibly by less than the margin".to_owned(),
    }
}

fn within(basis: &Basis) -> String {
    format!("within {}", margin(basis.margin))
}

/// What is ruled out, and what would decide the rest.
fn open(basis: &Basis, more: Option<u64>) -> String {
    let needed = match more {
        Some(1) => "about 1 more block needed".to_owned(),
        Some(more) if more <= MOST_ADDED => format!("about {more} more blocks needed"),
        _ => "more blocks will not settle it here; try a quieter host, longer trials or a wider margin"
            .to_owned(),
    };
    let corrected = if basis.spans_nought() {
        String::new()
    } else {
        format!(
            "; a difference on its own, but possibly chance among so many comparisons (p {} with Holm's correction)",
            p_value(basis.p)
        )
    };
    format!("{}{corrected}; {needed}", bounds(basis))
}

fn bounds(basis: &Basis) -> String {
    format!("{}, {}", bound(basis.high, "slower"), bound(-basis.low, "faster"))
}

/// What the end of the interval rules out on one side.
fn bound(limit: f64, word: &str) -> String {
    if limit <= 0.0 {
        return format!("not {word}");
    }
    format!("not {word} by more than {}", percent(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(word: Word, [cost, low, high]: [f64; 3], p: f64, more_blocks: Option<u64>) -> Verdict {
        Verdict {
            row: 1,
            word,
            beyond_margin: false,
            basis: Some(Basis {
                cost,
                low,
                high,
                margin: 0.01,
                p,
            }),
            refusals: Vec::new(),
            more_blocks,
        }
    }

    #[test]
    fn a_difference_that_holm_refuses_says_so() {
        let open = verdict(Word::Inconclusive, [0.015, 0.01, 0.02], 0.06, None);
        assert!(phrase(&open).contains("among so many comparisons (p 0.060 with Holm's correction)"));
    }

    #[test]
    fn an_equal_that_is_measurable_says_its_sign() {
        let of = |ends| phrase(&verdict(Word::Equal, ends, 0.5, None));
        assert_eq!(of([0.0, -0.005, 0.005]), "within 1 %");
        assert_eq!(
            of([0.005, 0.002, 0.008]),
            "measurably 0.5 % slower, within the margin of 1 %"
        );
        assert_eq!(
            of([-0.005, -0.008, -0.002]),
            "measurably 0.5 % faster, within the margin of 1 %"
        );
    }

    #[test]
    fn an_open_verdict_says_what_is_ruled_out_and_what_it_takes() {
        let of = |more| phrase(&verdict(Word::Inconclusive, [0.005, -0.02, 0.03], 0.6, more));
        assert_eq!(
            of(Some(118)),
            "not slower by more than 3.0 %, not faster by more than 2.0 %; about 118 more blocks needed"
        );
        let hopeless = of(Some(1001));
        assert!(
            hopeless.contains("; more blocks will not settle it here; try a quieter host,"),
            "{hopeless}"
        );
        assert!(!hopeless.contains("blocks needed"), "{hopeless}");
    }
}
