//! What a reader of any figure of this file must know.

use super::boxes::BoxFigures;
use super::comparison::Comparison;
use super::margin;
use super::run::{PlatformFacts, RunFacts};
use super::trials::Trials;
use crate::show::margin as show_margin;
use serde::Serialize;
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

fn notice(notice: &'static str, text: impl Into<String>) -> Notice {
    Notice {
        notice,
        text: text.into(),
    }
}

pub(crate) fn all(
    study: &Study,
    run: &RunFacts,
    boxes: &[BoxFigures],
    platforms: &[PlatformFacts],
    trials: &Trials,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    notices.extend(platforms.iter().filter(|p| p.emulated()).map(emulated));
    notices.extend(platforms.iter().filter(|p| p.untested()).map(untested));
    notices.extend(of_run(run));
    notices.extend(not_reached(boxes));
    notices.extend(boxes.iter().filter(|b| b.not_proven()).map(not_proven));
    notices.extend(of_study(study));
    if trials.strays > 0 {
        notices.push(notice(
            "stray-trials",
            format!(
                "left out: {} of no cell of the study",
                counted(trials.strays, "trial")
            ),
        ));
    }
    notices
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
            "the study's margin is not a positive number: no verdicts",
        ));
    }
    if study.fresh == Fresh::Study {
        notices.push(notice(
            "kept-boxes",
            "one box per platform served the whole study: figures hold for these boxes, and no verdict speaks of a platform",
        ));
    }
    notices
}

fn of_run(run: &RunFacts) -> Vec<Notice> {
    let mut notices = Vec::new();
    if run.torn {
        notices.push(notice(
            "torn",
            "the file ended in half a record, left by a run that was killed while it wrote; it was left out",
        ));
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
        Some(EndReason::Complete) => return None,
        Some(EndReason::BudgetSpent) => "the time budget was spent",
        Some(EndReason::Interrupted) => "the user stopped the run",
        Some(EndReason::Aborted) => "an error stopped the run",
        None => "the run was killed or is still going on: the file has no end",
    };
    Some(notice("incomplete", format!("{why}; {blocks}")))
}

/// What holds for every file, with its figures.
pub(crate) fn caveats(study: &Study, comparisons: &[Comparison], family: usize) -> Vec<String> {
    let mut caveats = [
        "Intervals and verdicts hold for this host, boot and build.",
        "A paired ratio is what one typical run costs over what it costs on the baseline in the same block: 1.19, or 19 % slower, means that the same work takes 1.19 times as long, whether the metric is a time or a rate.",
        "A negative end of an interval in percents lies on the other side of the word beside it: 2 % faster (-1 to 5 %) reaches from 1 % slower to 5 % faster. Behind 'alike', negative is faster.",
        "Intervals are 95 % t intervals on log ratios within blocks. They are per comparison, not simultaneous.",
    ]
    .map(str::to_owned)
    .to_vec();
    caveats.extend(holm(study, family));
    caveats.extend([
        "The ratio of means (the overhead ratio) is what many runs cost in total; Loss and Op are li2018's, in shares of the baseline's mean. A negative Loss is a gain; Op is unsigned; variability overhead is the growth of the standard deviation, 0 where it shrinks.",
        "Losses below 1 % are marked as ignored, as li2018 does: a rule of display, not a test.",
        "Where the correlation of a pair over blocks is near 0, pairing gained nothing: the host drifts within blocks, or does not drift at all.",
    ].map(str::to_owned));
    caveats.extend(stalls(comparisons));
    caveats
}

/// Nothing to say where nothing was tested.
fn holm(study: &Study, family: usize) -> Option<String> {
    let tests = counted(family, "test");
    let margin = show_margin(study.margin);
    (family > 0).then(|| {
        format!(
            "Differences are tested with Holm's correction over {tests} of primary metrics; each 'equal' (within {margin}) has its own error."
        )
    })
}

/// A stall in fewer than 3/n of the trials has a fair chance not to occur at all.
fn stalls(comparisons: &[Comparison]) -> Option<String> {
    let pairs = comparisons.iter().filter_map(Comparison::primary).map(|m| m.n);
    let n = pairs.filter(|n| *n >= 3).min()?;
    Some(format!(
        "Stalls rarer than 1 run in {} would not show (n = {n}).",
        n / 3
    ))
}
