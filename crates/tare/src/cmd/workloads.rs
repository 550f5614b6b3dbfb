//! `tare workloads`: which there are, what one of them is, and a trial of it natively.

use super::root_image::{self, Unmade};
use crate::args::workloads::{WorkloadsArgs, WorkloadsCommand};
use crate::out;
use crate::progress::Progress as Display;
use anyhow::Context;
use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use tare_host::{cgroup, interrupt};
use tare_lab::runner::{Event, Runner};
use tare_lab::session::Session;
use tare_lab::versions;
use tare_model::platform::Provisioning;
use tare_model::results::{EndReason, Failure, Outcome, Results, Success};
use tare_model::size::{show_memory, show_seconds};
use tare_model::study::{Slicing, Study, Workload};
use tare_model::workload::{Barrier, Check};
use tare_report::words::reconnects;
use tare_study::design::{self, ProtocolOptions, StudyRequest};
use tare_study::workload_file::{self, CatalogueWorkload, TakenParameter};
use tare_study::workloads::{self, Brief, Kind, Tried};

/// Column at which words begin.
const INDENT: usize = 17;

/// Prints what is asked for.
pub fn run(args: &WorkloadsArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        None | Some(WorkloadsCommand::List) => list(args.json),
        Some(WorkloadsCommand::Show { name, state }) => show(name, &state.folder(), args.json),
        Some(WorkloadsCommand::Check { name, timeout, state }) => {
            check(name, *timeout, &state.folder(), args.json)
        }
    }
}

