//! The frame of a panel of rows over one scale of costs: title, ticks, and the line at 1.

use super::px;
use super::scale::{Scale, Tick};
use std::iter::successors;

/// The columns of a scale, in the drawing's own units.
pub(super) const PLOT: f64 = 360.0;
/// The height of a row.
pub(super) const ROW: f64 = 20.0;
const TITLE: f64 = 34.0;
const AXIS: f64 = 24.0;

/// All but the rows.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub title: String,
    pub title_y: String,
    pub left: String,
    pub plot: f64,
    pub top: String,
    pub height: String,
    pub bottom: String,
    pub axis_y: String,
    pub one_x: String,
    pub ticks: Vec<Tick>,
}

impl Frame {
    /// A frame for so many rows whose scale begins at `left`, below what reaches down to `y`, which it moves on.
    pub(super) fn of(title: &str, scale: &Scale, left: f64, rows: usize, y: &mut f64) -> Self {
        let top = *y + TITLE;
        let bottom = tops(*y).nth(rows).unwrap_or(top);
        *y = bottom + AXIS;
        Self {
            title: format!("{title}{}", scale.note()),
            title_y: px(top - 10.0),
            left: px(left),
            plot: PLOT,
            top: px(top),
            height: px(bottom - top),
            bottom: px(bottom),
            axis_y: px(bottom + 15.0),
            one_x: px(scale.at(1.0)),
            ticks: scale.ticks(),
        }
    }
}

/// Where the rows of a frame begin that lies below what reaches down to `y`.
pub(super) fn tops(y: f64) -> impl Iterator<Item = f64> {
    successors(Some(y + TITLE), |top| Some(top + ROW))
}
