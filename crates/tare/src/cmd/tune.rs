//! `tare tune`: a study that varies parameters of a workload -> results file -> which of them matter.

use super::{Asked, forms, run};
use crate::args::TuneArgs;
use crate::out;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;
use tare_analysis::{Analysis, analyze};
use tare_host::interrupt;
use tare_model::results::Results;
use tare_report::sections;
use tare_study::study_file;

/// Measures, or reads what was measured, and tells.
pub fn run(args: &TuneArgs) -> anyhow::Result<ExitCode> {
    let file = Path::new(&args.study);
    if file.is_file() && file.extension().is_none_or(|end| end != "toml") {
        anyhow::ensure!(
            args.only_reads(),
            "{} is read, nothing is measured: omit the options of a run",
            out::path(file)
        );
        forms::check(args.forms.html.as_deref(), &[file])?;
        return tell(args, file, &analyze(&Results::read(file)?)).map(|()| ExitCode::SUCCESS);
    }
    let looks_like_results = args.study.contains(".json");
    anyhow::ensure!(!looks_like_results, "there is no file {}", out::path(file));
    // Before an image is made for it.
    let read = study_file::read(&args.study, args.small)?;
    anyhow::ensure!(
        read.wishes().tuning.is_some(),
        "study {} varies no parameters: give it a [tuning] chapter (docs/study-files.md)",
        out::path(file)
    );
    interrupt::install().context("cannot handle signals")?;
    let named = args.output.as_deref();
    let check_outputs = || run::check_outputs(named, None, args.forms.html.as_deref());
    let asked = Asked {
        file: Some(args.study.clone()),
        small: args.small,
        compared: None,
        is_empty: false,
        wishes: args.wishes(),
    };
    let mut session = run::open(&asked, &args.state.folder(), check_outputs)?;
    anyhow::ensure!(
        session.study.tuning.is_some(),
        "the workload of study {} is left out here: 'tare plan {}' says why",
        out::path(file),
        out::word(&args.study)
    );
    run::measure_and_tell(&mut session, named, args.quiet, |output, analysis| {
        tell(args, output, analysis)
    })
}

fn tell(args: &TuneArgs, file: &Path, analysis: &Analysis) -> anyhow::Result<()> {
    anyhow::ensure!(
        !analysis.tunings.is_empty(),
        "{} is of no study that varies parameters: measure one with a [tuning] chapter (docs/study-files.md)",
        out::path(file)
    );
    let document = sections::tuning(analysis);
    forms::tell_briefly(
        &args.forms,
        file,
        document,
        &analysis.tunings,
        ("tune", args.details),
    )
}
