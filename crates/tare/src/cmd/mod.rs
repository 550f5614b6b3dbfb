//! One file per subcommand.

pub mod advise;
pub mod analyze;
mod briefs;
pub mod check;
pub mod clean;
pub mod compare;
pub mod density;
pub mod doctor;
pub mod explain;
pub mod export;
mod forms;
pub mod image;
pub mod kernel;
pub mod manual;
pub mod merge;
pub mod pilot;
mod place;
pub mod plan;
mod plan_words;
pub mod published;
pub mod report;
mod root_image;
pub mod run;
pub mod selftest;
pub mod serve;
mod study;
mod study_plan;
pub mod trend;
pub mod tune;
pub mod watch;
pub mod why;
pub mod workloads;

use crate::args::StudyArgs;
use crate::out;
use anyhow::Context;
use root_image::Unmade;
use std::path::Path;
use tare_lab::preflight::Platforms;
use tare_model::host::HostFacts;
use tare_model::platform::PlatformPath;
use tare_model::results::PlatformVersion;
use tare_model::study::Study;
use tare_platforms::state::{Run, Swept};
use tare_platforms::{Entry, REGISTRY};
use tare_study::design::{self, ProtocolOptions, StudyRequest};

/// Begins a run and tells what dead ones had left.
fn begin(state: &Path) -> anyhow::Result<Run> {
    // A damaged program is told before anything is made.
    crate::agent::file(tare_platforms::Architecture::HERE).context("cannot take out the agent")?;
    let (run, swept) = Run::begin(state)?;
    show_swept(swept);
    Ok(run)
}

/// Prints the leftovers of dead runs.
fn show_swept(swept: Swept) {
    for what in swept.removed {
        out::say(&format!("removed leftover: {}", out::one_line(&what)));
    }
    for left in swept.left {
        out::say(&format!("tare: {}", out::one_line(&left.to_string())));
    }
}

/// Refuses a `--` that nothing follows: a script whose command came out empty
/// does not want the default study. Arguments are parsed without a trace of it.
fn refuse_missing_command(args: &StudyArgs) -> anyhow::Result<()> {
    let last = std::env::args_os().next_back();
    anyhow::ensure!(
        !args.command.is_empty() || last.is_none_or(|argument| argument != "--"),
        "no command follows --: put the program to measure after it, or omit -- to run the built-in workloads"
    );
    args.printed.refuse_odd_units()
}

/// What the arguments say of a study, as plain values.
#[derive(Clone)]
struct Asked {
    /// A study file or the name of one that ships.
    file: Option<String>,
    /// Whether its small size is asked for.
    small: bool,
    /// The first option that says what is compared.
    compared: Option<&'static str>,
    /// Whether nothing is asked for, but a number of blocks.
    is_empty: bool,
    wishes: StudyRequest,
}

impl Asked {
    fn of(args: &StudyArgs) -> Self {
        Self {
            file: args.study.clone(),
            small: args.small,
            compared: args.compared(),
            is_empty: args.is_empty(),
            wishes: args.wishes(),
        }
    }
}

/// The study that is asked for; without platforms, those of the default study
/// that can run here. Says on standard error which were left out. With it the image that
/// is yet to be made for it.
fn study(
    asked: &Asked,
    facts: &HostFacts,
    state: &Path,
    unmade: Unmade,
) -> anyhow::Result<(Study, Option<String>)> {
    if let Some(name) = &asked.file {
        return Ok((study::to_run(name, asked, facts, state)?, None));
    }
    let mut wishes = asked.wishes.clone();
    wishes.programs = root_image::asked(&wishes, state, unmade)?;
    if wishes.platforms.is_empty() {
        // All else is checked first: probing may take seconds.
        design::study(&wishes_for_check(&wishes), facts)?;
        wishes.platforms = by_default(state);
    }
    let designed = || Ok(design::study(&wishes, facts)?);
    wishes.programs = root_image::on_platforms(wishes.programs.clone(), &wishes, designed, state, unmade)?;
    let study = design::study(&wishes, facts)?;
    for level in design::levels_left_out(&wishes) {
        let line = format!("{}: {}", level.name, level.why);
        out::say_lines(&out::wrapped("skipped:", 9, &line));
    }
    Ok((study, wishes.programs.unmade().map(str::to_owned)))
}

/// The wishes with a platform that always exists, and without a baseline.
fn wishes_for_check(wishes: &StudyRequest) -> StudyRequest {
    StudyRequest {
        platforms: vec!["native".to_owned()],
        baseline: None,
        // With one platform there may be nothing to stop by.
        protocol: ProtocolOptions {
            adaptive: Some(false),
            ..wishes.protocol
        },
        ..wishes.clone()
    }
}

/// The platforms of these names, by default those of this choice, each found to run
/// here and to make real boxes, and none of them kept open.
fn with_boxes(
    names: &[String],
    state: &Path,
    chosen: impl Fn(&Entry) -> bool,
) -> anyhow::Result<Vec<(PlatformPath, PlatformVersion)>> {
    let names = if names.is_empty() {
        let found = runnable(state, chosen);
        found.into_iter().map(|(name, _)| name.to_owned()).collect()
    } else {
        names.to_vec()
    };
    let paths: Vec<PlatformPath> = names.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
    for path in &paths {
        let name = &path.segments()[0].name;
        let scripted = REGISTRY.iter().any(|entry| !entry.real && entry.name == name);
        anyhow::ensure!(
            !scripted,
            "platform '{path}' is a scripted test bed without real boxes: choose one that 'tare doctor' lists"
        );
    }
    let versions = Platforms::open(&paths, state)?.versions();
    let found = paths
        .into_iter()
        .filter_map(|path| versions.get(&path).map(|version| (path.clone(), version.clone())));
    Ok(found.collect())
}

/// The platforms of the default study that can run here, without emulated machines: they take most of its time, and their
/// figures say nothing about a machine with hardware support. Says on standard error which were left out.
fn by_default(state: &Path) -> Vec<String> {
    let found = runnable(state, |entry| entry.by_default);
    let all: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
    for (name, _) in found.iter().filter(|(_, version)| version.is_emulated()) {
        let words = format!(
            "{name}: it would be emulated here, without hardware virtualisation, and say nothing about a VM that has it; to measure it all the same, add -p {}",
            all.join(",")
        );
        out::say_lines(&out::wrapped("skipped:", 9, &words));
    }
    let rest = found.iter().filter(|(_, version)| !version.is_emulated());
    rest.map(|(name, _)| (*name).to_owned()).collect()
}

/// The platforms of this choice that can run here. Says on standard error which cannot.
fn runnable(state: &Path, chosen: impl Fn(&Entry) -> bool) -> Vec<(&'static str, PlatformVersion)> {
    let mut found = Vec::new();
    for entry in REGISTRY.iter().filter(|entry| chosen(entry)) {
        let Ok(path) = entry.name.parse() else { continue };
        let Ok(mut platform) = tare_platforms::open(&path, state) else {
            continue;
        };
        match platform.probe() {
            Ok(version) => found.push((entry.name, version)),
            Err(absent) => {
                let why = out::one_line(&absent.to_string());
                out::say(&format!("skipped: {}: {why}", entry.name));
            }
        }
    }
    found
}
