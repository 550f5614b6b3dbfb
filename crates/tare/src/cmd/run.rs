//! `tare run`: study -> platforms -> results file -> report.

use super::root_image::{self, Unmade};
use super::{forms, plan_words, report};
use crate::args::{RunArgs, StudyArgs};
use crate::out;
use crate::progress::Progress as Display;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tare_analysis::Comparison;
use tare_analysis::{Analysis, analyze};
use tare_host::interrupt;
use tare_lab::design::NO_IMAGE;
use tare_lab::plan::{Room, cost};
use tare_lab::preflight::{self, Platforms};
use tare_lab::resume::{self, Progress};
use tare_lab::runner::{Runner, Summary};
use tare_lab::{Writer, own, versions};
use tare_model::host::HostFacts;
use tare_model::results::{EndReason, Outcome, Results, TrialRecord};
use tare_model::size::counted;
use tare_model::study::Study;
use tare_platforms::state::Run;
use tare_report::sections;

/// Runs a study, or goes on with one.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    super::refuse_missing_command(&args.study)?;
    anyhow::ensure!(
        args.resume.is_none() || args.output.is_none(),
        "--resume continues its own file and -o creates a new one: give only one of them"
    );
    interrupt::install().context("cannot handle signals")?;
    let state = args.state.folder();
    let earlier = args.resume.as_deref().map(Results::read).transpose()?;
    let mut study = choose_study(args, earlier.as_ref(), &state)?;
    check_outputs(args)?;
    if let Some(results) = &earlier {
        before_resuming(args, results, &study)?;
    }
    let run = super::begin(&state)?;
    // A run that wrote to the file may have ended just now, while this one waited for it.
    let earlier = args.resume.as_deref().map(Results::read).transpose()?;
    let image = root_image::of(&study, &state)?;
    let mut platforms = Platforms::open(&study.platforms, &state)?.with_image(image)?;
    platforms.check_reach(&study)?;
    if earlier.is_none() {
        versions::ask_in_box(&mut study, &mut platforms, &run)?;
    }
    let output = output_path(args, &run);
    let header = preflight::header(&study, &platforms, &output);
    let room = Room::of_host(header.host.memory_bytes);
    let expected = cost(&study, room, |kind| platforms.cost(kind));
    let foreseen = platforms.foresee(&study);
    let plan = plan_words::text(&study, &expected, room, &foreseen, None);
    if let Err(futile) = foreseen.worth(&study) {
        out::say_lines(&plan);
        return Err(futile.into());
    }
    let (mut writer, progress) = match &earlier {
        None => (Writer::create(&output, &header)?, Progress::default()),
        Some(results) => {
            resume::check(&output.display().to_string(), results, &header)?;
            (
                Writer::resume(&output, results.complete_bytes)?,
                Progress::of(results),
            )
        }
    };
    let mut display =
        (!args.quiet).then(|| Display::new(expected.trials, expected.seconds).with_costs(&output));
    if display.is_some() {
        out::say_lines(&plan);
        out::say(&format!("results in    {}\n", out::path(&output)));
    }
    let mut observe = |event: tare_lab::runner::Event<'_>| {
        if let Some(display) = &mut display {
            display.event(&event);
        }
    };
    let ended = Runner::new(&study, &mut platforms, &mut writer, &run, progress, &mut observe)?.run();
    if let Some(display) = display {
        display.finish();
    }
    finish(args, &output, ended?)
}

fn choose_study(args: &RunArgs, earlier: Option<&Results>, state: &Path) -> anyhow::Result<Study> {
    let facts = tare_host::host::facts();
    let Some(results) = earlier else {
        let (mut study, _) = super::study(&args.study, &facts, state, Unmade::Make)?;
        versions::ask_on_host(&mut study);
        return Ok(study);
    };
    let path = args
        .resume
        .as_ref()
        .map(|p| p.display().to_string())
        .unwrap_or_default();
    let theirs = resume::study(&path, results, args.study.protocol.blocks)?;
    let budget = args.study.protocol.budget;
    for (option, given) in [
        (
            "--seed",
            args.study
                .protocol
                .seed
                .is_some_and(|seed| seed != theirs.protocol.seed),
        ),
        (
            "--budget",
            budget.is_some() && budget != theirs.protocol.budget_seconds,
        ),
    ] {
        anyhow::ensure!(
            !given,
            "{path} keeps its own {option}: omit {option}"
        );
    }
    if !args.study.is_empty() {
        let mut asked = asked_beside(&args.study, &theirs, &facts, state)?;
        versions::ask_on_host(&mut asked);
        versions::take_from(&mut asked, &theirs);
        resume::check_study(&path, &theirs, &asked)?;
    }
    // Before any platform is opened: of a complete file nothing else matters.
    resume::unfinished(&path, results, theirs.protocol.blocks)?;
    Ok(theirs)
}

