//! Two results files held against each other, for a terminal.

use super::page::{Page, Style};
use super::{TextOptions, style};
use crate::analysis::{Against, Flag, Word};
use crate::change::{Change, Difference, Overhead, OverheadChange, RawChange, Side};
use crate::remarks::joined;
use crate::show::{date, margin, or_missing, p_value, ratio, ratio_with_interval};
use tare_model::size::counted;
use tare_model::study::{BoxKind, Cell};

/// The comparison of two results files: changes, what is in one file only, what
/// else differs.
pub fn change(change: &Change, options: TextOptions) -> String {
    let mut page = Page::new(options);
    head(&mut page, change);
    overheads(&mut page, change);
    raw(&mut page, change);
    alone(&mut page, "Only in the first file", &change.only_before);
    alone(&mut page, "Only in the second file", &change.only_after);
    differences(&mut page, &change.differences);
    page.heading("How to read this");
    for caveat in &change.caveats {
        page.wrapped("  -", 4, Style::Plain, caveat);
    }
    page.finish()
}

fn head(page: &mut Page, change: &Change) {
    page.heading("What changed from the first file to the second");
    for (name, side) in [("before", &change.before), ("after", &change.after)] {
        page.wrapped(&format!("  {name}"), 10, Style::Plain, &about(side));
    }
    for notice in &change.notices {
        page.wrapped("  !", 4, Style::Yellow, &notice.text);
    }
}

fn about(side: &Side) -> String {
    let run = &side.run;
    let started = or_missing(run.sessions.first(), |s| date(s.started_unix_ns));
    format!(
        "{started}, {} of {}, tare {}, build {}",
        run.blocks,
        counted(run.blocks_planned, "block"),
        side.tare,
        side.build
    )
}

fn overheads(page: &mut Page, change: &Change) {
    page.heading("Change of what each box costs against its baseline (over 1 costs more than before)");
    if change.overheads.is_empty() {
        page.line(&[(Style::Plain, "  no box is held against a baseline in both files")]);
        return;
    }
    let head = row_text(
        "workload metric",
        "n",
        ["before", "after", "change (95 %)"].map(str::to_owned),
    );
    page.line(&[(Style::Dim, &head)]);
    let mut group: Option<(Against, &BoxKind)> = None;
    for overhead in &change.overheads {
        if group != Some((overhead.against, &overhead.cell.kind)) {
            group = Some((overhead.against, &overhead.cell.kind));
            let title = format!("{} against {}", overhead.cell.kind, overhead.baseline.kind);
            page.line(&[(Style::Bold, &title)]);
        }
        row(page, overhead);
    }
    page.wrapped("", 2, Style::Dim, &tests(change));
}

fn tests(change: &Change) -> String {
    let differences = match change.family {
        0 => "no difference could be tested".to_owned(),
        tests => format!(
            "differences with Holm's correction, {} in families by what is asked",
            counted(tests, "test")
        ),
    };
    let looks = if change.level > 0.95 {
        ", which allow for looks at runs that stopped adaptively"
    } else {
        ""
    };
    format!(
        "margin {}; intervals are 95 % by Welch's t{looks}; {differences}",
        margin(change.margin)
    )
}

fn row_text(name: &str, n: &str, [before, after, change]: [String; 3]) -> String {
    format!("  {name:<19}{n:>8}  {before:>6}  {after:>6}  {change}")
}

fn row(page: &mut Page, overhead: &OverheadChange) {
    let name = format!("{} {}", overhead.cell.workload, overhead.metric.name);
    let name = page.name(&name, 19);
    let n = format!("{}/{}", overhead.before.n, overhead.after.n);
    let cost = |side: &Overhead| or_missing(side.ratio, |e| ratio(e.value));
    let change = or_missing(overhead.change, |e| ratio_with_interval(e.value, e.low, e.high));
    let figures = row_text(&name, &n, [cost(&overhead.before), cost(&overhead.after), change]);
    page.line(&[(Style::Plain, &figures)]);
    let verdict = &overhead.verdict;
    let words = match verdict.word {
        Word::Equal | Word::Slower | Word::Faster => format!("{} {}", verdict.word, verdict.phrase),
        Word::Inconclusive | Word::None => format!("{}: {}", verdict.word, verdict.phrase),
    };
    page.wrapped("", 6, style(verdict.word), &words);
    page.wrapped("", 6, Style::Dim, &below(overhead));
}

fn below(overhead: &OverheadChange) -> String {
    let p = or_missing(overhead.p_holm, p_value);
    let mut parts = vec![format!("p {} (Holm {p})", or_missing(overhead.p, p_value))];
    parts.push(flags("before", &overhead.before.flags));
    parts.push(flags("after", &overhead.after.flags));
    joined(parts)
}

fn flags(when: &str, flags: &[Flag]) -> String {
    let names: Vec<String> = flags.iter().map(|f| format!("{when} {f}")).collect();
    names.join("; ")
}

fn raw(page: &mut Page, change: &Change) {
    page.heading("Change of the figures themselves (over 1 is worse; confounded, no verdict)");
    if change.raw.is_empty() {
        page.line(&[(Style::Plain, "  no cell is the same work in both files")]);
        return;
    }
    let head = raw_text(
        "workload metric",
        "n",
        ["before", "after", "change (95 %)"].map(str::to_owned),
    );
    page.line(&[(Style::Dim, &head)]);
    let mut kind = None;
    for raw in &change.raw {
        if kind != Some(&raw.cell.kind) {
            kind = Some(&raw.cell.kind);
            page.line(&[(Style::Bold, &raw.cell.kind.to_string())]);
        }
        raw_row(page, raw);
    }
}

fn raw_text(name: &str, n: &str, [before, after, change]: [String; 3]) -> String {
    format!("  {name:<19}{n:>7}  {before:<14}{after:<14}{change}")
}

fn raw_row(page: &mut Page, raw: &RawChange) {
    let name = format!("{} {}", raw.cell.workload, raw.metric.name);
    let name = page.name(&name, 19);
    let mean = |mean: Option<f64>| or_missing(mean, |v| raw.metric.unit.show(v));
    let change = or_missing(raw.change, |e| ratio_with_interval(e.value, e.low, e.high));
    let figures = [mean(raw.before.mean), mean(raw.after.mean), change];
    let row = raw_text(&name, &format!("{}/{}", raw.before.n, raw.after.n), figures);
    page.line(&[(Style::Plain, &row)]);
}

fn alone(page: &mut Page, title: &str, cells: &[Cell]) {
    if cells.is_empty() {
        return;
    }
    page.heading(title);
    for cell in cells {
        page.wrapped("  -", 4, Style::Plain, &cell.to_string());
    }
}

fn differences(page: &mut Page, differences: &[Difference]) {
    page.heading("What else differs between the two");
    if differences.is_empty() {
        page.line(&[(Style::Plain, "  nothing that the files tell")]);
    }
    for difference in differences {
        let side = |fact: &Option<String>| or_missing(fact.as_ref(), Clone::clone);
        let (before, after) = (side(&difference.before), side(&difference.after));
        page.wrapped(
            "  -",
            4,
            Style::Plain,
            &format!("{}: {before} -> {after}", difference.what),
        );
    }
}
