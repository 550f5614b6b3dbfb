//! From what a user asks, by options or by a study file, to a validated study:
//! the one place where wishes are judged.

mod cells;
mod error;
mod instances;
#[cfg(test)]
mod tests;
mod wishes;
mod workloads;

pub use error::{Concern, DesignError};
pub use wishes::{Base, Cells, CommandWish, Levels, Wishes, WorkloadWish};
pub use workloads::{MAX_THREADS, kernel_spec};

use crate::looks;
use std::ops::RangeInclusive;
use tare_model::host::HostFacts;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::{Fresh, Slicing, Stopping, Study};

/// Numbers of blocks that a study may have.
pub const BLOCKS: RangeInclusive<u32> = 1..=1_000_000;
/// [`BLOCKS`] in words.
pub const BLOCKS_IN_WORDS: &str = "a whole number from 1 to 1000000";
/// As many cells as a study may have.
const MAX_CELLS: usize = 100_000;
/// Margins that a study may have, in words.
pub const MARGINS: &str = "a percentage from 0.01 to 100";

/// A study, and what keeps it from running on this host.
#[derive(Debug)]
pub struct Sketch {
    /// The study. What does not fit this host has no pinned set.
    pub study: Study,
    /// Why it does not fit this host; empty: it fits.
    pub misfits: Vec<DesignError>,
}

/// Makes a study of what a user asks, on this host.
///
/// # Errors
/// [`DesignError`], one for the first thing that is wrong or does not fit this host.
pub fn study(wishes: &Wishes, facts: &HostFacts) -> Result<Study, DesignError> {
    let sketch = sketch(wishes, facts)?;
    match sketch.misfits.into_iter().next() {
        Some(misfit) => Err(misfit),
        None => Ok(sketch.study),
    }
}

/// Makes a study of what a user asks, whether or not it fits this host.
///
/// # Errors
/// [`DesignError`], one for the first thing that would be wrong on any host.
pub fn sketch(wishes: &Wishes, facts: &HostFacts) -> Result<Sketch, DesignError> {
    let mut misfits = Vec::new();
    let platforms = platforms(&wishes.platforms)?;
    let baseline = baseline(wishes.baseline.as_deref(), &platforms)?;
    let trial_seconds = trial_seconds(wishes)?;
    let provisioning = provisioning(&wishes.provisioning)?;
    let cpus = wishes.cpus.map_or_else(instances::default_cpus, Ok)?;
    let workloads = workloads::workloads(wishes, cpus, facts, trial_seconds)?;
    if workloads.is_empty() {
        misfits.push(DesignError::NothingToRun);
    }
    let instances = instances::instances(wishes, &provisioning, cpus, &workloads, facts, &mut misfits)?;
    let timeout = timeout(wishes.timeout_seconds, trial_seconds)?;
    let margin = in_range(
        "--margin",
        wishes.margin_percent.unwrap_or(1.0),
        0.01..=100.0,
        MARGINS,
    )?;
    let mut study = Study {
        template: wishes.template.clone(),
        platforms,
        baseline,
        provisioning,
        instances,
        workloads,
        listed: std::collections::BTreeSet::new(),
        blocks: blocks(
            wishes
                .blocks
                .unwrap_or(if wishes.adaptive { looks::MOST } else { 10 }),
        )?,
        stopping: stopping(wishes.adaptive, margin / 100.0),
        budget_seconds: wishes.budget_seconds,
        warm_up_seconds: wishes.warm_up_seconds.unwrap_or(0.0),
        pause_seconds: wishes.pause_seconds.unwrap_or(0.0),
        fresh: wishes.fresh.unwrap_or(Fresh::Block),
        slicing: Slicing::Off,
        trial_seconds,
        timeout_seconds: timeout,
        settle: !wishes.no_settle,
        margin: margin / 100.0,
        seed: wishes.seed.unwrap_or_else(random_seed),
    };
    bounded(&study)?;
    study.listed = cells::listed(&wishes.cells, &study)?;
    looks::check(&study)?;
    Ok(Sketch { study, misfits })
}

