//! One cost over many results files, in the order of time: where it changed.

use crate::brief::{Brief, BriefCost, once};
use crate::change::unlike;
use crate::run::{Estimate, Notice};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Metric;
use tare_model::study::Cell;
use tare_stats::{CHANGE_LEVEL, ChangePoint, FEWEST_AROUND_CHANGE, change_points, mean, steps};

pub use tare_stats::FEWEST_FOR_CHANGE;

/// Name and version of the trend as JSON.
pub const SCHEMA: &str = "tare-trend/1";
/// Seed of these orders: the same files give the same answer.
const SEED: u64 = 1;

/// The costs of some files over time.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Trend {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The files in the order of time.
    pub files: Vec<TrendFile>,
    /// Files that hold the same runs as another, and were left out.
    pub copies: usize,
    /// What makes the order of the files doubtful.
    pub notices: Vec<Notice>,
    /// The cost of every cell of the newest file.
    pub series: Vec<Series>,
}

#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct TrendFile {
    /// As the user named it.
    pub name: String,
    /// When its first session began, in nanoseconds since the epoch.
    pub started_unix_ns: u64,
    /// Version of tare that measured.
    pub tare: String,
    /// Build ID of tare.
    pub build: String,
    /// Build ID of the agent that ran in the boxes; absent where tare itself was the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// One cost over time.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Series {
    #[serde(flatten)]
    pub cell: Cell,
    /// The baseline's cell.
    pub baseline: Cell,
    /// The primary metric.
    pub metric: Metric,
    /// The runs that have it, in the order of time.
    pub points: Vec<Point>,
    /// Where it changed.
    pub changes: Vec<Changed>,
    /// The correlation of neighbouring runs, where it alone explains differences that look like a change: none is
    /// reported there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// The cost in one run.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Point {
    /// Which file, from 0.
    pub file: usize,
    /// Blocks behind it.
    pub n: usize,
    /// The cost over the baseline.
    pub cost: Estimate,
}

#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Changed {
    /// The first point after it, from 0.
    pub at: usize,
    /// The share of orders of the runs that look as much like a change.
    pub p: f64,
    /// The geometric mean of the costs since the change before.
    pub before: f64,
    /// The same of those until the next change.
    pub after: f64,
}

impl Changed {
    /// How many times the cost is what it was.
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

impl Trend {
    /// Series that cost more since their last change, by more than a share.
    pub fn dearer(&self, share: f64) -> impl Iterator<Item = (&Series, Changed)> {
        let changed = self.series.iter().filter_map(|s| Some((s, *s.changes.last()?)));
        changed.filter(move |(_, change)| change.ratio() > 1.0 + share)
    }

    /// Series of too few runs to find a change in.
    pub fn short(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|s| s.points.len() < FEWEST_FOR_CHANGE)
    }

    /// Series in which a step cannot be told from drift, with the correlation of neighbouring runs.
    pub fn drifting(&self) -> impl Iterator<Item = (&Series, f64)> {
        self.series.iter().filter_map(|s| Some((s, s.drift?)))
    }
}

/// Why there is no trend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoTrend {
    /// There are too few files.
    #[error("a trend needs at least two results files, and there {} here: give a folder with more", if *.0 == 1 { "is one" } else { "is none" })]
    FewFiles(usize),
    /// Nothing of the newest file is in another one.
    #[error("no cost of the newest file, {0}, is in any other file: a trend needs runs of the same study")]
    NothingInCommon(String),
}

