//! `linpack`: floating-point rate, after Jack Dongarra's LINPACK benchmark.
//!
//! A dense system is factored and solved by dgefa and dgesl, by columns. Work is
//! counted as LINPACK does, 2 n^3 / 3 + 2 n^2 per solution. On a box so slow that
//! one solution would take far longer than the aim, the elimination stops after
//! a column, and the work is that of the columns done.

mod lu;
mod matrix;
mod slices;
mod system;

use crate::aim::Aim;
use crate::clock;
use crate::error::KernelError;
use crate::isa::Granted;
use crate::report::{self, Stretches, worse};
pub use slices::Slices;
use system::{Solution, System};
use tare_wire::kernel::{Kernel, KernelReport, KernelSpec};

/// Below, reading the clock is a notable part of a solution.
const LEAST_ORDER: u64 = 50;

/// Share of the aim at which the solution that is not timed ends; where making
/// the matrix took longer than that, there is none.
const WARM_UP_SHARE: f64 = 0.3;

/// Times the aim that the first solution may take; it is cut short then.
const FIRST_ENDS: f64 = 1.0;

/// Times the aim, from the start of the first solution, after which a later one
/// is given up: it began before the aim was met and can take as long as the first.
const LATER_ENDS: f64 = 2.0;

/// HPL's threshold for its scaled residual. Sound runs give about 0.01.
const RESIDUAL_BOUND: f64 = 16.0;

/// Time that making the matrix may take however short the aim: it is no part of
/// what is timed, and an emulated CPU needs a good part of a second for it.
const SET_UP_SECONDS: f64 = 3.0;

/// Runs the kernel.
///
/// # Errors
/// [`KernelError`] for an order that makes no sense, if memory cannot be had,
/// and if the box cannot even make the matrix in time.
pub fn run(spec: &KernelSpec, isa: Granted) -> Result<KernelReport, KernelError> {
    let aim = Aim::begin(spec.seconds);
    let mut system = System::new(order(spec)?, isa)?;
    if !system.generate(clock::deadline_ns(spec.seconds.max(SET_UP_SECONDS))) {
        return Err(KernelError::TooSlow {
            kernel: spec.kernel,
            seconds: spec.seconds,
        });
    }
    if !aim.passed(WARM_UP_SHARE) {
        system.solve(aim.deadline_ns(WARM_UP_SHARE));
        system.generate(u64::MAX);
    }

    let first = system.solve(clock::deadline_ns(spec.seconds * FIRST_ENDS));
    if !first.whole {
        return Ok(partial_report(spec, &system, &first));
    }
    let later_ends_ns = first
        .start_ns
        .saturating_add(clock::nanos(spec.seconds * LATER_ENDS));
    let mut solutions = Solutions::new(&first, system.residual());
    while !aim.is_met(solutions.timed_seconds()) {
        system.generate(u64::MAX);
        let next = system.solve(later_ends_ns);
        if !next.whole {
            break;
        }
        solutions.add(&next, system.residual());
    }
    Ok(solutions.report(spec, system.flops()))
}

fn order(spec: &KernelSpec) -> Result<usize, KernelError> {
    let orders = LEAST_ORDER..=matrix::MAX_ORDER;
    usize::try_from(spec.size)
        .ok()
        .filter(|_| orders.contains(&spec.size))
        .ok_or_else(|| KernelError::Size {
            kernel: Kernel::Linpack,
            size: spec.size,
            least: *orders.start(),
            most: *orders.end(),
            unit: "order of the matrix",
        })
}

/// Whole solutions.
struct Solutions {
    seconds: Vec<f64>,
    start_ns: u64,
    end_ns: u64,
    worst_residual: f64,
}

impl Solutions {
    fn new(first: &Solution, residual: f64) -> Self {
        Self {
            seconds: vec![first.seconds()],
            start_ns: first.start_ns,
            end_ns: first.end_ns,
            worst_residual: residual,
        }
    }

    fn add(&mut self, next: &Solution, residual: f64) {
        self.seconds.push(next.seconds());
        self.end_ns = next.end_ns;
        self.worst_residual = worse(self.worst_residual, residual);
    }

    fn timed_seconds(&self) -> f64 {
        self.seconds.iter().sum()
    }

    fn report(self, spec: &KernelSpec, flops: f64) -> KernelReport {
        let wall_seconds = clock::seconds(self.end_ns - self.start_ns);
        let check = report::check("scaled residual", self.worst_residual, RESIDUAL_BOUND);
        let solve = Stretches {
            name: "solve",
            work: flops,
            seconds: self.seconds,
        };
        let done = solve.seconds.len() as f64;
        report::report(spec, [("rate", solve.rate())], [solve], wall_seconds, done, check)
    }
}

/// Of a first solution that was cut short.
fn partial_report(spec: &KernelSpec, system: &System, cut: &Solution) -> KernelReport {
    let what = "scaled residual of the factors so far";
    let check = report::check(what, system.partial_residual(cut.steps), RESIDUAL_BOUND);
    let solve = Stretches {
        name: "solve",
        work: system.flops_of_steps(cut.steps),
        seconds: vec![cut.seconds()],
    };
    let share = solve.work / system.flops();
    report::report(
        spec,
        [("rate", solve.rate())],
        [solve],
        cut.seconds(),
        share,
        check,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use std::time::Instant;
    use tare_wire::kernel::Isa;

    fn spec(size: u64, seconds: f64) -> KernelSpec {
        KernelSpec {
            kernel: Kernel::Linpack,
            isa: Isa::Baseline,
            threads: 1,
            size,
            seconds,
        }
    }

    #[test]
    fn every_level_solves_the_system() {
        for isa in isa::granted() {
            let report = run(&spec(100, 0.02), isa).unwrap();
            assert!(
                report.check.passed() && report.check.found < 0.1,
                "{:?}",
                report.check
            );
            assert!(report.units_done >= 1.0);
            assert_eq!(report.work_per_stretch["solve"], 2e6 / 3.0 + 2e4);
        }
    }

    #[test]
    fn a_box_too_slow_for_one_solution_gives_the_rate_of_a_part() {
        let isa = isa::granted()[0];
        let whole = run(&spec(700, 0.3), isa).unwrap();
        let start = Instant::now();
        // More than 1 s of work natively.
        let part = run(&spec(2000, 0.2), isa).unwrap();
        let elapsed = start.elapsed().as_secs_f64();
        assert!(
            part.units_done > 0.0 && part.units_done < 1.0,
            "{}",
            part.units_done
        );
        assert!(part.check.passed() && part.check.found < 0.1, "{:?}", part.check);
        assert!(elapsed < 1.5, "{elapsed} s");
        // Loose: the two matrices do not fit the same caches.
        let ratio = part.metrics["rate"] / whole.metrics["rate"];
        assert!((0.2..5.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn making_the_matrix_stops_at_its_deadline() {
        let mut system = System::new(8000, isa::granted()[0]).unwrap();
        assert!(!system.generate(clock::deadline_ns(0.001)));
    }

    #[test]
    fn senseless_orders_are_refused() {
        for size in [0, 10, 16384, u64::MAX] {
            let refused = run(&spec(size, 0.01), isa::granted()[0]);
            assert!(matches!(refused, Err(KernelError::Size { .. })), "{size}");
        }
    }
}
