//! Several figures of one kind on each row of a logarithmic scale: percentiles of a cell, the costs
//! that it has, how long its box takes to start.

use super::scale::Tick;
use super::{GAP, px, room, shortened};
use crate::show::ratio;
use tare_analysis::Analysis;
use tare_model::load::PERCENTILES;
use tare_model::metric::Unit;

/// Columns of the drawing, in its own units.
const PLOT: f64 = 420.0;
/// Between names in the legend.
const LEGEND_STEP: f64 = 130.0;
/// Heights.
const LEGEND: f64 = 34.0;
const ROW: f64 = 20.0;
const AXIS: f64 = 26.0;
/// Half of the height of a mark.
const MARK: f64 = 4.0;
/// Letters that fit into the columns of names.
const WORKLOAD_LETTERS: usize = 34;
const KIND_LETTERS: usize = 33;
/// Longer pictures are not looked at: the tables have every figure.
const MOST: usize = 80;

/// A drawing.
#[derive(Debug, Clone)]
pub struct Dots {
    pub(super) id: &'static str,
    pub(super) caption: &'static str,
    pub(crate) label: String,
    pub(crate) width: f64,
    pub(crate) height: String,
    pub(crate) kind_x: f64,
    pub(crate) left: f64,
    pub(crate) plot: f64,
    pub(crate) top: f64,
    pub(crate) plot_height: String,
    pub(crate) bottom: String,
    pub(crate) axis_y: String,
    pub(crate) legend: Vec<Mark>,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub workload: String,
    pub kind: String,
    pub text_y: String,
    pub y: String,
    pub from: String,
    pub to: String,
    pub marks: Vec<Mark>,
}

/// One figure, or its place in the legend.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub class: String,
    pub path: String,
    pub title: String,
    pub text_x: String,
}

/// A row before it has a place.
struct Entry {
    workload: String,
    kind: String,
    figures: Vec<Option<f64>>,
}

impl Entry {
    /// With names that find room: a name alone has that of both.
    fn shortened(self) -> Self {
        let letters = if self.kind.is_empty() {
            WORKLOAD_LETTERS + KIND_LETTERS
        } else {
            WORKLOAD_LETTERS
        };
        Self {
            workload: shortened(&self.workload, letters),
            kind: shortened(&self.kind, KIND_LETTERS),
            ..self
        }
    }
}

/// Request latency.
pub(super) fn latencies(analysis: &Analysis) -> Option<Dots> {
    let entries = analysis.latencies.iter().map(|of| Entry {
        workload: of.cell.workload.clone(),
        kind: of.cell.kind.to_string(),
        figures: of.percentiles.into(),
    });
    draw(Plan {
        id: "latencies",
        label: "Request latency",
        caption: "Latency percentiles of requests, each with at least ten slower requests.",
        legend: PERCENTILES.map(|(name, _)| name).into(),
        entries: entries.collect(),
        show: |seconds| Unit::Second.show_briefly(seconds),
    })
}

