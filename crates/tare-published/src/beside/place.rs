//! From a study's table to rows, and what of the results stands beside each.

use super::super::mapping::OwnWorkload;
use super::super::table::{Row as Printed, Spread, Table};
use super::judge::{Logs, judged};
use super::{Own, Row, Verdict};
use crate::{Library, Published};
use tare_analysis::{Analysis, Comparison, MetricComparison, Word};
use tare_model::platform::PlatformPath;
use tare_model::study::{Against, Workload};

/// A study and the results that are put beside it.
pub(super) struct Place<'a> {
    pub library: &'a Library,
    pub study: &'a Published,
    pub analysis: &'a Analysis,
}

impl Place<'_> {
    /// The rows of a table.
    pub fn table(&self, table: &Table) -> Vec<Row> {
        let own = match self.own_workload(table) {
            Ok(own) => own,
            Err(why) => return vec![whole(table, why)],
        };
        let is_baseline = |row: &&Printed| self.is_baseline(&row.platform);
        let rows = table.rows.iter().filter(|row| !is_baseline(row));
        rows.flat_map(|row| self.row(table, own, row)).collect()
    }

    /// A platform of the results that stands for the study's baseline, where the study has no
    /// figure of theirs.
    pub fn other_baseline(&self) -> Option<PlatformPath> {
        let mut rows = self.study.tables.iter().flat_map(|table| &table.rows);
        if rows.any(|row| self.is_baseline(&row.platform)) {
            return None;
        }
        let theirs = &self.study.study.baseline;
        let mut platforms = self.analysis.study.platforms.iter();
        platforms.find(|own| self.stands_for(theirs, own)).cloned()
    }

    /// The workload that stands beside a table's, if figures of it are in the results.
    fn own_workload(&self, table: &Table) -> Result<&OwnWorkload, String> {
        let mapping = &self.library.mapping;
        let own = mapping.own_workload(&table.workload);
        let own = own.ok_or("tare has no such workload")?;
        if let Some(why) = own.unlike.get(&self.study.study.id) {
            return Err(format!("another workload: {why}"));
        }
        let workloads = self.workloads(own);
        let Some(first) = workloads.first() else {
            return Err(format!("no workload {} in the results", own.own));
        };
        if !workloads.iter().any(|workload| own.is_of_size(workload.kernel())) {
            let (ours, theirs) = (first.kernel().map(|spec| spec.size), own.size);
            return Err(format!(
                "size {} here, {} there",
                ours.unwrap_or_default(),
                theirs.unwrap_or_default()
            ));
        }
        if !table.rows.iter().any(|row| self.is_baseline(&row.platform)) {
            let baseline = &self.analysis.study.baseline;
            return Err(format!("the study has no figure of your baseline, {baseline}"));
        }
        Ok(own)
    }

    /// The workloads of the results that may stand beside one of the study's.
    fn workloads(&self, own: &OwnWorkload) -> Vec<&Workload> {
        let workloads = self.analysis.study.workloads.iter();
        workloads.filter(|workload| workload.family == own.own).collect()
    }

    /// Whether a platform of the study is what own figures are held against.
    fn is_baseline(&self, platform: &str) -> bool {
        self.stands_for(platform, &self.analysis.study.baseline)
    }

    fn stands_for(&self, published: &str, own: &PlatformPath) -> bool {
        let names = self
            .library
            .mapping
            .own_platforms(&self.study.study.id, published);
        names.iter().any(|name| *name == without_particulars(own))
    }

    /// One row per own kind of box that stands beside a row of a table; else one that says why there is none.
    fn row(&self, table: &Table, own: &OwnWorkload, printed: &Printed) -> Vec<Row> {
        let row = |theirs, own_figure, verdict| Row {
            workload: table.workload.clone(),
            note: Some(own.note.clone()),
            metric: described(printed),
            platform: printed.platform.clone(),
            figures: 1,
            theirs,
            own: own_figure,
            verdict,
        };
        let theirs = self.theirs(table, printed);
        let figure = theirs.as_ref().ok().map(Logs::their_figure);
        let candidates = self.candidates(own, printed);
        match (theirs, candidates) {
            (Ok(theirs), Ok(candidates)) => {
                let judged = candidates.into_iter().map(|(comparison, metric)| {
                    let verdict = self.judge(comparison, metric, &theirs);
                    row(figure, own_figure(comparison, metric), verdict)
                });
                judged.collect()
            }
            (Err(why), _) | (_, Err(why)) => vec![row(figure, None, Verdict::NotComparable { why })],
        }
    }

    /// The study's overhead ratio of a row, in logs.
    fn theirs(&self, table: &Table, printed: &Printed) -> Result<Logs, String> {
        let alike = |row: &&Printed| row.metric == printed.metric && row.levels == printed.levels;
        let mut baselines = table.rows.iter().filter(alike);
        let baseline = baselines.find(|row| self.is_baseline(&row.platform));
        let baseline = baseline
            .ok_or_else(|| format!("the study has no such figure of {}", self.analysis.study.baseline))?;
        let mean = |row: &Printed| row.figure("mean").ok_or("the study prints no mean");
        let value = table.direction.loss_in_logs(mean(printed)?, mean(baseline)?);
        Ok(Logs {
            value: value.ok_or("the study's figure has no ratio")?,
            parts: [self.error(table, printed), self.error(table, baseline)],
        })
    }

    /// Variance of the log of a printed mean, (S / M)^2 / n, and its degrees of freedom.
    fn error(&self, table: &Table, row: &Printed) -> Option<(f64, f64)> {
        let n = row.figure("n").or_else(|| self.study.repetitions())?;
        let sd = row.figure("sd").filter(|_| n >= 2.0)?;
        let sd = match table.spread {
            Spread::Runs => sd,
            Spread::Population => sd * (n / (n - 1.0)).sqrt(),
            Spread::Requests => return None,
        };
        let variance = (sd / row.figure("mean")?).powi(2) / n;
        variance.is_finite().then_some((variance, n - 1.0))
    }

    /// Own comparisons that stand beside a row.
    fn candidates(
        &self,
        own: &OwnWorkload,
        printed: &Printed,
    ) -> Result<Vec<(&Comparison, &MetricComparison)>, String> {
        let metric = own.own_metric(&printed.metric);
        let metric = metric.ok_or_else(|| format!("workload {} has no such metric", own.own))?;
        let names = self
            .library
            .mapping
            .own_platforms(&self.study.study.id, &printed.platform);
        if names.is_empty() {
            return Err("tare has no such platform".to_owned());
        }
        let fitting = self.workloads(own).into_iter();
        let fitting = fitting.filter(|workload| own.is_of_size(workload.kernel()));
        let workloads: Vec<&str> = fitting.map(Workload::name).collect();
        let found = self.analysis.comparisons.iter().filter_map(|c| {
            let fits = c.against == Against::Native
                && workloads.contains(&c.cell.workload.as_str())
                && self.stands_for(&printed.platform, &c.cell.kind.platform);
            let metric = c.metrics.iter().find(|m| m.metric.name == metric)?;
            fits.then_some((c, metric))
        });
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            return Err(format!("no {} in the results", names.join(" or ")));
        }
        Ok(found)
    }

    fn judge(&self, comparison: &Comparison, metric: &MetricComparison, theirs: &Logs) -> Verdict {
        match self.obstacle(comparison, metric) {
            Some(why) => Verdict::NotComparable { why },
            None => judged(metric, theirs).unwrap_or_else(|| Verdict::NotComparable {
                why: "the results have too few pairs of it".to_owned(),
            }),
        }
    }

    /// Why an own figure cannot be held against any other.
    fn obstacle(&self, comparison: &Comparison, metric: &MetricComparison) -> Option<String> {
        let kinds = [&comparison.cell.kind.platform, &comparison.baseline.kind.platform];
        let emulated = |p: &&tare_analysis::PlatformFacts| p.emulated() && kinds.contains(&&p.platform);
        if let Some(facts) = self.analysis.platforms.iter().find(emulated) {
            return Some(format!("{} was emulated here", facts.platform));
        }
        let verdict = metric.verdict.as_ref();
        let verdict = verdict.or_else(|| comparison.primary()?.verdict.as_ref())?;
        (verdict.word == Word::None).then(|| format!("no verdict here: {}", verdict.reasons()))
    }
}

