//! A study in brief, as lists have it.

use super::file::Published;
use schemars::JsonSchema;
use serde::Serialize;

/// A study in brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Brief<'a> {
    /// The name by which it is asked for.
    pub id: &'a str,
    pub year: u16,
    pub title: &'a str,
    /// Hardware and system.
    pub host: &'a str,
    /// How many figures it has.
    pub figures: usize,
    /// Claims whose figures can be derived.
    pub checkable_claims: usize,
    /// Where it contradicts its own figures, or cannot be right.
    pub errata: usize,
}

impl<'a> Brief<'a> {
    /// The study in brief.
    pub fn of(published: &'a Published) -> Self {
        Self {
            id: &published.study.id,
            year: published.study.year,
            title: &published.study.title,
            host: &published.study.host,
            figures: published.figures(),
            checkable_claims: published.checkable(),
            errata: published.errata.len(),
        }
    }
}
