//! Standardised scores after li2018.

use super::definitions;
use crate::chart::Picture;
use crate::document::{Cell, Column, Section, Show, Table};
use tare_analysis::{Analysis, Score, ScoreAxis, ScoreTable};

const ABOUT: &str = "Each platform's mean over that of the best platform for rates, the inverse for times; 1 is the best. They have no intervals and carry no verdict.";

/// The standardised scores, then the definitions of all scores.
pub(super) fn section(analysis: &Analysis) -> Vec<Section> {
    let mut section =
        Section::evidence("Standardised scores (li2018: 1 is the best platform, no verdict)").about(ABOUT);
    for scored in &analysis.scores {
        section = section.picture(Picture::scores(scored));
    }
    let found = section.table(table(&analysis.scores)).unless_empty();
    found.into_iter().chain([definitions::section()]).collect()
}

/// A row per platform and metric: there may be many of either.
fn table(all: &[ScoreTable]) -> Table {
    let keys = ["provisioning", "size", "workload", "metric"].map(Column::name);
    let own = [Column::name("platform"), Column::number("score", "1 is the best")];
    let mut table = Table::new("scores", 4, super::columns(keys, own));
    let axes = all
        .iter()
        .flat_map(|scored| scored.axes.iter().map(move |axis| (scored, axis)));
    for (scored, axis) in axes {
        for score in &axis.scores {
            table.push_as(axis.primary, row(scored, axis, score));
        }
    }
    table
}

fn row(scored: &ScoreTable, axis: &ScoreAxis, score: &Score) -> Vec<Cell> {
    vec![
        scored.provisioning.to_string().into(),
        Cell::name(scored.instance.as_ref()),
        axis.workload.as_str().into(),
        axis.metric.as_str().into(),
        score.platform.to_string().into(),
        Cell::figure(score.score, Show::Decimals(3)),
    ]
}
