//! From timed stretches to a report.

use tare_wire::kernel::{Check, KernelReport, KernelSpec};

/// The timed stretches of one name, all of the same work.
#[derive(Debug)]
pub struct Stretches {
    pub name: &'static str,
    /// Operations, bytes or flops in each stretch.
    pub work: f64,
    /// Time of each stretch.
    pub seconds: Vec<f64>,
}

impl Stretches {
    /// All work over all time.
    pub fn rate(&self) -> f64 {
        self.work * self.seconds.len() as f64 / self.total_seconds()
    }

    /// Mean time per unit of work.
    pub fn latency(&self) -> f64 {
        self.rate().recip()
    }

    fn total_seconds(&self) -> f64 {
        // A clock too coarse to see the work must not make a figure infinite.
        self.seconds.iter().sum::<f64>().max(1e-9)
    }
}

/// A known answer. A figure that is no number becomes the largest number, since
/// JSON knows neither NaN nor infinity.
pub fn check(what: &str, found: f64, bound: f64) -> Check {
    Check {
        what: what.to_owned(),
        found: if found.is_finite() { found } else { f64::MAX },
        bound,
    }
}

/// The larger of two errors; NaN is larger than any.
#[inline(always)]
pub fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// Puts a report together.
pub fn report<const N: usize>(
    spec: &KernelSpec,
    metrics: [(&str, f64); N],
    stretches: impl IntoIterator<Item = Stretches>,
    wall_seconds: f64,
    units_done: f64,
    check: Check,
) -> KernelReport {
    let mut report = KernelReport {
        spec: spec.clone(),
        metrics: metrics.map(|(name, value)| (name.to_owned(), value)).into(),
        raw_seconds: [].into(),
        work_per_stretch: [].into(),
        wall_seconds,
        units_done,
        check,
        disk: None,
    };
    for s in stretches {
        report.work_per_stretch.insert(s.name.to_owned(), s.work);
        report.raw_seconds.insert(s.name.to_owned(), s.seconds);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_latency_are_of_all_work_over_all_time() {
        let stretches = Stretches {
            name: "batch",
            work: 10.0,
            seconds: vec![1.0, 3.0],
        };
        assert!((stretches.rate() - 5.0).abs() < 1e-12);
        assert!((stretches.latency() - 0.2).abs() < 1e-12);
    }

    #[test]
    fn an_answer_that_is_no_number_is_wrong() {
        for bad in [
            f64::NAN,
            f64::INFINITY,
            worse(f64::NAN, 0.0),
            worse(0.0, f64::NAN),
        ] {
            let check = check("x", bad, 1.0);
            assert!(!check.passed() && check.found.is_finite());
        }
        assert!(check("x", worse(0.5, 0.25), 0.5).passed());
    }
}
