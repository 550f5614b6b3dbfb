//! One study's file.

use super::claim::Claim;
use super::table::Table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

// Unknown keys are refused, so that a misspelt one is told.
/// What one file of `published/` holds.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What was run, on what, how often.
    pub study: About,
    /// Sizes of the study's boxes.
    #[serde(default, rename = "instance_type", skip_serializing_if = "Vec::is_empty")]
    pub instance_types: Vec<Instance>,
    /// Published figures.
    #[serde(default, rename = "table")]
    pub tables: Vec<Table>,
    /// How workloads were run.
    #[serde(default, rename = "protocol")]
    pub protocols: Vec<Protocol>,
    /// What the study says of its figures.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    /// Where another study says otherwise.
    #[serde(default, rename = "contradiction")]
    pub contradictions: Vec<Contradiction>,
    /// Where the study contradicts its own figures, or cannot be right.
    #[serde(default)]
    pub errata: Vec<Erratum>,
    /// How the study defines its figures.
    #[serde(default)]
    pub definitions: BTreeMap<String, String>,
}

/// The study itself.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// First author and year: the name by which it is asked for.
    pub id: String,
    pub title: String,
    pub authors: String,
    /// Where it was published.
    pub venue: String,
    /// Digital object identifier.
    pub doi: Option<String>,
    pub year: u16,
    /// What it holds its platforms against.
    pub baseline: String,
    /// Runs behind a mean, in number or words.
    pub repetitions: Option<NumberOrText>,
    /// How long it measured.
    pub duration: Option<String>,
    /// Hardware and system.
    pub host: String,
    /// CPUs of the host, as the study counts them.
    pub host_cpus: Option<u32>,
    pub platforms: Vec<Platform>,
    /// How it grants CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provisioning: Vec<Provisioning>,
    /// Limits of its boxes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, NumberOrText>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cluster: BTreeMap<String, NumberOrText>,
    /// Its method.
    pub methodology: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// Differences below this it ignores.
    pub margin_percent: Option<f64>,
    /// What the figures were taken from; the study's text where absent.
    pub source_kind: Option<String>,
    /// Where that lies.
    pub seen_in: Option<String>,
    /// How far the figures can be trusted, and why.
    pub trust: Option<String>,
    /// What of the study is not here, and why.
    pub left_out: Option<String>,
}

/// A platform of a study.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    /// The name in the study's tables; `*` stands for several endings.
    pub id: String,
    pub kind: String,
    /// The study's abbreviation.
    pub abbreviation: Option<String>,
    pub version: Option<String>,
    pub image: Option<String>,
    pub storage: Option<String>,
    pub network: Option<String>,
    /// Anything else.
    pub note: Option<String>,
}

/// A way to grant CPUs.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provisioning {
    /// The study's name.
    pub id: String,
    pub how: String,
}

/// A size of box.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    pub name: String,
    /// CPUs, which the study calls cores.
    pub cores: u32,
    #[serde(rename = "memory_GB")]
    pub memory_gb: u32,
}

/// How a workload was run.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    pub workload: String,
    /// Version of its program.
    pub version: Option<String>,
    /// Options, sizes, metric.
    pub settings: String,
    /// Factors and their levels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub factors: BTreeMap<String, Vec<NumberOrText>>,
    /// Design of the experiment.
    pub design: Option<String>,
}

/// Where two studies differ.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contradiction {
    /// The other study.
    pub with_study: String,
    /// Families of workloads that it concerns.
    pub workloads: Vec<String>,
    /// In what.
    pub text: String,
}

/// Something in a study that cannot be right.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erratum {
    pub text: String,
}

/// A number, a word, or yes and no.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(untagged, expecting = "text, a number, or true or false is needed here")]
pub enum NumberOrText {
    /// Yes or no.
    Truth(bool),
    Number(f64),
    /// Words.
    Text(String),
}

impl std::fmt::Display for NumberOrText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truth(truth) => write!(f, "{truth}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Published {
    /// Published figures; spreads and numbers of runs do not count.
    pub fn figures(&self) -> usize {
        self.tables.iter().flat_map(|t| &t.rows).map(|r| r.count()).sum()
    }

    /// The table of a workload.
    pub fn table(&self, workload: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.workload == workload)
    }

    /// Claims whose figures can be derived.
    pub fn checkable(&self) -> usize {
        self.claims.iter().filter(|c| c.checkable).count()
    }

    /// Runs behind a mean where a table does not say.
    pub fn repetitions(&self) -> Option<f64> {
        match self.study.repetitions {
            Some(NumberOrText::Number(n)) => Some(n),
            _ => None,
        }
    }
}