fn list(json: bool) -> anyhow::Result<ExitCode> {
    let shipped = workloads::list()?;
    if json {
        out::print_json(&shipped)?;
    } else {
        let line = |workload: &Brief| {
            let kind = match workload.kind {
                Kind::BuiltIn => "",
                Kind::Command => " (a command)",
            };
            out::wrapped(&workload.name, INDENT, &format!("{}{kind}", workload.about))
        };
        out::print(&shipped.workloads.iter().map(line).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, state: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let file = workload_file::is_known(name)
        .then(|| workload_file::read(name))
        .transpose()?;
    match (designed(name, None, state, Unmade::Leave), &file) {
        (Ok(study), _) if json => out::print_json(&study.workloads)?,
        (Ok(study), _) => {
            let workloads = study.workloads.iter();
            out::print(&workloads.map(|w| explained(w, file.as_ref())).collect::<String>())?;
        }
        // What cannot run here can be told of all the same.
        (Err(why), Some(file)) if !json => {
            let text = out::wrapped(&file.name, INDENT, &file.about);
            let why = out::wrapped("  not here", INDENT, &why.to_string());
            out::print(&(text + &why + &of_file(file)))?;
        }
        (Err(why), _) => return Err(why),
    }
    Ok(ExitCode::SUCCESS)
}

/// A study of one trial of it, natively, on a CPU of its own if there are sets of CPUs.
fn designed(name: &str, timeout: Option<f64>, state: &Path, unmade: Unmade) -> anyhow::Result<Study> {
    let mut wishes = StudyRequest {
        platforms: vec!["native".to_owned()],
        provisioning: vec![if cgroup::has_cpu_sets() {
            Provisioning::Pinned
        } else {
            Provisioning::Vanilla
        }],
        workloads: vec![name.into()],
        cpus: "1".parse().ok(),
        protocol: ProtocolOptions {
            blocks: Some(1),
            slicing: Some(Slicing::Off),
            settle: Some(false),
            timeout_seconds: timeout,
            ..ProtocolOptions::default()
        },
        ..StudyRequest::default()
    };
    let facts = tare_host::host::facts();
    wishes.programs = root_image::asked(&wishes, state, unmade)?;
    let designed = || Ok(design::study(&wishes, &facts)?);
    wishes.programs = root_image::on_platforms(wishes.programs.clone(), &wishes, designed, state, unmade)?;
    Ok(design::study(&wishes, &facts)?)
}

fn explained(workload: &Workload, file: Option<&CatalogueWorkload>) -> String {
    let mut text = out::wrapped(&workload.name, INDENT, &workload.about);
    let mut row = |name: &str, words: &str| {
        if !words.is_empty() {
            text += &out::wrapped(&format!("  {name}"), INDENT, words);
        }
    };
    if let Some(feature) = workload.feature {
        row("shows", &format!("{} of {}", feature.capacity, feature.property));
    }
    if let Some(receipt) = &workload.version {
        row("version by", &receipt.argv.join(" "));
    }
    if let Some(seconds) = workload.seconds {
        row("takes", &format!("about {}", show_seconds(seconds)));
    }
    if let Some(bytes) = workload.memory_bytes {
        row("needs", &format!("boxes of {}", show_memory(bytes)));
    }
    if workload.kernel().is_none() && workload.servers().next().is_some() {
        workload
            .roles
            .iter()
            .for_each(|role| row("runs", &role.explained()));
    } else {
        workload
            .roles
            .iter()
            .for_each(|role| row("runs", &role.run.to_string()));
        row("ends", &workload.placed().unwrap_or_default());
    }
    for metric in &workload.metrics {
        let primary = if metric.primary {
            ", carries the verdict"
        } else {
            ""
        };
        let better = format!("{} is better{primary}", metric.direction.name());
        row("figure", &format!("{}: {better}", metric.name));
    }
    for check in &workload.checks {
        row("counts if", &condition(check));
    }
    text + &file.map(of_file).unwrap_or_default()
}

/// What a file tells whether or not its workload can run here.
fn of_file(file: &CatalogueWorkload) -> String {
    let told = |name: &str, words: &str| out::wrapped(&format!("  {name}"), INDENT, words);
    let rows = [
        ("from", file.source.clone()),
        (
            "studies",
            (!file.studies.is_empty()).then(|| file.studies.join(", ")),
        ),
        ("package", file.package.clone()),
        ("image", file.image.clone()),
        ("cannot run", file.cannot_run.as_ref().map(barred)),
    ];
    let rows = rows
        .iter()
        .filter_map(|(name, words)| Some(told(name, words.as_deref()?)));
    let parameters = file.parameters.iter();
    let parameters = parameters.map(|(key, taken)| told("parameter", &valued(key, taken)));
    rows.chain(parameters).collect()
}

fn barred(barrier: &Barrier) -> String {
    format!("in {}: {}", barrier.platforms.join(", "), barrier.why)
}

/// A parameter, and what the studies had where that is another value.
fn valued(key: &str, taken: &TakenParameter) -> String {
    let TakenParameter { about, value, paper } = taken;
    if value == paper {
        format!("{key} = {value}: {about}")
    } else {
        format!("{key} = {value} (preset=paper: {paper}): {about}")
    }
}

fn condition(check: &Check) -> String {
    match check {
        Check::ExitStatus => "it ends with status 0".to_owned(),
        Check::KnownAnswer => "its answer is the known one".to_owned(),
        Check::Figure(bounded) => format!("of {} {}", bounded.name, bounded.bounds()),
        Check::Says(said) => format!("{} has '{}'", said.stream.name(), said.regex),
        Check::SaysNot(said) => format!("{} does not have '{}'", said.stream.name(), said.regex),
        Check::Later(_) => String::new(),
    }
}

/// One trial, as a run makes it; its results file goes with it.
fn check(name: &str, timeout: Option<f64>, state: &Path, json: bool) -> anyhow::Result<ExitCode> {
    interrupt::install().context("cannot handle signals")?;
    let mut study = designed(name, timeout, state, Unmade::Make)?;
    versions::ask_on_host(&mut study);
    let run = super::begin(state)?;
    let image = root_image::of(&study, state)?;
    let mut session = Session::open(study, run, image)?;
    session.ask_versions()?;
    let output = session.run.folder().join("check.jsonl");
    let file = session.results_file(&output)?;
    let expected = session.cost();
    let display = RefCell::new(Display::new(expected.trials, expected.seconds));
    let mut observe = |event: Event<'_>| display.borrow_mut().event(&event);
    let ended = Runner::new(&mut session, file, &mut observe)?.run();
    display.borrow().finish();
    let summary = ended?;
    let results = Results::read(&output)?;
    let outcome = results.trials().last().map(|trial| &trial.outcome);
    let (told, code) = match outcome {
        Some(Outcome::Ok(success)) => {
            let doubt = reconnects::of_one(&tare_analysis::analyze(&results));
            let doubt = doubt.map(|doubt| out::wrapped("!", INDENT, &doubt));
            (succeeded(&session.study, success) + &doubt.unwrap_or_default(), 0)
        }
        Some(Outcome::Failed(failure) | Outcome::Skipped(failure)) => (failed(failure), out::FAILED),
        None if summary.reason == EndReason::Interrupted => (
            "stopped before the trial ended: no result\n".to_owned(),
            out::INTERRUPTED,
        ),
        None => (
            "no trial ran: the limits of its box could not be proven\n".to_owned(),
            out::FAILED,
        ),
    };
    if json {
        out::print_json(&Tried {
            workload: &session.study.workloads,
            outcome,
        })?;
    } else {
        out::print(&told)?;
    }
    Ok(ExitCode::from(code))
}

fn succeeded(study: &Study, success: &Success) -> String {
    let metrics = study.workloads.iter().flat_map(|workload| &workload.metrics);
    let lines = metrics.filter_map(|metric| {
        let value = success.samples.get(&metric.name)?;
        Some(out::wrapped(&metric.name, INDENT, &metric.unit.show(*value)))
    });
    lines.collect()
}

fn failed(failure: &Failure) -> String {
    let mut text = out::wrapped(
        "failed",
        INDENT,
        &format!("{}: {}", failure.reason, failure.detail),
    );
    for (name, printed) in failure
        .printed
        .iter()
        .flat_map(|p| [("stdout", &p.stdout), ("stderr", &p.stderr)])
    {
        for line in printed.lines() {
            text += &out::wrapped(&format!("  {name}"), INDENT, line);
        }
    }
    text
}
