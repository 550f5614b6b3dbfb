//! Files of one study from several hosts or days, put together: the host as a random factor.
//!
//! Each file is analysed by itself; of each comparison the mean loss in logs and its error are one
//! host's estimate. Files of one host are one estimate. What hosts say together is
//! [`tare_stats::across_hosts`].

mod hosts;

use crate::brief::{Brief, once};
use crate::change::unlike;
use crate::run::verdict::{of_row, refused};
use crate::run::{Basis, Estimate, Notice, Refusal, RunFacts, Verdict};
use hosts::{Host, estimate_of};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Metric;
use tare_model::sound::is_margin;
use tare_model::study::{Cell, Study};
use tare_stats::{AcrossHosts, FEWEST_HOSTS, HostEstimate, LEVEL, across_hosts, decide, holm, p_alike};

/// Name and version of what is put together, as JSON.
pub const SCHEMA: &str = "tare-merge/1";

/// What files of one study say together.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Merged {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The files, each once.
    pub files: Vec<MergedFile>,
    /// Hosts among them.
    pub hosts: usize,
    /// Files that were given more than once, and counted once.
    pub copies: usize,
    /// Whether some files do not tell their host: each of these counts as a host of its own.
    pub hosts_untold: bool,
    /// Margin of the verdicts as a ratio less 1.
    pub margin: f64,
    /// Tests in the family of Holm's correction.
    pub family: usize,
    /// Every comparison that at least one host has.
    pub comparisons: Vec<MergedComparison>,
}

#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct MergedFile {
    /// As the user named it.
    pub name: String,
    /// Which of the hosts, from 0.
    pub host: usize,
    /// Its CPU and kernel.
    pub machine: String,
    /// Version of tare that measured.
    pub tare: String,
    /// Build ID of tare.
    pub build: String,
    /// Build ID of the agent that ran in the boxes; absent where tare itself was the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The course of the run.
    pub run: RunFacts,
    /// What a reader of its figures must know.
    pub notices: Vec<Notice>,
}

/// One cell against its baseline, over hosts.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct MergedComparison {
    #[serde(flatten)]
    pub cell: Cell,
    /// The baseline's cell.
    pub baseline: Cell,
    /// The primary metric.
    pub metric: Metric,
    /// What each host says.
    pub hosts: Vec<OfHost>,
    /// The mean cost over hosts, with the interval of that.
    pub cost: Option<Estimate>,
    /// Where the cost on a host that was not measured lies.
    pub next: Option<Estimate>,
    /// Standard deviation between hosts, in logs.
    pub between: Option<f64>,
    /// p that the platform costs nothing, over hosts.
    pub p: Option<f64>,
    /// The same after Holm's correction.
    pub p_holm: Option<f64>,
    /// The verdict by the decision table; none under three hosts.
    pub verdict: Verdict,
    #[serde(skip)]
    across: Option<AcrossHosts>,
}

/// What one host says of a comparison.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct OfHost {
    /// Which host, from 0.
    pub host: usize,
    /// Blocks behind it.
    pub n: usize,
    /// Its cost with the interval that follows from its error.
    pub cost: Option<Estimate>,
    /// p that it is like the other hosts, after Holm's correction over all hosts and comparisons; absent where fewer than
    /// three others stand beside it.
    pub p_alike: Option<f64>,
    /// The mean in logs, and its standard error.
    #[serde(skip)]
    estimate: HostEstimate,
}

impl OfHost {
    /// Whether it is unlike the others by more than chance.
    pub fn is_odd(&self) -> bool {
        self.p_alike.is_some_and(|p| p <= 1.0 - LEVEL)
    }
}

/// Files that cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotMerge {
    /// There are not two different ones.
    #[error("{0} is one run: give results of several runs of one study, from several hosts or days")]
    OneRun(String),
    /// One of them measures nothing that the first does.
    #[error("{second} measures nothing that {first} does: give results of the same study")]
    NothingInCommon {
        /// The first file.
        first: String,
        /// The other.
        second: String,
    },
    /// A workload does other work in one of them.
    #[error(
        "{cell} does different work, or has another box size, in {second} than in {first}: give results of the same study"
    )]
    OtherWork {
        cell: String,
        /// The first file.
        first: String,
        /// The other.
        second: String,
    },
}

