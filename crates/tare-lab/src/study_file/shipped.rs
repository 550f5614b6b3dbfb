//! The studies that come with tare.

use super::error::StudyFileError;
use tare_model::suggest;

/// Their names and texts.
pub const SHIPPED: [(&str, &str); 9] = [
    ("quick", include_str!("../../../../studies/quick.toml")),
    ("full", include_str!("../../../../studies/full.toml")),
    ("apps", include_str!("../../../../studies/apps.toml")),
    (
        "multitasking",
        include_str!("../../../../studies/multitasking.toml"),
    ),
    ("host-size", include_str!("../../../../studies/host-size.toml")),
    ("ruan2016", include_str!("../../../../studies/ruan2016.toml")),
    ("li2018", include_str!("../../../../studies/li2018.toml")),
    (
        "ghatrehsamani2020",
        include_str!("../../../../studies/ghatrehsamani2020.toml"),
    ),
    (
        "conaboy2021",
        include_str!("../../../../studies/conaboy2021.toml"),
    ),
];

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
