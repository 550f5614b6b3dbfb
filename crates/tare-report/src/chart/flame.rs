//! A differential flame graph: where a cell's CPU time goes in the kernel, and where that is more or less than in its baseline.

use super::{LETTER, px, shortened};
use crate::words::causes::seconds;
use std::collections::BTreeMap;
use tare_analysis::{Beside, Evidence};
use tare_model::evidence::{Look, ProbeSet, Stack};

pub(super) const CAPTION: &str = "CPU time of a unit of work of the box by the functions of the kernel, callers below: as wide as it is long. Orange: more than in the baseline, by over 1 % of a unit and four standard errors of the samples; blue: less; grey: not shown to differ.";

/// Columns and rows.
const WIDTH: f64 = 900.0;
const ROW: f64 = 17.0;
const TITLE: f64 = 24.0;
/// What is narrower is not seen.
const NARROWEST: f64 = 1.5;
/// From which part of a unit on a colour is the strongest.
const STRONG: f64 = 0.05;
/// Letters in the boxes are smaller.
const SMALL: f64 = 0.8;

/// A drawing.
#[derive(Debug, Clone)]
pub struct Flame {
    pub(super) id: String,
    pub(crate) title: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) frames: Vec<Frame>,
}

/// A function, as called from those below it.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub x: String,
    pub y: String,
    pub width: String,
    pub height: f64,
    pub class: String,
    pub label: String,
    pub label_x: String,
    pub label_y: String,
    pub told: String,
}

/// Time in a function and in those that it calls, in nanoseconds of a unit.
#[derive(Debug, Default)]
struct Node {
    time: Beside,
    /// Of the difference, from the samples.
    variance: f64,
    calls: BTreeMap<String, Self>,
}

impl Node {
    fn add(&mut self, frames: &str, time: Beside, variance: f64) {
        let mut node = self;
        node.take(time, variance);
        for name in frames.split(';') {
            node = node.calls.entry(name.to_owned()).or_default();
            node.take(time, variance);
        }
    }

    fn take(&mut self, time: Beside, variance: f64) {
        self.time.baseline += time.baseline;
        self.time.cell += time.cell;
        self.variance += variance;
    }

    /// How much longer it takes, over the time of a unit; 0 where that may be chance.
    fn shown_change(&self, whole: f64) -> f64 {
        if self.time.differs(self.variance.sqrt(), whole) {
            self.time.difference() / whole
        } else {
            0.0
        }
    }

    fn depth(&self, scale: f64) -> u32 {
        let seen = self
            .calls
            .values()
            .filter(|node| node.time.cell * scale >= NARROWEST);
        seen.map(|node| node.depth(scale) + 1).max().unwrap_or(0)
    }
}

/// `None` where no function differs: a graph in grey shows nothing that the table does not.
pub(super) fn draw(evidence: &Evidence) -> Option<Flame> {
    if !evidence.functions.iter().any(|function| function.differs) {
        return None;
    }
    let (cell, baseline) = (&evidence.cell, &evidence.baseline.kind);
    let records = &evidence.records;
    let looks = [&records.baseline, &records.cell].map(|record| record.by(ProbeSet::Stacks));
    let mut root = Node::default();
    for (look, is_cell) in [(looks[0]?, false), (looks[1]?, true)] {
        for stack in look.on_cpu() {
            let (time, variance) = per_unit(look, stack);
            let time = if is_cell {
                Beside {
                    baseline: 0.0,
                    cell: time,
                }
            } else {
                Beside {
                    baseline: time,
                    cell: 0.0,
                }
            };
            root.add(&stack.frames, time, variance);
        }
    }
    if root.time.cell <= 0.0 {
        return None;
    }
    let scale = WIDTH / root.time.cell;
    let height = TITLE + ROW * f64::from(root.depth(scale));
    let mut frames = Vec::new();
    let whole = root.time.baseline.max(root.time.cell);
    place(&root, (0.0, height), scale, whole, &mut frames);
    Some(Flame {
        id: format!("flame-{}", slug(&format!("{cell}-{baseline}"))),
        title: format!(
            "{cell} against {baseline}, CPU time of a unit: {} (baseline {})",
            seconds(root.time.cell),
            seconds(root.time.baseline)
        ),
        width: WIDTH,
        height,
        frames,
    })
}

/// Letters, digits and hyphens.
fn slug(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    name.chars().map(keep).collect()
}

/// Time of a unit in a stack, and its variance: that of a number of rare events is the number.
#[expect(clippy::cast_precision_loss, reason = "a length to be drawn")]
fn per_unit(look: &Look, stack: &Stack) -> (f64, f64) {
    let time = look.per_unit(stack.ns);
    (time, time * time / stack.n.max(1) as f64)
}

/// Draws what a node calls, from the left edge and bottom that are given.
fn place(node: &Node, (left, bottom): (f64, f64), scale: f64, whole: f64, frames: &mut Vec<Frame>) {
    let mut x = left;
    for (name, called) in &node.calls {
        let width = called.time.cell * scale;
        if width >= NARROWEST {
            frames.push(frame(name, called, (x, bottom - ROW, width), whole));
            place(called, (x, bottom - ROW), scale, whole, frames);
        }
        x += width;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few letters"
)]
fn frame(name: &str, node: &Node, (x, y, width): (f64, f64, f64), whole: f64) -> Frame {
    let letters = ((width - 4.0) / (LETTER * SMALL)).max(0.0) as usize;
    let (time, change) = (node.time, node.shown_change(whole));
    let side = if change > 0.0 { "slower" } else { "faster" };
    let strength = (change.abs() / STRONG * 3.0).min(3.0) as u32;
    Frame {
        x: px(x),
        y: px(y),
        width: px(width),
        height: ROW - 1.0,
        class: if change == 0.0 {
            "alike".to_owned()
        } else {
            format!("{side}-{strength}")
        },
        label: if letters < 5 {
            String::new()
        } else {
            shortened(name, letters)
        },
        label_x: px(x + 2.0),
        label_y: px(y + 12.0),
        told: format!(
            "{name}: {} (baseline {})",
            seconds(time.cell),
            seconds(time.baseline)
        ),
    }
}
