//! Every claim against what follows from the study's own tables.

use super::claim::{Claim, FigureOfClaim, Formula, Sense};
use super::derive::derive;
use super::digits::Digits;
use super::file::Published;
use schemars::JsonSchema;
use serde::Serialize;

/// What a check of studies comes to.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Checked {
    /// How many claims and figures there are, and what became of them.
    pub tally: Tally,
    pub studies: Vec<CheckedStudy>,
}

impl Checked {
    /// The studies with their tally.
    pub fn of(studies: Vec<CheckedStudy>) -> Self {
        Self {
            tally: tally(&studies),
            studies,
        }
    }
}

/// A study and what became of its claims.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CheckedStudy {
    /// The study.
    pub id: String,
    pub claims: Vec<CheckedClaim>,
    /// Where it contradicts its own figures.
    pub errata: Vec<String>,
}

/// A claim and its figures.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CheckedClaim {
    /// The statement.
    pub text: String,
    /// Whether it could be checked at all.
    pub checkable: bool,
    pub figures: Vec<CheckedFigure>,
}

/// A figure of a claim: as expected, as derived, and in the study's own words.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CheckedFigure {
    /// What it is a figure of.
    pub of: String,
    pub formula: Formula,
    /// Unit of the figure.
    pub unit: String,
    /// What follows from the tables.
    pub derived: Option<f64>,
    /// Why nothing follows.
    pub obstacle: Option<String>,
    /// What should follow, to these digits.
    pub expected: Digits,
    /// Whether it does.
    pub reproduced: bool,
    /// The study's own words, where they hold a number.
    pub said: Option<Said>,
}

/// A number of the study's own words, and what the figure says to it.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Said {
    pub number: Digits,
    pub sense: Sense,
    /// Whether the figure bears it out.
    #[serde(flatten)]
    pub agreement: Agreement,
}

/// Whether a figure bears a study's word out.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "agreement", rename_all = "kebab-case")]
pub enum Agreement {
    /// To all digits shown, or within the bound that is said.
    Agrees,
    /// To the digits of the study's word.
    AgreesToRounding,
    /// It does not.
    Differs {
        /// Word less figure.
        by: f64,
        /// The word is the figure with its further digits cut off.
        cut: bool,
    },
}

/// How many claims and figures there are, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Tally {
    /// Claims that can be checked.
    pub checkable: usize,
    /// Claims of which every figure is reproduced.
    pub reproduced: usize,
    /// Claims without figures that follow from a table.
    pub not_checkable: usize,
    /// Figures of checkable claims.
    pub figures: usize,
    /// Figures that are reproduced.
    pub figures_reproduced: usize,
    /// Claims with a number in the study's own words.
    pub with_number: usize,
    /// Of these: every number agrees, if only to rounding.
    pub agree: usize,
    /// Of these: a number differs.
    pub differ: usize,
    pub errata: usize,
}

pub fn check(study: &Published) -> CheckedStudy {
    let claim = |claim: &Claim| CheckedClaim {
        text: claim.text.clone(),
        checkable: claim.checkable,
        figures: claim.figures.iter().map(|f| figure(study, f)).collect(),
    };
    CheckedStudy {
        id: study.study.id.clone(),
        claims: study.claims.iter().map(claim).collect(),
        errata: study.errata.iter().map(|e| e.text.clone()).collect(),
    }
}

fn figure(study: &Published, claimed: &FigureOfClaim) -> CheckedFigure {
    let derived = derive(study, claimed);
    let table = claimed.table.as_ref().and_then(|name| study.table(name));
    let unit = claimed.formula.unit(table.map_or("", |t| &t.unit));
    let said = |value: f64| {
        claimed.said.clone().map(|number| Said {
            agreement: agreement(value, claimed, &number),
            sense: claimed.sense,
            number,
        })
    };
    CheckedFigure {
        of: claimed.of.clone(),
        formula: claimed.formula,
        unit: unit.to_owned(),
        expected: claimed.expect.clone(),
        reproduced: derived.as_ref().is_ok_and(|v| claimed.expect.is_rounded(*v)),
        said: derived.as_ref().ok().and_then(|v| said(*v)),
        obstacle: derived.as_ref().err().cloned(),
        derived: derived.ok(),
    }
}

fn agreement(value: f64, claimed: &FigureOfClaim, said: &Digits) -> Agreement {
    // Compared as numbers: "2" says all that "2.0" expects.
    let says_all = said.value().total_cmp(&claimed.expect.value()).is_eq();
    let agrees = match claimed.sense {
        Sense::MoreThan => value > said.value(),
        Sense::LessThan => value < said.value(),
        Sense::Equal | Sense::About => says_all && claimed.expect.is_rounded(value),
    };
    let rounds = match claimed.sense {
        Sense::Equal => said.is_rounded(value),
        Sense::About => said.is_about(value),
        Sense::MoreThan | Sense::LessThan => false,
    };
    match (agrees, rounds) {
        (true, _) => Agreement::Agrees,
        (false, true) => Agreement::AgreesToRounding,
        _ => Agreement::Differs {
            by: said.value() - value,
            cut: claimed.sense == Sense::Equal && said.is_cut(value),
        },
    }
}

impl CheckedClaim {
    /// Whether every figure follows.
    pub fn reproduced(&self) -> bool {
        self.figures.iter().all(|f| f.reproduced)
    }

    fn numbers(&self) -> impl Iterator<Item = &Said> {
        self.figures.iter().filter_map(|f| f.said.as_ref())
    }
}

/// Counts claims and figures of several studies.
pub fn tally(studies: &[CheckedStudy]) -> Tally {
    let mut tally = Tally {
        errata: studies.iter().map(|s| s.errata.len()).sum(),
        ..Tally::default()
    };
    for claim in studies.iter().flat_map(|s| &s.claims) {
        let differs = |said: &Said| matches!(said.agreement, Agreement::Differs { .. });
        let (numbered, differ) = (claim.numbers().count() > 0, claim.numbers().any(differs));
        tally.checkable += usize::from(claim.checkable);
        tally.not_checkable += usize::from(!claim.checkable);
        tally.reproduced += usize::from(claim.checkable && claim.reproduced());
        tally.figures += claim.figures.len();
        tally.figures_reproduced += claim.figures.iter().filter(|f| f.reproduced).count();
        tally.with_number += usize::from(numbered);
        tally.agree += usize::from(numbered && !differ);
        tally.differ += usize::from(differ);
    }
    tally
}
