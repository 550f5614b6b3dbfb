//! What can be wrong with foreign data, and where.

use std::fmt;

/// Foreign data that cannot be analysed: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub struct DataError {
    /// The file as the user named it.
    source_name: String,
    /// Line, from 1, and column in characters, from 1.
    place: Option<(u64, Option<usize>)>,
    fault: Box<Fault>,
}

impl DataError {
    pub(super) fn whole(source: &str, fault: Fault) -> Self {
        Self {
            source_name: source.to_owned(),
            place: None,
            fault: Box::new(fault),
        }
    }

    pub(super) fn at(source: &str, line: u64, column: Option<usize>, fault: Fault) -> Self {
        Self {
            source_name: source.to_owned(),
            place: Some((line, column)),
            fault: Box::new(fault),
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source_name)?;
        match self.place {
            Some((line, Some(column))) => write!(f, ":{line}:{column}")?,
            Some((line, None)) => write!(f, ":{line}")?,
            None => {}
        }
        write!(f, ": {}", self.fault)
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    #[error(
        "no data: give a table with columns block, cell, metric and value, or one JSON object with these keys per line"
    )]
    Empty,
    #[error("this is a results file of tare: view it with 'tare report'")]
    ResultsFile,
    #[error("a header without rows: there is nothing to analyse")]
    NoRows,
    #[error("not text (NUL byte): give a table as text, such as CSV or JSON lines in UTF-8")]
    Binary,
    #[error("not UTF-8: save the table as UTF-8")]
    NotUtf8,
    #[error("a line of over {0} bytes: this is not a table in long form")]
    LongLine(usize),
    #[error(
        "no column '{0}': the first line must name the columns block, cell, metric and value, and may name baseline, direction and unit"
    )]
    MissingColumn(&'static str),
    #[error(
        "unknown column '{0}': there are block, cell, metric, value, baseline, direction and unit; remove other columns"
    )]
    UnknownColumn(String),
    #[error("column '{0}' is given twice: remove one")]
    RepeatedColumn(String),
    #[error(
        "{found} fields instead of {wanted} as in the first line: quote fields that contain the separator"
    )]
    Fields { found: usize, wanted: usize },
    #[error(
        "the closing quotation mark is missing: a field must end on its line, and quotation marks in it must be doubled"
    )]
    Unclosed,
    #[error("text after a closing quotation mark: double the quotation marks inside a field")]
    AfterQuote,
    #[error(
        "{0}: write one object per line with the keys block, cell, metric, value and optionally baseline, direction, unit"
    )]
    Json(String),
    #[error("a document of over {0} MiB: split it")]
    LongDocument(u64),
    #[error(
        "this is a JSON document, not a table: write one object per line with the keys block, cell, metric and value, or give the JSON of hyperfine, JMH, pytest-benchmark, Google Benchmark, criterion, github-action-benchmark or Bencher"
    )]
    Document,
    #[error("a JSON document that cannot be read: {0}")]
    BrokenDocument(String),
    #[error(
        "this is a summary by benchstat, without the single figures: give the files that benchstat read, as in 'tare analyze old=old-1.txt new=new-1.txt old=old-2.txt ...'"
    )]
    Benchstat,
    #[error("no benchmark in it has a figure")]
    NoFigures,
    #[error("a table names its own cells and blocks: give it alone, without a cell before it")]
    OneTable,
    #[error("value '{0}' is not a number: leave it empty if a trial has no result")]
    NotANumber(String),
    #[error(
        "value '{0}' is not a number: write it as digits with a point, without its unit or marks between thousands"
    )]
    NotPlain(String),
    #[error("value '{0}' is not a number: write it with a point, as {1}")]
    Comma(String, String),
    #[error("value '{0}' is not a number: write it without commas, as {1}")]
    Thousands(String, String),
    #[error(
        "value '{0}' has two readings: write {1} if its comma parts thousands, {2} if it is a decimal comma"
    )]
    TwoReadings(String, String, String),
    #[error("value '{0}' is not finite: write null if a trial has no result; its pair counts as lost")]
    JsonNotFinite(String),
    #[error("value '{0}' is not finite: leave it empty if a trial has no result; its pair counts as lost")]
    NotFinite(String),
    #[error("the {0} is empty: fill it in every row")]
    EmptyName(&'static str),
    #[error("direction '{0}': give higher or lower, whichever is better")]
    UnknownDirection(String),
    #[error(
        "a second value of metric '{metric}' of cell '{cell}' in block '{block}', the first is in line {line}: give each trial its own block"
    )]
    Repeated {
        block: String,
        cell: String,
        metric: String,
        line: u32,
    },
    #[error("{what} '{found}' of {of} '{name}', which was '{known}' before: give each {of} one {what}")]
    Contradiction {
        what: &'static str,
        of: &'static str,
        name: String,
        found: String,
        known: String,
    },
    #[error("baseline '{name}' of cell '{cell}' is not a cell: choose one of {cells}")]
    UnknownBaseline {
        name: String,
        cell: String,
        cells: String,
    },
    #[error("no cell '{name}' to use as the baseline: choose one of {cells}")]
    UnknownBaselineOption { name: String, cells: String },
    #[error("no baseline: choose the cell to compare the others with by --baseline, one of {cells}")]
    NoBaseline { cells: String },
    #[error("one cell, '{0}': there is nothing to compare it with")]
    OneCell(String),
    #[error(
        "one benchmark, '{0}': name a cell before each file to compare files, as in 'tare analyze old=1.json new=2.json'"
    )]
    OneBenchmark(String),
    #[error("{found} comparisons, but at most {most} at once: split the data by cell")]
    TooMany { found: usize, most: usize },
}

/// Text of the data within a message: short.
pub fn short(text: &str) -> String {
    const LETTERS: usize = 60;
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
