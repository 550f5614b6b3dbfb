//! The answer in words: how much is decided, then what each workload costs on each platform. Nothing is
//! averaged over workloads: an average of unlike things would answer no question.

use super::notices::some_of;
use crate::show::{self, change_beside, change_interval, known_change, or_missing};
use std::iter;
use tare_analysis::{
    Against, Analysis, ChangedVerdict, Comparison, Estimate, MetricComparison, Undisturbed, VerdictCounts,
    Word,
};
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::size::counted;

/// How much is decided, then a sentence for each workload in each size of box.
pub(crate) fn all(analysis: &Analysis) -> Vec<String> {
    let mut sentences = vec![decided(&analysis.verdicts, "cost")];
    for workload in &analysis.study.workloads {
        for instance in &analysis.study.instances {
            let of = |c: &&Comparison| {
                let kind = &c.cell.kind;
                c.cell.workload == workload.name && kind.instance == instance.name
            };
            let comparisons: Vec<&Comparison> = analysis.comparisons.iter().filter(of).collect();
            let name = instance
                .name
                .iter()
                .filter(|_| analysis.study.instances.len() > 1);
            let size: String = name.map(|name| format!(" {name}")).collect();
            let costs = costs(analysis, &comparisons);
            if !costs.is_empty() {
                sentences.push(format!("{}{size}: {costs}", workload.name));
            }
        }
    }
    let emulated = analysis
        .study
        .platforms
        .iter()
        .filter(|path| analysis.is_emulated(path));
    sentences.extend(emulated.map(|path| of_emulated(analysis, path)));
    sentences.extend(analysis.undisturbed.as_ref().map(without_disturbed));
    sentences
}

/// `the host disturbed 40 of 320 trials; without these 9 of 11 verdicts are the same; 2 are open: docker stream`.
fn without_disturbed(found: &Undisturbed) -> String {
    let (opened, changed) = (&found.opened, &found.changed);
    let verdicts = found.unchanged + opened.len() + changed.len();
    let parts = if found.unchanged == verdicts {
        vec!["no verdict changes".to_owned()]
    } else if opened.len() == verdicts {
        vec!["too few are left for a verdict".to_owned()]
    } else {
        let opened: Vec<String> = opened.iter().map(ToString::to_string).collect();
        let opened = (!opened.is_empty()).then(|| format!("{} open: {}", opened.len(), some_of(&opened)));
        let word = |c: &ChangedVerdict| format!("{} is {} instead of {}", c.cell, c.of_undisturbed, c.of_all);
        let same = format!("{} of {} the same", found.unchanged, counted(verdicts, "verdict"));
        let rest = opened.into_iter().chain(changed.iter().map(word));
        iter::once(same).chain(rest).collect()
    };
    format!(
        "the host disturbed {} of {}; without these {}",
        found.disturbed,
        counted(found.of, "trial"),
        parts.join("; "),
    )
}

/// The least and the most that an emulated machine costs: its figures are not those of machines.
fn of_emulated(analysis: &Analysis, platform: &PlatformPath) -> String {
    let of = analysis.asked().filter(|c| c.cell.kind.platform == *platform);
    let costs: Vec<f64> = of.filter_map(|c| c.primary()?.cost()).collect();
    let ends = [
        costs.iter().copied().reduce(f64::min),
        costs.iter().copied().reduce(f64::max),
    ];
    let [least, most] = ends.map(|end| or_missing(end, show::ratio));
    format!(
        "{platform} is emulated: {least} to {most} times as long, which says nothing about a machine with hardware support"
    )
}

/// `11 of 16 costs are decided: 4 slower, 1 faster, 6 equal; 5 are open`.
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
    let others = [(counts.inconclusive, "open"), (counts.none, "without a verdict")];
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

/// The costs of one workload, pinned and by quota, and of the quota itself.
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
    let quota = comparisons.iter().find(|c| c.is_price_of_quota());
    let quota = quota.map(|c| format!("the quota itself {}", cost(c)));
    let ways = analysis.study.provisioning.iter().filter_map(by);
    ways.chain(quota).collect::<Vec<_>>().join("; ")
}

/// `docker 25 % slower, lxc equal`: what is decided first, the cheapest first.
fn beside_one_another(of: &[&Comparison]) -> String {
    let mut of = of.to_vec();
    let place = |c: &Comparison| {
        let rank = match c.word() {
            Word::Slower | Word::Faster | Word::Equal => 0,
            Word::Inconclusive => 1,
            Word::None => 2,
        };
        (
            rank,
            c.primary()
                .and_then(MetricComparison::cost)
                .unwrap_or(f64::INFINITY),
        )
    };
    of.sort_by(|a, b| {
        let ((rank, cost), (other_rank, other)) = (place(a), place(b));
        rank.cmp(&other_rank).then(cost.total_cmp(&other))
    });
    let parts: Vec<String> = of
        .iter()
        .map(|c| format!("{} {}", c.cell.kind.platform, cost(c)))
        .collect();
    some_of(&parts)
}

/// `25 % slower`, `equal`, `open (-0.4 to 3.8 %)`, `no verdict (too few pairs)`.
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
        Word::Inconclusive => format!("open{}", or_nothing(ratio)),
        Word::None => {
            let verdict = comparison.primary().and_then(|m| m.verdict.as_ref());
            format!("no verdict ({})", or_missing(verdict, |v| v.reasons()))
        }
    }
}

fn or_nothing(ratio: Option<Estimate>) -> String {
    ratio.map_or_else(String::new, |e| {
        format!(" ({})", change_interval(1.0, e.low, e.high))
    })
}