/// Refuses what nobody could run, before the cells are made.
fn bounded(study: &Study) -> Result<(), DesignError> {
    let factors = [
        study.platforms.len(),
        study.provisioning.len(),
        study.instances.len(),
        study.workloads.len(),
    ];
    let cells = factors.into_iter().fold(1, usize::saturating_mul);
    let trials = u64::from(study.blocks).saturating_mul(u64::try_from(cells).unwrap_or(u64::MAX));
    if cells > MAX_CELLS || trials > u64::from(u32::MAX) {
        let blocks = study.blocks;
        return Err(DesignError::TooMany { cells, blocks });
    }
    Ok(())
}

/// Adaptive: half the margin is narrow enough.
fn stopping(adaptive: bool, margin: f64) -> Stopping {
    if adaptive {
        Stopping::Adaptive {
            half_width: margin.ln_1p() / 2.0,
        }
    } else {
        Stopping::Fixed
    }
}

fn platforms(names: &[String]) -> Result<Vec<PlatformPath>, DesignError> {
    let paths = names
        .iter()
        .map(|name| name.parse())
        .collect::<Result<Vec<PlatformPath>, _>>()?;
    refuse_twice("platform", &paths)?;
    if paths.is_empty() {
        return Ok(vec!["native".parse()?]);
    }
    Ok(paths)
}

fn baseline(name: Option<&str>, platforms: &[PlatformPath]) -> Result<PlatformPath, DesignError> {
    let baseline = match name {
        Some(name) => name.parse()?,
        None => platforms[0].clone(),
    };
    if platforms.contains(&baseline) {
        return Ok(baseline);
    }
    Err(DesignError::Baseline {
        baseline: baseline.to_string(),
        platforms: list(platforms),
    })
}

fn trial_seconds(wishes: &Wishes) -> Result<f64, DesignError> {
    let seconds = wishes.trial_seconds.unwrap_or(0.5);
    if seconds == 0.0 && wishes.command.is_none() {
        return Err(DesignError::OutOfRange {
            what: "--trial-time",
            value: "0".to_owned(),
            range: "more than 0 for built-in workloads",
        });
    }
    in_range("--trial-time", seconds, 0.0..=3600.0, "0 s to 1 h")
}

/// Refuses a list in which something occurs twice.
fn refuse_twice<T: PartialEq + ToString>(what: &'static str, items: &[T]) -> Result<(), DesignError> {
    let twice = (0..items.len()).find(|i| items[..*i].contains(&items[*i]));
    match twice {
        Some(index) => Err(DesignError::Twice {
            what,
            name: items[index].to_string(),
            index,
        }),
        None => Ok(()),
    }
}

/// Items for people, one after another.
fn list(items: &[impl ToString]) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Ways to grant CPUs, always in the same order.
fn provisioning(wished: &[Provisioning]) -> Result<Vec<Provisioning>, DesignError> {
    refuse_twice("provisioning", wished)?;
    let chosen = |p: &Provisioning| wished.is_empty() || wished.contains(p);
    Ok(Provisioning::ALL.into_iter().filter(chosen).collect())
}

/// Seconds after which a trial is given up: it must be able to end before.
fn timeout(wished: Option<f64>, trial_seconds: f64) -> Result<f64, DesignError> {
    let seconds = wished.unwrap_or_else(|| (20.0 * trial_seconds).max(60.0));
    if seconds > trial_seconds {
        Ok(seconds)
    } else {
        Err(DesignError::ShortTimeout {
            seconds,
            trial_seconds,
        })
    }
}

fn in_range(
    what: &'static str,
    value: f64,
    bounds: RangeInclusive<f64>,
    range: &'static str,
) -> Result<f64, DesignError> {
    if bounds.contains(&value) {
        Ok(value)
    } else {
        Err(DesignError::OutOfRange {
            what,
            value: plainly(value),
            range,
        })
    }
}

/// A number as people write it; one of hundreds of digits with an exponent.
fn plainly(value: f64) -> String {
    if value.abs() < 1e15 || !value.is_finite() {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

fn blocks(blocks: u32) -> Result<u32, DesignError> {
    if BLOCKS.contains(&blocks) {
        Ok(blocks)
    } else {
        Err(DesignError::OutOfRange {
            what: "--blocks",
            value: blocks.to_string(),
            range: BLOCKS_IN_WORDS,
        })
    }
}

fn random_seed() -> u64 {
    use rand::{Rng, SeedableRng};
    let mixed = tare_box::host::unix_ns();
    // Short enough to be typed again.
    u64::from(rand_chacha::ChaCha8Rng::seed_from_u64(mixed).next_u32())
}
