//! A study as it stands in a results file, before it is gone on with: judged by the same
//! ranges as options and study files are, since anybody may have written the file.

use super::workloads::refuse_parameters;
use super::{BLOCKS, BLOCKS_IN_WORDS, DesignError, bounded, instances, list, protocol};
use crate::extract;
use crate::printed::PrintedError;
use std::ops::RangeInclusive;
use std::path::Path;
use tare_host::carry;
use tare_model::metric::Source;
use tare_model::size::LONGEST_SECONDS;
use tare_model::study::{Protocol, Slicing, Stopping, Study};
use tare_model::workload::{Check, Ready, Run, Workload};

/// Half-widths of the intervals of an adaptive study, in logs: half of the margins.
const HALF_WIDTHS: RangeInclusive<f64> = 1e-5..=1.0;

/// Refuses a study that no options could have made.
///
/// # Errors
/// [`DesignError`] for the first thing that is wrong.
pub fn stored(study: &Study) -> Result<(), DesignError> {
    protocol_of(study)?;
    if !study.platforms.contains(&study.baseline) {
        return Err(DesignError::Baseline {
            baseline: study.baseline.to_string(),
            platforms: list(&study.platforms),
        });
    }
    sizes(study)?;
    for (i, workload) in study.workloads.iter().enumerate() {
        runs(workload, i)?;
    }
    bounded(study)
}

fn protocol_of(study: &Study) -> Result<(), DesignError> {
    // By name, so that what is added is thought of here.
    let Protocol {
        blocks,
        stopping,
        budget_seconds,
        blocks_before_budget: _,
        warm_up_seconds,
        pause_seconds,
        fresh: _,
        slicing,
        trial_seconds,
        timeout_seconds,
        settle: _,
        margin,
        evidence: _,
        seed: _,
    } = study.protocol;
    if !BLOCKS.contains(&blocks) {
        return Err(out_of_range("blocks", f64::from(blocks), BLOCKS_IN_WORDS));
    }
    // A command may be run once, which has no length.
    let once = study.workloads.iter().all(|workload| workload.kernel().is_none());
    protocol::trial_seconds(Some(trial_seconds), once)?;
    let long = |what, seconds: f64| {
        let range = 0.0..=LONGEST_SECONDS;
        let right = range.contains(&seconds);
        let words = "a time from 0 s to about a year";
        right
            .then_some(())
            .ok_or_else(|| out_of_range(what, seconds, words))
    };
    long("timeout_seconds", timeout_seconds)?;
    protocol::timeout(Some(timeout_seconds), trial_seconds)?;
    long("warm_up_seconds", warm_up_seconds)?;
    long("pause_seconds", pause_seconds)?;
    long("budget_seconds", budget_seconds.unwrap_or(0.0))?;
    protocol::margin(Some(100.0 * margin))?;
    if let Slicing::Auto { seconds, .. } | Slicing::Turns { seconds } = slicing
        && !Slicing::LENGTHS.contains(&seconds)
    {
        return Err(out_of_range("slices.seconds", seconds, "from 1ms to 1s"));
    }
    if let Stopping::Adaptive { half_width, .. } = stopping
        && !HALF_WIDTHS.contains(&half_width)
    {
        return Err(out_of_range(
            "stopping.half_width",
            half_width,
            "from 0.00001 to 1",
        ));
    }
    Ok(())
}

fn sizes(study: &Study) -> Result<(), DesignError> {
    if study.instances.is_empty() {
        return Err(out_of_range("instances", 0.0, "at least one"));
    }
    for instance in &study.instances {
        instances::possible(&instance.size)?;
    }
    Ok(())
}

/// Refuses patterns that are none: whoever wrote the file may have left them so.
fn patterns(workload: &Workload) -> Result<(), DesignError> {
    let unfit = |source| DesignError::from(PrintedError::Check(source));
    let mut of_metrics = workload.metrics.iter().filter_map(|metric| match &metric.from {
        Source::Output(from) => Some(&from.find),
        Source::Report
        | Source::Usage(_)
        | Source::Latency(_)
        | Source::Host
        | Source::Ready
        | Source::Later(_) => None,
    });
    of_metrics.try_for_each(|find| extract::check(find).map_err(unfit))?;
    workload.checks.iter().try_for_each(|check| match check {
        Check::Figure(bounded) => extract::check_without_unit(&bounded.from.find).map_err(unfit),
        Check::Says(said) | Check::SaysNot(said) => extract::pattern(&said.regex).map(drop).map_err(unfit),
        _ => Ok(()),
    })
}

fn runs(workload: &Workload, index: usize) -> Result<(), DesignError> {
    patterns(workload)?;
    for role in &workload.roles {
        // Whoever names them here would else have a device without end read, or a pipe waited for.
        role.files
            .iter()
            .try_for_each(|file| carry::file(Path::new(file)))?;
        if let Some(Ready::Line(pattern)) = &role.ready {
            let unfit = |source| DesignError::from(PrintedError::Check(source));
            extract::groups_of_line(pattern).map_err(unfit)?;
        }
        match &role.run {
            Run::Kernel(run) => {
                refuse_parameters(run, index)?;
                protocol::trial_seconds(Some(run.spec.seconds), false)?;
            }
            Run::Command(run) if run.argv.is_empty() => return Err(DesignError::WithoutCommand),
            Run::Command(_) | Run::Load(_) | Run::Later(_) => {}
        }
    }
    Ok(())
}

fn out_of_range(what: &'static str, value: f64, range: &'static str) -> DesignError {
    DesignError::OutOfRange {
        what,
        value: protocol::plainly(value),
        range,
    }
}
