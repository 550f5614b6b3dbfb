//! Figures and checks in what a command prints: where they stand, as a workload says it
//! and as the header of a results file keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a figure stands in what a command printed.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Extractor {
    /// What is looked through.
    #[serde(default, skip_serializing_if = "Stream::is_stdout")]
    pub stream: Stream,
    /// How the figure is found.
    #[serde(flatten)]
    pub find: Find,
    /// How much one of the printed unit is in the metric's, such as 1e6 where the command
    /// prints MB/s and the metric is in B/s.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub scale: f64,
    /// What a comma in the figure is; absent: numbers that have two readings are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comma: Option<Comma>,
}

/// What a comma in a printed number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comma {
    /// It begins the fraction: `1,5` is 1.5.
    Decimal,
    /// It parts thousands: `1,234` is 1234.
    Thousands,
}

/// What a command prints to. A results file that names none means standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Standard output.
    #[default]
    Stdout,
    /// Standard error.
    Stderr,
    /// A pattern is looked for in both; a JSON or CSV document is standard output, or standard
    /// error where that is blank.
    Both,
}

/// How a figure is found.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Find {
    /// The number at this pointer (RFC 6901) of a JSON document.
    Json(String),
    /// The number in this field of CSV.
    Csv(Field),
    /// The one match of a regular expression: its group named `value`, or its only group. A group
    /// named `unit` is the unit in which the figure is printed. `{value}` and `{unit}` stand for
    /// such groups.
    Regex(String),
}

/// A field of CSV.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Field {
    /// The column: its number from 1, or its name in the first line.
    pub column: String,
    /// The line, by a field in it; absent: the last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<Row>,
}

/// Which line of CSV.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "CsvRow")]
pub struct Row {
    /// A column: its number from 1, or its name in the first line.
    pub column: String,
    /// What stands in it.
    pub is: String,
}

/// What must be true of a figure that is no metric.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Bounded {
    /// What it counts, for people.
    pub name: String,
    /// Where it stands.
    #[serde(flatten)]
    pub from: Extractor,
    /// The least that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// Text that must be printed, or must not be.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Said {
    /// What is looked through.
    #[serde(default, skip_serializing_if = "Stream::is_stdout")]
    pub stream: Stream,
    /// A regular expression.
    pub regex: String,
}

impl Extractor {
    /// In both streams, in the metric's own unit.
    pub const fn of(find: Find) -> Self {
        Self {
            stream: Stream::Both,
            find,
            scale: 1.0,
            comma: None,
        }
    }
}

impl Bounded {
    /// What it may be: `at least 1`, `at most 0`, `1 to 3`.
    pub fn bounds(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) if least.to_bits() == most.to_bits() => format!("{least} is right"),
            (Some(least), Some(most)) => format!("{least} to {most} is right"),
            (Some(least), None) => format!("at least {least} is right"),
            (None, Some(most)) => format!("at most {most} is right"),
            (None, None) => "any number is right".to_owned(),
        }
    }
}

impl Stream {
    const fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Both: what is read unless one is named.
    pub const fn unnamed() -> Self {
        Self::Both
    }

    /// As people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "standard output",
            Self::Stderr => "standard error",
            Self::Both => "the output",
        }
    }
}

const fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_one(scale: &f64) -> bool {
    scale.to_bits() == 1.0_f64.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extractor_is_short_where_it_says_what_is_usual() {
        for (extractor, text) in [
            (
                Extractor {
                    stream: Stream::Stdout,
                    ..Extractor::of(Find::Json("/jobs/0/read/iops".to_owned()))
                },
                r#"{"json":"/jobs/0/read/iops"}"#,
            ),
            (
                Extractor {
                    stream: Stream::Stderr,
                    find: Find::Regex("x=(.*)".to_owned()),
                    scale: 1e6,
                    comma: None,
                },
                r#"{"stream":"stderr","regex":"x=(.*)","scale":1000000.0}"#,
            ),
            (
                Extractor::of(Find::Csv(Field {
                    column: "rps".to_owned(),
                    row: Some(Row {
                        column: "test".to_owned(),
                        is: "GET".to_owned(),
                    }),
                })),
                r#"{"stream":"both","csv":{"column":"rps","row":{"column":"test","is":"GET"}}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&extractor).unwrap(), text);
            assert_eq!(serde_json::from_str::<Extractor>(text).unwrap(), extractor);
        }
    }
}
