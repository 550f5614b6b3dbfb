//! A straight line through points.

use crate::{Interval, autocorrelation, finite, mean, t_quantile};

/// A line by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Number of points.
    pub n: usize,
    /// Rise per unit of x.
    pub slope: f64,
    /// Interval of the slope.
    pub interval: Interval,
}

/// The line through points (x, y) by least squares, with the t interval of its
/// slope at `level`, n - 2 degrees of freedom. The half-width is widened by the
/// autocorrelation of what the line leaves, as for means. At least 3 points.
pub fn line(points: &[(f64, f64)], level: f64) -> Option<Line> {
    let freedom = points.len().checked_sub(2).filter(|df| *df > 0)?;
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (mean_x, mean_y) = (mean(&x)?, mean(&y)?);
    let spread: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    let together: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = finite(together / spread)?;
    let residuals: Vec<f64> = points
        .iter()
        .map(|(x, y)| (y - mean_y) - slope * (x - mean_x))
        .collect();
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    #[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
    let error = (squares / freedom as f64 / spread).sqrt();
    let widening = autocorrelation(&residuals).map_or(1.0, |a| a.widening);
    let quantile = t_quantile(f64::midpoint(1.0, level), freedom)?;
    Some(Line {
        n: points.len(),
        slope,
        interval: Interval::around(slope, quantile * error * widening)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_found_without_doubt() {
        let points: Vec<(f64, f64)> = (1..=5)
            .map(|x| (f64::from(x), 3.0 + 2.0 * f64::from(x)))
            .collect();
        let line = line(&points, 0.95).expect("a line");
        assert_eq!((line.n, line.slope), (5, 2.0));
        assert!(line.interval.high - line.interval.low < 1e-9);
    }

    #[test]
    fn the_interval_is_that_of_a_textbook() {
        // Slope 0.6; what is left alternates and is not widened.
        let points = [(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)];
        let line = line(&points, 0.95).expect("a line");
        assert!((line.slope - 0.6).abs() < 1e-12);
        // sqrt(2.4 / 3 / 10) = 0.28284; t(0.975, 3) = 3.18245.
        assert!(
            (line.interval.high - (0.6 + 0.28284 * 3.18245)).abs() < 1e-3,
            "{line:?}"
        );
    }

    #[test]
    fn where_no_line_is_defined_there_is_none() {
        assert_eq!(line(&[(1.0, 1.0), (2.0, 2.0)], 0.95), None);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)], 0.95), None);
        assert_eq!(line(&[(1.0, f64::NAN), (2.0, 2.0), (3.0, 3.0)], 0.95), None);
    }
}
