//! What a study file says in words: the chapters of a study beside its design
//! and protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A chapter of a study, after the ten steps of DoKnowMe: listing and selecting
/// metrics are one chapter here, and so are listing and selecting factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chapter {
    /// What is to be known, and why.
    Requirement,
    /// The service features that are looked at.
    Features,
    /// What is measured, and by which workload.
    Metrics,
    /// What is varied.
    Factors,
    /// Which combinations are run.
    Design,
    /// By which protocol.
    Implementation,
    /// How figures are judged.
    Analysis,
    /// What was found.
    Conclusion,
}

impl Chapter {
    /// Every chapter, in order.
    pub const ALL: [Self; 8] = [
        Self::Requirement,
        Self::Features,
        Self::Metrics,
        Self::Factors,
        Self::Design,
        Self::Implementation,
        Self::Analysis,
        Self::Conclusion,
    ];

    /// The name in files and on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requirement => "requirement",
            Self::Features => "features",
            Self::Metrics => "metrics",
            Self::Factors => "factors",
            Self::Design => "design",
            Self::Implementation => "implementation",
            Self::Analysis => "analysis",
            Self::Conclusion => "conclusion",
        }
    }
}

impl fmt::Display for Chapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A physical property of a service; application workloads stand beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// What goes over a network.
    Communication,
    /// What processors do.
    Computation,
    /// Main memory.
    Memory,
    /// Disks.
    Storage,
    /// A whole application, which uses several of them.
    Application,
}

impl Property {
    /// Every property, in the order of printing.
    pub const ALL: [Self; 5] = [
        Self::Communication,
        Self::Computation,
        Self::Memory,
        Self::Storage,
        Self::Application,
    ];

    /// The name in files and on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Communication => "communication",
            Self::Computation => "computation",
            Self::Memory => "memory",
            Self::Storage => "storage",
            Self::Application => "application",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a property is able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capacity {
    /// Amount of data per time.
    Throughput,
    /// Time of one operation.
    Latency,
    /// Operations or jobs per time.
    TransactionSpeed,
}

impl Capacity {
    /// Every capacity, in the order of printing.
    pub const ALL: [Self; 3] = [Self::Throughput, Self::Latency, Self::TransactionSpeed];

    /// The name in files and on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::TransactionSpeed => "transaction-speed",
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A service feature: a capacity of a physical property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Feature {
    pub property: Property,
    pub capacity: Capacity,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.property, self.capacity)
    }
}

/// What tare may not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    Workload,
    Platform,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Workload => "workload",
            Self::Platform => "platform",
        })
    }
}

/// Something that a study names and that tare does not have.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct LeftOut {
    pub what: Missing,
    pub name: String,
    /// The service feature that it would show, of a workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<Feature>,
    /// Why it is left out.
    pub why: String,
}

/// What a study file says beside its design and protocol.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Template {
    /// Name of the shipped study, or path of the file.
    pub source: String,
    /// Whether it is the study's small size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub small: bool,
    pub title: String,
    /// The questions to be answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The service features that are of interest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Feature>,
    /// What the file says in each chapter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<Chapter, String>,
    /// What the study names and tare does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}
