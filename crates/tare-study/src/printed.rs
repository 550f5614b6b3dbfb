//! Metrics and checks of what a command prints, as a user asks for them.

use crate::extract::{self, ExtractError};
use tare_model::metric::{Direction, Metric, Source};
use tare_model::output::{Bounded, Comma, Extractor, Find, Said, Stream};
use tare_model::unit_words::{self, Scaled, UnitError};
use tare_model::workload::Check;

/// A figure of a command's own, as a user asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricWish {
    pub name: String,
    /// What it is printed to.
    pub stream: Stream,
    /// Where it stands.
    pub find: Find,
    /// The unit in which it is printed.
    pub unit: String,
    /// What a comma in it is.
    pub comma: Option<Comma>,
    /// Which direction is better; absent: that of the unit, if it has one.
    pub direction: Option<Direction>,
}

/// A check of what a command prints, as a user asks for it.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckWish {
    /// It must print this.
    Says(Stream, String),
    /// It must not.
    SaysNot(Stream, String),
    /// A figure that it prints must lie within bounds.
    Figure(Bounded),
}

impl MetricWish {
    /// Whether it can be had of any command.
    ///
    /// # Errors
    /// [`PrintedError`].
    pub fn judge(&self) -> Result<(), PrintedError> {
        metric(self).map(drop)
    }
}

impl CheckWish {
    /// Whether it can be made of any command.
    ///
    /// # Errors
    /// [`PrintedError`].
    pub fn judge(&self) -> Result<(), PrintedError> {
        check(self).map(drop)
    }
}

/// What is wrong with a figure or a check of a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrintedError {
    #[error(
        "'{0}' is not a metric name: use at most 24 lower-case letters, digits and dashes, such as throughput"
    )]
    Name(String),
    /// A name that the command's metrics have already.
    #[error(
        "the metric '{0}' already exists: give each its own name, other than wall, user, system and peak-memory"
    )]
    Twice(String),
    #[error("metric '{name}': {source}")]
    Unit {
        /// The metric.
        name: String,
        source: UnitError,
    },
    /// Nothing says which direction is better.
    #[error(
        "metric '{name}': {} whether more or less is better: give --higher or --lower (in a file: direction = \"higher\" or \"lower\")",
        undecided(.unit)
    )]
    Direction {
        /// The metric.
        name: String,
        unit: String,
    },
    /// Where it stands.
    #[error("metric '{name}': {source}")]
    Find {
        /// The metric.
        name: String,
        source: ExtractError,
    },
    /// What is to be printed, or not.
    #[error("check: {0}")]
    Check(ExtractError),
}

/// A user who gave no unit did not write that of a plain number.
fn undecided(unit: &str) -> String {
    if unit == PLAIN {
        "no unit given that says, such as op/s or ms,".to_owned()
    } else {
        format!("'{unit}' does not say")
    }
}

/// The unit of a plain number.
pub const PLAIN: &str = "1";

/// Longest name of a metric: columns of reports hold it.
const LONGEST_NAME: usize = 24;

/// The metrics of a command: those that were asked for, the first of which then carries the
/// verdict, beside what its processes used.
pub(crate) fn metrics(wishes: &[MetricWish], used: Vec<Metric>) -> Result<Vec<Metric>, PrintedError> {
    let mut metrics = Vec::new();
    for wish in wishes {
        let is_there = |metric: &Metric| metric.name == wish.name;
        if used.iter().chain(&metrics).any(is_there) {
            return Err(PrintedError::Twice(wish.name.clone()));
        }
        metrics.push(Metric {
            primary: metrics.is_empty(),
            ..metric(wish)?
        });
    }
    let beside = used.into_iter().map(|metric| Metric {
        primary: metric.primary && wishes.is_empty(),
        ..metric
    });
    metrics.extend(beside);
    Ok(metrics)
}

/// Checks of what a command prints.
pub(crate) fn checks(wishes: &[CheckWish]) -> Result<Vec<Check>, PrintedError> {
    wishes.iter().map(check).collect()
}

