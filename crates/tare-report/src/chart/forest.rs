//! The forest plot: a row for each comparison with its point, interval and verdict, the margin as a
//! band around 1.

use super::frame::{Frame, PLOT, ROW, tops};
use super::scale::Scale;
use super::{GAP, LETTER, px, room, shortened};
use crate::show::{host_name, or_missing, ratio_with_interval};
use crate::words::{fleet, tuning};
use std::collections::BTreeSet;
use tare_analysis::merge::{Merged, MergedComparison};
use tare_analysis::{Analysis, Comparison, Estimate, LevelEffect, Tuned, Word};

/// What it shows.
const COSTS: &str = "Cost over the baseline with its 95 % interval: right of 1 costs more; equal if the interval lies within the margin (the band).";

/// The same of levels of parameters.
const LEVELS: &str = "Cost over that at the first level with its 95 % interval: right of 1 costs more.";

/// What a letter of figures takes in a wide font, over one of a name.
const DIGIT: f64 = 9.0 / LETTER;
/// Half of the height of a point.
const POINT: f64 = 4.5;
/// Letters that fit into the columns of names.
const WORKLOAD_LETTERS: usize = 34;
const KIND_LETTERS: usize = 33;
/// A longer picture is not looked at: the table below has every row.
const MOST: usize = 80;
/// Costs beyond this ratio have a scale of their own, else they press all others together.
const FAR: f64 = 1.5;

/// A drawing.
#[derive(Debug, Clone)]
pub struct Forest {
    pub(super) id: &'static str,
    pub(super) caption: &'static str,
    pub(crate) label: String,
    pub(crate) width: f64,
    pub(crate) height: String,
    pub(crate) kind_x: String,
    pub(crate) text_x: String,
    pub(crate) panels: Vec<Panel>,
}

/// Rows on one scale.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub frame: Frame,
    pub band_x: String,
    pub band_width: String,
    pub rows: Vec<Row>,
}

/// One comparison.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub workload: String,
    pub kind: String,
    /// The whole name, where one of the labels is cut.
    pub name: Option<String>,
    pub text_y: String,
    pub y: String,
    /// Absent without a figure.
    pub mark: Option<Mark>,
    pub figures: String,
    pub class: &'static str,
    pub verdict: String,
}

/// A point with its interval.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub low: String,
    pub high: String,
    /// The outline of the point.
    pub path: String,
}

/// Costs that have one scale.
struct Group {
    title: String,
    rows: Vec<Entry>,
}

/// Where its columns begin: what is drawn is last, so that narrow windows show the figures.
struct Columns {
    kind: f64,
    text: f64,
    left: f64,
    right: f64,
    end: f64,
}

impl Columns {
    fn of(groups: &[Group]) -> Self {
        let widest = |text: &dyn Fn(&Entry) -> String| {
            let entries = groups.iter().flat_map(|group| &group.rows);
            let texts: Vec<String> = entries.map(text).collect();
            room(texts.iter().map(String::as_str))
        };
        let titles: Vec<String> = groups
            .iter()
            .map(|group| format!("{} (log scale)", group.title))
            .collect();
        let figures = |entry: &Entry| format!("{} {}", entry.figures(), entry.verdict());
        let kind = GAP + widest(&Entry::shown_workload);
        let text = kind + GAP + widest(&Entry::shown_kind);
        let left = text + GAP + DIGIT * widest(&figures);
        let right = left + PLOT;
        Self {
            kind,
            text,
            left,
            right,
            end: (right + GAP).max(DIGIT * room(titles.iter().map(String::as_str))),
        }
    }
}

/// A cost before it has a place.
struct Entry {
    workload: String,
    kind: String,
    name: String,
    ratio: Option<Estimate>,
    /// Absent where all rows have as many.
    n: Option<usize>,
    /// Absent where none was asked for.
    word: Option<Word>,
}

impl Entry {
    fn of(comparison: &Comparison) -> Self {
        Self {
            workload: comparison.cell.workload.clone(),
            kind: comparison.cell.kind.to_string(),
            name: comparison.cell.to_string(),
            ratio: comparison.ratio(),
            n: Some(comparison.primary().map_or(0, |m| m.n)),
            word: Some(comparison.word()),
        }
    }

    fn shown_workload(&self) -> String {
        shortened(&self.workload, WORKLOAD_LETTERS)
    }

    fn shown_kind(&self) -> String {
        shortened(&self.kind, KIND_LETTERS)
    }

