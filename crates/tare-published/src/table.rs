//! A table of a study, and its rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tare_model::metric::Direction;

/// Columns that hold a figure of their own.
const FIGURES: [&str; 8] = [
    "mean",
    "median",
    "p99",
    "limit",
    "percent",
    "cycles",
    "iops",
    "retransmissions",
];
/// Columns that hold the spread of the mean, or the number of runs behind it.
const SPREADS: [&str; 5] = ["sd", "sd_population", "mdev", "ci95", "n"];
/// Columns that hold a level of a factor.
const LEVELS: [&str; 15] = [
    "host",
    "setting",
    "threads",
    "connections",
    "streams",
    "sockets",
    "program",
    "report",
    "on",
    "file",
    "file_size_kB",
    "message_size_B",
    "block_kB",
    "vm_memory_MiB",
    "direction_of_transfer",
];

/// What the standard deviations of a table are taken over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub enum Spread {
    /// Runs, with n - 1 in the denominator.
    #[default]
    #[serde(rename = "runs")]
    Runs,
    /// Runs, with n in the denominator.
    #[serde(rename = "runs, population")]
    Population,
    /// Single requests of one run: says nothing of how runs differ.
    #[serde(rename = "requests")]
    Requests,
}

/// One table of a study.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(try_from = "Written")]
#[schemars(!try_from)]
pub struct Table {
    pub workload: String,
    /// The unit, as the study has it.
    pub unit: String,
    /// Which direction is better.
    pub direction: Direction,
    /// What its standard deviations are taken over.
    pub spread: Spread,
    /// Where the figures lie in the study's data.
    pub source: Option<String>,
    /// What a reader must know of them.
    pub note: Option<String>,
    /// The rows: one per platform, metric and levels.
    pub rows: Vec<Row>,
    /// Columns of the file that are named after platforms, to be checked against the study's.
    #[serde(skip)]
    pub(super) platform_columns: Vec<String>,
}

/// The figures of one platform, metric and combination of levels.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize)]
pub struct Row {
    /// The platform, by the study's name.
    pub platform: String,
    /// The metric; empty where the workload has one only.
    pub metric: String,
    /// Levels of the factors.
    pub levels: BTreeMap<String, String>,
    /// Figures, spreads and numbers of runs by column.
    pub figures: BTreeMap<String, f64>,
    /// Single runs, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<f64>,
    /// Unit of this row, where it is not the table's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Where this row was seen, where rows come from several places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_in: Option<String>,
}

impl Row {
    /// The figure in a column.
    pub fn figure(&self, column: &str) -> Option<f64> {
        self.figures.get(column).copied()
    }

    /// Figures of this row: spreads and numbers of runs do not count.
    pub fn count(&self) -> usize {
        let counted = self.figures.keys().filter(|c| FIGURES.contains(&c.as_str()));
        counted.count() + self.runs.len()
    }

    /// Whether a column of this row holds `level`.
    pub(super) fn holds(&self, column: &str, level: &str) -> bool {
        match column {
            "platform" => self.platform == level,
            "metric" => self.metric == level,
            _ => self.levels.get(column).is_some_and(|l| l == level),
        }
    }

    /// The level in a column; the metric counts as one.
    pub(super) fn level(&self, column: &str) -> Option<&str> {
        match column {
            "platform" => Some(&self.platform),
            "metric" => Some(&self.metric),
            _ => self.levels.get(column).map(String::as_str),
        }
    }
}

/// A table as it is written: rows are lists in the order of the columns.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    workload: String,
    unit: String,
    direction: Direction,
    #[serde(default)]
    spread: Spread,
    source: Option<String>,
    note: Option<String>,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a cell of a row is a number, text, or a list of numbers"
)]
enum Cell {
    Number(f64),
    Text(String),
    Runs(Vec<f64>),
}

impl TryFrom<Written> for Table {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let columns = &written.columns;
        let repeated = columns
            .iter()
            .enumerate()
            .find(|(i, c)| columns[..*i].contains(c));
        if let Some((_, column)) = repeated {
            return Err(format!("column '{column}' occurs twice"));
        }
        let is_known = |c: &str| {
            FIGURES.contains(&c)
                || SPREADS.contains(&c)
                || LEVELS.contains(&c)
                || ["platform", "metric", "runs", "unit", "seen_in"].contains(&c)
        };
        let platform_columns: Vec<String> = columns.iter().filter(|c| !is_known(c)).cloned().collect();
        if columns.iter().any(|c| c == "platform") != platform_columns.is_empty() {
            return Err(format!(
                "a table has either a column 'platform' or columns named after platforms: {}",
                columns.join(", ")
            ));
        }
        let rows = written.rows.into_iter().map(|cells| rows(columns, cells));
        let rows: Result<Vec<Vec<Row>>, String> = rows.collect();
        Ok(Self {
            workload: written.workload,
            unit: written.unit,
            direction: written.direction,
            spread: written.spread,
            source: written.source,
            note: written.note,
            rows: rows?.into_iter().flatten().collect(),
            platform_columns,
        })
    }
}

/// The rows that one written row stands for: as many as there are columns named after platforms.
fn rows(columns: &[String], cells: Vec<Cell>) -> Result<Vec<Row>, String> {
    if columns.len() != cells.len() {
        return Err(format!(
            "a row has {} cells for {} columns",
            cells.len(),
            columns.len()
        ));
    }
    let (mut row, mut wide) = (Row::default(), Vec::new());
    for (column, cell) in columns.iter().zip(cells) {
        place(&mut row, &mut wide, column, cell)?;
    }
    if wide.is_empty() {
        return Ok(vec![row]);
    }
    let of = |(platform, mean): (String, f64)| {
        let mut row = row.clone();
        row.platform = platform;
        row.figures.insert("mean".to_owned(), mean);
        row
    };
    Ok(wide.into_iter().map(of).collect())
}

fn place(row: &mut Row, wide: &mut Vec<(String, f64)>, column: &str, cell: Cell) -> Result<(), String> {
    let is_level = LEVELS.contains(&column);
    let is_figure = FIGURES.contains(&column) || SPREADS.contains(&column);
    match (column, cell) {
        ("platform", Cell::Text(text)) => row.platform = text,
        ("metric", Cell::Text(text)) => row.metric = text,
        ("unit", Cell::Text(text)) => row.unit = Some(text),
        ("seen_in", Cell::Text(text)) => row.seen_in = Some(text),
        ("runs", Cell::Runs(runs)) if runs.iter().all(|r| r.is_finite()) => row.runs = runs,
        (_, Cell::Text(text)) if is_level => drop(row.levels.insert(column.to_owned(), text)),
        (_, Cell::Number(n)) if is_level => drop(row.levels.insert(column.to_owned(), n.to_string())),
        (_, Cell::Number(n)) if is_figure && n.is_finite() => {
            row.figures.insert(column.to_owned(), n);
        }
        ("platform" | "metric" | "unit" | "seen_in" | "runs", _) => {
            return Err(format!("column '{column}' has a value of the wrong kind"));
        }
        (_, Cell::Number(n)) if !is_level && !is_figure && n.is_finite() => {
            wide.push((column.to_owned(), n));
        }
        _ => return Err(format!("column '{column}' has a value that is not a number")),
    }
    Ok(())
}
