//! Every claim beside what follows from the tables.

use super::document;
use crate::document::{Cell, Column, Document, Section, Table};
use tare_analysis::Word;
use tare_model::size::counted;
use tare_published::{Agreement, CheckedClaim, CheckedFigure, CheckedStudy, Said, Tally};

/// The claims of some studies, and the sum.
pub fn check(studies: &[CheckedStudy], tally: &Tally) -> Document {
    let mut sections: Vec<Section> = studies.iter().map(study).collect();
    sections.push(Section::new("In sum").list(sentences(tally)));
    document(
        "Claims of the studies against their own tables".to_owned(),
        sections,
    )
}

fn study(study: &CheckedStudy) -> Section {
    let columns = vec![
        Column::words("claim"),
        Column::name("of"),
        Column::name("formula"),
        Column::name("derived"),
        Column::machine("unit", "of what is derived"),
        Column::name("follows"),
        Column::name("the study's word"),
        Column::name("which"),
    ];
    let mut table = Table::new("claims", 1, columns);
    for claim in study.claims.iter().filter(|c| c.checkable) {
        claim
            .figures
            .iter()
            .for_each(|figure| table.push(row(claim, figure)));
    }
    let others = study.claims.iter().filter(|c| !c.checkable);
    let others = others.map(|c| format!("{} (not checkable: it uses no figure printed here)", c.text));
    let errata = study.errata.iter().map(|text| format!("erratum: {text}"));
    Section::new(&study.id)
        .table(table)
        .list(others.chain(errata).collect())
}

fn row(claim: &CheckedClaim, figure: &CheckedFigure) -> Vec<Cell> {
    let derived = match (figure.derived, &figure.obstacle) {
        (Some(value), _) => Cell::Worded(vec![value], with_unit(&figure.expected.like(value), figure)),
        (None, Some(why)) => Cell::Worded(Vec::new(), why.clone()),
        (None, None) => Cell::Missing,
    };
    let follows = if figure.reproduced {
        Cell::State("follows from the tables", Word::Equal)
    } else {
        Cell::State("does NOT follow from the tables", Word::Slower)
    };
    vec![
        claim.text.as_str().into(),
        figure.of.as_str().into(),
        figure.formula.name().into(),
        derived,
        figure.unit.as_str().into(),
        follows,
        figure
            .said
            .as_ref()
            .map_or(Cell::Blank, |said| word(figure, said).into()),
        figure
            .said
            .as_ref()
            .map_or(Cell::Blank, |said| agreement(figure, said).into()),
    ]
}

fn with_unit(number: &str, figure: &CheckedFigure) -> String {
    format!("{number} {}", figure.unit).trim_end().to_owned()
}

fn word(figure: &CheckedFigure, said: &Said) -> String {
    format!(
        "{}{}",
        said.sense.words(),
        with_unit(&said.number.to_string(), figure)
    )
}

fn agreement(figure: &CheckedFigure, said: &Said) -> String {
    match said.agreement {
        Agreement::Agrees => "agrees".to_owned(),
        Agreement::AgreesToRounding => "agrees to rounding".to_owned(),
        Agreement::Differs { by, cut } => {
            let cut = if cut { " (cut, not rounded)" } else { "" };
            let points = if figure.unit == "%" { " points" } else { "" };
            format!("differs by {}{points}{cut}", figure.expected.like(by))
        }
    }
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
            "{} a number in the study's own words: {} with the figures, at least after rounding, {}.",
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
