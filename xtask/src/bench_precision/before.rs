//! This build beside an earlier one: the same kernels, the same measured time.

use super::busy::Busy;
use super::kernels::{Duels, Load, table_of};
use super::lab::{LIKE, Lab, half_widths};
use super::target::Target;
use super::{Options, say};
use anyhow::Result;
use std::path::Path;

/// What a kernel's intervals may be over those of the build before: on an idle host, and beside a busy loop on every CPU.
const TARGETS: [(&str, [f64; 2]); 4] = [
    ("linpack", [0.4, 0.35]),
    ("spawn", [0.4, 0.35]),
    ("stream", [0.6, 0.5]),
    ("syscall", [0.4, 0.35]),
];

/// Runs both in turns, idle and busy; prints tables. Its targets, one for each kernel and load.
pub fn hold(before: &Path, options: &Options) -> Result<Vec<Target>> {
    let (now, before) = (Lab::new()?, Lab::of(before.to_owned())?);
    let mut targets = Vec::new();
    for (load, place) in [(Load::Idle, 0), (Load::Busy, 1)] {
        let duels = duels(&now, &before, options, load)?;
        say(&table_of(load, ["now", "before"], &duels))?;
        targets.extend(TARGETS.iter().filter_map(|(kernel, at_most)| {
            Some(Target {
                what: format!("{kernel} now / before, {}", load.name()),
                found: duels.get(*kernel)?.ratio(),
                at_most: at_most[place],
            })
        }));
    }
    Ok(targets)
}

fn duels(now: &Lab, before: &Lab, options: &Options, load: Load) -> Result<Duels> {
    let _busy = match load {
        Load::Idle => None,
        Load::Busy => Some(Busy::start(now.folder())?),
    };
    let widths = |lab: &Lab| {
        let mut run = lab.study(LIKE);
        run.arg("--no-settle")
            .args(["--blocks", &options.blocks.to_string()])
            .args(["--trial-time", &format!("{}s", options.trial_time)]);
        half_widths(&lab.analyse(run, &[])?, true)
    };
    let mut duels = Duels::new();
    for round in 0..options.rounds {
        let (of_now, of_before) = crate::in_turn(round, || widths(now), || widths(before))?;
        eprintln!("round {}: now {of_now:.4?}, before {of_before:.4?}", round + 1);
        for (workload, width) in of_now {
            let rival = of_before.get(&workload).copied().unwrap_or(f64::NAN);
            duels.entry(workload).or_default().push(width, rival);
        }
    }
    Ok(duels)
}
