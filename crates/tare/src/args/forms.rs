//! Output formats.

use super::file_to_make;
use clap::Args;
use std::path::PathBuf;

/// Output formats; text on standard output if none is chosen.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct FormArgs {
    /// Print all figures as JSON
    #[arg(long, global = true, conflicts_with_all = ["markdown", "csv"])]
    pub json: bool,
    /// Print Markdown, for example for a pull request
    #[arg(long, global = true, conflicts_with = "csv")]
    pub markdown: bool,
    /// Print tables as CSV with full precision; or one table by name, such as --csv=costs
    #[arg(long, global = true, value_name = "TABLE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub csv: Option<String>,
    /// Print plain ASCII text without colours and drawings, for logs and screen readers
    #[arg(long, global = true, conflicts_with_all = ["json", "markdown", "csv"])]
    pub plain: bool,
    /// Write a self-contained HTML page; replaces an older one
    #[arg(long, global = true, value_name = "FILE", value_parser = file_to_make())]
    pub html: Option<PathBuf>,
    /// Write each picture as SVG into this folder; replaces older ones
    #[arg(long, global = true, value_name = "DIR")]
    pub svg: Option<PathBuf>,
}

/// Output formats of commands that print costs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct CostFormArgs {
    #[command(flatten)]
    pub forms: FormArgs,
    /// Print costs in Bencher Metric Format, for `bencher run --adapter json`
    #[arg(long, conflicts_with_all = ["json", "markdown", "csv", "plain"])]
    pub bmf: bool,
    /// Print costs for github-action-benchmark, as its tool customSmallerIsBetter reads them
    #[arg(long, conflicts_with_all = ["json", "markdown", "csv", "plain", "bmf"])]
    pub github_benchmark: bool,
}

impl CostFormArgs {
    /// Whether standard output gets another format than text.
    pub fn prints_other(&self) -> bool {
        self.prints_costs() || self.forms.prints_other()
    }

    /// Whether no format is chosen: then text is printed.
    pub fn is_empty(&self) -> bool {
        !self.prints_costs() && self.forms.is_empty()
    }

    /// Whether standard output gets costs alone.
    pub const fn prints_costs(&self) -> bool {
        self.bmf || self.github_benchmark
    }
}

impl FormArgs {
    /// Whether standard output gets another format than text.
    pub fn prints_other(&self) -> bool {
        self.json || self.markdown || self.csv.is_some()
    }

    /// Whether no format is chosen: then text is printed.
    pub fn is_empty(&self) -> bool {
        !self.prints_other() && self.html.is_none() && self.svg.is_none()
    }
}
