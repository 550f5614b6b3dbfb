//! A workload whose parameters are varied.

use super::chapters::Draft;
use crate::tuning;
use crate::workload_file::{self, CatalogueWorkload};
use tare_model::suggest;
use tare_model::tuning::{Tuning, TuningDesign, TuningFactor, TuningSetting};
use tare_stats::Design;
use tare_toml::{Keys, Node, TomlError};

/// More factors than this are no longer varied one at a time either.
const MOST_FACTORS: usize = 20;
/// As many as of a full design.
const MOST_SETTINGS: usize = 1 << Design::MOST_FACTORS;

impl Draft {
    pub(super) fn tuning(&mut self, node: &Node) -> Result<(), TomlError> {
        let keys = Keys::of(node, "[tuning]", &["workload", "design", "factors"])?;
        let workload_node = keys.needed("workload", "\"spot-prices\"")?;
        let workload = workload_node.text("workload", "\"spot-prices\"")?;
        if !workload_file::is_known(workload) {
            let message = format!(
                "'workload' is '{workload}': name a workload with parameters ('tare workloads' lists them), or a workload file"
            );
            return Err(TomlError::at(&workload_node.place, message));
        }
        let designs = TuningDesign::ALL.map(|design| (design.name(), design));
        let design = match keys.get("design") {
            Some(node) => node.choice("design", &designs)?,
            None => TuningDesign::Full,
        };
        let factors_node = keys.needed("factors", "{ sort = [64, 128] }")?;
        let read =
            workload_file::read(workload).map_err(|e| TomlError::at(&workload_node.place, e.to_string()))?;
        let factors = factors(factors_node, workload, &read)?;
        fits(design, &factors, factors_node)?;
        let settings = tuning::settings(design, &factors).into_iter();
        let asked = settings.map(|levels| (tuning::asked(&read, workload, &factors, &levels), levels));
        let asked: Vec<(String, Vec<usize>)> = asked.collect();
        for (asked, _) in &asked {
            self.command(asked, workload_node)?;
        }
        let setting = |(asked, levels): (String, _)| TuningSetting {
            workload: workload_file::full_name(&asked),
            levels,
        };
        self.wishes.tuning = Some(Tuning {
            design,
            settings: asked.into_iter().map(setting).collect(),
            factors,
        });
        Ok(())
    }
}

/// The parameters that are varied, each one of the workload's.
fn factors(node: &Node, asked: &str, workload: &CatalogueWorkload) -> Result<Vec<TuningFactor>, TomlError> {
    let known: Vec<&str> = workload.parameters.keys().map(String::as_str).collect();
    let mut factors = Vec::new();
    for (name, (place, node)) in node.table("factors", "sort = [64, 128]")? {
        if !known.contains(&name.as_str()) {
            let among = suggest::among(name, &known, "its parameters");
            let message = format!("{} has no parameter '{name}': {among}", workload.family);
            return Err(TomlError::at(place, message));
        }
        if asked.contains(&format!("?{name}=")) || asked.contains(&format!("&{name}=")) {
            let message = format!("'{name}' is given in 'workload' too: omit it there");
            return Err(TomlError::at(place, message));
        }
        let levels = levels(name, node, asked)?;
        let name = name.clone();
        factors.push(TuningFactor { name, levels });
    }
    Ok(factors)
}

/// The levels of a parameter, each one that the workload takes.
fn levels(name: &str, node: &Node, asked: &str) -> Result<Vec<String>, TomlError> {
    const EXAMPLE: &str = "[64, 128]";
    let mut levels: Vec<String> = Vec::new();
    for item in node.list(name, EXAMPLE)? {
        let level = item.word(name, "64")?;
        let wrong = |message: String| Err(TomlError::at(&item.place, message));
        if level.trim() != level || level.contains(|c: char| c == '&' || c.is_control()) {
            return wrong(format!(
                "'{name}' cannot be {}: omit &, control characters, and blanks at its ends",
                item.place.snippet()
            ));
        }
        if levels.contains(&level) {
            return wrong(format!("'{name}' has the level '{level}' twice: omit one"));
        }
        workload_file::read(&tuning::with(asked, name, &level))
            .map_err(|e| TomlError::at(&item.place, e.to_string()))?;
        levels.push(level);
    }
    if levels.len() < 2 {
        let message = format!("'{name}' has one level: give at least two, as in {name} = {EXAMPLE}");
        return Err(TomlError::at(&node.place, message));
    }
    Ok(levels)
}

/// Refuses factors that the design cannot have.
fn fits(design: TuningDesign, factors: &[TuningFactor], node: &Node) -> Result<(), TomlError> {
    let (least, most) = match design {
        TuningDesign::Full => (1, Design::MOST_FACTORS),
        TuningDesign::Fractional => (4, Design::MOST_FACTORS),
        TuningDesign::OneAtATime => (1, MOST_FACTORS),
    };
    let wrong = |message: String| Err(TomlError::at(&node.place, message));
    let (n, name) = (factors.len(), design.name());
    if !(least..=most).contains(&n) {
        return wrong(format!(
            "design \"{name}\" takes {least} to {most} factors, and there are {n}"
        ));
    }
    let settings = 1 + factors
        .iter()
        .map(|factor| factor.levels.len() - 1)
        .sum::<usize>();
    if design == TuningDesign::OneAtATime {
        return match settings {
            0..=MOST_SETTINGS => Ok(()),
            _ => wrong(format!(
                "these levels make {settings} settings: give fewer, for at most {MOST_SETTINGS}"
            )),
        };
    }
    match factors.iter().find(|factor| factor.levels.len() != 2) {
        None => Ok(()),
        Some(of) => wrong(format!(
            "design \"{name}\" takes two levels of each factor, and '{}' has {}: omit some, or write design = \"one-at-a-time\"",
            of.name,
            of.levels.len()
        )),
    }
}