/// Puts files together. `margin`, a ratio less 1, takes the place of the first study's.
///
/// # Errors
/// [`CannotMerge`].
pub fn merge(files: Vec<Brief>, margin: Option<f64>) -> Result<Merged, CannotMerge> {
    let given = files.len();
    let files = once(files);
    let Some((first, others)) = files.split_first() else {
        return Err(CannotMerge::OneRun("nothing".to_owned()));
    };
    if others.is_empty() {
        return Err(CannotMerge::OneRun(first.name.clone()));
    }
    for other in others {
        alike((&first.name, &first.study), (&other.name, &other.study))?;
    }
    let margin = margin.unwrap_or(first.study.protocol.margin);
    let hosts = Host::of(&files);
    let mut comparisons: Vec<MergedComparison> = Vec::new();
    for cost in files.iter().flat_map(|file| &file.costs) {
        if comparisons.iter().any(|known| known.cell == cost.cell) {
            continue;
        }
        let of_host = |(i, host)| estimate_of(i, host, &files, &cost.cell);
        let of_hosts = hosts.iter().enumerate().filter_map(of_host);
        comparisons.push(compared(
            &cost.cell,
            &cost.baseline,
            &cost.metric,
            of_hosts.collect(),
        ));
    }
    let family = judge(&mut comparisons, margin);
    find_odd(&mut comparisons);
    let host_of = |i: usize| hosts.iter().position(|host| host.files.contains(&i)).unwrap_or(0);
    Ok(Merged {
        schema: SCHEMA,
        copies: given - files.len(),
        hosts_untold: hosts.iter().any(|host| host.identity.is_none()),
        hosts: hosts.len(),
        margin,
        family,
        comparisons,
        files: files
            .into_iter()
            .enumerate()
            .map(|(i, brief)| MergedFile::of(host_of(i), brief))
            .collect(),
    })
}

impl MergedFile {
    fn of(host: usize, brief: Brief) -> Self {
        Self {
            name: brief.name,
            host,
            machine: brief.machine,
            tare: brief.tare,
            build: brief.build,
            agent: brief.agent,
            run: brief.run,
            notices: brief.notices,
        }
    }
}

/// Refuses a study that has nothing in common with the first, or calls other work by its names.
fn alike((first, before): (&str, &Study), (second, after): (&str, &Study)) -> Result<(), CannotMerge> {
    let cells = before.cells();
    let common: Vec<Cell> = after
        .cells()
        .into_iter()
        .filter(|cell| cells.contains(cell))
        .collect();
    if common.is_empty() {
        return Err(CannotMerge::NothingInCommon {
            first: first.to_owned(),
            second: second.to_owned(),
        });
    }
    match common.iter().find(|cell| unlike((before, after), cell).is_some()) {
        None => Ok(()),
        Some(cell) => Err(CannotMerge::OtherWork {
            cell: cell.to_string(),
            first: first.to_owned(),
            second: second.to_owned(),
        }),
    }
}

fn compared(cell: &Cell, baseline: &Cell, metric: &Metric, hosts: Vec<OfHost>) -> MergedComparison {
    let estimates: Vec<HostEstimate> = hosts.iter().map(|host| host.estimate).collect();
    let across = across_hosts(&estimates, LEVEL);
    let logs = |mean: f64, interval| Estimate::of_logs(mean, interval);
    MergedComparison {
        cell: cell.clone(),
        baseline: baseline.clone(),
        metric: metric.clone(),
        cost: across.and_then(|a| logs(a.mean, a.interval)),
        next: across.and_then(|a| logs(a.mean, a.next)),
        between: across.map(|a| a.between),
        p: across.and_then(AcrossHosts::p_zero),
        p_holm: None,
        verdict: refused(Vec::new()),
        hosts,
        across,
    }
}

/// Holm's correction over all comparisons, then their verdicts; the answer is the number of tests.
fn judge(comparisons: &mut [MergedComparison], margin: f64) -> usize {
    let p_values: Vec<Option<f64>> = comparisons.iter().map(|c| c.p).collect();
    let margin = is_margin(margin).then(|| margin.ln_1p());
    for (comparison, p_holm) in comparisons.iter_mut().zip(holm(&p_values)) {
        comparison.p_holm = p_holm;
        comparison.verdict = verdict(comparison, p_holm, margin);
    }
    p_values.iter().flatten().count()
}

/// Tells of every host how like the others it is.
fn find_odd(comparisons: &mut [MergedComparison]) {
    let estimates = |c: &MergedComparison| -> Vec<_> { c.hosts.iter().map(|h| (h.estimate, h.n)).collect() };
    let p_values: Vec<Vec<Option<f64>>> = comparisons
        .par_iter()
        .map(|comparison| p_alike(&estimates(comparison)))
        .collect();
    let p_values = p_values.concat();
    let hosts = comparisons.iter_mut().flat_map(|c| &mut c.hosts);
    for (host, p) in hosts.zip(holm(&p_values)) {
        host.p_alike = p;
    }
}

fn verdict(comparison: &MergedComparison, p: Option<f64>, margin: Option<f64>) -> Verdict {
    let hosts = comparison.hosts.len();
    if hosts < FEWEST_HOSTS {
        return refused(vec![Refusal::FewHosts {
            hosts,
            needed: FEWEST_HOSTS,
        }]);
    }
    match (comparison.across, p, margin) {
        (Some(across), Some(p), Some(margin)) if comparison.cost.is_some() => Verdict {
            basis: Some(Basis::of_logs(across.mean, across.interval, margin, p)),
            ..of_row(decide(across.interval, p, margin))
        },
        (_, _, None) => refused(vec![Refusal::NoMargin]),
        _ => refused(vec![Refusal::NoEstimate]),
    }
}
