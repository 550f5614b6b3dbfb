//! Estimates, intervals and tests: pure functions on slices.
//!
//! Nothing here reads, prints or draws random numbers. Every function answers
//! `None` where its figure is not defined: too few values, a value that is not
//! finite, no spread where one is divided by. None panics, whatever it is given.
//!
//! The formulas are those of `METHODOLOGY.md`; each function names its source.

#![forbid(unsafe_code)]

mod blocks;
mod holm;
mod line;
mod moments;
mod ratio;
mod series;
mod student;

pub use blocks::more_blocks;
pub use holm::holm;
pub use line::{Line, line};
pub use moments::{cv, log_ratio, mean, median, sd, skewness};
pub use ratio::{RatioOfMeans, ratio_of_means};
pub use series::{Autocorrelation, autocorrelation, correlation, lag1};
pub use student::{Interval, TEstimate, t_estimate, t_quantile};

/// `value` if it is a finite number.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The number of values as a factor in formulas.
#[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
fn count<T>(values: &[T]) -> f64 {
    values.len() as f64
}
