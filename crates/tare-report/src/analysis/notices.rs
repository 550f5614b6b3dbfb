//! What a reader of any figure of this file must know.

use super::boxes::BoxFigures;
use super::carry_over::CarryOver;
use super::comparison::Comparison;
use super::margin;
use super::run::{PlatformFacts, RunFacts};
use super::slicing::SlicingFacts;
use serde::Serialize;
use tare_model::metric::Unit;
use tare_model::platform::PlatformPath;
use tare_model::results::EndReason;
use tare_model::size::counted;
use tare_model::study::{Fresh, Study};

/// Something out of the ordinary about the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Its name.
    pub notice: &'static str,
    /// What it is and what follows.
    pub text: String,
}

pub(super) fn notice(notice: &'static str, text: impl Into<String>) -> Notice {
    Notice {
        notice,
        text: text.into(),
    }
}

/// The first few names and how many there are beside them: a file can hold any number.
pub(super) fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<&str> = names.collect();
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

pub(crate) fn all(
    study: &Study,
    run: &RunFacts,
    boxes: &[BoxFigures],
    platforms: &[PlatformFacts],
    comparisons: &[Comparison],
) -> Vec<Notice> {
    let mut notices = Vec::new();
    notices.extend(platforms.iter().filter(|p| p.emulated()).map(emulated));
    notices.extend(platforms.iter().filter(|p| p.untested()).map(untested));
    notices.extend(of_run(run));
    notices.extend(not_reached(boxes));
    notices.extend(boxes.iter().filter(|b| b.not_proven()).map(not_proven));
    notices.extend(of_study(study));
    notices.extend(carried_over(comparisons));
    notices
}

/// Turns that nobody ended in time.
pub(crate) fn long_turns(slicing: &SlicingFacts) -> Option<Notice> {
    const LONG: f64 = 1.5;
    let aim = slicing.slicing.turn_seconds();
    let long = slicing
        .in_turns
        .iter()
        .filter(|c| c.turns > 1.0 && c.seconds > LONG * aim);
    let long: Vec<String> = long
        .map(|c| format!("{} ({})", c.cell, Unit::Second.show(c.seconds)))
        .collect();
    let text = format!(
        "turns took longer than {}: {}; something kept tare from ending them, and what a turn costs weighs less there than in cells with more of them",
        Unit::Second.show(aim),
        long.join(", ")
    );
    (!long.is_empty()).then(|| notice("long-turns", text))
}

fn carried_over(comparisons: &[Comparison]) -> Option<Notice> {
    let moved = comparisons.iter().filter(|c| !c.carry_over.is_empty()).count();
    let text = format!(
        "{} of {} moved by what ran right before: slices must be longer (--slices 50ms); in one piece, the reset between trials (--pause)",
        moved,
        counted(comparisons.len(), "comparison")
    );
    (moved > 0).then(|| notice(CarryOver::NAME, text))
}

fn emulated(platform: &PlatformFacts) -> Notice {
    notice(
        "emulated",
        format!(
            "{} ran without hardware virtualisation (tcg: every guest instruction is translated in software): its figures are those of emulation, not of a VM under kvm",
            platform.platform
        ),
    )
}

fn untested(platform: &PlatformFacts) -> Notice {
    notice(
        "untested-driver",
        format!(
            "the driver of {} was written by its engine's documentation and not tested on it: its limits are proven as everywhere, its start, freezing and end are not",
            platform.platform
        ),
    )
}

/// One notice for all kinds of box that the run did not come to.
fn not_reached(boxes: &[BoxFigures]) -> Option<Notice> {
    let missed = boxes.iter().filter(|b| b.not_reached());
    let kinds: Vec<String> = missed.map(|b| b.kind.to_string()).collect();
    let text = format!(
        "the run stopped before the limits of these were proven, no verdict on their cells: {}",
        kinds.join(", ")
    );
    (!kinds.is_empty()).then(|| notice("limits-not-proven", text))
}

fn not_proven(figures: &BoxFigures) -> Notice {
    let remarks = figures.proof.iter().flat_map(|p| &p.remarks);
    let remarks: String = remarks.map(|r| format!("; {r}")).collect();
    notice(
        "limits-not-proven",
        format!(
            "limits not proven of {}, no verdict on its cells: {}{remarks}",
            figures.kind,
            figures.readings()
        ),
    )
}

