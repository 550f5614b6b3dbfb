//! Figures with the way in which people read them.

use crate::show;
use tare_analysis::{Estimate, Word};
use tare_model::digits::digits;
use tare_model::metric::Unit;

/// What stands in a cell of a table.
#[derive(Debug, Clone)]
pub enum Cell {
    /// Nothing is to be said.
    Blank,
    /// There is no figure.
    Missing,
    /// A name, or words.
    Text(String),
    Verdict(Word),
    /// A number of things.
    Count(u64),
    Figure(f64, Show),
    /// A figure with the ends of its interval.
    Interval(Estimate, Show),
    /// Figures that words show: none, one, or one with the ends of its interval.
    Worded(Vec<f64>, String),
    /// A word, coloured as a verdict is.
    State(&'static str, Word),
}

/// How a figure is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Show {
    Ratio,
    /// A fraction as percents.
    Percent,
    /// A p value.
    P,
    /// With all its digits.
    Plain,
    /// So many decimals.
    Decimals(usize),
    /// Five digits, of any unit.
    Digits,
    /// Bytes as MiB.
    Mebibytes,
    /// A half-width as percents.
    PlusMinus,
    Unit(Unit),
    /// With a unit, in three digits.
    Briefly(Unit),
}

impl Cell {
    pub fn count(n: usize) -> Self {
        Self::Count(n as u64)
    }

    /// A figure, if there is one.
    pub fn figure(value: Option<f64>, show: Show) -> Self {
        value.map_or(Self::Missing, |value| Self::Figure(value, show))
    }

    /// Bytes as MiB, if they are known.
    #[expect(clippy::cast_precision_loss, reason = "one decimal of MiB is shown")]
    pub fn mebibytes(bytes: Option<u64>) -> Self {
        Self::figure(bytes.map(|b| b as f64), Show::Mebibytes)
    }

    /// A name, if there is one.
    pub fn name(name: Option<&String>) -> Self {
        name.map_or(Self::Blank, |name| name.as_str().into())
    }

    /// A figure with its interval, if there is one.
    pub fn interval(estimate: Option<Estimate>, show: Show) -> Self {
        estimate.map_or(Self::Missing, |estimate| Self::Interval(estimate, show))
    }

    /// A verdict, if one was asked for.
    pub fn verdict(word: Option<Word>) -> Self {
        word.map_or(Self::Blank, Self::Verdict)
    }

    /// As people read it.
    pub fn shown(&self) -> String {
        match self {
            Self::Blank => String::new(),
            Self::Missing => show::MISSING.to_owned(),
            Self::Text(text) | Self::Worded(_, text) => text.clone(),
            Self::Verdict(word) => word.to_string(),
            Self::Count(n) => n.to_string(),
            Self::Figure(value, show) => show.one(*value),
            Self::Interval(estimate, show) => show.interval(*estimate),
            Self::State(word, _) => (*word).to_owned(),
        }
    }

    /// The verdict whose colour it has.
    pub fn word(&self) -> Option<Word> {
        match self {
            Self::Verdict(word) | Self::State(_, word) => Some(*word),
            _ => None,
        }
    }

    /// Whether there is anything to be shown.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Blank => true,
            Self::Text(text) => text.is_empty(),
            _ => false,
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

impl Show {
    /// One figure.
    pub fn one(&self, value: f64) -> String {
        match self {
            Self::Ratio => show::ratio(value),
            Self::Percent => show::percent(value),
            Self::P => show::p_value(value),
            Self::Plain => value.to_string(),
            Self::Decimals(decimals) => digits(value, *decimals),
            Self::Digits => show::figure(value),
            Self::Mebibytes => show::mebibytes(value),
            Self::PlusMinus => format!("+-{} %", digits(100.0 * value, 2)),
            Self::Unit(unit) => unit.show(value),
            Self::Briefly(unit) => unit.show_briefly(value),
        }
    }

    /// A figure without the unit in which it is stored, where the head of its column names another.
    pub fn in_unit_of_head(&self, value: f64) -> f64 {
        match self {
            Self::Mebibytes => value / f64::from(1 << 20),
            _ => value,
        }
    }

    /// One figure with its interval.
    pub fn interval(&self, Estimate { value, low, high }: Estimate) -> String {
        match self {
            Self::Percent => show::percent_with_interval(value, low, high),
            _ => show::with_interval(&self.one(value), &self.one(low), &self.one(high)),
        }
    }
}
