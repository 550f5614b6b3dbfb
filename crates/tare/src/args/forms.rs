//! The forms in which figures are told.

use super::file_to_make;
use clap::Args;
use std::path::PathBuf;

/// How figures are told; as text on a terminal where nothing is asked for.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Forms")]
pub struct FormArgs {
    /// Print JSON: every figure, no sentence
    #[arg(long, global = true, conflicts_with_all = ["markdown", "csv"])]
    pub json: bool,
    /// Print Markdown, such as for a pull request
    #[arg(long, global = true, conflicts_with = "csv")]
    pub markdown: bool,
    /// Print the tables as CSV, figures with all their digits; one of them alone by its name, such as --csv=costs
    #[arg(long, global = true, value_name = "TABLE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub csv: Option<String>,
    /// Print text without colours, drawings and letters beyond ASCII, as for a log or a screen reader
    #[arg(long, global = true, conflicts_with_all = ["json", "markdown", "csv"])]
    pub plain: bool,
    /// Write a page: one file that needs no network; an older one is replaced
    #[arg(long, global = true, value_name = "FILE", value_parser = file_to_make())]
    pub html: Option<PathBuf>,
    /// Write each picture as SVG into this folder; older ones are replaced
    #[arg(long, global = true, value_name = "DIR")]
    pub svg: Option<PathBuf>,
}

impl FormArgs {
    /// Whether something else than text is to be printed.
    pub fn prints_other(&self) -> bool {
        self.json || self.markdown || self.csv.is_some()
    }

    /// Whether nothing is asked for: then text is printed.
    pub fn is_empty(&self) -> bool {
        !self.prints_other() && self.html.is_none() && self.svg.is_none()
    }
}
