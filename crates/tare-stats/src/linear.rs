//! Symmetric positive definite matrices.

/// Share of a diagonal element below which what is left of it is rounding.
const ROUNDING: f64 = 1e-9;

/// The lower factor L of a matrix M = L L' (Cholesky); `None` where M is not
/// positive definite, as far as its digits tell.
pub(crate) fn cholesky(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut lower = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = matrix[i][j] - known;
            if i != j {
                lower[i][j] = rest / lower[j][j];
            } else if rest > ROUNDING * matrix[i][i] {
                lower[i][i] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(lower)
}

/// L^-1 v.
pub(crate) fn forward(lower: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    let mut solved: Vec<f64> = Vec::with_capacity(v.len());
    for (i, value) in v.iter().enumerate() {
        let known: f64 = solved.iter().zip(&lower[i]).map(|(s, l)| s * l).sum();
        solved.push((value - known) / lower[i][i]);
    }
    solved
}

/// M^-1 v, for M = L L'.
pub(crate) fn solve(lower: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    let mut solved = forward(lower, v);
    for i in (0..solved.len()).rev() {
        let known: f64 = (i + 1..solved.len()).map(|k| solved[k] * lower[k][i]).sum();
        solved[i] = (solved[i] - known) / lower[i][i];
    }
    solved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let matrix = vec![vec![4.0, 2.0, 0.0], vec![2.0, 5.0, 1.0], vec![0.0, 1.0, 3.0]];
        let lower = cholesky(&matrix).expect("a factor");
        let solved = solve(&lower, &[8.0, 15.0, 11.0]);
        let expected = [1.0, 2.0, 3.0];
        assert!(
            solved.iter().zip(expected).all(|(s, e)| (s - e).abs() < 1e-12),
            "{solved:?}"
        );
    }

    #[test]
    fn a_matrix_without_an_inverse_has_no_factor() {
        assert_eq!(cholesky(&[vec![1.0, 1.0], vec![1.0, 1.0]]), None);
        assert_eq!(cholesky(&[vec![f64::NAN]]), None);
        assert_eq!(cholesky(&[vec![0.0]]), None);
    }
}
