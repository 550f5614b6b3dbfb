//! What a reader of any figure of foreign data must know.

use super::Table;
use super::comparison::{ForeignComparison, Wishes};
use crate::run::Notice;

pub(super) fn all(table: &Table, wishes: Wishes, comparisons: &[ForeignComparison]) -> Vec<Notice> {
    let mut notices = Vec::new();
    notices.extend((table.files > 0).then_some(Notice::Repetitions { files: table.files }));
    notices.extend(order(table));
    notices.extend(directions(table, wishes));
    notices.extend(uncompared(table, comparisons));
    notices.extend(without_logs(comparisons));
    notices.extend(without_spread(comparisons));
    notices
}

fn order(table: &Table) -> Option<Notice> {
    table.blocks.named.then_some(Notice::BlockOrder)
}

fn directions(table: &Table, wishes: Wishes) -> Option<Notice> {
    let facts = table.facts.iter().zip(table.metrics.all());
    let unnamed = facts.filter(|(facts, _)| facts.direction_or(wishes.direction).is_none());
    let metrics: Vec<String> = unnamed.map(|(_, name)| name.clone()).collect();
    (!metrics.is_empty()).then_some(Notice::Direction { metrics })
}

/// Cells that are neither compared nor a baseline.
fn uncompared(table: &Table, comparisons: &[ForeignComparison]) -> Option<Notice> {
    let mut used: Vec<&str> = comparisons.iter().flat_map(|c| [c.cell, c.baseline]).collect();
    used.sort_unstable();
    used.dedup();
    let unused = table.cells.all().iter();
    let unused = unused.filter(|cell| used.binary_search(&cell.as_str()).is_err());
    let cells: Vec<String> = unused.cloned().collect();
    (!cells.is_empty()).then_some(Notice::WithoutBaseline { cells })
}

fn without_logs(comparisons: &[ForeignComparison]) -> Option<Notice> {
    let without = comparisons.iter().filter(|c| c.without_logs > 0).count();
    (without > 0).then_some(Notice::NoLogarithm {
        comparisons: without,
        of: comparisons.len(),
    })
}

/// Spread in logs below which a series is constant but for rounding.
const ROUNDING: f64 = 1e-12;

fn without_spread(comparisons: &[ForeignComparison]) -> Option<Notice> {
    let constant = |c: &&ForeignComparison| c.figures.paired.as_ref().is_some_and(|p| p.sd_log < ROUNDING);
    let found = comparisons.iter().filter(constant).count();
    (found > 0).then_some(Notice::NoSpread {
        comparisons: found,
        of: comparisons.len(),
    })
}
