//! Several causes at once: linear regression by least squares.

use crate::linear::{cholesky, solve};
use crate::student::two_sided;
use crate::{Interval, autocorrelation, finite, t_quantile};

/// What one cause does, with the others held fixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// Change of y per unit of the cause.
    pub value: f64,
    /// Its t interval.
    pub interval: Interval,
    /// Two-sided p of its being 0.
    pub p: f64,
}

/// Regresses `y` on all `causes` and a constant. Each cause has as many values as
/// `y`; one that the others before it and the constant already tell has no
/// coefficient. Half-widths are widened by the autocorrelation of the residuals,
/// as for means. `None` without degrees of freedom.
pub fn regression(causes: &[Vec<f64>], y: &[f64], level: f64) -> Option<Vec<Option<Coefficient>>> {
    let n = y.len();
    if causes.iter().any(|c| c.len() != n) {
        return None;
    }
    let (kept, lower) = independent(causes, n)?;
    let columns: Vec<&[f64]> = kept.iter().map(|k| k.column.as_slice()).collect();
    let freedom = n.checked_sub(columns.len()).filter(|df| *df > 0)?;
    let moments: Vec<f64> = columns.iter().map(|c| dot(c, y)).collect();
    let values = solve(&lower, &moments);
    let residual = |i: usize| y[i] - columns.iter().zip(&values).map(|(c, b)| c[i] * b).sum::<f64>();
    let residuals: Vec<f64> = (0..n).map(residual).collect();
    let widening = autocorrelation(&residuals).map_or(1.0, |a| a.widening);
    #[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
    let sd = (dot(&residuals, &residuals) / freedom as f64).sqrt() * widening;
    let quantile = t_quantile(f64::midpoint(1.0, level), freedom)?;
    let mut found = vec![None; causes.len()];
    for (at, kept) in kept.iter().enumerate() {
        let Some(cause) = kept.cause else { continue };
        let unit: Vec<f64> = (0..columns.len()).map(|i| f64::from(u8::from(i == at))).collect();
        let error = finite(sd * solve(&lower, &unit)[at].sqrt())?;
        found[cause] = Some(Coefficient {
            value: finite(values[at])?,
            interval: Interval::around(values[at], quantile * error)?,
            p: two_sided(values[at], error, freedom)?,
        });
    }
    Some(found)
}

/// A column of the model; the constant is no cause.
struct Column {
    cause: Option<usize>,
    column: Vec<f64>,
}

/// The constant and the causes that bring something new, with the Cholesky factor
/// of their products.
fn independent(causes: &[Vec<f64>], n: usize) -> Option<(Vec<Column>, Vec<Vec<f64>>)> {
    let mut kept = vec![Column {
        cause: None,
        column: vec![1.0; n],
    }];
    let mut lower = factor(&kept)?;
    for (i, cause) in causes.iter().enumerate() {
        kept.push(Column {
            cause: Some(i),
            column: cause.clone(),
        });
        match factor(&kept) {
            Some(found) => lower = found,
            None => {
                kept.pop();
            }
        }
    }
    Some((kept, lower))
}

fn factor(columns: &[Column]) -> Option<Vec<Vec<f64>>> {
    let product = |a: &Column| columns.iter().map(|b| dot(&a.column, &b.column)).collect();
    cholesky(&columns.iter().map(product).collect::<Vec<Vec<f64>>>())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const Y: [f64; 5] = [2.0, 4.0, 5.0, 4.0, 5.0];

    #[test]
    fn with_one_cause_it_is_the_line() {
        let x = vec![1.0, 2.0, 3.0, 4.0, 5.0];
        let points: Vec<(f64, f64)> = x.iter().copied().zip(Y).collect();
        let line = crate::line(&points, 0.95).expect("a line");
        let found = regression(&[x], &Y, 0.95).expect("a regression")[0].expect("a coefficient");
        assert!((found.value - line.slope).abs() < 1e-12);
        assert!(
            (found.interval.high - line.interval.high).abs() < 1e-9,
            "{found:?} {line:?}"
        );
        // t = 0.6 / 0.28284 = 2.12132 on 3 degrees of freedom.
        assert!((found.p - 0.124_027).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn causes_that_come_together_are_told_apart() {
        // y = 1 + 2 a - 3 b, without noise.
        let a = vec![1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        let b = vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0];
        let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 1.0 + 2.0 * a - 3.0 * b).collect();
        let found = regression(&[a, b], &y, 0.95).expect("a regression");
        let values: Vec<f64> = found.iter().flatten().map(|c| c.value).collect();
        assert!(
            (values[0] - 2.0).abs() < 1e-9 && (values[1] + 3.0).abs() < 1e-9,
            "{values:?}"
        );
    }

    #[test]
    fn a_cause_that_others_tell_has_no_coefficient() {
        let a = vec![1.0, 1.0, 0.0, 0.0, 0.0];
        let rest: Vec<f64> = a.iter().map(|a| 1.0 - a).collect();
        let found = regression(&[a.clone(), rest, vec![0.0; 5]], &Y, 0.95).expect("a regression");
        assert!(found[0].is_some() && found[1].is_none() && found[2].is_none());
        assert_eq!(regression(&[vec![1.0]], &Y, 0.95), None);
        assert_eq!(regression(&[], &[1.0], 0.95), None);
        let unsure = regression(&[a], &[1.0, f64::NAN, 1.0, 1.0, 2.0], 0.95);
        assert_eq!(unsure, None);
    }
}
