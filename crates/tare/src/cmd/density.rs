//! `tare density`: how idle boxes start, what they take, and how many a host could hold.

use super::forms;
use crate::args::DensityArgs;
use crate::out;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;
use tare_analysis::density::Estimated;
use tare_host::build_id;
use tare_host::interrupt;
use tare_lab::density::{self, DensityError, Order};
use tare_lab::{WriteError, safe_file};
use tare_model::density::{Density, SCHEMA};
use tare_model::size::{Cpus, InstanceType};
use tare_platforms::agent_file;
use tare_report::sections;

/// Measures platforms one after another.
pub fn run(args: &DensityArgs) -> anyhow::Result<ExitCode> {
    let limits = limits(args)?;
    if let Some(path) = &args.output {
        check_output(path)?;
    }
    forms::check(args.forms.html.as_deref(), &[])?;
    interrupt::install().context("cannot handle signals")?;
    let state = args.state.folder();
    let run = super::begin(&state)?;
    let order = Order {
        run: &run,
        state: state.clone(),
        agent: agent_file::path().context("cannot make the agent's file")?,
        limits,
        starts: args.starts,
        boxes: args.boxes,
    };
    let mut measured = Density {
        schema: SCHEMA.to_owned(),
        tare: tare_model::VERSION.to_owned(),
        build: build_id::own().to_owned(),
        host: tare_host::host::facts(),
        limits,
        platforms: Vec::new(),
    };
    let chosen = super::with_boxes(&args.platforms, &state, |entry| entry.by_default)?;
    anyhow::ensure!(
        !chosen.is_empty(),
        "no platform can run here: 'tare doctor' shows what is missing"
    );
    for (path, version) in chosen {
        let mut say = |what: &str| out::say(&format!("{path}: {}", out::one_line(what)));
        match density::measure(&order, &path, version, &mut say) {
            Err(DensityError::Interrupted) => {
                out::say("stopped; all boxes are removed, nothing is stored");
                return Ok(ExitCode::from(out::INTERRUPTED));
            }
            ended => measured.platforms.push(ended?),
        }
    }
    finish(args, &measured)
}

fn limits(args: &DensityArgs) -> anyhow::Result<InstanceType> {
    let least = 64 << 20;
    anyhow::ensure!(
        args.memory >= least && args.memory.is_multiple_of(1 << 20),
        "--memory must be a whole number of MiB, at least 64M, such as 256M"
    );
    Ok(InstanceType {
        cpus: Cpus::from_milli(1000),
        memory_bytes: args.memory,
    })
}

/// Finds out about a path that cannot be used before anything is measured.
fn check_output(path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        !path.exists(),
        "{} already exists: choose another name with -o",
        path.display()
    );
    let folder = safe_file::folder_of(path);
    anyhow::ensure!(
        folder.is_dir(),
        "there is no folder {}: create it, or give another path",
        folder.display()
    );
    Ok(())
}

fn finish(args: &DensityArgs, measured: &Density) -> anyhow::Result<ExitCode> {
    let shown = Estimated::of(measured);
    forms::tell(&args.forms, &[], &sections::density(measured), &shown)?;
    if let Some(path) = &args.output {
        store(path, &tare_report::json::render(&shown)?)?;
        out::say(&format!("stored in {}", out::path(path)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a new file; one that came to be meanwhile is left alone.
fn store(path: &Path, text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    let failed = |source| WriteError::Create {
        path: path.to_owned(),
        source,
    };
    let mut file = safe_file::create(path, 0o644).map_err(failed)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written
        // Only our own, just made.
        .inspect_err(|_| drop(std::fs::remove_file(path)))
        .map_err(failed)?;
    Ok(())
}
