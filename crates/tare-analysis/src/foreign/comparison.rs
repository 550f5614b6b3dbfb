//! What is asked of foreign data, and one answer.

use super::Table;
use crate::run::MetricComparison;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Direction;

/// What is asked of foreign data.
#[derive(Debug, Clone, Copy)]
pub struct Wishes<'a> {
    /// Baseline of cells whose rows name none.
    pub baseline: Option<&'a str>,
    /// Direction of metrics whose rows name none.
    pub direction: Option<Direction>,
    /// Margin of equivalence as a ratio less 1.
    pub margin: f64,
    /// Threads that share the comparisons.
    pub threads: usize,
}

/// One metric of one cell against its baseline.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ForeignComparison<'a> {
    pub cell: &'a str,
    pub baseline: &'a str,
    /// Pairs with a value of 0 or less, which has no logarithm.
    pub without_logs: usize,
    /// The figures and the verdict.
    #[serde(flatten)]
    pub figures: MetricComparison<ForeignMetric<'a>>,
}

/// What is known of a metric of foreign data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ForeignMetric<'a> {
    #[serde(rename = "metric")]
    pub name: &'a str,
    /// Its unit, where the data name one.
    pub unit: Option<&'a str>,
    /// Which direction is better.
    pub direction: Direction,
}

/// What the table knows of a metric; `direction` where it names none, else lower.
pub(super) fn metric<'a>(table: &'a Table, metric: u32, direction: Option<Direction>) -> ForeignMetric<'a> {
    let facts = table.facts.get(metric as usize);
    ForeignMetric {
        name: table.metrics.name(metric),
        unit: facts.and_then(|f| f.unit.as_deref()),
        direction: facts
            .map_or(direction, |f| f.direction_or(direction))
            .unwrap_or(Direction::Lower),
    }
}
