//! Own figures beside a study's.

use super::super::beside::{Beside, Detectable, Row, TheirFigure, Verdict};
use super::bullets;
use crate::analysis::Estimate;
use crate::show::{MISSING, or_missing, percent, ratio, ratio_with_interval};
use crate::text::TextOptions;
use crate::text::page::{Page, Style};

/// Every figure of the study with a verdict, those that can be compared first.
pub fn beside(beside: &Beside, options: TextOptions) -> String {
    let mut page = Page::new(options);
    let title = format!("Your figures beside {}: {}", beside.study, beside.title);
    page.wrapped("", 0, Style::Bold, &title);
    page.wrapped("  there", 9, Style::Plain, &beside.their_host);
    let reading = format!(
        "Costs against {}, over 1 costs more; intervals and verdicts at 95 %, row by row. Host, kernel and year are others there: 'differs' says that the cost is another here, not that one of the two is wrong.",
        beside.own_baseline
    );
    page.wrapped("", 0, Style::Dim, &reading);
    if let Some(own) = &beside.instead_of {
        let instead = format!(
            "The study has no figure of {own}, the baseline of your results: they are held against {} in the same blocks instead.",
            beside.own_baseline
        );
        page.wrapped("", 0, Style::Dim, &instead);
    }
    let comparable = |row: &&Row| row.own.is_some();
    let mut last = None;
    for row in beside.rows.iter().filter(comparable) {
        if last != Some(&row.workload) {
            last = Some(&row.workload);
            page.heading(&row.workload);
            page.wrapped("", 2, Style::Dim, row.note.as_deref().unwrap_or_default());
        }
        compared(&mut page, row);
    }
    let others: Vec<String> = beside
        .rows
        .iter()
        .filter(|row| !comparable(row))
        .map(not_compared)
        .collect();
    bullets(&mut page, "Not comparable", others.iter().map(String::as_str));
    let statements = beside.statements.iter().map(String::as_str);
    bullets(
        &mut page,
        "What the study says without figures in a table",
        statements,
    );
    if beside.rows.is_empty() {
        page.heading("The study prints no table: nothing can stand beside own figures.");
    }
    page.finish()
}

fn compared(page: &mut Page, row: &Row) {
    let own = row.own.as_ref();
    let cell = own.map_or(MISSING, |o| o.cell.as_str());
    page.wrapped(
        "",
        2,
        Style::Plain,
        &format!("{}: {} there, {cell} here", row.metric, row.platform),
    );
    let here = or_missing(own, |o| {
        let (low, high) = (o.ratio.low, o.ratio.high);
        format!("{}, n = {}", ratio_with_interval(o.ratio.value, low, high), o.n)
    });
    page.line(&[(Style::Plain, &format!("    here   {here}"))]);
    page.line(&[(
        Style::Plain,
        &format!("    there  {}", or_missing(row.theirs, theirs)),
    )]);
    let (style, text) = verdict(&row.verdict);
    page.wrapped("", 4, style, &text);
}

fn theirs(figure: TheirFigure) -> String {
    match figure.interval {
        Some((low, high)) => ratio_with_interval(figure.ratio, low, high),
        None => format!("{} (no interval: no spread is printed)", ratio(figure.ratio)),
    }
}

fn verdict(verdict: &Verdict) -> (Style, String) {
    match verdict {
        Verdict::Agrees(seen) => (Style::Green, format!("agrees: {}", hidden(*seen))),
        Verdict::CannotTell(seen) => (
            Style::Yellow,
            format!("cannot tell, too much noise: {}", hidden(*seen)),
        ),
        Verdict::Differs(by) => {
            let Estimate { value, low, high } = by.ratio;
            let known = if by.with_their_error {
                ""
            } else {
                ", by the error here alone: the study's own, which it does not print, may explain it"
            };
            let by = ratio_with_interval(value, low, high);
            (
                Style::Yellow,
                format!("differs: {by} times the cost there{known}"),
            )
        }
        Verdict::NotComparable { why } => (Style::Dim, format!("not comparable: {why}")),
    }
}

/// What would not have been seen.
fn hidden(seen: Detectable) -> String {
    let known = if seen.with_their_error {
        ""
    } else {
        ", nor such as the study's own error, which it does not print, would hide"
    };
    format!("differences under {} would not show{known}", percent(seen.share))
}

fn not_compared(row: &Row) -> String {
    let why = match &row.verdict {
        Verdict::NotComparable { why } => why.as_str(),
        _ => MISSING,
    };
    let parts = [row.workload.as_str(), &row.metric, &row.platform];
    let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    let theirs = row.theirs.map(|t| format!(" ({} there)", ratio(t.ratio)));
    let many = (row.figures > 1).then(|| format!(" ({} figures)", row.figures));
    format!(
        "{}{}{}: {why}",
        parts.join(", "),
        theirs.unwrap_or_default(),
        many.unwrap_or_default()
    )
}
