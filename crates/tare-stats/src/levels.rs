//! Levels of repetition: how much each adds to the variance, and how often it is
//! worth repeating (Kalibera and Jones 2013, "Rigorous benchmarking in reasonable
//! time", section 6).

use crate::{finite, mean, sd};

/// What a pilot of boxes, of processes in each, and of iterations in each process
/// says. Level 1 is the innermost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Boxes, processes in each, iterations in each process.
    pub shape: [usize; 3],
    /// Variance that iterations, processes and boxes add, each net of the level
    /// below, over the square of the grand mean. An estimate may be 0 or less:
    /// then the level adds nothing that the pilot would show. Iterations have none
    /// where each process has only one.
    pub variances: [Option<f64>; 3],
    /// Iterations in a process and processes in a box that are worth their cost;
    /// absent where the level above adds nothing: then nothing above is worth it.
    pub repetitions: [Option<u64>; 2],
}

/// Variances of figures `[box][process][iteration]`, as many of each in every one
/// above, and with the costs of an iteration, of a process and of a box (each
/// without what is in it) the repetitions r_i = ceil(sqrt((c_(i+1) / c_i) * (V_i /
/// V_(i+1)))).
///
/// `None` with fewer than 2 boxes or processes, where the shape is ragged, or where
/// the mean is not positive.
pub fn levels(figures: &[Vec<Vec<f64>>], costs: [f64; 3]) -> Option<Levels> {
    let processes = figures.first()?.len();
    let iterations = figures.first()?.first()?.len();
    let ragged = figures
        .iter()
        .any(|b| b.len() != processes || b.iter().any(|p| p.len() != iterations));
    if ragged || figures.len() < 2 || processes < 2 || iterations == 0 {
        return None;
    }
    let of_processes: Vec<Vec<f64>> = figures.iter().map(|b| means(b)).collect::<Option<_>>()?;
    let of_boxes = means(&of_processes)?;
    let grand = mean(&of_boxes).filter(|mean| *mean > 0.0)?;
    // S_i^2 of the paper: the variance seen at a level, that of the levels below in it.
    let within = (iterations > 1).then(|| figures.concat());
    let s1 = within.and_then(|within| mean_variance(&within));
    let s2 = mean_variance(&of_processes)?;
    let s3 = sd(&of_boxes)?.powi(2);
    let relative = |variance: f64| finite(variance / grand.powi(2));
    let v1 = s1.and_then(relative);
    let v2 = relative(s2 - s1.unwrap_or(0.0) / ratio(iterations));
    let v3 = relative(s3 - s2 / ratio(processes));
    Some(Levels {
        shape: [figures.len(), processes, iterations],
        variances: [v1, v2, v3],
        repetitions: [
            worth(costs[0], costs[1], v1, v2),
            worth(costs[1], costs[2], v2, v3),
        ],
    })
}

/// Repetitions of a level of this cost and variance below one of those.
fn worth(cost: f64, above: f64, variance: Option<f64>, above_variance: Option<f64>) -> Option<u64> {
    let above_variance = above_variance.filter(|v| *v > 0.0)?;
    let r = ((above / cost) * (variance?.max(0.0) / above_variance))
        .sqrt()
        .ceil();
    // More is no plan.
    if !(cost > 0.0 && above >= 0.0 && r < 1e9) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1e9")]
    let r = r as u64;
    Some(r.max(1))
}

fn means(groups: &[Vec<f64>]) -> Option<Vec<f64>> {
    groups.iter().map(|group| mean(group)).collect()
}

fn mean_variance(groups: &[Vec<f64>]) -> Option<f64> {
    let variances: Option<Vec<f64>> = groups.iter().map(|g| sd(g).map(|sd| sd * sd)).collect();
    mean(&variances?)
}

#[expect(clippy::cast_precision_loss, reason = "no slice has 2^52 values")]
fn ratio(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes 9 and 11, processes -0.5 and 0.5 in each, iterations -0.1 and 0.1.
    fn nested() -> Vec<Vec<Vec<f64>>> {
        let process = |x: f64| vec![x - 0.1, x + 0.1];
        let in_box = |x: f64| vec![process(x - 0.5), process(x + 0.5)];
        vec![in_box(9.0), in_box(11.0)]
    }

    fn near(found: Option<f64>, expected: f64) {
        assert!((found.expect("a variance") - expected).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn each_variance_is_net_of_the_level_below() {
        let levels = levels(&nested(), [1.0, 4.0, 100.0]).expect("levels");
        assert_eq!(levels.shape, [2, 2, 2]);
        // S1^2 = 0.02, S2^2 = 0.5, S3^2 = 2, all over 10^2.
        near(levels.variances[0], 0.02 / 100.0);
        near(levels.variances[1], (0.5 - 0.02 / 2.0) / 100.0);
        near(levels.variances[2], (2.0 - 0.5 / 2.0) / 100.0);
        // sqrt(4 * 0.02 / 0.49) = 0.4; sqrt(25 * 0.49 / 1.75) = 2.65.
        assert_eq!(levels.repetitions, [Some(1), Some(3)]);
    }

    #[test]
    fn a_level_that_adds_nothing_is_told_and_not_hidden() {
        let same = vec![vec![vec![1.0, 3.0], vec![1.0, 3.0]]; 3];
        let levels = levels(&same, [1.0; 3]).expect("levels");
        near(levels.variances[0], 0.5);
        near(levels.variances[1], -0.25);
        near(levels.variances[2], 0.0);
        assert_eq!(levels.repetitions, [None, None]);
    }

    #[test]
    fn one_iteration_has_no_variance_of_its_own() {
        let figures = vec![vec![vec![1.0], vec![2.0]], vec![vec![3.0], vec![4.0]]];
        let levels = levels(&figures, [1.0; 3]).expect("levels");
        assert_eq!((levels.variances[0], levels.repetitions[0]), (None, None));
        near(levels.variances[1], 0.5 / 6.25);
    }

    #[test]
    fn what_is_no_pilot_has_no_levels() {
        let none = |figures: &[Vec<Vec<f64>>]| assert_eq!(levels(figures, [1.0; 3]), None);
        none(&[]);
        none(&nested()[..1]);
        let mut ragged = nested();
        ragged[1][0].pop();
        none(&ragged);
        let mut bad = nested();
        bad[0][0][0] = f64::NAN;
        none(&bad);
    }
}
