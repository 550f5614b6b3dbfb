//! `tare plan`: what a run would do and how long it would take.

use crate::args::PlanArgs;
use crate::out;
use std::fmt::Write as _;
use std::process::ExitCode;
use tare_lab::plan::{self, Cost};
use tare_lab::preflight::Platforms;
use tare_model::size::{counted, show_memory, show_seconds};
use tare_model::study::Study;

/// Prints the plan.
pub fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    super::refuse_missing_command(&args.study)?;
    let facts = tare_box::host::facts();
    let state = args.state.folder();
    let study = super::study(&args.study, &facts, &state)?;
    let platforms = Platforms::open(&study.platforms, &state)?;
    let cost = plan::cost(&study, |kind| platforms.cost(kind));
    if args.json {
        let cells: Vec<String> = study.cells().iter().map(ToString::to_string).collect();
        let cost = serde_json::json!({
            "trials": cost.trials, "boxes": cost.boxes, "seconds": cost.seconds, "bytes": cost.bytes,
        });
        out::print_json(&serde_json::json!({ "study": study, "cells": cells, "cost": cost }))?;
    } else {
        out::print(&text(&study, &cost)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The plan in a few lines.
pub fn text(study: &Study, cost: &Cost) -> anyhow::Result<String> {
    let list = |items: Vec<String>| items.join(", ");
    let mut text = String::new();
    let platforms = list(study.platforms.iter().map(ToString::to_string).collect());
    writeln!(text, "platforms     {platforms} (baseline {})", study.baseline)?;
    writeln!(
        text,
        "provisioning  {}",
        list(study.provisioning.iter().map(ToString::to_string).collect())
    )?;
    for (i, instance) in study.instances.iter().enumerate() {
        let name = if i == 0 { "each box" } else { "" };
        let pinned = if instance.pinned_set.is_empty() {
            String::new()
        } else {
            format!(", pinned to {:?}", instance.pinned_set)
        };
        writeln!(text, "{name:<14}{}{pinned}", instance.show())?;
    }
    writeln!(
        text,
        "workloads     {}",
        list(study.workloads.iter().map(|w| w.name().to_owned()).collect())
    )?;
    writeln!(
        text,
        "design        {} x {}, a new box per {}, seed {}",
        counted(study.cells().len(), "cell"),
        counted(study.blocks, "block"),
        study.fresh,
        study.seed
    )?;
    writeln!(
        text,
        "cost          {} in {}, about {}{}, {} of results",
        counted(cost.trials, "trial"),
        counted(cost.boxes, "box"),
        show_seconds(cost.seconds),
        if study.budget_seconds.is_some() {
            " (the budget)"
        } else {
            ""
        },
        show_memory(cost.bytes)
    )?;
    Ok(text)
}
