//! Which cell is held against which.

use super::Table;
use super::fault::{DataError, Fault, short};
use tare_model::shell::word;

/// One metric of one cell to be held against its baseline.
pub(super) struct Job {
    pub cell: u32,
    pub baseline: u32,
    pub metric: u32,
}

/// Every cell against its baseline, in the order of the file, and every metric
/// that either of the two has: one that the cell lacks is told, not dropped.
pub(super) fn jobs(table: &Table, baseline: Option<&str>) -> Result<Vec<Job>, DataError> {
    let cells = || (0..).take(table.cells.all().len());
    if let [only] = table.cells.all() {
        let fault = match table.files {
            0 => Fault::OneCell(short(only)),
            _ => Fault::OneBenchmark(short(only)),
        };
        return Err(DataError::whole(&table.source, fault));
    }
    let mut jobs = Vec::new();
    let mut without = true;
    for cell in cells() {
        let Some(baseline) = baseline_of(table, cell, baseline)? else {
            continue;
        };
        without = false;
        if baseline == cell {
            continue;
        }
        let metrics = (0..).take(table.metrics.all().len());
        let told = metrics.filter(|m| [cell, baseline].iter().any(|c| !table.series(*c, *m).is_empty()));
        jobs.extend(told.map(|metric| Job {
            cell,
            baseline,
            metric,
        }));
    }
    if without || jobs.is_empty() {
        let cells = cells_of(table);
        return Err(DataError::whole(&table.source, Fault::NoBaseline { cells }));
    }
    Ok(jobs)
}

/// What the cell's rows name, else what the user does.
fn baseline_of(table: &Table, cell: u32, option: Option<&str>) -> Result<Option<u32>, DataError> {
    if let Some(named) = table.baselines.get(&cell) {
        let unknown = || {
            let fault = Fault::UnknownBaseline {
                name: short(&named.baseline),
                cell: short(table.cells.name(cell)),
                cells: cells_of(table),
            };
            DataError::at(&table.source, named.line, None, fault)
        };
        return table.cells.find(&named.baseline).ok_or_else(unknown).map(Some);
    }
    let find = |name: &str| {
        let unknown = || {
            let fault = Fault::UnknownBaselineOption {
                name: short(name),
                cells: cells_of(table),
            };
            DataError::whole(&table.source, fault)
        };
        table.cells.find(name).ok_or_else(unknown)
    };
    option.map(find).transpose()
}

/// The first few names of cells, as a shell takes them.
fn cells_of(table: &Table) -> String {
    const SHOWN: usize = 6;
    let cells = table.cells.all();
    let mut names: Vec<String> = cells.iter().take(SHOWN).map(|c| word(&short(c))).collect();
    if cells.len() > SHOWN {
        names.push(format!("{} more", cells.len() - SHOWN));
    }
    names.join(", ")
}
