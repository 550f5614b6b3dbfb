//! The answer in words: how much is decided, then what each workload costs on each platform. Nothing is
//! averaged over workloads: an average of unlike things would answer no question.

use super::around;
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

/// How much is decided; a sentence for each workload in each size of box, those first of which a difference is shown;
/// what a quota itself costs, what the baseline achieves, what starting a box takes, and whether disturbed trials
/// matter. Of emulated machines a notice tells that they say nothing.
pub(crate) fn all(analysis: &Analysis) -> Vec<String> {
    let mut of_workloads: Vec<Told> = analysis
        .study
        .workloads
        .iter()
        .filter_map(|workload| of_workload(analysis, workload.name()))
        .collect();
    of_workloads.sort_by_key(|told| told.most);
    let named = |by: Option<Provisioning>| by.map_or_else(String::new, |by| format!(" {by}"));
    let pinned = named(around::preferred(analysis));
    let first = named(analysis.study.provisioning.first().copied());
    let around = [
        (
            format!("absolute speed of {}{pinned}:", analysis.study.baseline),
            around::baseline(analysis),
        ),
        (
            format!("start of a{first} box, and its idle memory:"),
            around::boxes(analysis),
        ),
    ];
    let around = around.into_iter().filter(|(_, words)| !words.is_empty());
    iter::once(decided(&analysis.verdicts, "cost"))
        .chain(of_workloads.into_iter().flat_map(|told| told.sentences))
        .chain(quota(analysis))
        .chain(around.map(|(of, words)| format!("{of} {words}")))
        .chain(analysis.undisturbed.as_ref().map(without_disturbed))
        .collect()
}

/// What is told of a workload.
struct Told {
    /// The most that is shown of it.
    most: Shown,
    /// One for each size of box.
    sentences: Vec<String>,
}

/// What a verdict shows, the most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Difference,
    Equality,
    Nothing,
}

impl Shown {
    fn of(comparison: &Comparison) -> Self {
        match comparison.word() {
            Word::Slower | Word::Faster => Self::Difference,
            Word::Equal => Self::Equality,
            Word::Inconclusive | Word::None => Self::Nothing,
        }
    }
}

fn of_workload(analysis: &Analysis, workload: &str) -> Option<Told> {
    let of = |c: &&Comparison| {
        let is_real = c.against == Against::Native && !analysis.is_emulated(&c.cell.kind.platform);
        is_real && c.cell.workload == workload
    };
    let of: Vec<&Comparison> = analysis.comparisons.iter().filter(of).collect();
    let told = |of: &[&Comparison]| told(analysis, of);
    Some(Told {
        most: of.iter().map(|c| Shown::of(c)).min()?,
        sentences: in_each_size(analysis, workload, &of, told),
    })
}

/// What the quota by itself costs.
fn quota(analysis: &Analysis) -> Vec<String> {
    let of: Vec<&Comparison> = analysis
        .comparisons
        .iter()
        .filter(|c| c.is_price_of_quota())
        .collect();
    let name = |c: &Comparison| c.cell.workload.clone();
    let told = |of: &[&Comparison]| Parts::of(of, name, name).told(", ");
    in_each_size(
        analysis,
        "natively by a CPU quota, against pinned CPUs",
        &of,
        told,
    )
}

/// What is said of the comparisons of each size of box, after what they are of.
fn in_each_size(
    analysis: &Analysis,
    name: &str,
    of: &[&Comparison],
    told: impl Fn(&[&Comparison]) -> String,
) -> Vec<String> {
    let has_sizes = analysis.study.instances.len() > 1;
    let sentence = |instance: &Instance| {
        let of_size = |c: &&&Comparison| c.cell.kind.instance == instance.name;
        let of: Vec<&Comparison> = of.iter().filter(of_size).copied().collect();
        let size = instance.name.iter().filter(|_| has_sizes);
        let size: String = size.map(|size| format!(" {size}")).collect();
        (!of.is_empty()).then(|| format!("{name}{size}: {}", told(&of)))
    };
    analysis.study.instances.iter().filter_map(sentence).collect()
}

