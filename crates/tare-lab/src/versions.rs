//! The versions of the programs of a study, told by the programs themselves: on the host, or where
//! boxes have an image, in a box.

use crate::preflight::Platforms;
use std::time::Duration;
use tare_host::program;
use tare_model::protocol::{Bounds, CommandRequest, CommandTask, Request};
use tare_model::study::Study;
use tare_model::time::nanoseconds;
use tare_model::workload::{VersionReceipt, Workload};
use tare_platforms::BoxError;
use tare_platforms::link::Link;
use tare_platforms::state::Run;
use tare_study::extract;

/// Time for a program to tell its version, in an emulated machine too.
const DEADLINE: Duration = Duration::from_secs(60);
/// The number of that box, the last that a link of a network can be named by.
const NUMBER: u32 = 0xf_ffff;
/// Bytes that are kept of what it prints.
const MOST: u64 = 64 << 10;

/// Asks the programs of the host; those of an image are in no place where they could be asked yet.
pub fn ask_on_host(study: &mut Study) {
    if study.image.is_some() {
        return;
    }
    for receipt in study.workloads.iter_mut().filter_map(|w| w.version.as_mut()) {
        let told = program::told(&receipt.argv).ok().map(String::into_bytes);
        keep(receipt, told);
    }
}

/// Asks the programs of an image in a box of the baseline, which is removed then.
///
/// # Errors
/// [`BoxError`] where there is no box. A program that tells no version is no error.
pub(crate) fn ask_in_box(study: &mut Study, platforms: &mut Platforms, run: &Run) -> Result<(), BoxError> {
    let asks = study.workloads.iter().any(|workload| workload.version.is_some());
    if !asks || study.image.is_none() {
        return Ok(());
    }
    let kinds = study.box_kinds();
    let kind = kinds.iter().find(|kind| kind.platform == study.baseline);
    let agent = run.agent().map_err(BoxError::host("copy the agent"))?;
    let spec = kind.and_then(|kind| platforms.spec(study, kind, (run, &agent), &NUMBER));
    let Some((spec, platform)) = spec.zip(platforms.get(&study.baseline)) else {
        return Ok(());
    };
    let mut running = platform.launch(&spec)?;
    for workload in &mut study.workloads {
        let told = told(running.link(), workload);
        if let Some(receipt) = &mut workload.version {
            keep(receipt, told);
        }
    }
    running.destroy()
}

/// Takes what was told for another study of the same image, whose programs are the same.
pub fn take_from(study: &mut Study, other: &Study) {
    if study.image.is_none() || study.image != other.image {
        return;
    }
    for workload in &mut study.workloads {
        let theirs = other.workloads.iter().find(|theirs| theirs.name == workload.name);
        if let Some(theirs) = theirs {
            workload.version.clone_from(&theirs.version);
        }
    }
}

fn keep(receipt: &mut VersionReceipt, told: Option<Vec<u8>>) {
    receipt.found = told.and_then(|told| extract::matched(&told, &receipt.regex).ok());
}

/// All that a workload's program prints when it is asked for its version, whatever its status.
fn told(link: &mut Link, workload: &Workload) -> Option<Vec<u8>> {
    let role = workload.timed()?;
    let request = Request::Command(CommandRequest {
        task: CommandTask {
            argv: workload.version.as_ref()?.argv.clone(),
            env: role.env.clone(),
            cwd: role.cwd.clone(),
            user: role.user,
        },
        bounds: Bounds {
            timeout_ns: nanoseconds(DEADLINE),
            max_stdout_bytes: MOST,
            max_stderr_bytes: MOST,
            padding_bytes: 0,
        },
        min_wall_ns: 0,
        max_repetitions: 1,
    });
    let answer = link.request(&request, DEADLINE * 2).ok()?;
    Some([answer.stdout, answer.stderr].concat())
}
