//! What a results file says beside others. Of a thousand files no more than this is kept.

use crate::run::{Against, Comparison, Estimate, Notice, RunFacts, comparisons};
use std::collections::BTreeSet;
use tare_model::metric::Metric;
use tare_model::results::Results;
use tare_model::study::{Cell, Study};
use tare_stats::PairedInference;

/// The costs of a file, and what tells them from those of others.
#[derive(Debug, Clone)]
pub struct Brief {
    /// As the user named the file.
    pub(crate) name: String,
    pub(crate) study: Study,
    /// What tells its host from others; absent where it does not say.
    pub(crate) host: Option<String>,
    /// Its CPU and kernel.
    pub(crate) machine: String,
    /// Version of tare that measured.
    pub(crate) tare: String,
    /// Build ID of tare.
    pub(crate) build: String,
    /// Build ID of the agent that ran in the boxes; absent where tare itself was the agent.
    pub(crate) agent: Option<String>,
    pub(crate) run: RunFacts,
    pub(crate) notices: Vec<Notice>,
    /// Of every comparison that was asked for and has a primary metric.
    pub(crate) costs: Vec<BriefCost>,
}

/// A cost in one file.
#[derive(Debug, Clone)]
pub(crate) struct BriefCost {
    pub cell: Cell,
    /// The baseline's cell.
    pub baseline: Cell,
    /// The primary metric.
    pub metric: Metric,
    /// Blocks behind it.
    pub n: usize,
    pub ratio: Option<Estimate>,
    /// What it rests on; absent where the file gives no verdict for another reason than too few blocks.
    pub inference: Option<PairedInference>,
}

impl Brief {
    /// Of results, with the name of their file.
    pub fn of(name: String, results: &Results) -> Self {
        let (comparisons, run, notices) = comparisons(results);
        let header = &results.header;
        let host = &header.host;
        let model = host.cpu_model.as_deref().unwrap_or("unknown CPU");
        Self {
            name,
            host: host.id.clone().or_else(|| host.boot_id.clone()),
            machine: format!("{model}, {} CPUs, Linux {}", host.cpus, host.kernel),
            costs: comparisons.iter().filter_map(BriefCost::of).collect(),
            study: header.study.clone(),
            tare: header.tare.clone(),
            build: header.build.clone(),
            agent: header.agent.clone(),
            run,
            notices,
        }
    }

    /// When its first session began, in nanoseconds since the epoch; 0 if it does not say.
    pub(crate) fn started_unix_ns(&self) -> u64 {
        self.run.sessions.first().map_or(0, |s| s.started_unix_ns)
    }

    pub(crate) fn cost(&self, cell: &Cell) -> Option<&BriefCost> {
        self.costs.iter().find(|cost| cost.cell == *cell)
    }
}

impl BriefCost {
    fn of(comparison: &Comparison) -> Option<Self> {
        let metric = comparison
            .primary()
            .filter(|_| comparison.against == Against::Native)?;
        let is_fit = metric
            .verdict
            .as_ref()
            .is_some_and(|v| v.refusals.iter().all(|r| r.is_of_few_pairs()));
        Some(Self {
            cell: comparison.cell.clone(),
            baseline: comparison.baseline.clone(),
            metric: metric.metric.clone(),
            n: metric.n,
            ratio: comparison.ratio(),
            inference: metric.inference.filter(|_| is_fit),
        })
    }
}

/// Those that do not hold the same runs as an earlier one.
pub(crate) fn once(briefs: Vec<Brief>) -> Vec<Brief> {
    let mut seen = BTreeSet::new();
    let is_new = |brief: &Brief| {
        let runs = || brief.run.sessions.iter().map(|s| s.run.clone());
        let is_new = !runs().any(|run| seen.contains(&run));
        seen.extend(runs());
        is_new
    };
    briefs.into_iter().filter(is_new).collect()
}