/// What the options beside `--resume` ask for; where they name no image, in that of the file.
fn asked_beside(args: &StudyArgs, theirs: &Study, facts: &HostFacts, state: &Path) -> anyhow::Result<Study> {
    let image = || {
        theirs
            .image
            .as_ref()
            .map_or(NO_IMAGE, |image| &image.name)
            .to_owned()
    };
    if args.study.is_some() {
        let args = StudyArgs {
            image: Some(args.image.clone().unwrap_or_else(image)),
            ..args.clone()
        };
        return Ok(super::study(&args, facts, state, Unmade::Make)?.0);
    }
    let mut wishes = args.wishes();
    wishes.image_name.get_or_insert_with(image);
    wishes.programs = root_image::asked(&wishes, state, Unmade::Make)?;
    let designed = || Ok(resume::asked(theirs, &wishes, facts)?);
    wishes.programs =
        root_image::on_platforms(wishes.programs.clone(), &wishes, designed, state, Unmade::Make)?;
    Ok(resume::asked(theirs, &wishes, facts)?)
}

/// Whoever goes on with a file may not know what stands in it: it is told before anything that
/// the file names is tried.
fn before_resuming(args: &RunArgs, results: &Results, study: &Study) -> anyhow::Result<()> {
    let path = args.resume.as_deref().map(out::path).unwrap_or_default();
    resume::origin(&path, results, &tare_host::host::facts())?;
    out::say_lines(&plan_words::commands(study));
    // Another host is handed the user's keys, and the files of commands.
    if let Some(elsewhere) = study.platforms.iter().find(|platform| platform.host().is_some())
        && args.study.platforms.is_empty()
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
fn check_outputs(args: &RunArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.output {
        let shown = path.display();
        anyhow::ensure!(
            !path.is_dir(),
            "{shown} is a folder: give the path of a file with -o, such as {}",
            path.join("results.jsonl").display()
        );
        let is_free = path.symlink_metadata().is_err();
        anyhow::ensure!(is_free, tare_lab::WriteError::Exists(path.clone()));
    }
    for path in [&args.output, &args.forms.html].into_iter().flatten() {
        let folder = own::folder_of(path);
        anyhow::ensure!(
            folder.is_dir(),
            "there is no folder {}: create it, or give another path",
            folder.display()
        );
    }
    let results: Vec<&Path> = [&args.output, &args.resume]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    forms::check(&args.forms, &results)
}

fn output_path(args: &RunArgs, run: &Run) -> PathBuf {
    let named = args.resume.as_ref().or(args.output.as_ref());
    let id = run.name().trim_start_matches("tare-");
    named
        .cloned()
        .unwrap_or_else(|| PathBuf::from(format!("tare-results-{id}.jsonl")))
}

fn finish(args: &RunArgs, output: &Path, summary: Summary) -> anyhow::Result<ExitCode> {
    let results = Results::read(output)?;
    let analysis = analyze(&results);
    let asked = &args.forms;
    if asked.prints_other() {
        forms::tell(asked, &[output], &sections::report(&analysis), &analysis)?;
    } else {
        if !asked.is_empty() {
            forms::write(asked, &[output], &sections::report(&analysis))?;
        }
        report::answer(&analysis, asked, output)?;
    }
    let file = out::word(&output.display().to_string());
    if asked.prints_other() {
        out::say(&format!("results: {file}"));
    }
    if summary.reason == EndReason::Interrupted {
        out::say(&format!("stopped; continue with: tare run --resume {file}"));
        return Ok(ExitCode::from(out::INTERRUPTED));
    }
    // Where one block was all that was asked for, there is nothing to go on with.
    if summary.reason == EndReason::Fruitless && results.header.study.protocol.blocks > 1 {
        out::say(&format!(
            "the run ended after its first block, which left nothing to compare; to continue anyway: tare run --resume {file}"
        ));
    }
    let said = [
        (summary.failed > 0 || summary.refused > 0).then(|| what_failed(&summary)),
        nothing_measured(&results).or_else(|| nothing_compared(&analysis)),
    ];
    said.iter().flatten().for_each(|line| out::say(line));
    let measured = results.trials().any(is_measured);
    Ok(if summary.failed > 0 || summary.refused > 0 || !measured {
        ExitCode::from(out::FAILED)
    } else {
        ExitCode::SUCCESS
    })
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
    let refused = (summary.refused > 0)
        .then(|| format!("limits not proven for {} of box", counted(summary.refused, "kind")));
    failed.into_iter().chain(refused).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(told(2, 3), "2 trials failed; limits not proven for 3 kinds of box");
    }
}
