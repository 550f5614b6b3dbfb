//! `tare check`: whether platforms keep their promises here.

use crate::args::{CheckArgs, StateArgs};
use crate::out;
use anyhow::Context;
use std::path::PathBuf;
use std::process::ExitCode;
use tare_host::interrupt;
use tare_model::size::counted;
use tare_model::suggest;
use tare_platforms::conformance::{
    self, CHECKS, Check, CheckError, Checked, CheckedPlatform, Order, Outcome, Report,
};
use tare_platforms::state::{self, Run};

/// Checks platforms one after another.
pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let checks = choose(&args.only)?;
    if args.list {
        return list(&checks, args.json);
    }
    interrupt::install().context("cannot handle signals")?;
    let state = args.state.folder();
    let run = super::begin(&state)?;
    let agent = agent(&run)?;
    let mut report = Report::default();
    for (platform, version) in super::with_boxes(&args.platforms, &state, |entry| entry.real)? {
        let order = Order {
            path: &platform,
            state: &state,
            run: &run,
            agent: agent.clone(),
            boxes: args.boxes,
        };
        if !args.json {
            out::print(&format!("{platform} ({})\n", out::one_line(&version.version)))?;
        }
        let mut shown = Ok(());
        let show = |checked: &Checked| {
            if !args.json && shown.is_ok() {
                shown = out::print(&line(checked));
            }
        };
        let checks = match conformance::run(&order, &checks, show) {
            Err(CheckError::Interrupted) => return Ok(ExitCode::from(out::INTERRUPTED)),
            ended => ended?,
        };
        shown?;
        if checks.iter().any(Checked::failed) {
            // A platform that fails may leave things behind.
            run.leave_for_sweep();
        }
        report.platforms.push(CheckedPlatform {
            platform,
            version,
            checks,
        });
    }
    let failed = report.failed();
    let exit = finish(&report, failed, args.json)?;
    if failed > 0 {
        drop(run);
        super::show_swept(state::sweep_patiently(&state)?);
    }
    Ok(exit)
}

/// The run's copy of the agent, which goes into boxes as in a run that measures.
fn agent(run: &Run) -> anyhow::Result<PathBuf> {
    run.agent().context("cannot copy the agent")
}

fn choose(names: &[String]) -> anyhow::Result<Vec<Check>> {
    let known = |name: &String| {
        let found = CHECKS.iter().find(|check| check.name == name).copied();
        found.ok_or_else(|| {
            let all: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
            let advice = suggest::among(name, &all, "the checks");
            anyhow::anyhow!("unknown check '{name}': {advice}")
        })
    };
    if names.is_empty() {
        return Ok(CHECKS.to_vec());
    }
    names.iter().map(known).collect()
}

fn list(checks: &[Check], json: bool) -> anyhow::Result<ExitCode> {
    if json {
        out::print_json(&checks)?;
    } else {
        let lines = checks
            .iter()
            .map(|check| out::wrapped(check.name, 17, check.promise));
        out::print(&lines.collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One line about a check.
fn line(checked: &Checked) -> String {
    let (mark, detail) = match &checked.outcome {
        Outcome::Ok { note } => ("ok", note.clone().unwrap_or_default()),
        Outcome::Failed { why } => ("FAILED", why.clone()),
        Outcome::Skipped { why } => ("skipped", why.clone()),
    };
    let text = format!(
        "  {mark:8} {:16} {:5.1} s  {}",
        checked.check,
        checked.seconds,
        out::one_line(&detail)
    );
    text.trim_end().to_owned() + "\n"
}

fn finish(report: &Report, failed: usize, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        out::print_json(report)?;
    }
    if failed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    out::say(&format!("{} failed", counted(failed, "check")));
    Ok(ExitCode::from(out::FAILED))
}

/// Holds a frozen box until this process is killed.
pub fn hold(platform: &str, state: &StateArgs) -> anyhow::Result<ExitCode> {
    let state = state.folder();
    let run = Run::beside(&state)?;
    let order = Order {
        path: &platform.parse()?,
        state: &state,
        agent: agent(&run)?,
        run: &run,
        boxes: None,
    };
    conformance::hold(&order).map_err(anyhow::Error::msg)?;
    Ok(ExitCode::SUCCESS)
}
