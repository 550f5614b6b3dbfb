//! `published/mapping.toml`: families of workloads, and what of the studies
//! stands beside what of tare's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tare_model::kernel::KernelSpec;

/// What belongs together.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// By service feature: families of workloads.
    families: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// tare's own workloads.
    #[serde(rename = "workload")]
    workloads: Vec<OwnWorkload>,
    /// By study and its platform: tare's platforms, as a study of tare names them.
    platforms: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// One of tare's workloads beside those of studies.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnWorkload {
    /// tare's name.
    pub own: String,
    /// The name in tables.
    pub published: String,
    /// tare's metrics and their names in tables.
    pub metrics: BTreeMap<String, Vec<String>>,
    /// Size of the problem there, where another would be other work.
    pub size: Option<u64>,
    /// What differs even where figures are comparable.
    pub note: String,
    /// Studies whose workload of this name is another, and why.
    #[serde(default)]
    pub unlike: BTreeMap<String, String>,
}

impl Mapping {
    /// Feature and family of a workload of a table or protocol.
    pub fn family(&self, workload: &str) -> Option<(&str, &str)> {
        self.all()
            .find(|(_, _, workloads)| workloads.iter().any(|w| w == workload))
            .map(|(feature, family, _)| (feature, family))
    }

    /// Features, each with its families.
    pub fn features(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        self.families
            .iter()
            .map(|(feature, families)| (feature.as_str(), families.keys().map(String::as_str).collect()))
    }

    pub(super) fn is_family(&self, name: &str) -> bool {
        self.all().any(|(_, family, _)| family == name)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &str, &Vec<String>)> {
        self.families.iter().flat_map(|(feature, families)| {
            families
                .iter()
                .map(move |(family, workloads)| (feature.as_str(), family.as_str(), workloads))
        })
    }

    pub(super) fn studies(&self) -> impl Iterator<Item = &str> {
        let unlike = self.workloads.iter().flat_map(|w| w.unlike.keys());
        self.platforms.keys().chain(unlike).map(String::as_str)
    }

    /// What of tare's stands beside a workload of a table.
    pub(super) fn own_workload(&self, published: &str) -> Option<&OwnWorkload> {
        self.workloads.iter().find(|w| w.published == published)
    }

    /// tare's platforms that stand beside a platform of a study.
    pub(super) fn own_platforms(&self, study: &str, platform: &str) -> &[String] {
        let platforms = self.platforms.get(study).and_then(|p| p.get(platform));
        platforms.map_or(&[], Vec::as_slice)
    }
}

impl OwnWorkload {
    /// Whether a kernel does work of the same size.
    pub(super) fn is_of_size(&self, spec: Option<&KernelSpec>) -> bool {
        self.size
            .is_none_or(|size| spec.is_some_and(|spec| spec.size == size))
    }

    /// tare's name of a metric of a table.
    pub(super) fn own_metric(&self, published: &str) -> Option<&str> {
        let named = self
            .metrics
            .iter()
            .find(|(_, names)| names.iter().any(|n| n == published));
        named.map(|(own, _)| own.as_str())
    }
}
