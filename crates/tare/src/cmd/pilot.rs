//! `tare pilot`: how much boxes, processes and iterations vary, and what follows
//! for a study.

use super::root_image::{self, Unmade};
use super::{Asked, forms, plan_words};
use crate::args::{PilotArgs, StudyArgs};
use crate::out;
use crate::progress::Progress as Display;
use anyhow::Context;
use std::process::ExitCode;
use tare_analysis::pilot::{self, BOXES, PROCESSES};
use tare_host::interrupt;
use tare_lab::runner::{Event, Runner};
use tare_lab::session::Session;
use tare_model::results::{EndReason, Results};
use tare_model::size::{counted, show_seconds};
use tare_model::study::{Fresh, Protocol, Slicing, Stopping};
use tare_report::sections;

/// Runs a pilot and tells what it advises.
pub fn run(args: &PilotArgs) -> anyhow::Result<ExitCode> {
    super::refuse_missing_command(&args.study)?;
    refuse_own_design(&args.study)?;
    forms::check(args.forms.html.as_deref(), &[])?;
    interrupt::install().context("cannot handle signals")?;
    let state = args.state.folder();
    let mut asked = Asked::of(&args.study);
    // Its boxes need not fit the host side by side.
    asked.wishes.protocol.slicing = Some(Slicing::Off);
    let (mut study, _) = super::study(&asked, &tare_host::host::facts(), &state, Unmade::Make)?;
    study.protocol = Protocol {
        blocks: BOXES * PROCESSES,
        fresh: Fresh::Study,
        // A study file may ask for these: they are the study's, not its pilot's.
        stopping: Stopping::Fixed,
        budget_seconds: None,
        blocks_before_budget: 0,
        ..study.protocol
    };
    let run = super::begin(&state)?;
    let image = root_image::of(&study, &state)?;
    let mut session = Session::open(study, run, image)?;
    let foreseen = session.foresee();
    out::say_lines(&plan_words::foreseen(&foreseen));
    foreseen.worth(&session.study)?;
    // A pilot is for planning: its results file goes with the run.
    let output = session.run.folder().join("pilot.jsonl");
    let file = session.results_file(&output)?;
    let expected = session.cost();
    out::say(&format!(
        "{}, {PROCESSES} processes of each workload in each; {} in all, about {}",
        boxes(session.study.box_kinds().len()),
        counted(expected.trials, "trial"),
        show_seconds(expected.seconds)
    ));
    let mut display = Display::new(expected.trials, expected.seconds);
    let mut observe = |event: Event<'_>| display.event(&event);
    let ended = Runner::new(&mut session, file, &mut observe)?
        .renewing(PROCESSES)
        .run();
    display.finish();
    if ended?.reason == EndReason::Interrupted {
        out::say("stopped; all boxes are removed, and there are no results, as the pilot is incomplete");
        return Ok(ExitCode::from(out::INTERRUPTED));
    }
    finish(args, &Results::read(&output)?)
}

/// `3 kinds of box, 5 boxes of each`.
fn boxes(kinds: usize) -> String {
    if kinds == 1 {
        format!("{BOXES} boxes of one kind")
    } else {
        format!("{kinds} kinds of box, {BOXES} boxes of each")
    }
}

/// A pilot has a design of its own.
fn refuse_own_design(study: &StudyArgs) -> anyhow::Result<()> {
    let asked = &study.protocol;
    let given = [
        ("--blocks", asked.blocks.is_some()),
        ("--fresh", asked.fresh.is_some()),
        ("--adaptive", asked.adaptive),
        ("--budget", asked.budget.is_some()),
        ("--precision", asked.precision.is_some()),
        ("--slices", asked.slices.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        anyhow::bail!("a pilot always runs {BOXES} boxes with {PROCESSES} processes each: omit {option}");
    }
    Ok(())
}

fn finish(args: &PilotArgs, results: &Results) -> anyhow::Result<ExitCode> {
    let figures = pilot::pilot(results);
    forms::tell(&args.forms, &[], &sections::pilot(&figures.cells), &figures)?;
    let failed = figures.cells.iter().any(|cell| cell.levels.is_none());
    Ok(ExitCode::from(if failed { out::FAILED } else { 0 }))
}
