//! `tare advise`: which platform for which workload, by what was measured.

use super::forms;
use super::place::Place;
use crate::args::AdviseArgs;
use std::process::ExitCode;
use tare_analysis::advice::{Criterion, Weights, advise};
use tare_analysis::analyze;
use tare_model::results::Results;
use tare_report::sections;

/// Reads, weighs and prints.
pub fn run(args: &AdviseArgs) -> anyhow::Result<ExitCode> {
    forms::check(args.forms.html.as_deref(), &[&args.file])?;
    let analysis = analyze(&Results::read(&args.file)?);
    let advice = advise(&analysis, &Weights::new(args.weigh.clone()));
    let place = Place::of(&args.file, args.forms.html.as_deref());
    forms::tell(
        &args.forms,
        &[&args.file],
        &sections::advice(&analysis, &advice, place.told()),
        &advice,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// `memory=2`: a criterion and how much it counts.
pub fn weight(text: &str) -> Result<(Criterion, f64), String> {
    let (name, weight) = text
        .split_once('=')
        .ok_or("give a criterion and its weight, as in memory=2")?;
    let weight: f64 = weight
        .parse()
        .map_err(|_| format!("'{weight}' is not a weight: give a number of at least 0"))?;
    if !(weight.is_finite() && weight >= 0.0) {
        return Err(format!("'{weight}' is not a weight: give a number of at least 0"));
    }
    Ok((name.parse()?, weight))
}
