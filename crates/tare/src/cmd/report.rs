//! `tare report`: from a results file to text, a page and other forms.

use super::forms;
use super::place::Place;
use crate::args::ReportArgs;
use crate::args::forms::FormArgs;
use crate::out;
use std::process::ExitCode;
use tare_analysis::{Analysis, analyze, analyze_against};
use tare_model::results::Results;
use tare_report::document::Document;
use tare_report::{benchmarks, sections, text};

/// Reads, analyses and prints.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let asked = &args.forms;
    forms::check(asked.forms.html.as_deref(), &[&args.file])?;
    let results = Results::read(&args.file)?;
    let analysis = match &args.baseline {
        Some(baseline) => analyze_against(results, baseline)?,
        None => analyze(&results),
    };
    let place = Place::of(&args.file, asked.forms.html.as_deref());
    if asked.is_empty() && !args.details {
        answer(&analysis, &asked.forms, &place)?;
        return Ok(ExitCode::SUCCESS);
    }
    let whole = forms::whole_page(&args.file, asked.forms.html.as_deref());
    let document = Document {
        whole: whole.filter(|_| !args.details),
        ..sections::report(&analysis, place.told())
    };
    let costs = benchmarks::of_report(&analysis);
    forms::tell_costs(asked, &[&args.file], &document, &analysis, &costs)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what an analysis comes to, and where the rest is.
pub fn answer(analysis: &Analysis, asked: &FormArgs, place: &Place) -> anyhow::Result<()> {
    out::print(&text::answer(analysis, place.told(), forms::options(asked)))
}
