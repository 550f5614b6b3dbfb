//! Correction for many tests at once.

/// Holm's step-down adjustment (Holm 1979): of m p values in rising order, the
/// i-th (from 0) is multiplied by m - i, none falls below its predecessor, and
/// none exceeds 1. An absent test stays absent and does not count.
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    stepped(p_values)
        .into_iter()
        .map(|step| step.map(|s| s.adjusted.min(1.0)))
        .collect()
}

/// The factors by which [`holm`] multiplies, without the bound of 1: what a p
/// value must stay below is 5 % over its factor, all others being as they are.
pub fn holm_factors(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    stepped(p_values)
        .into_iter()
        .map(|step| step.map(|s| if s.p > 0.0 { s.adjusted / s.p } else { s.own_factor }))
        .collect()
}

#[derive(Clone, Copy)]
struct Step {
    p: f64,
    own_factor: f64,
    adjusted: f64,
}

fn stepped(p_values: &[Option<f64>]) -> Vec<Option<Step>> {
    let mut order: Vec<(usize, f64)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(i, p)| p.filter(|p| (0.0..=1.0).contains(p)).map(|p| (i, p)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut steps = vec![None; p_values.len()];
    let mut adjusted: f64 = 0.0;
    let mut own_factor = crate::count(&order);
    for (i, p) in order {
        adjusted = adjusted.max(p * own_factor);
        steps[i] = Some(Step {
            p,
            own_factor,
            adjusted,
        });
        own_factor -= 1.0;
    }
    steps
}
