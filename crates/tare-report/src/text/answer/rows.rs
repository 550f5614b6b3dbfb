//! One line for each platform and workload: what it costs, with its interval in figures and
//! drawn, and the verdict.

use super::super::page::{Page, Style, columns_of, left};
use super::super::style;
use super::cut;
use super::whisker::Scale;
use crate::show::or_missing;
use crate::words::remarks;
use tare_analysis::{Analysis, Comparison, Verdict, Word};
use tare_model::digits::digits;

/// Columns of `1.003 (0.996 to 1.009)`.
const FIGURES: usize = 22;
/// As much of a line as names of workloads may take. A longer one stands in a line of its own.
const LONGEST_WORKLOAD: usize = 28;
/// Columns of the longest verdict.
const VERDICT: usize = 12;
/// From this width of a terminal on there is room for a drawing and the verdict's word.
const WIDE: usize = 64;
/// A wider drawing tells no more.
const WIDEST: usize = 41;

/// How wide the columns are.
struct Columns {
    /// 0 where kinds stand in lines of their own.
    kind: usize,
    workload: usize,
    /// Absent where there is no room.
    scale: Option<Scale>,
}

pub(super) fn write(page: &mut Page, analysis: &Analysis) {
    let shown: Vec<&Comparison> = analysis.real().collect();
    if !shown.is_empty() {
        table(page, analysis, &shown);
    }
    emulated(page, analysis);
}

fn table(page: &mut Page, analysis: &Analysis, shown: &[&Comparison]) {
    let columns = Columns::of(page, analysis, shown);
    page.blank();
    page.line(&[(Style::Bold, &head(page, &columns, analysis))]);
    let mut kind = None;
    for comparison in shown {
        let is_new = kind != Some(&comparison.cell.kind);
        kind = Some(&comparison.cell.kind);
        row(page, &columns, comparison, is_new);
    }
    if page.width() < WIDE {
        let legend = "> slower  < faster  = equal  ? inconclusive  - no verdict";
        page.wrapped("", 0, Style::Dim, legend);
    }
}

impl Columns {
    fn of(page: &Page, analysis: &Analysis, shown: &[&Comparison]) -> Self {
        let width = page.width();
        let longest = |of: fn(&Comparison) -> String| {
            let lengths = shown.iter().map(|c| columns_of(&of(c)));
            lengths.max().unwrap_or(0)
        };
        let figures = FIGURES + VERDICT + 3 * 2;
        let room = width.saturating_sub(figures);
        let workload = longest(|c| c.cell.workload.clone())
            .min(LONGEST_WORKLOAD)
            .min(room);
        let kind = Some(longest(|c| c.cell.kind.to_string())).filter(|kind| kind + workload <= room);
        let kind = kind.unwrap_or(0);
        // What stands above the names shall not push the figures aside.
        let workload = workload
            .max(columns_of(&cost(analysis)).saturating_sub(kind + 2))
            .min(room);
        let taken = kind + workload + figures + 2;
        let logs: Vec<(f64, f64)> = shown
            .iter()
            .filter_map(|c| c.ratio())
            .map(|e| (e.low.ln(), e.high.ln()))
            .collect();
        let margin = analysis.study.protocol.margin.ln_1p();
        let room = width.saturating_sub(taken).min(WIDEST);
        let scale = (width >= WIDE && page.draws())
            .then(|| Scale::of(&logs, margin, room))
            .flatten();
        Self {
            kind,
            workload,
            scale,
        }
    }
}

fn cost(analysis: &Analysis) -> String {
    format!("cost ({} = 1)", analysis.study.baseline)
}

/// What the columns are: `cost (native = 1)  95 % interval`, and the scale.
fn head(page: &Page, columns: &Columns, analysis: &Analysis) -> String {
    let cost = cost(analysis);
    let interval = format!("{} interval", analysis.intervals);
    if page.width() < WIDE {
        return format!("{cost}, {interval}");
    }
    let drawn = columns
        .scale
        .as_ref()
        .map_or_else(String::new, |scale| scale.head() + "  ");
    let names = columns.kind + columns.workload + 2;
    // An adaptive study's interval has a long name.
    let interval = if columns_of(&interval) > FIGURES {
        "95 % interval"
    } else {
        &interval
    };
    format!("{cost:names$}  {interval:FIGURES$}  {drawn}verdict")
}

fn row(page: &mut Page, columns: &Columns, comparison: &Comparison, is_new: bool) {
    let is_narrow = page.width() < WIDE;
    if is_new && (is_narrow || columns.kind == 0) {
        page.line(&[(Style::Bold, &comparison.cell.kind.to_string())]);
    }
    if is_narrow {
        narrow(page, columns, comparison);
    } else {
        wide(page, columns, comparison, is_new);
    }
}

