//! Every metric of every cell by itself.

use super::Table;
use super::comparison::{ForeignMetric, metric};
use super::pairs::finite;
use crate::run::Estimate;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::metric::Direction;
use tare_stats::{cv, mean, sd};

/// One metric of one cell, over all its values.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SeriesFigures<'a> {
    pub cell: &'a str,
    #[serde(flatten)]
    pub metric: ForeignMetric<'a>,
    /// Values.
    pub n: usize,
    /// Rows without a value: trials without a result.
    pub empty: usize,
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Coefficient of variation.
    pub cv: Option<f64>,
    /// Mean and its 95 % interval, which is not below 0 where no value is.
    pub interval: Option<Estimate>,
}

/// In the order of the cells, then of the metrics.
pub(super) fn figures(table: &Table, direction: Option<Direction>) -> Vec<SeriesFigures<'_>> {
    let mut order: Vec<_> = table.series.iter().collect();
    order.sort_by_key(|s| (s.cell, s.metric));
    let of = |series: &&super::table::Series| {
        let values = finite(&series.values);
        SeriesFigures {
            cell: table.cells.name(series.cell),
            metric: metric(table, series.metric, direction),
            n: values.len(),
            empty: series.values.len() - values.len(),
            mean: mean(&values),
            sd: sd(&values),
            cv: cv(&values),
            interval: Estimate::of_mean(&values),
        }
    };
    order.iter().map(of).collect()
}
