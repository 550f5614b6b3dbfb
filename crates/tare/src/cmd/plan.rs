//! `tare plan`: what a run would do and how long it would take.

use super::plan_words::{json, text};
use super::root_image::{self, Unmade};
use super::study_plan;
use crate::args::PlanArgs;
use crate::out;
use std::process::ExitCode;
use tare_lab::plan::{self, Room};
use tare_lab::preflight::Platforms;

/// Prints the plan.
pub fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    super::refuse_missing_command(&args.study)?;
    if args.list {
        return study_plan::list(args.json);
    }
    let facts = tare_box::host::facts();
    let state = args.state.folder();
    if let Some(name) = &args.study.study {
        return study_plan::run(name, args, &facts, &state);
    }
    let study = super::study(&args.study, &facts, &state, Unmade::Refuse)?;
    let image = root_image::of(&study, &state)?;
    let platforms = Platforms::open(&study.platforms, &state)?.with_image(image)?;
    platforms.check_reach(&study)?;
    let room = Room::of_host(facts.memory_bytes);
    let cost = plan::cost(&study, room, |kind| platforms.cost(kind));
    let foreseen = platforms.foresee(&study);
    if args.json {
        out::print_json(&json(&study, &cost, room, &foreseen))?;
    } else {
        out::print(&text(&study, &cost, room, &foreseen))?;
    }
    foreseen.worth(&study)?;
    Ok(ExitCode::SUCCESS)
}