fn narrow(page: &mut Page, columns: &Columns, comparison: &Comparison) {
    let (word, _) = judged(comparison);
    let (name, width) = (&comparison.cell.workload, columns.workload);
    let figures = or_missing(comparison.primary(), remarks::cost_with_interval);
    let line = format!("  {} {figures} ", left(name, width));
    page.line(&[(Style::Plain, &line), (style(word), sign(word))]);
}

fn wide(page: &mut Page, columns: &Columns, comparison: &Comparison, is_new: bool) {
    let width = columns.kind;
    let kind = if is_new && width > 0 {
        comparison.cell.kind.to_string()
    } else {
        String::new()
    };
    let mut before = left(&kind, width) + "  ";
    let mut workload = comparison.cell.workload.clone();
    if columns_of(&workload) > columns.workload {
        page.line(&[(Style::Bold, &before), (Style::Plain, &workload)]);
        before = " ".repeat(width + 2);
        workload.clear();
    }
    let (word, why) = judged(comparison);
    let figures = or_missing(comparison.primary(), remarks::cost_with_interval);
    let drawn = drawn(columns, comparison, &why);
    let width = columns.workload;
    let line = format!("{}  {figures:FIGURES$}  {drawn}", left(&workload, width));
    page.line(&[
        (Style::Bold, &before),
        (Style::Plain, &line),
        (style(word), &word.to_string()),
    ]);
}

/// The verdict, and why there is none.
fn judged(comparison: &Comparison) -> (Word, String) {
    let verdict = comparison.primary().and_then(|m| m.verdict.as_ref());
    (
        comparison.word(),
        verdict.map_or_else(String::new, Verdict::reasons),
    )
}

/// The interval drawn; of a figure without verdict, why it has none.
fn drawn(columns: &Columns, comparison: &Comparison, why: &str) -> String {
    let Some(scale) = &columns.scale else {
        return String::new();
    };
    let room = scale.columns();
    let drawn = comparison
        .ratio()
        .map(|e| scale.draw(e.value.ln(), e.low.ln(), e.high.ln()));
    let drawn = drawn.filter(|_| why.is_empty()).unwrap_or_else(|| cut(why, room));
    left(&drawn, room) + "  "
}

/// A verdict where there is no room for its word.
const fn sign(word: Word) -> &'static str {
    match word {
        Word::Equal => "=",
        Word::Slower => ">",
        Word::Faster => "<",
        Word::Inconclusive => "?",
        Word::None => "-",
    }
}

/// Emulated machines: a line for each, from the least to the most of its kinds of box, since
/// their figures are not those of machines.
fn emulated(page: &mut Page, analysis: &Analysis) {
    let mut all: Vec<&Comparison> = analysis
        .asked()
        .filter(|c| analysis.is_emulated(&c.cell.kind.platform))
        .collect();
    all.sort_by_key(|c| place(analysis, c));
    for machine in all.chunk_by(|one, next| one.cell.kind.platform == next.cell.kind.platform) {
        let of_workload = machine.chunk_by(|one, next| one.cell.workload == next.cell.workload);
        let costs: Vec<String> = of_workload.map(costs).collect();
        let name = &machine[0].cell.kind.platform;
        page.wrapped(
            "",
            0,
            Style::Plain,
            &format!("{name}, emulated: {} times", costs.join(", ")),
        );
    }
}

/// Where a comparison stands in the study: by platform, then by workload.
fn place(analysis: &Analysis, comparison: &Comparison) -> [Option<usize>; 2] {
    let (study, cell) = (&analysis.study, &comparison.cell);
    let platform = study.platforms.iter().position(|p| *p == cell.kind.platform);
    let workload = study.workloads.iter().position(|w| w.name() == cell.workload);
    [platform, workload]
}

/// `spawn 5.5 to 26`: the costs of one workload in several kinds of box, the least and the most.
fn costs(of: &[&Comparison]) -> String {
    let mut costs: Vec<f64> = of.iter().filter_map(|c| c.primary()?.cost()).collect();
    costs.sort_by(f64::total_cmp);
    let ends = [costs.first(), costs.last()].map(|end| or_missing(end, |cost| in_two_digits(*cost)));
    let [least, most] = &ends;
    let told = if least == most {
        least.clone()
    } else {
        format!("{least} to {most}")
    };
    format!("{} {told}", of[0].cell.workload)
}

/// A ratio that is far from 1 and not worth more digits.
fn in_two_digits(ratio: f64) -> String {
    digits(ratio, usize::from(ratio < 9.95))
}
