//! Costs over the runs of some files.

use super::course::{Course, Point, Series, draw as draw_course};
use crate::show::{date, ratio_with_interval};
use tare_analysis::trend::{self, Trend};

/// No verdict rests on a picture of many runs: the margin is that of most studies.
const MARGIN: f64 = 0.01;

/// A panel for each cost.
pub(super) fn draw(trend: &Trend) -> Option<Course> {
    let series: Vec<Series> = trend.series.iter().map(|of| series(trend, of)).collect();
    let caption = "Cost over the baseline per run with its 95 % interval, over time. Lines: the level between changes. The band is 1 %.";
    draw_course("trend", "Costs over time", caption, &series, MARGIN)
}

fn series(trend: &Trend, of: &trend::Series) -> Series {
    let point = |point: &trend::Point| {
        let file = &trend.files[point.file];
        let cost = point.cost;
        Point {
            cost: cost.value,
            interval: Some((cost.low, cost.high)),
            doubtful: false,
            title: format!(
                "{}, {}: {}",
                date(file.started_unix_ns),
                file.name,
                ratio_with_interval(cost.value, cost.low, cost.high)
            ),
        }
    };
    Series {
        title: of.cell.to_string(),
        points: of.points.iter().map(point).collect(),
        levels: levels(of),
    }
}

/// What the cost was from change to change.
fn levels(of: &trend::Series) -> Vec<(usize, usize, f64)> {
    let mut levels = Vec::new();
    let mut from = 0;
    for change in &of.changes {
        levels.push((from, change.at - 1, change.before));
        from = change.at;
    }
    levels.extend(
        of.changes
            .last()
            .map(|last| (from, of.points.len() - 1, last.after)),
    );
    levels
}
