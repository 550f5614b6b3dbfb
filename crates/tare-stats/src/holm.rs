//! Correction for many tests at once.

/// Holm's step-down adjustment (Holm 1979): of m p values in rising order, the
/// i-th (from 0) is multiplied by m - i, none falls below its predecessor, and
/// none exceeds 1. An absent test stays absent and does not count.
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(i, p)| p.filter(|p| (0.0..=1.0).contains(p)).map(|p| (i, p)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![None; p_values.len()];
    let mut least: f64 = 0.0;
    let mut factor = crate::count(&order);
    for (i, p) in order {
        least = least.max((p * factor).min(1.0));
        adjusted[i] = Some(least);
        factor -= 1.0;
    }
    adjusted
}
