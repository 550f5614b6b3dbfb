//! What a study says of its figures, and from what each figure of it follows.

use super::digits::Digits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A statement of a study.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The statement.
    pub text: String,
    /// Whether its figures follow from the study's tables.
    #[serde(default)]
    pub checkable: bool,
    /// Families of workloads that it speaks of; those of its figures need not be named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<String>,
    #[serde(default, rename = "figure", skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureOfClaim>,
}

/// One figure of a claim.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureOfClaim {
    /// What it is a figure of, such as the platform.
    pub of: String,
    /// By which formula it follows.
    pub formula: Formula,
    /// Workload of the table from which it follows.
    pub table: Option<String>,
    /// The row: column and level.
    pub at: Selector,
    /// What differs in the row that it is held against; the other columns are as in `at`.
    pub against: Option<Selector>,
    /// Column of the figure; by default `mean`.
    pub column: Option<String>,
    /// Column over whose levels the formula is taken, one figure each.
    pub over: Option<String>,
    /// How these figures become one.
    pub take: Option<Take>,
    /// The figure, to the digits that the table supports.
    pub expect: Digits,
    /// The figure in the study's own words, where they hold a number.
    pub said: Option<Digits>,
    /// In what sense it is said.
    #[serde(default)]
    pub sense: Sense,
}

/// Levels by column.
pub type Selector = BTreeMap<String, Level>;

/// A level as it is written.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(untagged, expecting = "text or a number is needed here")]
pub enum Level {
    /// A name.
    Text(String),
    Number(f64),
}

impl Level {
    /// The level as rows hold it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Formulas by which figures follow. M is the figure, B what it is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formula {
    /// The figure itself.
    Value,
    /// |M - B|.
    Difference,
    /// M / B, whatever direction is better.
    Quotient,
    /// The overhead ratio: M / B for times, B / M for rates.
    OverheadRatio,
    /// 100 times the loss: (M - B) / B for times, (B - M) / B for rates.
    LossPercent,
    /// The loss with its sign turned: by how much M is better.
    GainPercent,
    /// 100 times li2018's Op = |M - B| / B.
    OpPercent,
    /// 100 times li2018's overhead of variability: (Sm - Sb) / Sb, 0 where negative.
    VariabilityOverheadPercent,
    /// The mean of single runs.
    MeanOfRuns,
    /// Their standard deviation with n in the denominator.
    PopulationSdOfRuns,
    /// CPUs of an instance type over those of the host.
    Chr,
}

impl Formula {
    /// Whether it holds one row against another.
    pub const fn compares(self) -> bool {
        matches!(
            self,
            Self::Difference
                | Self::Quotient
                | Self::OverheadRatio
                | Self::LossPercent
                | Self::GainPercent
                | Self::OpPercent
                | Self::VariabilityOverheadPercent
        )
    }

    /// The unit of a figure, where the table's is `unit`.
    pub const fn unit(self, unit: &str) -> &str {
        match self {
            Self::LossPercent | Self::GainPercent | Self::OpPercent | Self::VariabilityOverheadPercent => "%",
            Self::Quotient | Self::OverheadRatio => "times",
            Self::Chr => "",
            Self::Value | Self::Difference | Self::MeanOfRuns | Self::PopulationSdOfRuns => unit,
        }
    }

    /// The name on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "figure",
            Self::Difference => "difference",
            Self::Quotient => "quotient",
            Self::OverheadRatio => "overhead ratio",
            Self::LossPercent => "loss",
            Self::GainPercent => "gain",
            Self::OpPercent => "Op",
            Self::VariabilityOverheadPercent => "variability overhead",
            Self::MeanOfRuns => "mean of the runs",
            Self::PopulationSdOfRuns => "sd over n of the runs",
            Self::Chr => "CHR",
        }
    }
}

/// How several figures become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    Mean,
    /// Not the figures are averaged but what they follow from: the formula is
    /// applied to the means over the levels.
    FormulaOfMeans,
    Least,
    Largest,
}

/// In what sense a study says a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// The number.
    #[default]
    Equal,
    /// About it: to its last digit that is not 0.
    About,
    MoreThan,
    LessThan,
}

impl Sense {
    /// The words in front of the number.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::About => "about ",
            Self::MoreThan => "more than ",
            Self::LessThan => "less than ",
        }
    }
}
