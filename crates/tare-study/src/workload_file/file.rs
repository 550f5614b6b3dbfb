//! What a workload file holds, as it is written.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tare_model::metric::Direction;
use tare_model::output::{Comma, Field, Find, Stream};
use tare_model::template::Feature;
use tare_toml::Spanned;

/// A workload file. Unknown keys are refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub about: String,
    pub feature: Option<Feature>,
    pub source: Option<String>,
    #[serde(default)]
    pub studies: Vec<String>,
    pub command: Spanned<Command>,
    #[serde(default, rename = "role")]
    pub roles: Vec<Spanned<RoleText>>,
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    #[serde(default, rename = "metric")]
    pub metrics: Vec<Spanned<MetricText>>,
    #[serde(default, rename = "check")]
    pub checks: Vec<Spanned<CheckText>>,
}

/// What is run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Command {
    #[serde(default)]
    pub argv: Vec<String>,
    pub load: Option<Spanned<LoadText>>,
    pub place: Option<PlaceText>,
    #[serde(default)]
    pub with: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, Spanned<String>>,
    pub package: Option<String>,
    pub image: Option<String>,
    #[serde(default)]
    pub image_only: bool,
    pub version: Option<Version>,
    #[serde(default)]
    pub calls: Vec<String>,
    #[serde(default)]
    pub setup: Vec<String>,
    #[serde(default)]
    pub teardown: Vec<String>,
    pub cache: Option<Spanned<String>>,
    pub seconds: Option<Seconds>,
    pub memory: Option<Memory>,
    pub cannot_run: Option<Spanned<CannotRun>>,
}

impl Command {
    /// Where it runs: a load outside, and all else in the box, unless it is said.
    pub fn place(&self) -> PlaceText {
        match (self.place, &self.load) {
            (Some(place), _) => place,
            (None, Some(_)) => PlaceText::Outside,
            (None, None) => PlaceText::Tested,
        }
    }
}

/// What a client of tare's own asks of a server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadText {
    pub http: Option<Spanned<String>>,
    pub resp: Option<Vec<String>>,
    #[serde(default)]
    pub first: Vec<String>,
    pub postgresql: Option<String>,
    pub mysql: Option<String>,
    pub user: Option<String>,
    pub database: Option<String>,
    pub server: Option<Spanned<String>>,
    pub connections: Option<Spanned<String>>,
    pub keep: Option<Spanned<String>>,
    pub pipeline: Option<Spanned<String>>,
    pub keys: Option<Spanned<String>>,
    pub bytes: Option<Spanned<String>>,
    pub rate: Option<Spanned<String>>,
    pub burst: Option<Spanned<String>>,
    pub bound: Option<Spanned<BoundText>>,
}

/// A latency within which most requests must be answered.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoundText {
    /// Of a hundred requests so many.
    pub percentile: f64,
    pub ms: Spanned<String>,
}

/// Where the program cannot run, whatever is done.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CannotRun {
    /// Platforms, without options.
    pub platforms: Vec<String>,
    /// The file of the host that tells so; absent: on every host.
    pub if_host_has: Option<PathBuf>,
    /// Why, and the ways out.
    pub why: String,
}

/// Where a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PlaceText {
    Tested,
    Outside,
    Apart,
}

/// A server that the command talks to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleText {
    pub name: Spanned<String>,
    pub place: PlaceText,
    /// How many of it there are, each in a box of its own; absent: one, that bears its name.
    pub count: Option<Spanned<CountText>>,
    pub argv: Vec<String>,
    #[serde(default)]
    pub with: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub calls: Vec<String>,
    pub ready: Spanned<ReadyText>,
    pub lives: Option<Spanned<LivesText>>,
}

/// For how long a server lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LivesText {
    /// It is new for each trial.
    Trial,
    /// It stays from trial to trial of a block.
    Block,
}

/// A number, or words with a parameter that is one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum CountText {
    Number(i64),
    Words(String),
}

/// How a server tells that it serves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadyText {
    pub line: Option<String>,
    pub tcp: Option<String>,
    pub command: Option<Vec<String>>,
}

/// How long a run takes on an ordinary machine, by preset.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seconds {
    pub small: f64,
    pub paper: f64,
}

/// Memory of a box that it needs, by preset.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Memory {
    pub small: Spanned<String>,
    pub paper: Spanned<String>,
}

/// How the program tells its version.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Version {
    pub argv: Vec<String>,
    pub regex: String,
}

/// A parameter of the command line, with a value for a quick run and one as the studies had it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameter {
    pub about: String,
    pub small: String,
    pub paper: String,
}

/// A figure that the command prints.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MetricText {
    pub name: String,
    pub unit: String,
    pub direction: Option<Direction>,
    pub comma: Option<Comma>,
    #[serde(default = "Stream::unnamed")]
    pub stream: Stream,
    pub regex: Option<String>,
    pub json: Option<String>,
    pub csv: Option<Field>,
}

/// What must hold for a trial to count.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckText {
    pub says: Option<String>,
    pub says_not: Option<String>,
    pub figure: Option<String>,
    pub comma: Option<Comma>,
    #[serde(default = "Stream::unnamed")]
    pub stream: Stream,
    pub regex: Option<String>,
    pub json: Option<String>,
    pub csv: Option<Field>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    pub equals: Option<f64>,
}

/// The one way in which a figure is found; `None` where there is none, or several.
pub(super) fn find(regex: Option<&String>, json: Option<&String>, csv: Option<&Field>) -> Option<Find> {
    match (regex, json, csv) {
        (Some(regex), None, None) => Some(Find::Regex(regex.clone())),
        (None, Some(pointer), None) => Some(Find::Json(pointer.clone())),
        (None, None, Some(field)) => Some(Find::Csv(field.clone())),
        _ => None,
    }
}
