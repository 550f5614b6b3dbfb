//! What least squares leave: the space beyond a model, and Hotelling's test that
//! nothing is systematically left there.

use crate::linear::{cholesky, forward};
use crate::{finite, mean};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Length below which a direction is one that was there already, but for rounding.
const ROUNDING: f64 = 1e-9;

/// An orthonormal basis of all directions orthogonal to `columns`, which have one
/// length (Gram and Schmidt, twice, since once loses digits).
pub(crate) fn complement(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let length = columns.first().map_or(0, Vec::len);
    let unit = |i: usize| (0..length).map(|j| f64::from(u8::from(i == j))).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut beyond = Vec::new();
    for (i, direction) in columns.iter().cloned().chain((0..length).map(unit)).enumerate() {
        let size = norm(&direction);
        let rest = without(&without(&direction, &basis), &basis);
        let left = norm(&rest);
        if left > ROUNDING * size {
            let axis: Vec<f64> = rest.iter().map(|v| v / left).collect();
            if i >= columns.len() {
                beyond.push(axis.clone());
            }
            basis.push(axis);
        }
    }
    beyond
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

fn without(v: &[f64], basis: &[Vec<f64>]) -> Vec<f64> {
    let mut rest = v.to_vec();
    for axis in basis {
        let along = dot(axis, &rest);
        rest.iter_mut().zip(axis).for_each(|(r, a)| *r -= along * a);
    }
    rest
}

/// p of Hotelling's one-sample test that the mean of vectors of q figures is 0:
/// T^2 = n m' S^-1 m, and (n - q) / (q (n - 1)) T^2 is F(q, n - q). `None` where
/// there are no more vectors than figures, or where their covariance has no inverse.
pub(crate) fn hotelling(rows: &[Vec<f64>]) -> Option<f64> {
    let q = rows.first()?.len();
    let beyond = rows.len().checked_sub(q).filter(|left| *left > 0 && q > 0)?;
    let column = |i: usize| rows.iter().map(|r| r[i]).collect::<Vec<f64>>();
    let means: Vec<f64> = (0..q).map(|i| mean(&column(i))).collect::<Option<_>>()?;
    let (n, q, beyond) = (crate::count(rows), crate::count(&means), as_f64(beyond));
    let covariance = |i: usize, j: usize| {
        let products = rows.iter().map(|r| (r[i] - means[i]) * (r[j] - means[j]));
        products.sum::<f64>() / (n - 1.0)
    };
    let size = means.len();
    let matrix: Vec<Vec<f64>> = (0..size)
        .map(|i| (0..size).map(|j| covariance(i, j)).collect())
        .collect();
    let scaled = forward(&cholesky(&matrix)?, &means);
    let t_squared = n * dot(&scaled, &scaled);
    let f = finite((beyond / (q * (n - 1.0))) * t_squared)?;
    finite(FisherSnedecor::new(q, beyond).ok()?.sf(f))
}

#[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complement_is_orthonormal_and_orthogonal_to_the_columns() {
        let columns = [vec![1.0; 5], vec![1.0, 0.5, 0.25, 0.125, 0.0625]];
        let beyond = complement(&columns);
        assert_eq!(beyond.len(), 3);
        for (i, axis) in beyond.iter().enumerate() {
            assert!((norm(axis) - 1.0).abs() < 1e-12);
            let others = columns.iter().chain(&beyond[..i]);
            assert!(others.clone().all(|other| dot(axis, other).abs() < 1e-12));
        }
        assert!(complement(&[]).is_empty());
    }

    #[test]
    fn with_one_figure_it_is_the_t_test() {
        let values = [0.3, -0.1, 0.4, 0.2, 0.05, -0.02];
        let rows: Vec<Vec<f64>> = values.iter().map(|v| vec![*v]).collect();
        let t = crate::t_estimate(&values, 0.95, 1.0).and_then(crate::TEstimate::p_zero);
        let (p, t) = (hotelling(&rows).expect("p"), t.expect("p"));
        assert!((p - t).abs() < 1e-9, "{p} {t}");
    }

    #[test]
    fn with_two_figures_it_is_the_closed_form() {
        // By hand: means 0.5 and 0.5; covariance [[5/3, 1], [1, 1]]; T^2 = 1; F = 1/3 on 2 and 2
        // degrees of freedom, whose upper tail is 1 / (1 + F).
        let rows = [vec![2.0, 1.0], vec![-1.0, -1.0], vec![0.0, 1.0], vec![1.0, 1.0]];
        let p = hotelling(&rows).expect("p");
        assert!((p - 0.75).abs() < 1e-9, "{p}");
    }

    #[test]
    fn without_an_inverse_there_is_no_test() {
        assert_eq!(hotelling(&[]), None);
        assert_eq!(hotelling(&[vec![1.0, 2.0], vec![2.0, 1.0]]), None);
        let flat = vec![vec![1.0, 1.0], vec![2.0, 2.0], vec![3.0, 3.0], vec![5.0, 5.0]];
        assert_eq!(hotelling(&flat), None);
        assert_eq!(hotelling(&[vec![f64::NAN], vec![1.0], vec![2.0]]), None);
        assert_eq!(hotelling(&[vec![], vec![], vec![]]), None);
    }
}
