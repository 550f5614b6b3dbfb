//! `bench-kernels`: the kernels against the same algorithms in C.
//!
//! Ours run as they ship: in the agent, static for musl. The references
//! are compiled by gcc for the same instruction set. Both run in turns, each
//! time in a fresh process, since where memory comes to lie moves the figures;
//! the ratio of neighbours cancels what the machine does meanwhile.

mod programs;

use anyhow::Result;
use programs::Pair;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tare_model::kernel::{Isa, Kernel, KernelSpec};
use tare_model::metric::{Direction, Metric};

/// What to compare, and for how long.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each runs ours and the reference once, in turns first
    #[arg(long, default_value_t = 15)]
    rounds: u32,
    /// Seconds of each run
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Bytes of each array of stream
    #[arg(long, default_value_t = 128 << 20)]
    bytes: u64,
    /// Order of the matrix of linpack
    #[arg(long, default_value_t = 1000)]
    order: u64,
    /// Instruction sets; all that this CPU has by default
    #[arg(long, value_delimiter = ',')]
    isa: Vec<Isa>,
    /// Kernels, of those that have a reference
    #[arg(long, value_delimiter = ',', default_values_t = programs::REFERENCES)]
    kernel: Vec<Kernel>,
}

impl Options {
    fn levels(&self) -> Vec<Isa> {
        if !self.isa.is_empty() {
            return self.isa.clone();
        }
        let all = [Isa::Baseline, Isa::V3, Isa::V4];
        all.into_iter()
            .filter(|isa| tare_kernels::available(*isa))
            .collect()
    }

    fn spec(&self, kernel: Kernel, isa: Isa) -> KernelSpec {
        KernelSpec {
            kernel,
            isa,
            threads: 1,
            size: match kernel {
                Kernel::Stream => self.bytes,
                Kernel::Linpack => self.order,
                _ => kernel.sizes().map_or(0, |sizes| sizes.usual),
            },
            seconds: self.seconds,
        }
    }
}

/// Figures of one metric, round by round.
#[derive(Default)]
struct Figures {
    ours: Vec<f64>,
    reference: Vec<f64>,
}

/// Compares and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let ours = super::agent_bin()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<10} {:<9} {:<7} {:>13} {:>13} {:>7} {:>15} {:>7}",
        "kernel", "isa", "metric", "ours", "C", "ratio", "quartiles", "best"
    )?;
    for isa in options.levels() {
        for kernel in &options.kernel {
            let pair = Pair::build(&ours, options.spec(*kernel, isa))?;
            let figures = compare(&pair, options.rounds)?;
            for metric in kernel.metrics() {
                let row = figures.get(&metric.name).map(|f| row(f, &metric));
                let row = row.unwrap_or_default();
                writeln!(out, "{kernel:<10} {isa:<9} {:<7} {row}", metric.name)?;
            }
        }
    }
    writeln!(
        out,
        "{} rounds of {} s; ratio: median over rounds of the speed of ours / that of C; best: best of ours / best of C",
        options.rounds, options.seconds
    )?;
    Ok(())
}

fn compare(pair: &Pair, rounds: u32) -> Result<BTreeMap<String, Figures>> {
    let mut all: BTreeMap<String, Figures> = BTreeMap::new();
    for round in 0..rounds {
        let (ours, reference) = super::in_turn(round, || pair.run_ours(), || pair.run_reference())?;
        for (name, value) in ours {
            let figures = all.entry(name.clone()).or_default();
            figures.ours.push(value);
            figures.reference.push(reference[&name]);
        }
    }
    Ok(all)
}

fn row(figures: &Figures, metric: &Metric) -> String {
    let Figures { ours, reference } = figures;
    // Of a time the less is the faster.
    let speed = |figure: &f64| match metric.direction {
        Direction::Higher => *figure,
        Direction::Lower => figure.recip(),
    };
    let speeds = |figures: &[f64]| -> Vec<f64> { figures.iter().map(speed).collect() };
    let (our_speeds, their_speeds) = (speeds(ours), speeds(reference));
    let ratios: Vec<f64> = our_speeds.iter().zip(&their_speeds).map(|(o, r)| o / r).collect();
    let show = |values: &[f64]| metric.unit.show(quantile(values, 0.5));
    format!(
        "{:>13} {:>13} {:>7.3} {:>7.3} {:>7.3} {:>7.3}",
        show(ours),
        show(reference),
        quantile(&ratios, 0.5),
        quantile(&ratios, 0.25),
        quantile(&ratios, 0.75),
        quantile(&our_speeds, 1.0) / quantile(&their_speeds, 1.0),
    )
}

/// The value at this share of the sorted values, between neighbours by line;
/// NaN without values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within the length of a slice"
)]
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = share * last as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), 2.5);
        assert_eq!(quantile(&[2.0, 1.0], 1.0), 2.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
