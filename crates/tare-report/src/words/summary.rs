//! What each kind of box costs, in plain words. Nothing is averaged over
//! workloads: an average of unlike things would answer no question.

use super::notices::some_of;
use crate::show::{change_beside, change_interval, cost_change, known_change, or_missing};
use std::collections::BTreeMap;
use tare_analysis::{Against, Analysis, Comparison, Flag, MetricComparison, Word};
use tare_model::study::BoxKind;

/// What one kind of box costs against one baseline.
pub(crate) struct Summary {
    kind: BoxKind,
    against: Against,
    /// The platform, or what is compared, and how it runs: `docker (pinned`.
    lead: String,
    statements: Vec<Statement>,
}

/// What one workload costs.
struct Statement {
    n: usize,
    workload: String,
    /// `7.1 % slower`.
    cost: String,
    /// `5.4 to 8.9 %`, in the direction of the cost.
    interval: String,
    /// The ratio, by which what is shown is put in order.
    ratio: f64,
    word: Word,
    /// Flags, and of no verdict why there is none.
    remark: String,
}

impl Summary {
    /// The whole as one sentence: what is shown to differ, the most first, with figures; then names of
    /// what is shown to be equal, is not decided, has no verdict. The n is told once where it is one
    /// for all.
    pub fn sentence(&self) -> String {
        let first = self.statements.first().map(|s| s.n);
        let common = first.filter(|n| self.statements.iter().all(|s| s.n == *n));
        let n = common.map_or_else(String::new, |n| format!(", n = {n}"));
        let mut parts: Vec<String> = self.differences(common.is_some()).into_iter().collect();
        let named = |word| self.of(word).map(|s| format!("{}{}", s.workload, s.remark));
        let equal: Vec<String> = named(Word::Equal).collect();
        parts.extend((!equal.is_empty()).then(|| format!("equal within the margin: {}", equal.join(", "))));
        // What is shown is told of every workload; of the rest the tables have all.
        let open: Vec<String> = named(Word::Inconclusive).collect();
        parts.extend((!open.is_empty()).then(|| format!("inconclusive: {}", some_of(&open))));
        let mut without: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for statement in self.of(Word::None) {
            without
                .entry(&statement.remark)
                .or_default()
                .push(statement.workload.clone());
        }
        parts.extend(
            without
                .iter()
                .map(|(why, names)| format!("no verdict{why}: {}", some_of(names))),
        );
        format!("{}{n}): {}.", self.lead, parts.join("; "))
    }

    fn of(&self, word: Word) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(move |s| s.word == word)
    }

    /// `syscall 25 % slower (95 % interval 24 to 26 %), ...`.
    fn differences(&self, n_is_told: bool) -> Option<String> {
        let mut all: Vec<&Statement> = self.of(Word::Slower).chain(self.of(Word::Faster)).collect();
        all.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        let part = |(i, s): (usize, &&Statement)| {
            let name = if i == 0 { "95 % interval " } else { "" };
            let n = if n_is_told {
                String::new()
            } else {
                format!(", n = {}", s.n)
            };
            format!("{} {} ({name}{}{n}){}", s.workload, s.cost, s.interval, s.remark)
        };
        let parts: Vec<String> = all.iter().enumerate().map(part).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// One summary per kind of box that is compared, then the price of the quota.
pub(crate) fn all(analysis: &Analysis) -> Vec<Summary> {
    let mut summaries: Vec<Summary> = Vec::new();
    let headline = |c: &&Comparison| c.against == Against::Native || c.is_price_of_quota();
    for comparison in analysis.comparisons.iter().filter(headline) {
        let (kind, against) = (&comparison.cell.kind, comparison.against);
        let last = summaries.last_mut();
        let statement = comparison.primary().map(|m| statement(comparison, m));
        match last.filter(|s| s.kind == *kind && s.against == against) {
            Some(summary) => summary.statements.extend(statement),
            None => summaries.push(Summary {
                kind: kind.clone(),
                against,
                lead: lead(analysis, comparison),
                statements: statement.into_iter().collect(),
            }),
        }
    }
    summaries
}

fn lead(analysis: &Analysis, comparison: &Comparison) -> String {
    let kind = &comparison.cell.kind;
    // The name of the instance type, where there are several.
    let size = kind
        .instance
        .iter()
        .map(|name| format!(", {name}"))
        .collect::<String>();
    if comparison.is_price_of_quota() {
        return format!(
            "cost of the quota ({} vanilla over pinned{size}",
            analysis.study.baseline
        );
    }
    let facts = analysis.platforms.iter().find(|p| p.platform == kind.platform);
    let accelerator = facts.and_then(|p| p.accelerator.as_ref());
    let accelerator = accelerator.map_or_else(String::new, |name| format!(", {name}"));
    format!("{} ({}{size}{accelerator}", kind.platform, kind.provisioning)
}

fn statement(comparison: &Comparison, metric: &MetricComparison) -> Statement {
    let verdict = metric.verdict.as_ref();
    let word = metric.word();
    let ratio = metric.paired.as_ref().map(|p| p.ratio);
    let remark = match (word, verdict) {
        (Word::None, Some(verdict)) => format!(" ({})", verdict.reasons()),
        (Word::Slower | Word::Faster, Some(verdict)) if !verdict.beyond_margin => {
            format!(" possibly by less than the margin{}", flags(comparison, metric))
        }
        _ => flags(comparison, metric),
    };
    Statement {
        n: metric.n,
        workload: comparison.cell.workload.clone(),
        cost: match ratio {
            Some(e) => change_beside(e.value, e.low, e.high),
            None => or_missing(metric.cost(), known_change),
        },
        interval: or_missing(ratio, |e| change_interval(e.value, e.low, e.high)),
        ratio: metric.cost().unwrap_or(1.0),
        word,
        remark,
    }
}

/// The flags are part of a verdict: ` [skewed, tail]`. Without one they say nothing. That something ran
/// right before and moved the figure, by less than would forbid a verdict, is one.
fn flags(comparison: &Comparison, metric: &MetricComparison) -> String {
    let moved = (!comparison.carry_over.is_empty()).then(|| "carry-over".to_owned());
    let names: Vec<String> = metric.flags.iter().map(flag).chain(moved).collect();
    let judged = metric.verdict.as_ref().is_some_and(|v| v.word != Word::None);
    if judged && !names.is_empty() {
        format!(" [{}]", names.join(", "))
    } else {
        String::new()
    }
}

/// Its name; with the mean cost, which is a headline then.
fn flag(flag: &Flag) -> String {
    match flag {
        Flag::TailOfSlices { mean_cost } => {
            format!("{}: {} in the mean", flag.name(), cost_change(*mean_cost))
        }
        _ => flag.name().to_owned(),
    }
}
