//! What all studies say of one workload, family or service feature.

use super::claim::Claim;
use super::file::{Contradiction, Protocol, Published};
use super::library::{Library, hint};
use super::table::Table;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::suggest::nearest;

/// What the studies say of some workloads.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct WorkloadView<'a> {
    /// What was asked for.
    pub name: String,
    /// The families that it comprises.
    pub families: Vec<&'a str>,
    /// What each study has of them.
    pub studies: Vec<StudyPart<'a>>,
    /// Where studies differ.
    pub contradictions: Vec<Differing<'a>>,
}

/// What one study has.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct StudyPart<'a> {
    /// The study.
    pub id: &'a str,
    pub tables: Vec<&'a Table>,
    /// How it ran them.
    pub protocols: Vec<&'a Protocol>,
    pub claims: Vec<&'a Claim>,
}

/// Two studies that differ.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Differing<'a> {
    pub study: &'a str,
    /// The other, and in what.
    #[serde(flatten)]
    pub contradiction: &'a Contradiction,
}

/// A workload that no study has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no study has a workload '{name}': {hint}")]
pub struct UnknownWorkload {
    name: String,
    hint: String,
}

/// What all studies say of a workload of theirs, a family, or a service feature.
///
/// # Errors
/// There is none of this name; the nearest is told.
pub fn workload<'a>(library: &'a Library, name: &str) -> Result<WorkloadView<'a>, UnknownWorkload> {
    let families = families(library, name).ok_or_else(|| unknown(library, name))?;
    let has = |workload: &str| {
        let family = library.mapping.family(workload);
        family.is_some_and(|(_, family)| families.contains(&family))
    };
    let parts = library.studies.iter().map(|study| part(study, &families, has));
    let contradictions = library.studies.iter().flat_map(|study| {
        let concerned = |c: &&Contradiction| c.workloads.iter().any(|w| families.contains(&w.as_str()));
        let differing = |contradiction| Differing {
            study: study.study.id.as_str(),
            contradiction,
        };
        study.contradictions.iter().filter(concerned).map(differing)
    });
    Ok(WorkloadView {
        name: name.to_owned(),
        studies: parts.filter(|p| !p.is_empty()).collect(),
        contradictions: contradictions.collect(),
        families,
    })
}

impl StudyPart<'_> {
    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.protocols.is_empty() && self.claims.is_empty()
    }
}

fn part<'a>(study: &'a Published, families: &[&str], has: impl Fn(&str) -> bool) -> StudyPart<'a> {
    let speaks = |claim: &&Claim| {
        let tables = claim.figures.iter().filter_map(|f| f.table.as_deref());
        claim.workloads.iter().any(|w| families.contains(&w.as_str())) || tables.into_iter().any(&has)
    };
    StudyPart {
        id: &study.study.id,
        tables: study.tables.iter().filter(|t| has(&t.workload)).collect(),
        protocols: study.protocols.iter().filter(|p| has(&p.workload)).collect(),
        claims: study.claims.iter().filter(speaks).collect(),
    }
}

/// The families that a name stands for: those of a feature, itself, or that of a workload.
fn families<'a>(library: &'a Library, name: &str) -> Option<Vec<&'a str>> {
    let features = || library.mapping.features();
    if let Some((_, families)) = features().find(|(feature, _)| *feature == name) {
        return Some(families);
    }
    let family = features().flat_map(|(_, families)| families).find(|f| *f == name);
    let family = family.or_else(|| library.mapping.family(name).map(|(_, family)| family));
    family.map(|family| vec![family])
}

fn unknown(library: &Library, name: &str) -> UnknownWorkload {
    let features = library.mapping.features();
    let shown: Vec<String> = features
        .map(|(feature, families)| format!("{feature} ({})", families.join(", ")))
        .collect();
    let known: Vec<&str> = library
        .mapping
        .features()
        .flat_map(|(feature, families)| std::iter::once(feature).chain(families))
        .collect();
    UnknownWorkload {
        name: name.to_owned(),
        hint: hint(nearest(name, &known), &shown.join(", ")),
    }
}