/// `40 of 320 trials were disturbed by the host, and verdicts use them too; without them 9 of 11 verdicts are the same; 2
/// inconclusive: docker stream`.
fn without_disturbed(found: &Undisturbed) -> String {
    let (opened, changed) = (&found.opened, &found.changed);
    let verdicts = found.unchanged + opened.len() + changed.len();
    let parts = if found.unchanged == verdicts {
        vec!["leaving them out changes no verdict".to_owned()]
    } else if opened.len() == verdicts {
        vec!["too few others are left to check any verdict".to_owned()]
    } else {
        let opened: Vec<String> = opened.iter().map(ToString::to_string).collect();
        let opened =
            (!opened.is_empty()).then(|| format!("{} inconclusive: {}", opened.len(), some_of(&opened)));
        let word = |c: &ChangedVerdict| format!("{} is {} instead of {}", c.cell, c.of_undisturbed, c.of_all);
        let same = format!(
            "without them {} of {} stay the same",
            found.unchanged,
            counted(verdicts, "verdict")
        );
        let rest = opened.into_iter().chain(changed.iter().map(word));
        iter::once(same).chain(rest).collect()
    };
    format!(
        "other work on the host disturbed {} of {}, which are counted; {}",
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

/// `vanilla: docker 8.3 % slower; inconclusive: lxc vanilla (0.2 to 1.8 % slower)`: what is decided, by the way of
/// provisioning, and what is not.
fn told(analysis: &Analysis, of: &[&Comparison]) -> String {
    let name = |c: &Comparison| c.cell.kind.platform.to_string();
    let mut all = Parts::default();
    let has_ways = analysis.study.provisioning.len() > 1;
    for provisioning in &analysis.study.provisioning {
        let of: Vec<&Comparison> = of
            .iter()
            .filter(|c| c.cell.kind.provisioning == *provisioning)
            .copied()
            .collect();
        let (lead, tail) = if has_ways {
            (format!("{provisioning}: "), format!(" {provisioning}"))
        } else {
            Default::default()
        };
        let parts = Parts::of(&of, |c| format!("{}{tail}", name(c)), name);
        let decided: Vec<String> = parts.decided.into_iter().chain(before_one_another(&of)).collect();
        if !decided.is_empty() {
            all.decided.push(lead + &some_whole(&decided, ", "));
        }
        all.inconclusive.extend(parts.inconclusive);
        all.without.extend(parts.without);
    }
    all.told("; ")
}

/// What is said of some comparisons, by what is shown.
#[derive(Default)]
struct Parts {
    decided: Vec<String>,
    inconclusive: Vec<String>,
    /// Those without a verdict.
    without: Vec<String>,
}

impl Parts {
    /// Of these, by their names; `whole` is that of one that is named among others.
    fn of(
        of: &[&Comparison],
        whole: impl Fn(&Comparison) -> String,
        name: impl Fn(&Comparison) -> String,
    ) -> Self {
        let mut parts = Self::default();
        for c in of {
            match c.word() {
                Word::Slower | Word::Faster | Word::Equal => {
                    parts.decided.push(format!("{} {}", name(c), cost(c)));
                }
                Word::Inconclusive => parts.inconclusive.push(format!("{}{}", whole(c), bounds(c))),
                Word::None => parts.without.push(format!("{} ({})", whole(c), reasons(c))),
            }
        }
        parts
    }

    /// `docker 8.3 % slower; inconclusive: lxc (0.2 to 1.8 % slower)`.
    fn told(&self, between: &str) -> String {
        let lists = [
            ("", &self.decided, between),
            ("inconclusive: ", &self.inconclusive, ", "),
            ("without a verdict: ", &self.without, ", "),
        ];
        let some = lists.into_iter().filter(|(_, list, _)| !list.is_empty());
        let told = some.map(|(lead, list, between)| format!("{lead}{}", some_whole(list, between)));
        told.collect::<Vec<_>>().join("; ")
    }
}

/// `lxc faster than docker`, where that is shown.
fn before_one_another(of: &[&Comparison]) -> Vec<String> {
    let pairs = of
        .iter()
        .enumerate()
        .flat_map(|(i, one)| of[..i].iter().map(move |other| (*one, *other)));
    let before = |(one, other): (&Comparison, &Comparison)| {
        let (first, second) = match one.beside(other)? {
            Ordering::Less => (one, other),
            _ => (other, one),
        };
        let [first, second] = [first, second].map(|c| &c.cell.kind.platform);
        Some(format!("{first} faster than {second}"))
    };
    pairs.filter_map(before).collect()
}

/// `25 % slower`, `equal`, of what is decided.
fn cost(comparison: &Comparison) -> String {
    if comparison.word() == Word::Equal {
        return "equal".to_owned();
    }
    match comparison.ratio() {
        Some(e) => change_beside(e.value, e.low, e.high),
        None => or_missing(
            comparison.primary().and_then(MetricComparison::cost),
            known_change,
        ),
    }
}

/// ` (0.4 % faster to 3.8 % slower)`.
fn bounds(comparison: &Comparison) -> String {
    let known = comparison.ratio();
    known.map_or_else(String::new, |e| format!(" ({})", between(e.low, e.high)))
}

/// Why there is no verdict.
fn reasons(comparison: &Comparison) -> String {
    let verdict = comparison.primary().and_then(|m| m.verdict.as_ref());
    or_missing(verdict, |v| v.reasons())
}