/// A ratio without needless decimals.
fn ratio_on_axis(value: f64) -> String {
    ratio(value)
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// Typical, mean and CPU cost beside one another.
pub(super) fn costs(analysis: &Analysis) -> Option<Dots> {
    let of = |comparison: &tare_analysis::Comparison| {
        let slices = comparison.primary()?.slices.as_ref()?;
        let cpu = slices.cpu.as_ref().map(|cpu| cpu.cost.ratio.value);
        Some(Entry {
            workload: comparison.cell.workload.clone(),
            kind: comparison.cell.kind.to_string(),
            figures: vec![slices.typical.map(|e| e.value), slices.mean.map(|e| e.value), cpu],
        })
    };
    draw(Plan {
        id: "typical-mean-cpu",
        label: "Typical, mean and CPU cost",
        caption: "The typical cost carries the verdict; the mean includes rare stalls; the CPU cost counts only CPU time. If the mean is right of the typical cost, the platform costs stalls; if the CPU cost is left of both, it waits rather than works.",
        legend: vec!["typical cost", "mean cost", "CPU cost"],
        entries: analysis.real().filter_map(of).collect(),
        show: ratio_on_axis,
    })
}

/// The noise of each cell over that of its baseline, with the ends of its interval where it has one.
pub(super) fn steadiness(analysis: &Analysis) -> Option<Dots> {
    let of = |comparison: &tare_analysis::Comparison| {
        let steady = comparison.primary()?.steadiness.as_ref()?;
        Some(Entry {
            workload: comparison.cell.workload.clone(),
            kind: comparison.cell.kind.to_string(),
            figures: vec![Some(steady.value), steady.low, steady.high],
        })
    };
    draw(Plan {
        id: "steadiness",
        label: "Steadiness",
        caption: "Noise between blocks over the baseline's, without slow drift: right of 1 is less steady, left of it steadier. From 30 pairs on, with the ends of its 95 % interval; with fewer, figures far from 1 are often chance.",
        legend: vec!["steadiness ratio", "lower end", "upper end"],
        entries: analysis.real().filter_map(of).collect(),
        show: ratio_on_axis,
    })
}

/// How long boxes take to start and to go.
pub(super) fn starts(analysis: &Analysis) -> Option<Dots> {
    let entries = analysis.boxes.iter().map(|of| Entry {
        workload: of.kind.to_string(),
        kind: String::new(),
        figures: vec![of.startup.median, of.shutdown.median],
    });
    draw(Plan {
        id: "start-up",
        label: "Start-up and shut-down",
        caption: "Medians of the time from the request for a box until it answers, and from the request to remove it until nothing of it is left.",
        legend: vec!["start-up", "shut-down"],
        entries: entries.collect(),
        show: |seconds| Unit::Second.show_briefly(seconds),
    })
}

/// What is to be drawn.
struct Plan {
    id: &'static str,
    label: &'static str,
    caption: &'static str,
    legend: Vec<&'static str>,
    entries: Vec<Entry>,
    show: fn(f64) -> String,
}

fn draw(plan: Plan) -> Option<Dots> {
    let has_figure = |entry: &Entry| entry.figures.iter().any(|f| is_drawn(*f));
    let entries = plan.entries.into_iter().filter(has_figure);
    let entries: Vec<Entry> = entries.map(Entry::shortened).collect();
    let kind_x = (room(entries.iter().map(|e| e.workload.as_str())) + GAP).ceil();
    let left = (kind_x + room(entries.iter().map(|e| e.kind.as_str())) + GAP).ceil();
    let figures = entries.iter().flat_map(|e| e.figures.iter().copied().flatten());
    let axis = Axis::of(figures, left)?;
    if entries.len() > MOST {
        return None;
    }
    let tops = (0_u32..).map(|i| LEGEND + ROW * f64::from(i));
    let rows = entries.iter().zip(tops);
    let rows: Vec<Row> = rows
        .map(|(entry, top)| row(entry, &plan.legend, &axis, plan.show, top))
        .collect();
    let bottom = rows.iter().fold(LEGEND, |y, _| y + ROW);
    let tick = |value: &f64| Tick {
        x: px(axis.at(*value)),
        label: (plan.show)(*value),
    };
    Some(Dots {
        id: plan.id,
        caption: plan.caption,
        label: plan.label.to_owned(),
        width: (left + PLOT + GAP).max(LEGEND_STEP * count(&plan.legend)).ceil(),
        height: px(bottom + AXIS),
        kind_x,
        left,
        plot: PLOT,
        top: LEGEND,
        plot_height: px(bottom - LEGEND),
        bottom: px(bottom),
        axis_y: px(bottom + 16.0),
        legend: legend(&plan.legend),
        ticks: axis.ticks().iter().map(tick).collect(),
        rows,
    })
}

fn is_drawn(figure: Option<f64>) -> bool {
    figure.is_some_and(|f| f.is_finite() && f > 0.0)
}

fn count(names: &[&'static str]) -> f64 {
    names.iter().fold(0.0, |n, _| n + 1.0)
}

fn legend(names: &[&'static str]) -> Vec<Mark> {
    let place = |i: usize| LEGEND_STEP * count(&names[..i]) + MARK;
    let mark = |(i, name): (usize, &&str)| Mark {
        class: format!("series-{i}"),
        path: outline(i, place(i), 14.0),
        title: (*name).to_owned(),
        text_x: px(place(i) + 10.0),
    };
    names.iter().enumerate().map(mark).collect()
}

fn row(entry: &Entry, names: &[&'static str], axis: &Axis, show: fn(f64) -> String, top: f64) -> Row {
    let middle = top + ROW / 2.0;
    let drawn = || entry.figures.iter().enumerate().filter(|(_, f)| is_drawn(**f));
    let places: Vec<f64> = drawn().filter_map(|(_, f)| Some(axis.at((*f)?))).collect();
    let mark = |(i, figure): (usize, &Option<f64>)| {
        let value = (*figure)?;
        Some(Mark {
            class: format!("series-{i}"),
            path: outline(i, axis.at(value), middle),
            // The row has its names beside it.
            title: format!("{}: {}", names.get(i)?, show(value)),
            text_x: String::new(),
        })
    };
    let ends = places
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(*x), high.max(*x))
        });
    Row {
        workload: entry.workload.clone(),
        kind: entry.kind.clone(),
        text_y: px(middle + 4.0),
        y: px(middle),
        from: px(ends.0),
        to: px(ends.1),
        marks: drawn().filter_map(mark).collect(),
    }
}

/// A shape for each figure of a row: colours alone are not seen by all.
fn outline(i: usize, x: f64, y: f64) -> String {
    let r = MARK;
    match i % 4 {
        0 => format!(
            "M{},{}a{r},{r} 0 1 0 {d},0a{r},{r} 0 1 0 -{d},0Z",
            px(x - r),
            px(y),
            d = px(2.0 * r)
        ),
        1 => format!("M{},{}h{d}v{d}h-{d}Z", px(x - r), px(y - r), d = px(2.0 * r)),
        2 => format!(
            "M{},{}l{w},{h}h-{d}Z",
            px(x),
            px(y - r - 0.5),
            w = px(r + 1.0),
            h = px(2.0 * r),
            d = px(2.0 * r + 2.0)
        ),
        _ => format!(
            "M{},{}l{w},{w}l-{w},{w}l-{w},-{w}Z",
            px(x),
            px(y - r - 1.0),
            w = px(r + 1.0)
        ),
    }
}

/// A logarithmic scale.
struct Axis {
    low: f64,
    high: f64,
    /// Where it begins in the drawing.
    left: f64,
}

impl Axis {
    fn of(figures: impl Iterator<Item = f64>, left: f64) -> Option<Self> {
        let drawn = figures
            .filter(|f| is_drawn(Some(*f)))
            .map(|f| f.clamp(1e-100, 1e100));
        let ends = drawn.fold((f64::INFINITY, 0.0_f64), |(low, high), f| {
            (low.min(f), high.max(f))
        });
        // Figures that are alike have room around them.
        let air = (ends.1 / ends.0).powf(0.06).max(1.01);
        ends.0.is_finite().then(|| Self {
            low: ends.0 / air,
            high: ends.1 * air,
            left,
        })
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.left + share.clamp(0.0, 1.0) * PLOT
    }

    /// Round figures: 1, 2 and 5 times powers of ten where the scale is long, else evenly spread ones.
    fn ticks(&self) -> Vec<f64> {
        super::scale::round_figures(self.low, self.high)
    }
}
