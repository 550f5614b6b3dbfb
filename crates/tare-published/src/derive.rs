//! A figure of a claim, from the study's tables by the formulas of the analysis.

use super::claim::{FigureOfClaim, Formula, Selector, Take};
use super::file::Published;
use super::table::{Row, Table};
use tare_analysis::variability_overhead;
use tare_stats::{mean, sd};

/// The figure that follows.
///
/// # Errors
/// What is missing or ambiguous in the tables.
pub(super) fn derive(study: &Published, figure: &FigureOfClaim) -> Result<f64, String> {
    if figure.formula == Formula::Chr {
        return chr(study, &figure.at);
    }
    let name = figure.table.as_deref().unwrap_or_default();
    let table = study
        .table(name)
        .ok_or_else(|| format!("there is no table of workload '{name}'"))?;
    let (Some(over), Some(take)) = (&figure.over, figure.take) else {
        let row = only(table, &figure.at)?;
        return one(table, figure, row, None);
    };
    let rows = matching(table, &figure.at);
    if take == Take::FormulaOfMeans {
        return of_means(table, figure, &rows);
    }
    let each = rows.into_iter().map(|row| {
        let level = row.level(over).ok_or_else(|| format!("no column '{over}'"))?;
        one(table, figure, row, Some((over, level)))
    });
    taken(&each.collect::<Result<Vec<f64>, String>>()?, take)
}

/// The formula for the means of several rows and of those that they are held against.
fn of_means(table: &Table, figure: &FigureOfClaim, rows: &[&Row]) -> Result<f64, String> {
    let others = matching(table, &held_against(figure));
    if rows.len() != others.len() {
        return Err("the rows have no partners".to_owned());
    }
    compared(table, figure, &averaged(rows), &averaged(&others))
}

/// A row with the mean of each figure.
fn averaged(rows: &[&Row]) -> Row {
    let columns = rows.iter().flat_map(|row| row.figures.keys());
    let of = |column: &String| {
        let figures: Option<Vec<f64>> = rows.iter().map(|row| row.figure(column)).collect();
        Some((column.clone(), mean(&figures?)?))
    };
    Row {
        figures: columns.filter_map(of).collect(),
        ..Row::default()
    }
}

/// The rows that a figure is held against.
fn held_against(figure: &FigureOfClaim) -> Selector {
    let mut selector = figure.at.clone();
    selector.extend(figure.against.clone().unwrap_or_default());
    selector
}

/// The formula for one row and the one that it is held against.
fn one(table: &Table, figure: &FigureOfClaim, row: &Row, level: Option<(&str, &str)>) -> Result<f64, String> {
    if figure.against.is_none() {
        return alone(figure, row);
    }
    let others = matching(table, &held_against(figure));
    let mut others = others
        .into_iter()
        .filter(|r| level.is_none_or(|(column, level)| r.holds(column, level)));
    match (others.next(), others.next()) {
        (Some(other), None) => compared(table, figure, row, other),
        (None, _) => Err("no row to compare it with".to_owned()),
        _ => Err("several rows to compare it with".to_owned()),
    }
}

fn alone(figure: &FigureOfClaim, row: &Row) -> Result<f64, String> {
    let runs = &row.runs;
    let value = match figure.formula {
        Formula::MeanOfRuns => mean(runs),
        Formula::PopulationSdOfRuns => population_sd(runs),
        _ => row.figure(column(figure)),
    };
    value.ok_or_else(|| format!("no figure in column '{}'", column(figure)))
}

fn column(figure: &FigureOfClaim) -> &str {
    figure.column.as_deref().unwrap_or("mean")
}

/// The standard deviation with n in the denominator, as conaboy2021 prints it.
fn population_sd(runs: &[f64]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "no table has 2^52 runs")]
    let n = runs.len() as f64;
    sd(runs).map(|sd| sd * ((n - 1.0) / n).sqrt())
}

fn compared(table: &Table, figure: &FigureOfClaim, row: &Row, other: &Row) -> Result<f64, String> {
    let of = |row: &Row, column: &str| {
        row.figure(column)
            .ok_or_else(|| format!("no figure in column '{column}'"))
    };
    if figure.formula == Formula::VariabilityOverheadPercent {
        let overhead = variability_overhead(Some(of(row, "sd")?), Some(of(other, "sd")?));
        return overhead.map(|o| 100.0 * o).ok_or_else(|| "no spread".to_owned());
    }
    let (m, b) = (of(row, column(figure))?, of(other, column(figure))?);
    let loss = || table.direction.loss(m, b);
    let value = match figure.formula {
        Formula::Difference => Some((m - b).abs()),
        Formula::Quotient => Some(m / b),
        Formula::OverheadRatio => table.direction.loss_in_logs(m, b).map(f64::exp),
        Formula::LossPercent => loss().map(|l| 100.0 * l),
        Formula::GainPercent => loss().map(|l| -100.0 * l),
        Formula::OpPercent => loss().map(|l| 100.0 * l.abs()),
        _ => None,
    };
    value
        .filter(|v| v.is_finite())
        .ok_or_else(|| "the formula has no value here".to_owned())
}

/// The container-to-host ratio: CPUs of an instance type over the host's.
fn chr(study: &Published, at: &Selector) -> Result<f64, String> {
    let name = at.get("instance").map(super::claim::Level::text);
    let instance = study
        .instance_types
        .iter()
        .find(|i| Some(&i.name) == name.as_ref());
    let cpus = instance.map(|i| f64::from(i.cores));
    let host = study.study.host_cpus.map(f64::from);
    match (cpus, host) {
        (Some(cpus), Some(host)) if host > 0.0 => Ok(cpus / host),
        _ => Err("no such instance type, or the host's CPUs are not given".to_owned()),
    }
}

fn matching<'a>(table: &'a Table, at: &Selector) -> Vec<&'a Row> {
    let holds = |row: &&Row| at.iter().all(|(column, level)| row.holds(column, &level.text()));
    table.rows.iter().filter(holds).collect()
}

fn only<'a>(table: &'a Table, at: &Selector) -> Result<&'a Row, String> {
    match matching(table, at)[..] {
        [row] => Ok(row),
        [] => Err("no row".to_owned()),
        _ => Err("several rows".to_owned()),
    }
}

fn taken(values: &[f64], take: Take) -> Result<f64, String> {
    let value = match take {
        Take::Mean | Take::FormulaOfMeans => mean(values),
        Take::Least => values.iter().copied().reduce(f64::min),
        Take::Largest => values.iter().copied().reduce(f64::max),
    };
    value.ok_or_else(|| "no figure".to_owned())
}