fn of_study(study: &Study) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !study.platforms.contains(&study.baseline) {
        let text = format!(
            "the baseline {} is not among the study's platforms: nothing can be compared",
            study.baseline
        );
        notices.push(notice("no-baseline", text));
    }
    if margin(study).is_none() {
        notices.push(notice(
            "no-margin",
            "the study's margin is not one of 0.01 to 100 %: no verdicts",
        ));
    }
    notices.extend(crossed(study));
    if study.protocol.fresh == Fresh::Study {
        notices.push(notice(
            "kept-boxes",
            "one box per platform served the whole study: figures hold for these boxes, and no verdict speaks of a platform",
        ));
    }
    notices
}

/// Of workloads with ends in several boxes, between which places their messages went, and by what.
fn crossed(study: &Study) -> Option<Notice> {
    let told = study.placed().into_iter().filter_map(|(placed, mut workloads)| {
        workloads.retain(|workload| workload.is_in_several_boxes());
        let names: Vec<&str> = workloads.iter().map(|w| w.name()).collect();
        (!names.is_empty()).then(|| format!("{} ({placed})", names.join(", ")))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        return None;
    }
    let ways = study
        .platforms
        .iter()
        .map(|path| format!("{path} by {}", network(path)));
    let text = format!(
        "one end ran outside of the box, and messages crossed from place to place: {}: {}",
        told.join(", "),
        ways.collect::<Vec<_>>().join(", ")
    );
    Some(notice("end-outside", text))
}

/// The network between the host and the boxes of a platform that it reaches.
fn network(path: &PlatformPath) -> &'static str {
    let outermost = path.segments().first();
    let named = outermost.and_then(|segment| segment.options.get("network"));
    match named.map(String::as_str) {
        Some("bridge") => "a bridge",
        Some("published") => "a published port and a bridge",
        _ => "the host's own network",
    }
}

fn of_run(run: &RunFacts) -> Vec<Notice> {
    let mut notices = Vec::new();
    if run.torn {
        notices.push(notice(
            "torn",
            "the file ended in half a record, left by a run that was killed while it wrote; it was left out",
        ));
    }
    for (kind, number) in &run.unknown_records {
        let records = counted(*number, "record");
        let text = format!("left out: {records} of kind '{kind}', which this version of tare does not know");
        notices.push(notice("unknown-records", text));
    }
    if !run.unnamed_figures.is_empty() {
        let text = format!(
            "left out: figures that the file's header does not name: {}",
            some_of(run.unnamed_figures.iter().map(String::as_str))
        );
        notices.push(notice("unnamed-figures", text));
    }
    if run.sessions.len() > 1 {
        let text = format!(
            "the file was written in {} sessions: the host may have changed between them",
            run.sessions.len()
        );
        notices.push(notice("sessions", text));
    }
    if run.boots > 1 {
        let text = format!(
            "the sessions ran on {} boots of the host: figures hold for one boot, and the intervals do not show what a boot changes",
            run.boots
        );
        notices.push(notice("boots", text));
    }
    notices.extend(end(run));
    notices
}

fn end(run: &RunFacts) -> Option<Notice> {
    let blocks = format!(
        "begun: {} of {}",
        run.blocks,
        counted(run.blocks_planned, "block")
    );
    let why = match run.end.map(|e| e.reason) {
        Some(EndReason::Complete | EndReason::Settled) => return None,
        Some(EndReason::BudgetSpent) if run.blocks == run.blocks_planned as usize => {
            "the blocks were spent with comparisons still open"
        }
        Some(EndReason::BudgetSpent) => "the time budget was spent",
        Some(EndReason::Fruitless) => "the first block left nothing to compare, so the run ended there",
        Some(EndReason::Interrupted) => "the user stopped the run",
        Some(EndReason::Aborted) => "an error stopped the run",
        None => "the run was killed or is still going on: the file has no end",
    };
    Some(notice("incomplete", format!("{why}; {blocks}")))
}
