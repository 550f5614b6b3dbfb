//! The cost in every block of a study, along time.

use super::course::{Course, Point, Series, draw as draw_course};
use crate::show::ratio;
use tare_analysis::{Analysis, BlockCost, Comparison};

/// A panel for each comparison, with findings marked.
pub(super) fn draw(analysis: &Analysis) -> Option<Course> {
    let series: Vec<Series> = analysis.asked().map(series).collect();
    let caption = "Cost over the baseline per block, over time; the line is their typical cost. Orange: a trial of the pair has a finding. The band is the margin.";
    draw_course(
        "blocks",
        "Every block",
        caption,
        &series,
        analysis.study.protocol.margin,
    )
}

fn series(comparison: &Comparison) -> Series {
    let point = |of: &BlockCost| {
        let findings = of.findings.join(", ");
        let why = if findings.is_empty() {
            String::new()
        } else {
            format!(" ({findings})")
        };
        Point {
            cost: of.cost,
            interval: None,
            doubtful: !of.findings.is_empty(),
            title: format!("block {}: {}{why}", of.block + 1, ratio(of.cost)),
        }
    };
    let points: Vec<Point> = comparison.course.iter().map(point).collect();
    let level = comparison
        .ratio()
        .map(|e| (0, points.len().saturating_sub(1), e.value));
    Series {
        title: comparison.cell.to_string(),
        levels: level.into_iter().collect(),
        points,
    }
}
