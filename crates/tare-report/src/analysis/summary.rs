//! What each kind of box costs, in plain words. Nothing is averaged over
//! workloads: an average of unlike things would answer no question.

use super::comparison::{Comparison, MetricComparison};
use super::flag::Flag;
use super::run::PlatformFacts;
use super::verdict::{Verdict, Word};
use crate::show::{change_interval, cost_change, or_missing};
use serde::Serialize;
use tare_model::study::{Against, BoxKind, Study};

/// What one kind of box costs against one baseline.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The kind of box.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// Against which baseline.
    pub against: Against,
    /// The platform, or what is compared.
    pub subject: String,
    /// How it runs, such as `pinned, tcg`.
    pub manner: String,
    /// One statement per workload.
    pub statements: Vec<Statement>,
    /// The whole as one sentence.
    pub sentence: String,
}

/// What one workload costs.
#[derive(Debug, Clone, Serialize)]
pub struct Statement {
    /// The workload.
    pub workload: String,
    /// Pairs.
    pub n: usize,
    /// The cost, such as `0.4 % slower`.
    pub cost: Option<String>,
    /// Its 95 % interval in the direction of the cost, such as `-0.1 to 0.9 %`.
    pub interval: Option<String>,
    /// The verdict.
    pub word: Word,
    /// The verdict in a few words.
    pub verdict: String,
}

impl Summary {
    /// `docker (pinned, n = 30)`; the n only where it is one for all statements.
    pub fn lead(&self) -> String {
        let n = self.common_n().map_or_else(String::new, |n| format!(", n = {n}"));
        format!("{} ({}{n})", self.subject, self.manner)
    }

    /// The statements as parts of a sentence; "95 % interval" is said once.
    pub fn parts(&self) -> Vec<String> {
        let common = self.common_n();
        let part = |(i, statement): (usize, &Statement)| {
            let name = if i == 0 { "95 % interval " } else { "" };
            let n = common.map_or_else(|| format!(", n = {}", statement.n), |_| String::new());
            statement.text(name, &n)
        };
        self.statements.iter().enumerate().map(part).collect()
    }

    fn common_n(&self) -> Option<usize> {
        let n = self.statements.first()?.n;
        self.statements.iter().all(|s| s.n == n).then_some(n)
    }
}

impl Statement {
    /// `stream 0.4 % slower (95 % interval -0.1 to 0.9 %): equal within 1 %`.
    fn text(&self, interval_name: &str, n: &str) -> String {
        let cost = or_missing(self.cost.as_ref(), Clone::clone);
        let interval = or_missing(self.interval.as_ref(), Clone::clone);
        format!(
            "{} {cost} ({interval_name}{interval}{n}): {}",
            self.workload, self.verdict
        )
    }
}

/// One summary per kind of box that is compared, then the price of the quota.
pub(crate) fn all(study: &Study, comparisons: &[Comparison], platforms: &[PlatformFacts]) -> Vec<Summary> {
    let mut summaries: Vec<Summary> = Vec::new();
    let headline = |c: &&Comparison| c.against == Against::Native || c.is_price_of_quota();
    for comparison in comparisons.iter().filter(headline) {
        let kind = &comparison.cell.kind;
        let last = summaries.last_mut();
        let statement = comparison.primary().map(|m| statement(comparison, m));
        match last.filter(|s| s.kind == *kind && s.against == comparison.against) {
            Some(summary) => summary.statements.extend(statement),
            None => summaries.push(summary(study, comparison, platforms, statement)),
        }
    }
    for summary in &mut summaries {
        summary.sentence = format!("{}: {}.", summary.lead(), summary.parts().join("; "));
    }
    summaries
}

fn summary(
    study: &Study,
    comparison: &Comparison,
    platforms: &[PlatformFacts],
    statement: Option<Statement>,
) -> Summary {
    let (subject, manner) = if comparison.is_price_of_quota() {
        let size = instance(&comparison.cell.kind);
        let manner = format!("{} vanilla over pinned{size}", study.baseline);
        ("price of the quota".to_owned(), manner)
    } else {
        let kind = &comparison.cell.kind;
        (kind.platform.to_string(), manner(kind, platforms))
    };
    Summary {
        kind: comparison.cell.kind.clone(),
        against: comparison.against,
        subject,
        manner,
        statements: statement.into_iter().collect(),
        sentence: String::new(),
    }
}

fn manner(kind: &BoxKind, platforms: &[PlatformFacts]) -> String {
    let facts = platforms.iter().find(|p| p.platform == kind.platform);
    let size = instance(kind);
    match facts.and_then(|p| p.accelerator.as_deref()) {
        Some(accelerator) => format!("{}{size}, {accelerator}", kind.provisioning),
        None => format!("{}{size}", kind.provisioning),
    }
}

/// The name of the instance type, where there are several.
fn instance(kind: &BoxKind) -> String {
    kind.instance
        .as_ref()
        .map_or_else(String::new, |name| format!(", {name}"))
}

fn statement(comparison: &Comparison, metric: &MetricComparison) -> Statement {
    let verdict = metric.verdict.as_ref();
    let ratio = metric.paired.as_ref().map(|p| p.ratio);
    Statement {
        workload: comparison.cell.workload.clone(),
        n: metric.n,
        cost: metric.cost().map(cost_change),
        interval: ratio.map(|e| change_interval(e.value, e.low, e.high)),
        word: verdict.map_or(Word::None, |v| v.word),
        verdict: or_missing(verdict, Verdict::after_cost) + &flags(metric),
    }
}

/// The flags are part of a verdict: ` [skewed, tail]`. Without one they say nothing.
fn flags(metric: &MetricComparison) -> String {
    let names: Vec<String> = metric.flags.iter().map(flag).collect();
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
