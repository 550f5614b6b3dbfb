//! From what a user asks, by options or by a study file, to a validated study:
//! the one place where wishes are judged.

mod cells;
mod effects;
mod error;
mod in_image;
mod instances;
mod levels;
mod parameters;
mod protocol;
mod request;
mod stored;
#[cfg(test)]
mod tests;
mod workloads;

pub use error::{Concern, DesignError};
pub use in_image::ChosenImage;
pub(crate) use in_image::lacking;
pub use instances::holds_two;
pub use levels::levels_left_out;
pub use protocol::{BLOCKS, BLOCKS_IN_WORDS, MARGINS, ProtocolOptions};
pub use request::{Base, Cells, Levels, NO_IMAGE, Programs, StudyRequest, WorkloadWish};
pub use stored::stored;
pub(crate) use workloads::unknown;
pub use workloads::{MAX_THREADS, kernel_spec, of_file};

use crate::looks;
use crate::plan::{self, Room, SideBySide};
use tare_model::host::HostFacts;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::{BoxKind, Study};
use tare_model::tuning::Tuning;
use tare_model::workload::Place;

/// As many cells as a study may have.
const MAX_CELLS: usize = 100_000;

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
pub fn study(wishes: &StudyRequest, facts: &HostFacts) -> Result<Study, DesignError> {
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
pub fn sketch(wishes: &StudyRequest, facts: &HostFacts) -> Result<Sketch, DesignError> {
    let mut misfits = Vec::new();
    let spread = levels::spread(platforms(&wishes.platforms)?, wishes);
    let platforms = spread.platforms;
    let baseline = baseline(wishes.baseline.as_deref(), &platforms)?;
    let mut protocol = wishes.protocol.protocol(wishes.command.is_some())?;
    let provisioning = provisioning(&wishes.provisioning)?;
    let cpus = wishes.cpus.map_or_else(instances::default_cpus, Ok)?;
    let mut workloads = workloads::workloads(wishes, cpus, facts, protocol.trial_seconds)?;
    if wishes.protocol.timeout_seconds.is_none() {
        let lengths = workloads.iter().filter_map(|workload| workload.seconds);
        let waits = lengths.map(protocol::patience);
        protocol.timeout_seconds = waits.fold(protocol.timeout_seconds, f64::max);
    }
    if workloads.is_empty() {
        misfits.push(DesignError::NothingToRun);
    }
    let instances = instances::instances(wishes, &provisioning, cpus, &workloads, facts, &mut misfits)?;
    let outside = instances::outside_set(&instances);
    for role in workloads.iter_mut().flat_map(|workload| &mut workload.roles) {
        if role.place == Place::Outside {
            role.cpus.clone_from(&outside);
        }
    }
    let mut study = Study {
        template: wishes.template.clone().map(|mut template| {
            template.left_out.extend(spread.left_out);
            template
        }),
        platforms,
        baseline,
        provisioning,
        instances,
        image: wishes.programs.image().map(in_image::record),
        workloads,
        effects: Vec::new(),
        tuning: None,
        listed: std::collections::BTreeSet::new(),
        protocol,
    };
    bounded(&study)?;
    study.effects = effects::effects(&wishes.effects, &study)?;
    study.tuning = wishes.tuning.clone().filter(|tuning| has_all(&study, tuning));
    study.listed = cells::listed(&wishes.cells, &study)?;
    refuse_split(&study)?;
    // A cell that leaves would take its block from all effects of parameters.
    if !looks::compares(&study) || study.tuning.is_some() {
        study.protocol = wishes.protocol.without_comparisons(study.protocol);
    }
    looks::check(&study)?;
    if misfits.is_empty() {
        misfits.extend(not_together(&study, facts));
    }
    Ok(Sketch { study, misfits })
}

/// Refuses a kind of box that has some of the settings of a workload and not others.
fn refuse_split(study: &Study) -> Result<(), DesignError> {
    let Some(tuning) = &study.tuning else {
        return Ok(());
    };
    let is_split = |kind: &BoxKind| {
        let cells = study.cells_of(kind).into_iter();
        let settings = cells
            .filter(|cell| study.setting(&cell.workload).is_some())
            .count();
        settings > 0 && settings < tuning.settings.len()
    };
    match study.box_kinds().into_iter().find(is_split) {
        Some(kind) => Err(DesignError::SplitTuning {
            kind: kind.to_string(),
        }),
        None => Ok(()),
    }
}

/// Whether the study has all settings: those whose program is not here are left out.
fn has_all(study: &Study, tuning: &Tuning) -> bool {
    let has = |name: &str| study.workloads.iter().any(|workload| workload.name == name);
    tuning.settings.iter().all(|setting| has(&setting.workload))
}

/// Boxes that exist at the same time and have more memory than the host has for so many.
fn not_together(study: &Study, facts: &HostFacts) -> Vec<DesignError> {
    let room = Room::of_host(facts.memory_bytes);
    let too_much = |most: SideBySide| {
        let available = room.granted(most.boxes);
        (!most.fits).then_some((most.boxes, most.memory_bytes, available))
    };
    if let Some((boxes, asked, available)) = plan::largest_cell(study, room).and_then(too_much) {
        return vec![DesignError::LargeCell {
            boxes,
            asked,
            available,
        }];
    }
    let beside = plan::side_by_side(study, room).and_then(too_much);
    let beside = beside.map(|(boxes, asked, available)| DesignError::NotSideBySide {
        boxes,
        asked,
        available,
    });
    let kept = plan::kept(study, room).and_then(too_much);
    let kept = kept.map(|(boxes, asked, available)| DesignError::NotKept {
        boxes,
        asked,
        available,
    });
    beside.into_iter().chain(kept).collect()
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
    let trials = u64::from(study.protocol.blocks).saturating_mul(u64::try_from(cells).unwrap_or(u64::MAX));
    if cells > MAX_CELLS || trials > u64::from(u32::MAX) {
        let blocks = study.protocol.blocks;
        return Err(DesignError::TooMany { cells, blocks });
    }
    Ok(())
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
        // What a box costs is asked against the host itself, wherever it stands in the list.
        None => {
            let native = "native".parse()?;
            let first = platforms.iter().find(|path| **path == native);
            first.unwrap_or(&platforms[0]).clone()
        }
    };
    if platforms.contains(&baseline) {
        return Ok(baseline);
    }
    Err(DesignError::Baseline {
        baseline: baseline.to_string(),
        platforms: list(platforms),
    })
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
