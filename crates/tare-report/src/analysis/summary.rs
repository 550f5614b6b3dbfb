//! What each kind of box costs, in plain words. Nothing is averaged over
//! workloads: an average of unlike things would answer no question.

use super::compare::{Against, Comparison, MetricComparison};
use super::run::PlatformFacts;
use super::verdict::Word;
use crate::show::{change_interval, cost_change};
use serde::Serialize;
use tare_model::study::{BoxKind, Study};

/// What one kind of box costs against one baseline.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The kind of box.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// Against which baseline.
    pub against: Against,
    /// The kind of box and how it runs, such as `vm (pinned, tcg)`.
    pub title: String,
    /// One statement per workload.
    pub statements: Vec<Statement>,
}

/// What one workload costs.
#[derive(Debug, Clone, Serialize)]
pub struct Statement {
    /// The workload.
    pub workload: String,
    /// Pairs.
    pub n: usize,
    /// The cost with its interval, such as `0.4 % slower (95 % interval -0.1 to 0.9 %, n = 30)`.
    pub cost: String,
    /// The verdict.
    pub word: Word,
    /// What is printed with it.
    pub phrase: String,
}

impl Summary {
    /// The whole as one sentence.
    pub fn sentence(&self) -> String {
        let statements: Vec<String> = self.statements.iter().map(Statement::text).collect();
        format!("{}: {}.", self.title, statements.join("; "))
    }
}

impl Statement {
    /// `stream 0.4 % slower (95 % interval -0.1 to 0.9 %, n = 30): equal within 1 %`.
    pub fn text(&self) -> String {
        let verdict = match self.word {
            Word::Equal if self.phrase.starts_with("within") => format!("equal {}", self.phrase),
            word => format!("{word}, {}", self.phrase),
        };
        format!("{} {}: {verdict}", self.workload, self.cost)
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
            None => summaries.push(Summary {
                kind: kind.clone(),
                against: comparison.against,
                title: title(study, comparison, platforms),
                statements: statement.into_iter().collect(),
            }),
        }
    }
    summaries
}

fn title(study: &Study, comparison: &Comparison, platforms: &[PlatformFacts]) -> String {
    if comparison.is_price_of_quota() {
        return format!("price of the quota ({0} vanilla over {0} pinned)", study.baseline);
    }
    let kind = &comparison.cell.kind;
    let accelerator = platforms
        .iter()
        .find(|p| p.platform == kind.platform)
        .and_then(|p| p.accelerator.as_deref());
    let accelerator = accelerator.map_or_else(String::new, |a| format!(", {a}"));
    format!("{} ({}{accelerator})", kind.platform, kind.provisioning)
}

fn statement(comparison: &Comparison, metric: &MetricComparison) -> Statement {
    let verdict = metric.verdict.as_ref();
    Statement {
        workload: comparison.cell.workload.clone(),
        n: metric.n,
        cost: cost(metric),
        word: verdict.map_or(Word::None, |v| v.word),
        phrase: verdict.map_or_else(String::new, |v| v.phrase.clone()),
    }
}

fn cost(metric: &MetricComparison) -> String {
    let n = metric.n;
    match &metric.paired {
        Some(paired) => {
            let e = paired.ratio;
            format!(
                "{} (95 % interval {}, n = {n})",
                cost_change(e.value),
                change_interval(e.low, e.high)
            )
        }
        None => format!("— (n = {n})"),
    }
}
