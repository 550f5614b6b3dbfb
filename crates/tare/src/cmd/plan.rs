//! `tare plan`: what a run would do and how long it would take.

use super::plan_words::text;
use super::root_image::{self, Unmade};
use super::{Asked, study_plan};
use crate::args::PlanArgs;
use crate::out;
use std::process::ExitCode;
use tare_lab::preflight::{Foresight, Platforms};
use tare_lab::printed_plan::PrintedPlan;
use tare_model::study::Study;
use tare_study::plan;

/// Prints the plan.
pub fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    super::refuse_missing_command(&args.study)?;
    if args.list {
        return study_plan::list(args.json);
    }
    let facts = tare_host::host::facts();
    let state = args.state.folder();
    if let Some(name) = &args.study.study {
        return study_plan::run(name, args, &facts, &state);
    }
    let (study, unmade) = super::study(&Asked::of(&args.study), &facts, &state, Unmade::Leave)?;
    let image = root_image::of(&study, &state)?;
    let platforms = Platforms::open(&study.platforms, &state)?.with_image(image)?;
    platforms.check_barriers(&study)?;
    platforms.check_limits(&study)?;
    let room = platforms.room();
    let cost = plan::cost(&study, room, |kind| platforms.cost(kind));
    let foreseen = foresee(&platforms, &study, unmade.as_deref());
    if args.json {
        out::print_json(&PrintedPlan::new(
            &study,
            cost,
            room,
            &foreseen,
            unmade.as_deref(),
        ))?;
    } else {
        out::print(&text(&study, &cost, room, &foreseen, unmade.as_deref()))?;
    }
    foreseen.worth(&study)?;
    Ok(ExitCode::SUCCESS)
}

/// What cannot go well, with any image if that is yet to be made.
pub(super) fn foresee(platforms: &Platforms, study: &Study, unmade: Option<&str>) -> Foresight {
    match unmade {
        None => platforms.foresee(study),
        Some(_) => platforms.foresee_before_image(study),
    }
}
