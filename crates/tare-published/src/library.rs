//! Every study that ships, read strictly.

use super::claim::{Claim, FigureOfClaim};
use super::file::Published;
use super::mapping::Mapping;
use std::rc::Rc;
use tare_model::suggest::nearest;
use tare_toml::{Kind, Source, TomlError};

/// The studies, by file name and text.
const FILES: [(&str, &str); 15] = [
    ("agache2020", include_str!("../../../published/agache2020.toml")),
    ("conaboy2021", include_str!("../../../published/conaboy2021.toml")),
    (
        "conaboy2021-repo",
        include_str!("../../../published/conaboy2021-repo.toml"),
    ),
    (
        "docker-network-threads",
        include_str!("../../../published/docker-network-threads.toml"),
    ),
    (
        "docker-seccomp-threads",
        include_str!("../../../published/docker-seccomp-threads.toml"),
    ),
    ("felter2015", include_str!("../../../published/felter2015.toml")),
    (
        "ghatrehsamani2020",
        include_str!("../../../published/ghatrehsamani2020.toml"),
    ),
    ("goyal2020", include_str!("../../../published/goyal2020.toml")),
    (
        "gvisor-threads",
        include_str!("../../../published/gvisor-threads.toml"),
    ),
    ("gvisor2020", include_str!("../../../published/gvisor2020.toml")),
    ("jones2013", include_str!("../../../published/jones2013.toml")),
    (
        "kata-threads",
        include_str!("../../../published/kata-threads.toml"),
    ),
    ("kuenzer2021", include_str!("../../../published/kuenzer2021.toml")),
    ("li2018", include_str!("../../../published/li2018.toml")),
    ("ruan2016", include_str!("../../../published/ruan2016.toml")),
];

const MAPPING: &str = include_str!("../../../published/mapping.toml");

const PUBLISHED: Kind = Kind {
    name: "file of published results",
    manual: "published/README.md",
};

/// All studies, in the order of their names.
#[derive(Debug, Clone)]
pub struct Library {
    pub studies: Vec<Published>,
    /// What belongs together, and what stands beside what of tare's own.
    pub mapping: Mapping,
}

/// A file of `published/` that cannot be used. None that ships is one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct LibraryError(#[from] TomlError);

/// A study that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no study '{id}': {hint}")]
pub struct UnknownStudy {
    id: String,
    hint: String,
}

impl Library {
    /// Reads what is compiled in.
    ///
    /// # Errors
    /// A file that breaks the format: none that ships.
    pub fn load() -> Result<Self, LibraryError> {
        Self::read(&FILES, MAPPING)
    }

    /// Reads the text of one study as one that ships is read.
    ///
    /// # Errors
    /// What breaks the format.
    pub fn parse(name: &str, text: &str) -> Result<Published, LibraryError> {
        let mapping = tare_toml::read(&source("mapping", MAPPING))?;
        read(name, text, &mapping)
    }

    /// Reads files by name and text.
    pub(super) fn read(files: &[(&str, &str)], mapping: &str) -> Result<Self, LibraryError> {
        let mapping = tare_toml::read(&source("mapping", mapping))?;
        let studies = files.iter().map(|(name, text)| read(name, text, &mapping));
        let library = Self {
            studies: studies.collect::<Result<_, _>>()?,
            mapping,
        };
        library.check_references()?;
        Ok(library)
    }

    /// The study of this name.
    ///
    /// # Errors
    /// There is none; the nearest name is told.
    pub fn study(&self, id: &str) -> Result<&Published, UnknownStudy> {
        let found = self.studies.iter().find(|s| s.study.id == id);
        found.ok_or_else(|| {
            let ids: Vec<&str> = self.studies.iter().map(|s| s.study.id.as_str()).collect();
            UnknownStudy {
                id: id.to_owned(),
                hint: hint(nearest(id, &ids), &ids.join(", ")),
            }
        })
    }

    fn check_references(&self) -> Result<(), LibraryError> {
        for published in &self.studies {
            for other in published.contradictions.iter().map(|c| &c.with_study) {
                self.study(other)
                    .map_err(|why| error(&published.study.id, why.to_string()))?;
            }
        }
        let mapped = self.mapping.studies();
        for id in mapped {
            self.study(id).map_err(|why| error("mapping", why.to_string()))?;
        }
        Ok(())
    }
}

fn error(name: &str, why: impl Into<String>) -> LibraryError {
    TomlError::file(&path(name), why).into()
}

fn path(name: &str) -> String {
    format!("published/{name}.toml")
}

fn source(name: &str, text: &str) -> Rc<Source> {
    Source::of_text(&PUBLISHED, path(name), text)
}

fn read(name: &str, text: &str, mapping: &Mapping) -> Result<Published, LibraryError> {
    let published = tare_toml::read(&source(name, text))?;
    check(name, &published, mapping).map_err(|why| error(name, why))?;
    Ok(published)
}

/// What the parts of a file owe one another.
fn check(name: &str, published: &Published, mapping: &Mapping) -> Result<(), String> {
    if published.study.id != name {
        return Err(format!("its id is '{}'", published.study.id));
    }
    let tables = published.tables.iter().map(|t| &t.workload);
    let protocols = published.protocols.iter().map(|p| &p.workload);
    if let Some(workload) = tables.chain(protocols).find(|w| mapping.family(w).is_none()) {
        return Err(format!("workload '{workload}' is of no family in mapping.toml"));
    }
    for (i, table) in published.tables.iter().enumerate() {
        if published.tables[..i].iter().any(|t| t.workload == table.workload) {
            return Err(format!("two tables of workload '{}'", table.workload));
        }
        let platforms = &published.study.platforms;
        let unknown = |c: &&String| !platforms.iter().any(|p| p.id == **c);
        if let Some(column) = table.platform_columns.iter().find(unknown) {
            return Err(format!(
                "table '{}': column '{column}' is neither known nor a platform of the study",
                table.workload
            ));
        }
    }
    let claimed = published.claims.iter().flat_map(|c| &c.workloads);
    let contradicted = published.contradictions.iter().flat_map(|c| &c.workloads);
    if let Some(family) = claimed.chain(contradicted).find(|f| !mapping.is_family(f)) {
        return Err(format!("'{family}' is not a family of mapping.toml"));
    }
    published.claims.iter().try_for_each(check_claim)
}

fn check_claim(claim: &Claim) -> Result<(), String> {
    if claim.checkable == claim.figures.is_empty() {
        return Err(format!(
            "claim '{}': a claim is checkable if and only if it has figures",
            claim.text
        ));
    }
    let wrong = |figure: &FigureOfClaim| {
        figure.formula.compares() != figure.against.is_some()
            || figure.over.is_some() != figure.take.is_some()
    };
    match claim.figures.iter().find(|f| wrong(f)) {
        Some(figure) => Err(format!(
            "claim '{}': figure of '{}': a formula that compares needs 'against', no other has it; 'over' needs 'take'",
            claim.text, figure.of
        )),
        None => Ok(()),
    }
}

/// What to ask for instead.
pub(super) fn hint(nearest: Option<&str>, known: &str) -> String {
    match nearest {
        Some(name) => format!("did you mean '{name}'? The studies are {known}"),
        None => format!("the studies are {known}"),
    }
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
