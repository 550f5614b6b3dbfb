//! Every claim beside what follows from the tables.

use super::super::{Agreement, CheckedClaim, CheckedFigure, CheckedStudy, Said, Tally};
use super::bullets;
use crate::text::TextOptions;
use crate::text::page::{Page, Style};
use tare_model::size::counted;

/// The claims of some studies, and the sum.
pub fn check(studies: &[CheckedStudy], tally: &Tally, options: TextOptions) -> String {
    let mut page = Page::new(options);
    for study in studies {
        page.heading(&study.id);
        study.claims.iter().for_each(|c| claim(&mut page, c));
        bullets(&mut page, "errata", study.errata.iter().map(String::as_str));
    }
    page.blank();
    for sentence in sentences(tally) {
        page.wrapped("", 0, Style::Bold, &sentence);
    }
    page.finish()
}

fn claim(page: &mut Page, claim: &CheckedClaim) {
    if !claim.checkable {
        let text = format!(
            "{} (not checkable: it rests on no figure printed here)",
            claim.text
        );
        return page.wrapped("  -", 4, Style::Dim, &text);
    }
    page.wrapped("  -", 4, Style::Plain, &claim.text);
    claim.figures.iter().for_each(|f| figure(page, f));
}

fn figure(page: &mut Page, figure: &CheckedFigure) {
    let derived = match (figure.derived, &figure.obstacle) {
        (Some(value), _) => with_unit(&figure.expected.like(value), figure),
        (None, Some(why)) => why.clone(),
        (None, None) => crate::show::MISSING.to_owned(),
    };
    let outcome = if figure.reproduced {
        "follows from the tables".to_owned()
    } else {
        format!(
            "does NOT follow from the tables, {} is expected",
            with_unit(&figure.expected.to_string(), figure)
        )
    };
    let style = if figure.reproduced {
        Style::Green
    } else {
        Style::Red
    };
    let text = format!("{}: {} {derived}, {outcome}", figure.of, figure.formula.name());
    page.wrapped("", 6, style, &text);
    if let Some(said) = &figure.said {
        page.wrapped("", 8, style_of(said), &words(figure, said));
    }
}

fn with_unit(number: &str, figure: &CheckedFigure) -> String {
    format!("{number} {}", figure.unit).trim_end().to_owned()
}

const fn style_of(said: &Said) -> Style {
    match said.agreement {
        Agreement::Differs { .. } => Style::Yellow,
        _ => Style::Plain,
    }
}

fn words(figure: &CheckedFigure, said: &Said) -> String {
    let verdict = match said.agreement {
        Agreement::Agrees => "agrees".to_owned(),
        Agreement::AgreesToRounding => "agrees to rounding".to_owned(),
        Agreement::Differs { by, cut } => {
            let cut = if cut { " (cut, not rounded)" } else { "" };
            let points = if figure.unit == "%" { " points" } else { "" };
            format!("differs by {}{points}{cut}", figure.expected.like(by))
        }
    };
    format!(
        "the study's word: {}{}: {verdict}",
        said.sense.words(),
        with_unit(&said.number.to_string(), figure)
    )
}

/// The sums in words.
fn sentences(tally: &Tally) -> Vec<String> {
    let claims = |n: usize| counted(n, "claim");
    vec![
        format!(
            "{} of {} that can be checked {} from the tables by tare's formulas ({} of {} figures, to the digits shown).",
            tally.reproduced,
            claims(tally.checkable),
            if tally.checkable == 1 { "follows" } else { "follow" },
            tally.figures_reproduced,
            tally.figures
        ),
        format!(
            "{} a number in the study's own words: {} with the figures, if only to rounding, {}.",
            has(&claims(tally.with_number), tally.with_number),
            agree(tally.agree),
            if tally.differ == 1 {
                "1 differs".to_owned()
            } else {
                format!("{} differ", tally.differ)
            }
        ),
        format!(
            "{} cannot be checked; errata: {}.",
            claims(tally.not_checkable),
            tally.errata
        ),
    ]
}

fn has(subject: &str, n: usize) -> String {
    format!("{subject} {}", if n == 1 { "has" } else { "have" })
}

fn agree(n: usize) -> String {
    if n == 1 {
        "1 agrees".to_owned()
    } else {
        format!("{n} agree")
    }
}