    fn is_cut(&self) -> bool {
        self.shown_workload() != self.workload || self.shown_kind() != self.kind
    }

    fn figures(&self) -> String {
        let ratio = or_missing(self.ratio, |e| ratio_with_interval(e.value, e.low, e.high));
        self.n
            .map_or_else(|| ratio.clone(), |n| format!("{ratio} n = {n}"))
    }

    fn verdict(&self) -> String {
        self.word.map_or_else(String::new, |word| word.to_string())
    }
}

/// What is shown, and emulated machines on a scale of their own.
pub(super) fn shown(analysis: &Analysis) -> Option<Forest> {
    let real = || analysis.real();
    let differs = |c: &&Comparison| matches!(c.word(), Word::Slower | Word::Faster);
    let (far, near): (Vec<&Comparison>, Vec<&Comparison>) = real().filter(differs).partition(|c| is_far(c));
    let margin = analysis.study.protocol.margin;
    let mut groups = vec![
        group("Shown to differ, by half and more", by_size(far)),
        group("Shown to differ", by_size(near)),
        group(
            &format!("Shown to be equal within {}", crate::show::margin(margin)),
            by_size(real().filter(|c| c.word() == Word::Equal).collect()),
        ),
    ];
    let emulated = analysis
        .asked()
        .filter(|c| analysis.is_emulated(&c.cell.kind.platform));
    groups.push(group(
        "Emulated",
        by_size(
            emulated
                .filter(|c| differs(c) || c.word() == Word::Equal)
                .collect(),
        ),
    ));
    draw("costs-shown", "Decided", groups, margin)
}

/// What is not decided, or has no verdict.
pub(super) fn open(analysis: &Analysis) -> Option<Forest> {
    let is_open = |c: &&Comparison| matches!(c.word(), Word::Inconclusive | Word::None);
    let open = analysis.asked().filter(is_open).filter(|c| c.ratio().is_some());
    let (far, near): (Vec<&Comparison>, Vec<&Comparison>) = open.partition(|c| is_far(c));
    let groups = vec![
        group("Inconclusive", by_size(near)),
        group("Inconclusive, far from 1", by_size(far)),
    ];
    draw(
        "costs-open",
        "Inconclusive",
        groups,
        analysis.study.protocol.margin,
    )
}

/// Every comparison, in the order of the study; emulated machines on a scale of their own.
pub(super) fn all(analysis: &Analysis, comparisons: &[&Comparison]) -> Option<Forest> {
    let is_real = |c: &&Comparison| !analysis.is_emulated(&c.cell.kind.platform);
    let (real, emulated) = comparisons.iter().copied().partition(is_real);
    draw(
        "costs",
        "Every cost",
        vec![group("", real), group("Emulated machines", emulated)],
        analysis.study.protocol.margin,
    )
}

/// What each host says of every comparison, below what all say together.
pub(super) fn hosts(merged: &Merged) -> Option<Forest> {
    let group = |of: &MergedComparison| {
        let entry = |name: String, ratio, n, word| Entry {
            workload: name.clone(),
            kind: String::new(),
            name: format!("{}, {name}", of.cell),
            ratio,
            n: Some(n),
            word,
        };
        let all = entry(
            "all hosts".to_owned(),
            of.cost,
            of.hosts.len(),
            Some(of.verdict.word),
        );
        let each = fleet::shown(of).into_iter().map(|(host, remark)| {
            let name = host_name(host.host);
            let name = if remark.is_empty() {
                name
            } else {
                format!("{name}, {remark}")
            };
            entry(name, host.cost, host.n, None)
        });
        Group {
            title: of.cell.to_string(),
            rows: each.chain([all]).collect(),
        }
    };
    let groups = merged.comparisons.iter().map(group).collect();
    draw("hosts", fleet::title(merged), groups, merged.margin)
}

/// What each level of a parameter costs over the first one, by kind of box.
pub(super) fn levels(tunings: &[Tuned]) -> Option<Forest> {
    let row = |of: &LevelEffect| Entry {
        workload: format!("{}={}", of.factor, of.to),
        kind: format!("over {}", of.from),
        name: format!("{}={} over {}", of.factor, of.to, of.from),
        ratio: of.effect.cost,
        n: None,
        word: Some(tuning::shown(of.effect).1),
    };
    let group = |of: &Tuned| Group {
        title: format!("{} {}", of.kind, of.workload),
        rows: of.effects.iter().map(row).collect(),
    };
    let groups = tunings.iter().map(group).collect();
    let forest = draw("levels", "Each parameter", groups, 0.0)?;
    Some(Forest {
        caption: LEVELS,
        ..forest
    })
}

