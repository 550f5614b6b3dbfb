//! `tare-fuzz SECONDS [TARGET]...`: see `scripts/fuzz`.

#![forbid(unsafe_code)]

use anyhow::Context;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tare_fuzz::supervise::{Ended, supervise};
use tare_fuzz::targets::{TARGETS, Target, named};
use tare_fuzz::work::{Note, Plant, work};
use tare_fuzz::{HARD_MEMORY_BYTES, corpus};
use tare_sys::counting::Counting;

#[global_allocator]
static COUNTING: Counting = Counting {
    limit: HARD_MEMORY_BYTES,
};

/// Targets at a time.
const SIDE_BY_SIDE: usize = 2;

/// A fault that each worker is to have, for the tests: see [`Plant`].
const PLANT: &str = "TARE_FUZZ_PLANT";
/// Where the folders of inputs are, if not in this repository.
const FOLDER: &str = "TARE_FUZZ_FOLDER";

fn main() -> anyhow::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["work", name, seed, millis, folder, ref plant @ ..] => {
            let note = Note::new(std::io::stdin().as_fd().try_clone_to_owned()?.into());
            let time = Duration::from_millis(millis.parse()?);
            let plant = plant.first().copied().and_then(Plant::named);
            work(
                find(name)?,
                Path::new(folder),
                &note,
                (seed.parse()?, time),
                plant,
            )?;
            Ok(ExitCode::SUCCESS)
        }
        [seconds, ref names @ ..] => {
            let seconds = seconds
                .parse()
                .with_context(|| format!("'{seconds}' is no number of seconds"))?;
            let some = names
                .iter()
                .map(|name| find(name))
                .collect::<anyhow::Result<Vec<_>>>()?;
            let all = TARGETS.iter().collect();
            fuzz(
                &if some.is_empty() { all } else { some },
                Duration::from_secs(seconds),
            )
        }
        [] => anyhow::bail!("give the seconds for each target, and targets if not all"),
    }
}

fn find(name: &str) -> anyhow::Result<&'static Target> {
    let names = || {
        TARGETS
            .iter()
            .map(|target| target.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    named(name).with_context(|| format!("there is no target '{name}'; there are {}", names()))
}

/// Fuzzes each target for so long, some at a time.
fn fuzz(targets: &[&'static Target], time: Duration) -> anyhow::Result<ExitCode> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = now.as_secs();
    let next = AtomicUsize::new(0);
    let turn = || {
        let mut found = 0;
        while let Some(target) = targets.get(next.fetch_add(1, Relaxed)) {
            found += one(target, (seed, time))?;
        }
        anyhow::Ok(found)
    };
    let found: u32 = thread::scope(|scope| {
        let threads = [(); SIDE_BY_SIDE].map(|()| scope.spawn(turn));
        let ended = threads.map(|thread| thread.join().map_err(|_| anyhow::anyhow!("a thread failed"))?);
        ended.into_iter().sum::<anyhow::Result<u32>>()
    })?;
    Ok(if found == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Fuzzes one target and says how it fared: 1 if something was found.
fn one(target: &Target, (seed, time): (u64, Duration)) -> anyhow::Result<u32> {
    let folder = std::env::var_os(FOLDER).map_or_else(corpus::folder, Into::into);
    let plant = std::env::var(PLANT).ok();
    let ended = supervise(target, &folder, (seed, time), plant.as_deref())
        .with_context(|| format!("cannot fuzz {}", target.name))?;
    let mut out = std::io::stdout().lock();
    match ended {
        Ended::Well(inputs) => {
            writeln!(
                out,
                "{:12} {inputs:>9} inputs in {} s, nothing found",
                target.name,
                time.as_secs()
            )?;
            Ok(0)
        }
        Ended::Found(path, why) => {
            writeln!(out, "{:12} FOUND {}: {why}", target.name, path.display())?;
            Ok(1)
        }
    }
}
