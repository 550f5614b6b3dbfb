//! This build beside an earlier one: the same kernels by the same options. Together they are measured for about as long; a
//! build may give one kernel more of that time than another.

use super::kernels::{self, Duels, Load, table_of};
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
    let widths = |lab: &Lab| {
        let mut run = lab.study(LIKE);
        run.arg("--no-settle")
            .args(["--blocks", &options.blocks.to_string()])
            .args(["--trial-time", &format!("{}s", options.trial_time)]);
        half_widths(&lab.analyse(run, &[])?, true)
    };
    kernels::in_turns(
        now,
        options,
        load,
        ("now", || widths(now)),
        ("before", || widths(before)),
    )
}
