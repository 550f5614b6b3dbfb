//! Which combinations of levels are run.

use super::{Base, Cells, DesignError, Levels, list};
use std::collections::BTreeSet;
use tare_model::study::{BoxKind, Cell, Study};

/// The cells that the wishes list; empty where all combinations are run.
pub(super) fn listed(wish: &Cells, study: &Study) -> Result<BTreeSet<Cell>, DesignError> {
    match wish {
        Cells::All => Ok(BTreeSet::new()),
        Cells::OneAtATime(base) => one_at_a_time(base, study),
        Cells::List(levels) => explicit(levels, study),
    }
}

/// The base, and every cell that differs from it in one factor; each brings its
/// baseline with it, since only ratios within a block are used.
fn one_at_a_time(base: &Base, study: &Study) -> Result<BTreeSet<Cell>, DesignError> {
    let one = |level: &Option<String>| level.iter().cloned().collect();
    let levels = Levels {
        platform: one(&base.platform),
        provisioning: one(&base.provisioning),
        instance: one(&base.instance),
        workload: one(&base.workload),
    };
    let combined = combinations(&levels, study).map_err(|wrong| wrong.at(None))?;
    // The first in the order of the lists: an absent level is the first one.
    let Some(base) = combined.into_iter().next() else {
        return Ok(BTreeSet::new());
    };
    let differences = |cell: &Cell| {
        [
            cell.kind.platform != base.kind.platform,
            cell.kind.provisioning != base.kind.provisioning,
            cell.kind.instance != base.kind.instance,
            cell.workload != base.workload,
        ]
        .into_iter()
        .filter(|differs| *differs)
        .count()
    };
    let mut cells = study.cells();
    cells.retain(|cell| differences(cell) <= 1);
    let baselines: Vec<Cell> = cells.iter().map(|cell| baseline_of(cell, study)).collect();
    Ok(cells.into_iter().chain(baselines).collect())
}

fn explicit(levels: &[Levels], study: &Study) -> Result<BTreeSet<Cell>, DesignError> {
    let mut cells = BTreeSet::new();
    let mut indices = Vec::new();
    for (index, levels) in levels.iter().enumerate() {
        for cell in combinations(levels, study).map_err(|wrong| wrong.at(Some(index)))? {
            if cells.contains(&cell) {
                let cell = cell.to_string();
                return Err(DesignError::CellTwice { cell, index });
            }
            cells.insert(cell.clone());
            indices.push((cell, index));
        }
    }
    for (cell, index) in indices {
        let baseline = baseline_of(&cell, study);
        if !cells.contains(&baseline) {
            return Err(DesignError::NoBaseline {
                cell: cell.to_string(),
                baseline: baseline.to_string(),
                index,
            });
        }
    }
    match unused(&cells, study) {
        Some((what, name)) => Err(DesignError::Unused { what, name }),
        None => Ok(cells),
    }
}

fn baseline_of(cell: &Cell, study: &Study) -> Cell {
    Cell {
        kind: study.baseline_of(&cell.kind),
        workload: cell.workload.clone(),
    }
}

/// A level that is in no cell: whoever lists it expects it to be measured.
fn unused(cells: &BTreeSet<Cell>, study: &Study) -> Option<(&'static str, String)> {
    let no_cell = |has: &dyn Fn(&BoxKind, &str) -> bool| !cells.iter().any(|c| has(&c.kind, &c.workload));
    let platform = study
        .platforms
        .iter()
        .find(|p| no_cell(&|k, _| k.platform == **p));
    let provisioning = study
        .provisioning
        .iter()
        .find(|p| no_cell(&|k, _| k.provisioning == **p));
    let instance = study
        .instances
        .iter()
        .find(|i| no_cell(&|k, _| k.instance == i.name));
    let workload = study.workloads.iter().find(|w| no_cell(&|_, n| n == w.name()));
    platform
        .map(|p| ("platform", p.to_string()))
        .or_else(|| provisioning.map(|p| ("provisioning", p.to_string())))
        .or_else(|| instance.map(|i| ("instance type", i.name.clone().unwrap_or_default())))
        .or_else(|| workload.map(|w| ("workload", w.name().to_owned())))
}

/// A level that the study does not have.
struct NoLevel {
    what: &'static str,
    name: String,
    known: String,
}

impl NoLevel {
    fn at(self, index: Option<usize>) -> DesignError {
        DesignError::NoLevel {
            what: self.what,
            name: self.name,
            known: self.known,
            index,
        }
    }
}

/// All combinations of the levels, in the order of the study's lists; a factor
/// without levels has all of them.
fn combinations(levels: &Levels, study: &Study) -> Result<Vec<Cell>, NoLevel> {
    let platforms: Vec<String> = study.platforms.iter().map(ToString::to_string).collect();
    let provisioning: Vec<String> = study.provisioning.iter().map(ToString::to_string).collect();
    let instances: Vec<String> = study.instances.iter().filter_map(|i| i.name.clone()).collect();
    let workloads: Vec<String> = study.workloads.iter().map(|w| w.name().to_owned()).collect();
    let family_of = |name: &str| {
        let found = study.workloads.iter().find(|w| w.name == name);
        found.map(|w| w.family.as_str())
    };
    known("platform", &levels.platform, &platforms)?;
    known("provisioning", &levels.provisioning, &provisioning)?;
    known("instance type", &levels.instance, &instances)?;
    // The name of a family means all runs of it.
    let families = study.workloads.iter().map(|w| w.family.clone());
    let mut names: Vec<String> = workloads.iter().cloned().chain(families).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    known("workload", &levels.workload, &names)?;
    let has = |wanted: &[String], name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    let mut cells = study.cells();
    cells.retain(|cell| {
        let family = family_of(&cell.workload);
        has(&levels.platform, &cell.kind.platform.to_string())
            && has(&levels.provisioning, &cell.kind.provisioning.to_string())
            && has(
                &levels.instance,
                cell.kind.instance.as_deref().unwrap_or_default(),
            )
            && (has(&levels.workload, &cell.workload)
                || family.is_some_and(|family| has(&levels.workload, family)))
    });
    Ok(cells)
}

fn known(what: &'static str, wanted: &[String], known: &[String]) -> Result<(), NoLevel> {
    match wanted.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(NoLevel {
            what,
            name: name.clone(),
            known: list(known),
        }),
        None => Ok(()),
    }
}
