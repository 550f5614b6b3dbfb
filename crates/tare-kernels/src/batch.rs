//! Latency of one operation, measured in batches.
//!
//! Reading the clock around every operation would cost as much as the cheapest
//! of them. A batch is made long enough that two readings do not matter.

use crate::aim::Aim;
use crate::clock;
use crate::report::{self, Stretches};
use tare_model::kernel::{KernelReport, KernelSpec};

/// A batch lasts at least so long, unless the aim is too short for ten of them.
const BATCH_SECONDS: f64 = 10e-3;

/// Share of the aim that finding the size of a batch may take.
const WARM_UP_SHARE: f64 = 0.3;

/// Repeats an operation until the aim of `spec` is met.
///
/// `batch` carries out so many operations and counts those with a wrong answer;
/// `wrong` says what such an answer is.
///
/// # Errors
/// The first error of `batch`.
pub fn run<E>(
    spec: &KernelSpec,
    wrong: &str,
    mut batch: impl FnMut(u64) -> Result<u64, E>,
) -> Result<KernelReport, E> {
    let aim = Aim::begin(spec.seconds);
    let mut answers = 0;
    let mut timed = |operations| {
        let start = clock::now_ns();
        answers += batch(operations)?;
        Ok(clock::seconds(clock::now_ns() - start))
    };
    let operations = calibrate(spec.seconds, &mut timed)?;
    let start = clock::now_ns();
    let mut seconds = Vec::new();
    let wall_seconds = loop {
        seconds.push(timed(operations)?);
        let wall = clock::seconds(clock::now_ns() - start);
        if aim.is_met(wall) {
            break wall;
        }
    };
    let batches = Stretches {
        name: "batch",
        work: operations as f64,
        seconds,
    };
    let metrics = [("latency", batches.latency())];
    let done = batches.work * batches.seconds.len() as f64;
    let check = report::check(wrong, answers as f64, 0.0);
    Ok(report::report(
        spec,
        metrics,
        [batches],
        wall_seconds,
        done,
        check,
    ))
}

/// Operations per batch: doubled until a batch is long enough, which is the
/// warm-up as well. A slow box ends with small batches rather than late.
fn calibrate<E>(aim_seconds: f64, timed: &mut impl FnMut(u64) -> Result<f64, E>) -> Result<u64, E> {
    let enough = BATCH_SECONDS.min(aim_seconds / 10.0);
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
        let operations = calibrate::<Infallible>(aim, &mut |n| {
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
