//! What is wanted of Debian: the same specification is the same image.

use crate::Digest;
use crate::sources::maven::{MavenSpec, NoMaven};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of a digest, as much as keeps specifications apart.
const HASH_DIGITS: usize = 12;
/// As snapshots are dated: 20250520T000000Z.
const DATE: &str = "00000000T000000Z";

/// A root filesystem of Debian's packages.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebianSpec {
    /// The release: `bookworm`.
    pub suite: String,
    /// The parts of the archive: `main`, `non-free`.
    pub components: Vec<String>,
    /// Packages beside the smallest set.
    #[serde(default)]
    pub packages: Vec<String>,
    /// The moment of the archive, as `20250520T000000Z`; else its present state.
    #[serde(default)]
    pub snapshot: Option<String>,
    /// A script for `sh -eu`, which runs in it as root once its packages are installed: it makes
    /// what a program finds there besides, such as a database.
    #[serde(default)]
    pub prepare: Option<String>,
    /// Artifacts of Maven, which are there when the script runs.
    #[serde(default)]
    pub maven: Vec<MavenSpec>,
}

/// What is wrong with a specification.
#[derive(Debug, thiserror::Error)]
pub enum NoSpec {
    #[error(
        "\"{0}\" is not a Debian release: write lower-case letters, digits and hyphens, such as bookworm"
    )]
    Suite(String),
    /// A part of the archive.
    #[error(
        "\"{0}\" is not a component of Debian's archive: choose main, contrib, non-free or non-free-firmware"
    )]
    Component(String),
    /// There is no part.
    #[error("no component of Debian's archive is given: give at least main")]
    NoComponent,
    #[error(
        "\"{0}\" is not a Debian package: write lower-case letters, digits and + - . with or without =VERSION"
    )]
    Package(String),
    /// The date.
    #[error("\"{0}\" is not a snapshot date: write it as 20250520T000000Z")]
    Snapshot(String),
    /// The script.
    #[error("'prepare' has a NUL character: give the text of a shell script")]
    Prepare,
    /// Artifacts of Maven.
    #[error("{wrong}")]
    Maven {
        /// Which of the specifications, from 0.
        entry: usize,
        /// What is wrong with it.
        wrong: NoMaven,
    },
}

impl DebianSpec {
    /// The same specification in the one order that counts, if it can be one.
    ///
    /// # Errors
    /// [`NoSpec`].
    pub fn checked(&self) -> Result<Self, NoSpec> {
        let brief = |text: &str| text.chars().filter(|c| !c.is_control()).take(60).collect();
        if !is_word(&self.suite, "-") {
            return Err(NoSpec::Suite(brief(&self.suite)));
        }
        if self.components.is_empty() {
            return Err(NoSpec::NoComponent);
        }
        if let Some(wrong) = self.components.iter().find(|one| !is_word(one, "-")) {
            return Err(NoSpec::Component(brief(wrong)));
        }
        if let Some(wrong) = self.packages.iter().find(|one| !is_package(one)) {
            return Err(NoSpec::Package(brief(wrong)));
        }
        if let Some(wrong) = self.snapshot.as_ref().filter(|date| !is_date(date)) {
            return Err(NoSpec::Snapshot(brief(wrong)));
        }
        if self.prepare.as_ref().is_some_and(|script| script.contains('\0')) {
            return Err(NoSpec::Prepare);
        }
        for (entry, spec) in self.maven.iter().enumerate() {
            spec.check().map_err(|wrong| NoSpec::Maven { entry, wrong })?;
        }
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list.dedup();
            list
        };
        Ok(Self {
            components: sorted(&self.components),
            packages: sorted(&self.packages),
            ..self.clone()
        })
    }

    /// The name of its image.
    pub fn name(&self) -> String {
        let lists = [self.components.join(","), self.packages.join(",")];
        let snapshot = self.snapshot.as_deref().unwrap_or_default();
        // Without a script nothing is added: images that were made before there were any keep their names.
        let prepare = self.prepare.as_deref().unwrap_or_default();
        let text = format!(
            "{}\n{}\n{snapshot}\n{prepare}{}",
            self.suite,
            lists.join("\n"),
            self.artifacts()
        );
        let digest = Digest::of(text.as_bytes());
        let hash = digest.hex().get(..HASH_DIGITS).unwrap_or_default();
        format!("debian-{}-{hash}", self.suite)
    }

    /// What is wanted of Maven, as text; nothing where it is nothing, for the names of images without it. It
    /// begins with what no script can hold.
    fn artifacts(&self) -> String {
        if self.maven.is_empty() {
            return String::new();
        }
        format!("\0{}", serde_json::json!(self.maven))
    }
}

fn is_word(text: &str, more: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || more.contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(fits)
}

fn is_package(text: &str) -> bool {
    let (name, version) = text.split_once('=').unwrap_or((text, "0"));
    let fits = |c: char| c.is_ascii_alphanumeric() || "+-.~:".contains(c);
    is_word(name, "+-.:") && !version.is_empty() && version.chars().all(fits)
}

fn is_date(text: &str) -> bool {
    let alike = |(given, form): (char, char)| match form {
        '0' => given.is_ascii_digit(),
        letter => given == letter,
    };
    text.len() == DATE.len() && text.chars().zip(DATE.chars()).all(alike)
}
