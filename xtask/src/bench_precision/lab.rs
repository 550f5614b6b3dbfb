//! Studies by the binary under test, analysed as a report analyses them.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tare_analysis::Analysis;
use tare_analysis::{Estimate, MetricComparison};
use tare_model::results::Results;

/// The platform whose costs are those of `native`, but for a per cent or two.
pub const LIKE: &str = "crun";

/// The binary, and a folder for what its runs leave.
pub struct Lab {
    tare: PathBuf,
    folder: tempfile::TempDir,
}

impl Lab {
    /// With a folder that is removed with it.
    pub fn new() -> Result<Self> {
        Self::of(crate::tare_bin()?)
    }

    /// The same of another binary.
    pub fn of(tare: PathBuf) -> Result<Self> {
        Ok(Self {
            tare,
            // Below /var/tmp: roots of boxes lie there, and /tmp may forbid programs.
            folder: tempfile::tempdir_in("/var/tmp")?,
        })
    }

    /// For files of the bench.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A run of `native` beside another platform, each pinned to one CPU, to which options
    /// are added.
    pub fn study(&self, beside: &str) -> Command {
        let mut run = Command::new(&self.tare);
        run.args(["run", "-p", &format!("native,{beside}")]).args([
            "--provisioning",
            "pinned",
            "--cpus",
            "1",
        ]);
        run
    }

    /// Runs it; `what` follows the options.
    pub fn analyse(&self, mut run: Command, what: &[&Path]) -> Result<Analysis> {
        let file = self.folder().join("r.jsonl");
        let _ = std::fs::remove_file(&file);
        run.arg("-o")
            .arg(&file)
            .arg("--state-dir")
            .arg(self.folder().join("state"));
        if !what.is_empty() {
            run.arg("--").args(what);
        }
        let done = run.stdin(Stdio::null()).output().context("start tare")?;
        let words = String::from_utf8_lossy(&done.stderr);
        let last = words.trim().lines().next_back().unwrap_or_default();
        ensure!(done.status.success(), "tare run failed: {last}");
        Ok(tare_analysis::analyze(&Results::read(&file)?))
    }
}

/// Half-widths in logs of the intervals by workload. An error where a cell was not run
/// as it was asked to be, in slices or not, or has no interval.
pub fn half_widths(analysis: &Analysis, in_slices: bool) -> Result<BTreeMap<String, f64>> {
    let of = |comparison: &tare_analysis::Comparison| {
        let workload = comparison.cell.workload.clone();
        let told = comparison
            .primary()
            .and_then(|metric| interval(metric, in_slices));
        let told = told.with_context(|| format!("{workload} has no interval of its kind"))?;
        Ok((workload, half_width(told)))
    };
    analysis.comparisons.iter().map(of).collect()
}

fn interval(metric: &MetricComparison, in_slices: bool) -> Option<Estimate> {
    let sliced = metric.slices.as_ref().is_some_and(|s| s.blocks == metric.n);
    let paired = metric.paired.as_ref().filter(|_| sliced == in_slices);
    paired.map(|paired| paired.ratio)
}

/// Half of the interval of a ratio, in logs.
fn half_width(ratio: Estimate) -> f64 {
    (ratio.high / ratio.low).ln() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_width_is_that_of_logs_wherever_the_interval_lies() {
        for value in [0.5, 1.0, 3.0] {
            let ratio = Estimate {
                value,
                low: value * (-0.02_f64).exp(),
                high: value * 0.04_f64.exp(),
            };
            assert!((half_width(ratio) - 0.03).abs() < 1e-12);
        }
    }
}
