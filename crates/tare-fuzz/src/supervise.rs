//! The supervisor: a worker of its own for each target, whose end tells of a fault. So
//! nothing that an input does escapes it: not an abort, nor a stack that overflows.

use crate::corpus;
use crate::targets::Target;
use crate::work::Note;
use std::fs;
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// CPU time that one input may take, in a program with checks of everything: a page of the
/// largest input takes less than one.
const CPU_TIME: Duration = Duration::from_secs(10);
/// And time on the clock, for one that waits.
const WALL_TIME: Duration = Duration::from_secs(120);
/// Time between two looks at the worker.
const LOOK: Duration = Duration::from_millis(50);

/// How a target fared.
#[derive(Debug)]
pub enum Ended {
    /// Nothing was found in so many inputs.
    Well(u64),
    /// An input that is kept here does something it must not; and what.
    Found(PathBuf, String),
}

/// Has a worker try inputs for so long.
///
/// # Errors
/// Those of the file system and of starting a program.
pub fn supervise(
    target: &Target,
    folder: &Path,
    (seed, time): (u64, Duration),
    plant: Option<&str>,
) -> anyhow::Result<Ended> {
    let mut words = tempfile::tempfile()?;
    let file = tempfile::tempfile()?;
    let note = Note::new(file.try_clone()?);
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("work")
        .args([target.name, &seed.to_string(), &time.as_millis().to_string()])
        .arg(folder)
        .args(plant)
        .stdin(file)
        .stdout(Stdio::null())
        .stderr(words.try_clone()?);
    tare_sys::die_with_parent(&mut command);
    let mut worker = command.spawn()?;
    let why = match watch(&mut worker, &note, time)? {
        Some(status) if status.success() => return Ok(Ended::Well(note.number())),
        Some(status) => ended(status),
        None => format!("no end within {} s of CPU time", CPU_TIME.as_secs()),
    };
    let mut said = String::new();
    words.rewind()?;
    words.read_to_string(&mut said)?;
    anyhow::ensure!(
        note.number() > 0,
        "the worker {why} before it tried anything: {}",
        said.trim()
    );
    let path = corpus::keep(&folder.join("found").join(target.name), &note.input()?)?;
    Ok(Ended::Found(path, format!("{why}: {}", said.trim())))
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => status.to_string(),
    }
}

/// Waits for the worker's end; `None` if it had to be ended for what it tried last.
fn watch(worker: &mut Child, note: &Note, time: Duration) -> anyhow::Result<Option<ExitStatus>> {
    let used = |worker: &Child| {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", worker.id())).unwrap_or_default();
        let on_cpu = text.split(' ').next().and_then(|ns| ns.parse().ok());
        Duration::from_nanos(on_cpu.unwrap_or_default())
    };
    let mut last = (u64::MAX, Duration::ZERO, Instant::now());
    // What the watch itself may not outlast: the time, and the last input.
    let deadline = Instant::now() + time + 2 * WALL_TIME;
    loop {
        if let Some(status) = worker.try_wait()? {
            return Ok(Some(status));
        }
        let (number, cpu) = (note.number(), used(worker));
        if number != last.0 {
            last = (number, cpu, Instant::now());
        }
        let is_over = cpu.saturating_sub(last.1) > CPU_TIME || last.2.elapsed() > WALL_TIME;
        if is_over || Instant::now() > deadline {
            let _ = worker.kill();
            worker.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}