/// The costs of these files; `now_unix_ns` is the time by this host's clock.
///
/// # Errors
/// If no cost is in two files.
pub fn trend(files: Vec<Brief>, now_unix_ns: u64) -> Result<Trend, NoTrend> {
    let given = files.len();
    if given < 2 {
        return Err(NoTrend::FewFiles(given));
    }
    let mut files = once(files);
    files.sort_by_key(Brief::started_unix_ns);
    let newest = files.last();
    let compared = newest.iter().flat_map(|file| &file.costs);
    let series: Vec<Series> = compared.filter_map(|cost| series(cost, &files)).collect();
    if !series.iter().any(|series| series.points.len() > 1) {
        let name = newest.map(|file| file.name.clone());
        return Err(NoTrend::NothingInCommon(name.unwrap_or_default()));
    }
    let copies = given - files.len();
    let files: Vec<TrendFile> = files.into_iter().map(TrendFile::of).collect();
    Ok(Trend {
        schema: SCHEMA,
        copies,
        notices: doubts_about_order(&files, now_unix_ns),
        files,
        series,
    })
}

impl TrendFile {
    fn of(brief: Brief) -> Self {
        Self {
            started_unix_ns: brief.started_unix_ns(),
            name: brief.name,
            tare: brief.tare,
            build: brief.build,
            agent: brief.agent,
        }
    }
}

/// Of files in the order of time.
fn doubts_about_order(files: &[TrendFile], now_unix_ns: u64) -> Vec<Notice> {
    /// The first moment of 2020.
    const EARLIEST_UNIX_NS: u64 = 1_577_836_800_000_000_000;
    let names = |files: Vec<&TrendFile>| files.iter().map(|file| file.name.clone()).collect();
    let begin = |is_wrong: &dyn Fn(u64) -> bool| -> Vec<&TrendFile> {
        files.iter().filter(|f| is_wrong(f.started_unix_ns)).collect()
    };
    let ahead = begin(&|start| start > now_unix_ns);
    let unset = begin(&|start| start < EARLIEST_UNIX_NS);
    let moments = files.chunk_by(|a, b| a.started_unix_ns == b.started_unix_ns);
    let same: Vec<&TrendFile> = moments.filter(|files| files.len() > 1).flatten().collect();
    let ahead = (!ahead.is_empty()).then(|| Notice::AheadOfNow { files: names(ahead) });
    let unset = (!unset.is_empty()).then(|| Notice::ClockUnset { files: names(unset) });
    let same = (!same.is_empty()).then(|| Notice::SameStart { files: names(same) });
    [ahead, unset, same].into_iter().flatten().collect()
}

fn series(of: &BriefCost, files: &[Brief]) -> Option<Series> {
    let study = &files.last()?.study;
    let point = |(i, file): (usize, &Brief)| {
        let found = file.cost(&of.cell).filter(|c| c.baseline == of.baseline)?;
        let is_alike = unlike((&file.study, study), &of.cell).is_none();
        Some(Point {
            file: i,
            n: found.n,
            cost: found.ratio.filter(|_| is_alike)?,
        })
    };
    let points: Vec<Point> = files.iter().enumerate().filter_map(point).collect();
    let logs: Vec<f64> = points.iter().map(|p| p.cost.value.ln()).collect();
    let found = change_points(&logs, FEWEST_AROUND_CHANGE, CHANGE_LEVEL, SEED);
    let judged = steps(&logs, found);
    Some(Series {
        cell: of.cell.clone(),
        baseline: of.baseline.clone(),
        metric: of.metric.clone(),
        changes: changes(&logs, &judged.changes),
        drift: judged.drift,
        points,
    })
}

/// Each change with what the cost was before and after.
fn changes(logs: &[f64], found: &[ChangePoint]) -> Vec<Changed> {
    let ends: Vec<usize> = found.iter().map(|c| c.at).chain([logs.len()]).collect();
    let cost = |from: usize, to: usize| mean(&logs[from..to]).map_or(f64::NAN, f64::exp);
    let mut from = 0;
    let mut changes = Vec::new();
    for (change, end) in found.iter().zip(&ends[1..]) {
        changes.push(Changed {
            at: change.at,
            p: change.p,
            before: cost(from, change.at),
            after: cost(change.at, *end),
        });
        from = change.at;
    }
    changes
}
