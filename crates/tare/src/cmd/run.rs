//! `tare run`: study -> platforms -> results file -> report.

use super::place::Place;
use super::root_image::{self, Unmade};
use super::{Asked, forms, plan_words, report};
use crate::args::RunArgs;
use crate::args::forms::CostFormArgs;
use crate::out;
use crate::progress::Progress as Display;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tare_analysis::Comparison;
use tare_analysis::{Analysis, analyze};
use tare_host::{host, interrupt};
use tare_lab::runner::{Event, Runner, Summary};
use tare_lab::session::Session;
use tare_lab::{doctor, resume, safe_file, versions};
use tare_model::results::{EndReason, Outcome, Results, TrialRecord};
use tare_model::size::counted;
use tare_model::study::Study;
use tare_platforms::state::Run;
use tare_report::document::Document;
use tare_report::{benchmarks, sections};
use tare_study::design::NO_IMAGE;

/// Runs a study, or goes on with one.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    super::refuse_missing_command(&args.study)?;
    anyhow::ensure!(
        args.resume.is_none() || args.output.is_none(),
        "--resume continues its own file and -o creates a new one: give only one of them"
    );
    interrupt::install().context("cannot handle signals")?;
    let asked = Asked::of(&args.study);
    let state = args.state.folder();
    let named = args.output.as_deref();
    let check_outputs = || check_outputs(named, args.resume.as_deref(), args.forms.forms.html.as_deref());
    let mut session = match &args.resume {
        None => open(&asked, &state, check_outputs)?,
        Some(path) => resume(path, &asked, &state, check_outputs)?,
    };
    let output = output_path(args.resume.as_deref().or(named), &session.run);
    let ended = measure(&mut session, &output, args.quiet)?;
    finish(&args.forms, &output, ended)
}

