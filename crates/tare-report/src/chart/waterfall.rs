//! The waterfall: from the baseline's cost to the box's, a step for each part of the gap.

use super::frame::{Frame, PLOT, ROW, tops};
use super::scale::Scale;
use super::{GAP, px, room};
use crate::show::percent_with_interval;
use crate::words::why::ratio_of;
use tare_analysis::Estimate;
use tare_analysis::why::{Amount, Gap};

pub(super) const CAPTION: &str = "From the baseline's cost (1) to that of the platform: what each mechanism adds, the rest, and the 95 % interval of each step at its end. Orange adds, blue takes off, olive is not shown to do either.";

/// The height of a bar.
const BAR: f64 = 12.0;

/// A drawing.
#[derive(Debug, Clone)]
pub struct Waterfall {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) text_x: String,
    /// The height of a bar.
    pub(crate) bar: f64,
    pub(crate) panels: Vec<Panel>,
}

/// One gap.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub frame: Frame,
    pub rows: Vec<Row>,
}

/// One step.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub name: String,
    pub figures: String,
    pub text_y: String,
    pub y: String,
    pub class: &'static str,
    pub bar_x: String,
    pub bar_y: String,
    pub bar_width: String,
    pub low: String,
    pub high: String,
}

/// A step before it has a place: where it begins, and how far it goes.
struct Step {
    name: String,
    from: f64,
    adds: Estimate,
    class: &'static str,
}

impl Step {
    /// Where it ends, over the baseline's cost.
    fn end(&self) -> Estimate {
        let at = ratio_of(self.adds);
        Estimate {
            value: self.from + at.value,
            low: self.from + at.low,
            high: self.from + at.high,
        }
    }

    fn figures(&self) -> String {
        percent_with_interval(self.adds.value, self.adds.low, self.adds.high)
    }

    /// The colour of what is shown to have part in the gap, and of what is not.
    fn class(amount: &Amount) -> &'static str {
        match amount.has_part {
            true if amount.adds.value > 0.0 => "slower",
            true => "faster",
            false => "inconclusive",
        }
    }
}

pub(super) fn draw(gaps: &[Gap]) -> Option<Waterfall> {
    let all: Vec<(&Gap, Vec<Step>)> = gaps.iter().filter_map(|gap| Some((gap, steps(gap)?))).collect();
    let texts = |of: &dyn Fn(&Step) -> String| {
        let texts: Vec<String> = all.iter().flat_map(|(_, steps)| steps).map(of).collect();
        room(texts.iter().map(String::as_str))
    };
    let text = texts(&|step| step.name.clone()) + GAP;
    let left = text + texts(&Step::figures) + GAP;
    let mut y = 0.0;
    let panels: Vec<Panel> = all
        .iter()
        .map(|(gap, steps)| panel(gap, steps, left, &mut y))
        .collect();
    (!panels.is_empty()).then(|| Waterfall {
        width: (left + PLOT + GAP).ceil(),
        height: y,
        text_x: px(text),
        bar: BAR,
        panels,
    })
}

/// What adds most first, then the rest, then all together; `None` if a part is not told.
fn steps(gap: &Gap) -> Option<Vec<Step>> {
    let parts = gap.parts.iter().map(|part| Some((part.mechanism, part.amount?)));
    let rest = [gap.rest.map(|rest| ("rest", rest))];
    let mut steps = Vec::new();
    let mut from = 0.0;
    for part in parts.chain(rest) {
        let (name, amount) = part?;
        steps.push(Step {
            name: name.to_owned(),
            from,
            adds: amount.adds,
            class: Step::class(&amount),
        });
        from += amount.adds.value;
    }
    steps.push(Step {
        name: gap.cell.kind.platform.to_string(),
        from: 0.0,
        adds: gap.gap?,
        class: "none",
    });
    Some(steps)
}

fn panel(gap: &Gap, steps: &[Step], left: f64, y: &mut f64) -> Panel {
    let ends: Vec<Estimate> = steps.iter().map(Step::end).collect();
    let scale = Scale::around(&ends, 0.0, (left, left + PLOT));
    let rows = steps.iter().zip(tops(*y));
    Panel {
        rows: rows.map(|(step, at)| row(step, &scale, at)).collect(),
        frame: Frame::of(
            &format!("{} against {}", gap.cell, gap.baseline.kind),
            &scale,
            left,
            steps.len(),
            y,
        ),
    }
}

fn row(step: &Step, scale: &Scale, top: f64) -> Row {
    let middle = top + ROW / 2.0;
    let end = step.end();
    let (from, to) = (scale.at(1.0 + step.from), scale.at(end.value));
    Row {
        name: step.name.clone(),
        figures: step.figures(),
        text_y: px(middle + 4.0),
        y: px(middle),
        class: step.class,
        bar_x: px(from.min(to)),
        bar_y: px(middle - BAR / 2.0),
        bar_width: px((to - from).abs().max(1.0)),
        low: px(scale.at(end.low)),
        high: px(scale.at(end.high)),
    }
}
