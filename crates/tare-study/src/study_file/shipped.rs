//! The studies that come with tare.

use super::error::StudyFileError;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::suggest;

/// Their names and texts.
pub const SHIPPED: [(&str, &str); 13] = [
    ("quick", include_str!("../../../../studies/quick.toml")),
    ("full", include_str!("../../../../studies/full.toml")),
    ("apps", include_str!("../../../../studies/apps.toml")),
    ("clusters", include_str!("../../../../studies/clusters.toml")),
    (
        "multitasking",
        include_str!("../../../../studies/multitasking.toml"),
    ),
    ("host-size", include_str!("../../../../studies/host-size.toml")),
    (
        "container-service",
        include_str!("../../../../studies/container-service.toml"),
    ),
    ("ruan2016", include_str!("../../../../studies/ruan2016.toml")),
    ("li2018", include_str!("../../../../studies/li2018.toml")),
    (
        "li2018-tuning",
        include_str!("../../../../studies/li2018-tuning.toml"),
    ),
    (
        "ghatrehsamani2020",
        include_str!("../../../../studies/ghatrehsamani2020.toml"),
    ),
    (
        "ghatrehsamani2020-causes",
        include_str!("../../../../studies/ghatrehsamani2020-causes.toml"),
    ),
    (
        "conaboy2021",
        include_str!("../../../../studies/conaboy2021.toml"),
    ),
];

/// What `tare plan --list --json` prints: the studies that come with tare.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Shipped {
    /// The studies, in the order in which they are told everywhere.
    pub studies: Vec<Brief>,
}

/// A study in short.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Brief {
    /// Its name, which `tare plan` and `tare run` take.
    pub name: &'static str,
    pub title: String,
    /// Whether it has a small size, for `--small`.
    pub small: bool,
}

/// Every study that comes with tare, in short.
///
/// # Errors
/// [`StudyFileError`] if one of them cannot be read.
pub fn list() -> Result<Shipped, StudyFileError> {
    let briefs: Result<Vec<Brief>, StudyFileError> =
        SHIPPED.into_iter().map(|(name, _)| brief(name)).collect();
    Ok(Shipped { studies: briefs? })
}

fn brief(name: &'static str) -> Result<Brief, StudyFileError> {
    let file = super::read(name, false)?;
    let template = file.wishes().template.as_ref();
    Ok(Brief {
        name,
        title: template.map_or_else(String::new, |template| template.title.clone()),
        small: super::has_small(name),
    })
}

pub(super) fn text(name: &str) -> Option<&'static str> {
    SHIPPED
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The error that no study has this name.
pub(super) fn unknown(name: &str) -> StudyFileError {
    let known = SHIPPED.map(|(name, _)| name);
    let advice = match suggest::nearest(name, &known) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("the shipped ones are {}.", known.join(", ")),
    };
    StudyFileError::Unknown {
        name: name.to_owned(),
        advice,
    }
}