/// A session for a new results file.
pub(super) fn open(
    asked: &Asked,
    state: &Path,
    check_outputs: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<Session> {
    let (mut study, _) = super::study(asked, &host::facts(), state, Unmade::Make)?;
    versions::ask_on_host(&mut study);
    check_outputs()?;
    let run = super::begin(state)?;
    let image = root_image::of(&study, state)?;
    let mut session = Session::open(study, run, image)?;
    session.ask_versions()?;
    Ok(session)
}

/// One that goes on with a file.
fn resume(
    path: &Path,
    asked: &Asked,
    state: &Path,
    check_outputs: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<Session> {
    let earlier = Results::read(path)?;
    let study = study_of(path, &earlier, asked, state)?;
    check_outputs()?;
    before_resuming(path, &earlier, &study, asked)?;
    let run = super::begin(state)?;
    // A run that wrote to the file may have ended just now, while this one waited for it.
    let earlier = Results::read(path)?;
    let image = root_image::of(&study, state)?;
    Ok(Session::resume(study, run, image, earlier)?)
}

/// Measures, and tells what came of it in the command's own way.
pub(super) fn measure_and_tell(
    session: &mut Session,
    named: Option<&Path>,
    quiet: bool,
    tell: impl FnOnce(&Path, &Analysis) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let output = output_path(named, &session.run);
    let ended = measure(session, &output, quiet)?;
    let results = Results::read(&output)?;
    let analysis = analyze(&results);
    tell(&output, &analysis)?;
    Ok(end(&results, &analysis, &output, &ended))
}

/// How long is looked for what else runs.
const LOOK: Duration = Duration::from_millis(200);

/// Measures what the plan says, which is printed first; a study that cannot tell anything is not run.
fn measure(session: &mut Session, output: &Path, quiet: bool) -> anyhow::Result<Summary> {
    let expected = session.cost();
    let foreseen = session.foresee();
    let plan = plan_words::text(&session.study, &expected, session.room(), &foreseen, None);
    if let Err(futile) = foreseen.worth(&session.study) {
        out::say_lines(&plan);
        return Err(futile.into());
    }
    let file = session.results_file(output)?;
    let mut display = (!quiet).then(|| Display::new(expected.trials, expected.seconds).with_costs(output));
    if display.is_some() {
        out::say_lines(&plan);
        out::say_lines(&plan_words::busy(doctor::load(LOOK).ok()));
        out::say(&format!("results in    {}\n", out::path(output)));
    }
    let mut observe = |event: Event<'_>| {
        if let Some(display) = &mut display {
            display.event(&event);
        }
    };
    let ended = Runner::new(session, file, &mut observe)?.run();
    if let Some(display) = display {
        display.finish();
    }
    Ok(ended?)
}

/// The study of a file that is to be continued, if it is the one that is asked for.
fn study_of(path: &Path, results: &Results, asked: &Asked, state: &Path) -> anyhow::Result<Study> {
    let path = path.display().to_string();
    let protocol = &asked.wishes.protocol;
    let mut theirs = resume::study(&path, results, protocol.blocks)?;
    anyhow::ensure!(
        protocol.seed.is_none_or(|seed| seed == theirs.protocol.seed),
        "{path} keeps its own --seed: omit --seed"
    );
    // Each session has a budget of its own; one that is asked for holds from its start.
    if protocol.budget_seconds.is_some() {
        theirs.protocol.budget_seconds = protocol.budget_seconds;
        theirs.protocol.blocks_before_budget = 0;
    }
    theirs.protocol.evidence |= protocol.evidence == Some(true);
    if !asked.is_empty {
        let mut asked = asked_beside(asked.clone(), &theirs, state)?;
        versions::ask_on_host(&mut asked);
        versions::take_from(&mut asked, &theirs);
        resume::check_study(&path, &theirs, &asked)?;
    }
    // Before any platform is opened: of a complete file nothing else matters.
    resume::unfinished(&path, results, &theirs.protocol)?;
    Ok(theirs)
}

/// What the options beside `--resume` ask for; where they name no image, in that of the file.
fn asked_beside(mut asked: Asked, theirs: &Study, state: &Path) -> anyhow::Result<Study> {
    let facts = host::facts();
    let image = || {
        theirs
            .image
            .as_ref()
            .map_or(NO_IMAGE, |image| &image.name)
            .to_owned()
    };
    asked.wishes.image_name.get_or_insert_with(image);
    if asked.file.is_some() {
        return Ok(super::study(&asked, &facts, state, Unmade::Make)?.0);
    }
    let mut wishes = asked.wishes;
    wishes.programs = root_image::asked(&wishes, state, Unmade::Make)?;
    let designed = || Ok(resume::asked(theirs, &wishes, &facts)?);
    wishes.programs =
        root_image::on_platforms(wishes.programs.clone(), &wishes, designed, state, Unmade::Make)?;
    Ok(resume::asked(theirs, &wishes, &facts)?)
}

/// Whoever goes on with a file may not know what stands in it: it is told before anything that
/// the file names is tried.
fn before_resuming(path: &Path, results: &Results, study: &Study, asked: &Asked) -> anyhow::Result<()> {
    let path = out::path(path);
    resume::origin(&path, results, &host::facts())?;
    out::say_lines(&plan_words::commands(study));
    // Another host is handed the user's keys, and the files of commands.
    if let Some(elsewhere) = study.platforms.iter().find(|platform| platform.host().is_some())
        && asked.wishes.platforms.is_empty()
    {
        let all: Vec<String> = study.platforms.iter().map(ToString::to_string).collect();
        anyhow::bail!(
            "{path} runs on another host ({}): if you trust it, confirm by naming the platforms: -p {}",
            out::one_line(&elsewhere.to_string()),
            out::word(&all.join(","))
        );
    }
    Ok(())
}

/// Finds out about unwritable paths before anything is measured.
pub(super) fn check_outputs(
    output: Option<&Path>,
    resumed: Option<&Path>,
    page: Option<&Path>,
) -> anyhow::Result<()> {
    if let Some(path) = output {
        let shown = path.display();
        anyhow::ensure!(
            !path.is_dir(),
            "{shown} is a folder: give the path of a file with -o, such as {}",
            path.join("results.jsonl").display()
        );
        let is_free = path.symlink_metadata().is_err();
        anyhow::ensure!(is_free, tare_lab::WriteError::Exists(path.to_owned()));
    }
    for path in [output, page].into_iter().flatten() {
        let folder = safe_file::folder_of(path);
        anyhow::ensure!(
            folder.is_dir(),
            "there is no folder {}: create it, or give another path",
            folder.display()
        );
    }
    let results: Vec<&Path> = output.into_iter().chain(resumed).collect();
    forms::check(page, &results)
}

fn output_path(named: Option<&Path>, run: &Run) -> PathBuf {
    let id = run.name().trim_start_matches("tare-");
    named.map_or_else(|| format!("tare-results-{id}.jsonl").into(), Path::to_owned)
}

/// Shows what was measured, which a failure to do so must not lose.
fn finish(asked: &CostFormArgs, output: &Path, summary: Summary) -> anyhow::Result<ExitCode> {
    let results = Results::read(output)?;
    let analysis = analyze(&results);
    show(asked, output, &analysis).map_err(|e| {
        let file = out::word(&output.display().to_string());
        anyhow::anyhow!("{e:#}; the results are in {file}: show them with 'tare report {file}'")
    })?;
    Ok(end(&results, &analysis, output, &summary))
}

fn show(asked: &CostFormArgs, output: &Path, analysis: &Analysis) -> anyhow::Result<()> {
    let place = Place::of(output, asked.forms.html.as_deref());
    let document = || Document {
        whole: forms::whole_page(output, asked.forms.html.as_deref()),
        ..sections::report(analysis, place.told())
    };
    if asked.prints_other() {
        let costs = benchmarks::of_report(analysis);
        forms::tell_costs(asked, &[output], &document(), analysis, &costs)?;
        let file = out::word(&output.display().to_string());
        out::say(&format!("results: {file}"));
        return Ok(());
    }
    if !asked.is_empty() {
        forms::write(&asked.forms, &[output], &document())?;
    }
    report::answer(analysis, &asked.forms, &place)
}

/// Says how the run ended.
fn end(results: &Results, analysis: &Analysis, output: &Path, summary: &Summary) -> ExitCode {
    if summary.reason == EndReason::Interrupted {
        out::say(&format!("stopped; continue with: {}", out::resume(output)));
        return ExitCode::from(out::INTERRUPTED);
    }
    let measured = results.trials().any(is_measured);
    // Where one block was all that was asked for, there is nothing to go on with.
    if summary.reason == EndReason::Fruitless && results.header.study.protocol.blocks > 1 {
        out::say(&fruitless(measured, &out::resume(output)));
    }
    let said = [
        (summary.failed > 0 || summary.refused > 0).then(|| what_failed(summary)),
        nothing_measured(results).or_else(|| nothing_compared(analysis)),
    ];
    said.iter().flatten().for_each(|line| out::say(line));
    if summary.failed > 0 || summary.refused > 0 || !measured {
        ExitCode::from(out::FAILED)
    } else {
        ExitCode::SUCCESS
    }
}

/// More blocks may help if something succeeded; if nothing did, what failed is to be mended first.
fn fruitless(measured: bool, resume: &str) -> String {
    let anyway = if measured {
        format!("; to continue anyway: {resume}")
    } else {
        String::new()
    };
    format!("the run ended after its first block, which left nothing to compare{anyway}")
}

fn is_measured(trial: &TrialRecord) -> bool {
    matches!(trial.outcome, Outcome::Ok(_))
}

/// That no trial has a result, with what is told of the first.
fn nothing_measured(results: &Results) -> Option<String> {
    if results.trials().any(is_measured) {
        return None;
    }
    let why = results.trials().find_map(|trial| match &trial.outcome {
        Outcome::Failed(failure) | Outcome::Skipped(failure) => Some(out::one_line(&failure.detail)),
        Outcome::Ok(_) => None,
    });
    let why = why.unwrap_or_else(|| "no trial started".to_owned());
    Some(format!("nothing was measured: {why}"))
}

/// That platforms were to be compared and none has a pair. The price of the quota compares
/// a platform with itself.
fn nothing_compared(analysis: &Analysis) -> Option<String> {
    let mut compared = analysis
        .comparisons
        .iter()
        .filter(|comparison| !comparison.is_price_of_quota())
        .peekable();
    compared.peek()?;
    let has_pairs = |comparison: &Comparison| comparison.metrics.iter().any(|metric| metric.n > 0);
    (!compared.any(has_pairs)).then(|| {
        "nothing was compared: every comparison between platforms lost all its pairs; the report says why"
            .to_owned()
    })
}

/// `2 trials failed; limits not proven for 1 kind of box`, without what did not occur.
fn what_failed(summary: &Summary) -> String {
    let failed = (summary.failed > 0).then(|| format!("{} failed", counted(summary.failed, "trial")));
    let refused = (summary.refused > 0).then(|| {
        format!(
            "limits not proven for {} of box",
            counted(summary.refused, "kind")
        )
    });
    failed.into_iter().chain(refused).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_which_nothing_succeeded_is_not_to_be_continued() {
        assert!(fruitless(true, "tare run --resume r.jsonl").ends_with("tare run --resume r.jsonl"));
        assert!(!fruitless(false, "tare run --resume r.jsonl").contains("--resume"));
    }

    #[test]
    fn only_what_failed_is_told() {
        let told = |failed, refused| {
            what_failed(&Summary {
                reason: EndReason::Complete,
                failed,
                refused,
            })
        };
        assert_eq!(told(1, 0), "1 trial failed");
        assert_eq!(told(0, 1), "limits not proven for 1 kind of box");
        assert_eq!(
            told(2, 3),
            "2 trials failed; limits not proven for 3 kinds of box"
        );
    }
}