fn group(title: &str, rows: Vec<&Comparison>) -> Group {
    Group {
        title: title.to_owned(),
        rows: rows.into_iter().map(Entry::of).collect(),
    }
}

fn is_far(comparison: &Comparison) -> bool {
    comparison
        .ratio()
        .is_some_and(|e| e.value > FAR || e.value < FAR.recip())
}

/// The dearest first.
fn by_size(mut rows: Vec<&Comparison>) -> Vec<&Comparison> {
    let cost = |c: &&Comparison| c.ratio().map_or(0.0, |e| e.value);
    rows.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    rows
}

fn draw(id: &'static str, label: &str, mut groups: Vec<Group>, margin: f64) -> Option<Forest> {
    let rows: usize = groups.iter().map(|g| g.rows.len()).sum();
    let figures = groups
        .iter()
        .flat_map(|g| &g.rows)
        .any(|entry| entry.ratio.is_some());
    if !figures || rows > MOST {
        return None;
    }
    let n: BTreeSet<Option<usize>> = groups.iter().flat_map(|g| &g.rows).map(|entry| entry.n).collect();
    if n.len() == 1 {
        let rows = groups.iter_mut().flat_map(|g| &mut g.rows);
        rows.for_each(|entry| entry.n = None);
    }
    let mut y = 0.0;
    let columns = Columns::of(&groups);
    let panels: Vec<Panel> = groups
        .iter()
        .filter(|group| !group.rows.is_empty())
        .map(|group| panel(group, &columns, margin, &mut y))
        .collect();
    Some(Forest {
        id,
        caption: COSTS,
        label: label.to_owned(),
        width: columns.end.ceil(),
        height: px(y),
        kind_x: px(columns.kind),
        text_x: px(columns.text),
        panels,
    })
}

fn panel(group: &Group, columns: &Columns, margin: f64, y: &mut f64) -> Panel {
    let ratios: Vec<Estimate> = group.rows.iter().filter_map(|entry| entry.ratio).collect();
    let scale = Scale::around(&ratios, margin, (columns.left, columns.right));
    let (from, to) = (scale.at(1.0 / (1.0 + margin)), scale.at(1.0 + margin));
    let rows = group.rows.iter().zip(tops(*y));
    Panel {
        rows: rows.map(|(entry, at)| row(entry, &scale, at)).collect(),
        frame: Frame::of(&group.title, &scale, columns.left, group.rows.len(), y),
        band_x: px(from),
        band_width: px((to - from).max(1.0)),
    }
}

fn row(entry: &Entry, scale: &Scale, top: f64) -> Row {
    let middle = top + ROW / 2.0;
    Row {
        workload: entry.shown_workload(),
        kind: entry.shown_kind(),
        name: entry.is_cut().then(|| entry.name.clone()),
        text_y: px(middle + 4.0),
        y: px(middle),
        mark: entry.ratio.map(|e| Mark {
            low: px(scale.at(e.low)),
            high: px(scale.at(e.high)),
            path: outline(entry.word.unwrap_or(Word::None), scale.at(e.value), middle),
        }),
        figures: entry.figures(),
        class: entry.word.unwrap_or(Word::None).name(),
        verdict: entry.verdict(),
    }
}

/// A shape for each verdict: colours alone are not seen by all.
fn outline(word: Word, x: f64, y: f64) -> String {
    let r = POINT;
    let (left, right, top, bottom) = (px(x - r), px(x + r), px(y - r), px(y + r));
    match word {
        Word::Slower => format!("M{left},{top}H{right}V{bottom}H{left}Z"),
        Word::Faster => format!(
            "M{x},{up}L{far},{y}L{x},{down}L{near},{y}Z",
            x = px(x),
            y = px(y),
            up = px(y - r - 1.5),
            down = px(y + r + 1.5),
            far = px(x + r + 1.5),
            near = px(x - r - 1.5)
        ),
        Word::Equal | Word::Inconclusive => {
            format!(
                "M{left},{y}a{r},{r} 0 1 0 {d},0a{r},{r} 0 1 0 -{d},0Z",
                y = px(y),
                d = px(2.0 * r)
            )
        }
        Word::None => format!("M{left},{top}L{right},{bottom}M{left},{bottom}L{right},{top}"),
    }
}
