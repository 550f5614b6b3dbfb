//! The answer in words: how much is decided, then what each workload costs on each platform. Nothing is
//! averaged over workloads: an average of unlike things would answer no question.

use super::notices::{some_of, some_whole};
use crate::show::{between, change_beside, known_change, or_missing};
use std::cmp::Ordering;
use std::iter;
use tare_analysis::{
    Against, Analysis, ChangedVerdict, Comparison, MetricComparison, Undisturbed, VerdictCounts, Word,
};
use tare_model::platform::Provisioning;
use tare_model::size::counted;
use tare_model::study::Instance;

/// How much is decided, a sentence for each workload in each size of box, what a quota itself costs, and whether
/// disturbed trials matter. Of emulated machines a notice tells that they say nothing.
pub(crate) fn all(analysis: &Analysis) -> Vec<String> {
    let mut sentences = vec![decided(&analysis.verdicts, "cost")];
    for workload in &analysis.study.workloads {
        sentences.extend(in_each_size(analysis, |of| {
            let of: Vec<&Comparison> = of.filter(|c| c.cell.workload == workload.name()).collect();
            (workload.name().to_string(), costs(analysis, &of))
        }));
    }
    sentences.extend(in_each_size(analysis, |of| {
        let costs: Vec<String> = of
            .filter(|c| c.is_price_of_quota())
            .map(|c| format!("{} {}", c.cell.workload, cost(c)))
            .collect();
        (
            "a quota instead of pinned CPUs, natively".to_owned(),
            some_whole(&costs, ", "),
        )
    }));
    sentences.extend(analysis.undisturbed.as_ref().map(without_disturbed));
    sentences
}

/// What is said of the comparisons of each size of box, after what they are of, unless it is nothing.
fn in_each_size<'a>(
    analysis: &'a Analysis,
    told: impl Fn(&mut dyn Iterator<Item = &'a Comparison>) -> (String, String),
) -> Vec<String> {
    let has_sizes = analysis.study.instances.len() > 1;
    let sentence = |instance: &'a Instance| {
        let of_size = |c: &&Comparison| c.cell.kind.instance == instance.name;
        let (of, costs) = told(&mut analysis.comparisons.iter().filter(of_size));
        let name = instance.name.iter().filter(|_| has_sizes);
        let size: String = name.map(|name| format!(" {name}")).collect();
        (!costs.is_empty()).then(|| format!("{of}{size}: {costs}"))
    };
    analysis.study.instances.iter().filter_map(sentence).collect()
}

/// `40 of 320 trials were disturbed by the host, and verdicts use them too; without them 9 of 11 verdicts are the same; 2
/// inconclusive: docker stream`.
fn without_disturbed(found: &Undisturbed) -> String {
    let (opened, changed) = (&found.opened, &found.changed);
    let verdicts = found.unchanged + opened.len() + changed.len();
    let parts = if found.unchanged == verdicts {
        vec!["no verdict changes without them".to_owned()]
    } else if opened.len() == verdicts {
        vec!["too few others are left to check any verdict".to_owned()]
    } else {
        let opened: Vec<String> = opened.iter().map(ToString::to_string).collect();
        let opened =
            (!opened.is_empty()).then(|| format!("{} inconclusive: {}", opened.len(), some_of(&opened)));
        let word = |c: &ChangedVerdict| format!("{} is {} instead of {}", c.cell, c.of_undisturbed, c.of_all);
        let same = format!(
            "without them {} of {} the same",
            found.unchanged,
            counted(verdicts, "verdict")
        );
        let rest = opened.into_iter().chain(changed.iter().map(word));
        iter::once(same).chain(rest).collect()
    };
    format!(
        "the host disturbed {} of {}, which verdicts use too; {}",
        found.disturbed,
        counted(found.of, "trial"),
        parts.join("; "),
    )
}

/// `11 of 16 costs are decided: 4 slower, 1 faster, 6 equal; 5 inconclusive`.
pub(crate) fn decided(counts: &VerdictCounts, what: &str) -> String {
    let told = |all: &[(usize, &str)]| {
        let some = all.iter().filter(|(n, _)| *n > 0);
        some.map(|(n, word)| format!("{n} {word}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let decided = [
        (counts.slower, "slower"),
        (counts.faster, "faster"),
        (counts.equal, "equal"),
    ];
    let others = [
        (counts.inconclusive, "inconclusive"),
        (counts.none, "without a verdict"),
    ];
    let n: usize = decided.iter().map(|(n, _)| n).sum();
    let of = n + counts.inconclusive + counts.none;
    if of == 0 {
        return "nothing to compare".to_owned();
    }
    let parts = [told(&decided), told(&others)];
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    format!("{n} of {} decided: {}", counted(of, what), parts.join("; "))
}

/// The costs of one workload, pinned and by quota.
fn costs(analysis: &Analysis, comparisons: &[&Comparison]) -> String {
    let by = |provisioning: &Provisioning| {
        let of = |c: &&Comparison| {
            let kind = &c.cell.kind;
            let is_real = c.against == Against::Native && !analysis.is_emulated(&kind.platform);
            is_real && kind.provisioning == *provisioning
        };
        let of: Vec<&Comparison> = comparisons.iter().copied().filter(of).collect();
        let way = if analysis.study.provisioning.len() > 1 {
            format!("{provisioning}: ")
        } else {
            String::new()
        };
        (!of.is_empty()).then(|| format!("{way}{}", beside_one_another(&of)))
    };
    let ways = analysis.study.provisioning.iter().filter_map(by);
    ways.collect::<Vec<_>>().join("; ")
}

/// `lxc 2.5 % slower, docker 8.3 % slower (lxc before docker, shown)`, in the order of the study.
fn beside_one_another(of: &[&Comparison]) -> String {
    let parts: Vec<String> = of
        .iter()
        .map(|c| format!("{} {}", c.cell.kind.platform, cost(c)))
        .collect();
    let pairs = of
        .iter()
        .enumerate()
        .flat_map(|(i, one)| of[..i].iter().map(move |other| (*one, *other)));
    let before = |(one, other): (&Comparison, &Comparison)| {
        let (first, second) = match one.beside(other)? {
            Ordering::Less => (one, other),
            _ => (other, one),
        };
        Some(format!(
            "{} before {}",
            first.cell.kind.platform, second.cell.kind.platform
        ))
    };
    let before: Vec<String> = pairs.filter_map(before).collect();
    let shown = (!before.is_empty()).then(|| format!(" (shown: {})", some_of(&before)));
    some_whole(&parts, ", ") + &shown.unwrap_or_default()
}

/// `25 % slower`, `equal`, `inconclusive (0.4 % faster to 3.8 % slower)`, `no verdict (too few pairs)`.
fn cost(comparison: &Comparison) -> String {
    let ratio = comparison.ratio();
    match comparison.word() {
        Word::Slower | Word::Faster => match ratio {
            Some(e) => change_beside(e.value, e.low, e.high),
            None => or_missing(
                comparison.primary().and_then(MetricComparison::cost),
                known_change,
            ),
        },
        Word::Equal => "equal".to_owned(),
        Word::Inconclusive => {
            let bounds = ratio.map(|e| format!(" ({})", between(e.low, e.high)));
            format!("inconclusive{}", bounds.unwrap_or_default())
        }
        Word::None => {
            let verdict = comparison.primary().and_then(|m| m.verdict.as_ref());
            format!("no verdict ({})", or_missing(verdict, |v| v.reasons()))
        }
    }
}
