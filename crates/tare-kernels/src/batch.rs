//! Short units of work, in one piece: in batches.
//!
//! Reading the clock around every unit would cost as much as the cheapest
//! of them. A batch is made long enough that two readings do not matter.

use crate::aim::Aim;
use crate::clock;
use crate::error::KernelError;
use crate::gate::{NOTHING, Sliced};
use crate::report::{self, Stretches};
use std::collections::BTreeMap;
use tare_wire::gate::Part;
use tare_wire::kernel::{KernelReport, KernelSpec};
use tare_wire::metric::{Direction, Metric};

/// A batch lasts at least so long, unless the aim is too short for ten of them.
const BATCH_SECONDS: f64 = 10e-3;

/// The same of a kernel that fills and drains a queue in every batch: long enough that
/// both hardly matter, so that the figure is that of a program which does so once.
const QUEUE_SECONDS: f64 = 200e-3;

/// Share of the aim that finding the size of a batch may take.
const WARM_UP_SHARE: f64 = 0.3;

/// Repeats the work of a slice until the aim of `spec` is met.
///
/// # Errors
/// The first error of the work.
pub fn run(spec: &KernelSpec, kernel: &mut dyn Sliced) -> Result<KernelReport, KernelError> {
    let aim = Aim::begin(spec.seconds);
    let names = spec.kernel.parts();
    let enough = match spec.kernel.keeps_a_queue() {
        true => QUEUE_SECONDS,
        false => BATCH_SECONDS,
    };
    // The warm-up goes by the whole time of a batch: one that sleeps in between, and does
    // not count that, is to end in time as well.
    let units = calibrate(spec.seconds, enough, &mut |units| {
        let start = clock::now_ns();
        batch(kernel, units, names.len())?;
        Ok(clock::seconds(clock::now_ns() - start))
    })?;
    let start = clock::now_ns();
    let mut batches = Vec::new();
    let wall_seconds = loop {
        batches.push(batch(kernel, units, names.len())?);
        let wall = clock::seconds(clock::now_ns() - start);
        if aim.is_met(wall) {
            break wall;
        }
    };
    let done = units as f64 * batches.len() as f64;
    let stretches: Vec<_> = (0..names.len()).map(|i| stretches(names, i, &batches)).collect();
    let metrics = metrics(spec, &stretches);
    let check = kernel.check();
    Ok(KernelReport {
        metrics,
        disk: kernel.disk().map(Box::new),
        ..report::report(spec, [], stretches, wall_seconds, done, check)
    })
}

fn batch(kernel: &mut dyn Sliced, units: u64, n_parts: usize) -> Result<Vec<Part>, KernelError> {
    let mut parts = vec![NOTHING; n_parts];
    kernel.work(units, &mut parts)?;
    Ok(parts)
}

/// One part of all batches, under its name where there are several.
fn stretches(names: &[&'static str], part: usize, batches: &[Vec<Part>]) -> Stretches {
    Stretches {
        name: if names.len() == 1 { "batch" } else { names[part] },
        work: batches[0][part].work,
        seconds: batches
            .iter()
            .map(|batch| clock::seconds(batch[part].wall_ns))
            .collect(),
    }
}

/// The figure of every part.
fn metrics(spec: &KernelSpec, stretches: &[Stretches]) -> BTreeMap<String, f64> {
    let metrics = spec.kernel.metrics();
    let figure = |metric: &Metric| {
        let part = &stretches[metric.part?];
        let value = match metric.direction {
            Direction::Higher => part.rate(),
            Direction::Lower => part.latency(),
        };
        Some((metric.name.clone(), value))
    };
    metrics.iter().filter_map(figure).collect()
}

/// Operations per batch: doubled until a batch is long enough, which is the
/// warm-up as well. A slow box ends with small batches rather than late.
fn calibrate<E>(
    aim_seconds: f64,
    enough: f64,
    timed: &mut impl FnMut(u64) -> Result<f64, E>,
) -> Result<u64, E> {
    let enough = enough.min(aim_seconds / 10.0);
    let mut operations = 1;
    let mut spent = 0.0;
    loop {
        let seconds = timed(operations)?;
        spent += seconds;
        if seconds >= enough || spent >= aim_seconds * WARM_UP_SHARE {
            return Ok(operations);
        }
        operations *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Simulated batches: an operation takes `cost` seconds, all of them recorded.
    fn calibrated(aim: f64, cost: f64) -> (u64, f64) {
        let mut spent = 0.0;
        let operations = calibrate::<Infallible>(aim, BATCH_SECONDS, &mut |n| {
            spent += n as f64 * cost;
            Ok(n as f64 * cost)
        });
        (operations.unwrap(), spent)
    }

    #[test]
    fn batches_last_about_ten_milliseconds() {
        for cost in [50e-9, 200e-6, 3e-3] {
            let batch = calibrated(1.0, cost).0 as f64 * cost;
            assert!((10e-3..20e-3).contains(&batch), "{batch} s at {cost} s each");
        }
    }

    #[test]
    fn a_slow_box_does_not_lengthen_the_warm_up() {
        let (operations, spent) = calibrated(1.0, 0.5);
        assert_eq!(operations, 1);
        assert!(spent <= 0.5);
        assert!(calibrated(0.001, 60e-6).1 < 0.001);
    }
}