fn whole(table: &Table, why: String) -> Row {
    Row {
        workload: table.workload.clone(),
        note: None,
        metric: String::new(),
        platform: String::new(),
        figures: table.rows.iter().map(Printed::count).sum(),
        theirs: None,
        own: None,
        verdict: Verdict::NotComparable { why },
    }
}

fn described(row: &Printed) -> String {
    let levels = row
        .levels
        .iter()
        .map(|(factor, level)| format!("{factor} {level}"));
    let parts: Vec<String> = std::iter::once(row.metric.clone()).chain(levels).collect();
    parts.join(", ")
}

/// The path as text, without the accelerator, since whether it emulated is told apart, and
/// without a network of its boxes' own, which makes no other platform of it; that of the host does.
fn without_particulars(path: &PlatformPath) -> String {
    let segment = |segment: &tare_model::platform::PlatformSegment| {
        let mut segment = segment.clone();
        segment.options.remove("accel");
        let network = segment.options.get("network").map(String::as_str);
        if matches!(network, Some("bridge" | "published")) {
            segment.options.remove("network");
        }
        PlatformPath::from(segment).to_string()
    };
    let segments: Vec<String> = path.segments().iter().map(segment).collect();
    segments.join("/")
}

fn own_figure(comparison: &Comparison, metric: &MetricComparison) -> Option<Own> {
    Some(Own {
        cell: comparison.cell.to_string(),
        n: metric.n,
        ratio: metric.paired.as_ref()?.ratio,
    })
}
