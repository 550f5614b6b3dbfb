//! The kernels in slices and in one piece.

use super::Options;
use super::busy::Busy;
use super::duel::Duel;
use super::lab::{LIKE, Lab, half_widths};
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tare_analysis::Analysis;

/// By workload: slices against trials in one piece.
pub type Duels = BTreeMap<String, Duel>;

/// What else runs on the host.
#[derive(Clone, Copy)]
pub enum Load {
    /// Nothing of ours.
    Idle,
    /// A busy loop on every CPU.
    Busy,
}

impl Load {
    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "an otherwise idle host",
            Self::Busy => "a busy loop on every CPU",
        }
    }

    /// What slices may reach of the half-width of one piece.
    pub const fn at_most(self) -> f64 {
        match self {
            Self::Idle => 1.0 / 5.0,
            Self::Busy => 1.0 / 7.0,
        }
    }
}

/// Runs studies of both kinds in turns; `note` is shown those in slices.
pub fn hold(lab: &Lab, options: &Options, load: Load, mut note: impl FnMut(&Analysis)) -> Result<Duels> {
    let study = |slices| study(lab, options, load, slices);
    let sliced = || {
        let sliced = study("auto")?;
        note(&sliced);
        half_widths(&sliced, true)
    };
    let whole = || half_widths(&study("off")?, false);
    in_turns(lab, options, load, ("in slices", sliced), ("one piece", whole))
}

/// Runs two ways in turns beside a load; each has a name and gives half-widths by workload.
pub fn in_turns(
    lab: &Lab,
    options: &Options,
    load: Load,
    (one, mut of_one): (&str, impl FnMut() -> Result<BTreeMap<String, f64>>),
    (other, mut of_other): (&str, impl FnMut() -> Result<BTreeMap<String, f64>>),
) -> Result<Duels> {
    let _busy = match load {
        Load::Idle => None,
        Load::Busy => Some(Busy::start(lab.folder())?),
    };
    let mut duels = Duels::new();
    for round in 0..options.rounds {
        let (widths, rivals) = crate::in_turn(round, &mut of_one, &mut of_other)?;
        eprintln!("round {}: {one} {widths:.4?}, {other} {rivals:.4?}", round + 1);
        for (workload, width) in widths {
            let rival = rivals.get(&workload).copied().unwrap_or(f64::NAN);
            duels.entry(workload).or_default().push(width, rival);
        }
    }
    Ok(duels)
}

/// The four kernels. Trials in one piece wait for a quiet host, which is to their
/// advantage, but not under load, where there is none.
fn study(lab: &Lab, options: &Options, load: Load, slices: &str) -> Result<Analysis> {
    let mut run = lab.study(LIKE);
    if matches!(load, Load::Busy) {
        run.arg("--no-settle");
    }
    run.args(["--slices", slices])
        .args(["--blocks", &options.blocks.to_string()])
        .args(["--trial-time", &format!("{}s", options.trial_time)]);
    lab.analyse(run, &[])
}

/// Median over the workloads of their ratios.
pub fn median_ratio(duels: &Duels) -> f64 {
    crate::median(duels.values().map(Duel::ratio).collect())
}

/// The table of one load.
pub fn table(load: Load, duels: &Duels) -> String {
    table_of(load, ["in slices", "one piece"], duels)
}

/// The same of any two ways.
pub fn table_of(load: Load, [one, other]: [&str; 2], duels: &Duels) -> String {
    let mut text = format!(
        "{}\n  kernel       {one:>11} {other:>11}     ratio\n",
        load.name()
    );
    for (workload, duel) in duels {
        text += &duel.row(workload);
        text += "\n";
    }
    let _ = write!(text, "  {:36} {:9.3}", "median", median_ratio(duels));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_over_the_ratios_of_the_kernels() {
        let duel = |ratio: f64| {
            let mut duel = Duel::default();
            duel.push(ratio * 0.05, 0.05);
            duel
        };
        let ratios = [("a", 0.1), ("b", 0.2), ("c", 0.3), ("d", 0.9)];
        let duels: Duels = ratios.map(|(name, ratio)| (name.to_owned(), duel(ratio))).into();
        assert!((median_ratio(&duels) - 0.25).abs() < 1e-12);
        let table = table(Load::Idle, &duels);
        assert!(
            table.lines().all(|line| line.len() <= 48) && table.ends_with(" 0.250"),
            "{table}"
        );
    }
}