fn check(wish: &CheckWish) -> Result<Check, PrintedError> {
    Ok(match wish {
        CheckWish::Says(stream, regex) => Check::Says(said(*stream, regex)?),
        CheckWish::SaysNot(stream, regex) => Check::SaysNot(said(*stream, regex)?),
        CheckWish::Figure(bounded) => {
            extract::check_without_unit(&bounded.from.find).map_err(PrintedError::Check)?;
            Check::Figure(bounded.clone())
        }
    })
}

fn said(stream: Stream, regex: &str) -> Result<Said, PrintedError> {
    extract::pattern(regex).map_err(PrintedError::Check)?;
    let regex = regex.to_owned();
    Ok(Said { stream, regex })
}

fn metric(wish: &MetricWish) -> Result<Metric, PrintedError> {
    let name = &wish.name;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
        return Err(PrintedError::Name(name.clone()));
    }
    let Scaled { unit, scale } = unit_words::read(&wish.unit).map_err(|source| PrintedError::Unit {
        name: name.clone(),
        source,
    })?;
    extract::check(&wish.find).map_err(|source| PrintedError::Find {
        name: name.clone(),
        source,
    })?;
    let direction = wish.direction.or_else(|| unit.direction());
    let direction = direction.ok_or_else(|| PrintedError::Direction {
        name: name.clone(),
        unit: wish.unit.clone(),
    })?;
    Ok(Metric {
        from: Source::Output(Extractor {
            stream: wish.stream,
            find: wish.find.clone(),
            scale,
            comma: wish.comma,
        }),
        ..Metric::new(name, unit, direction, false)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::catalogue;
    use tare_model::metric::{Quantity, Unit};

    fn wish(name: &str, unit: &str, regex: &str) -> MetricWish {
        MetricWish {
            name: name.to_owned(),
            stream: Stream::Both,
            find: Find::Regex(regex.to_owned()),
            unit: unit.to_owned(),
            comma: None,
            direction: None,
        }
    }

    fn asked(wishes: &[MetricWish]) -> Result<Vec<Metric>, String> {
        metrics(wishes, catalogue::used_by_a_command()).map_err(|e| e.to_string())
    }

    #[test]
    fn the_first_figure_carries_the_verdict_and_a_rate_is_better_when_higher() {
        let all = asked(&[wish("throughput", "op/s", "t=(.*)"), wish("p99", "ms", "p=(.*)")]).unwrap();
        let names: Vec<&str> = all.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names[..3], ["throughput", "p99", "wall"]);
        assert_eq!(all.iter().filter(|m| m.primary).count(), 1);
        assert!(all[0].primary && all[0].direction == Direction::Higher);
        assert_eq!(all[0].quantity, Quantity::Rate);
        assert_eq!(
            (all[1].unit.clone(), all[1].direction),
            (Unit::Second, Direction::Lower)
        );
        assert!(asked(&[]).unwrap()[0].primary);
    }

    #[test]
    fn what_is_no_metric_is_told() {
        let told = |wish: MetricWish| asked(&[wish]).unwrap_err();
        assert!(told(wish("A b", "s", "(x)")).contains("is not a metric name"));
        assert!(told(wish("wall", "s", "(x)")).contains("already exists"));
        assert!(told(wish("rate", "mb/s", "(x)")).contains("write Mbit/s or MB/s"));
        let plain = told(wish("score", "1", "(x)"));
        assert!(
            plain.contains("no unit given") && !plain.contains("'1'"),
            "{plain}"
        );
        assert!(plain.contains("give --higher or --lower"), "{plain}");
        assert!(told(wish("score", "points", "(x)")).contains("'points' does not say"));
        assert!(told(wish("rate", "op/s", "x")).contains("put only the figure"));
        assert_eq!(
            told(wish("rate", "op/s", "^ok(")),
            "metric 'rate': '^ok(' is not a regular expression: unclosed group"
        );
    }
}
