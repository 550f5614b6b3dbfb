//! A plan for programs, as `tare plan --json` prints it.

use crate::preflight::Foresight;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::study::{Cell, Study};
use tare_model::template::{Capacity, Property};
use tare_study::looks;
use tare_study::plan::{Cost, Room, SideBySide, side_by_side};

/// What `tare plan --json` prints: what a run would do and take.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PrintedPlan<'a> {
    /// The study, as it would stand in the header of the results file.
    study: &'a Study,
    /// Every cell, in words: platform, provisioning, size where there are several, and workload.
    cells: Vec<String>,
    /// Numbers of blocks after which an adaptive study is looked at; none of a fixed one.
    looks: Vec<u32>,
    /// The most boxes that exist at the same time; null if each trial runs in one piece by itself.
    side_by_side: Option<SideBySide>,
    /// What the run is expected to take, before anything was measured; an adaptive one at most.
    cost: Cost,
    /// The image that the run would make first; null if there is none to make.
    image_to_make: Option<&'a str>,
    #[serde(flatten)]
    foreseen: &'a Foresight,
    #[serde(flatten)]
    template: Option<OfTemplate>,
}

/// What is told beside of a study that is a file, or ships with tare.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OfTemplate {
    /// The layers workload, resource and capacity, a row for each workload; only of a study that is a file or
    /// ships with tare.
    pub blueprint: Vec<Layer>,
    /// What the study names and cannot be had here, in words, each with the reason; only of a study that is a
    /// file or ships with tare. A platform that is missing stops a run.
    pub missing: Vec<String>,
}

/// One row of the blueprint.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Layer {
    /// Name of the workload.
    pub workload: String,
    /// The resource that it shows, if the study says so.
    pub resource: Option<Property>,
    /// The capacity of that resource, likewise.
    pub capacity: Option<Capacity>,
    /// Names of its metrics; none of a workload that is not available.
    pub metrics: Vec<String>,
    /// Whether tare has the workload here.
    pub available: bool,
}

impl<'a> PrintedPlan<'a> {
    /// Puts it together; `image_to_make` is the name of an image that is not made yet.
    pub fn new(
        study: &'a Study,
        cost: Cost,
        room: Room,
        foreseen: &'a Foresight,
        image_to_make: Option<&'a str>,
    ) -> Self {
        Self {
            study,
            cells: study.cells().iter().map(Cell::to_string).collect(),
            looks: looks::schedule(study).collect(),
            side_by_side: side_by_side(study, room),
            cost,
            image_to_make,
            foreseen,
            template: None,
        }
    }

    /// The same of a study that is a file, or ships with tare.
    pub fn of_template(self, template: OfTemplate) -> Self {
        Self {
            template: Some(template),
            ..self
        }
    }
}
