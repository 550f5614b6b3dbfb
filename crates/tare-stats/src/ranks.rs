//! Ranks of values.

/// The rank of each value, from 1; values that are equal share the mean of their
/// ranks. `None` with a value that is not finite.
pub fn ranks(values: &[f64]) -> Option<Vec<f64>> {
    if !values.iter().all(|v| v.is_finite()) {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 1.0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let shared = first + (crate::count(equal) - 1.0) / 2.0;
        equal.iter().for_each(|i| ranks[*i] = shared);
        first += crate::count(equal);
    }
    Some(ranks)
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(
            ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]),
            Some(vec![4.0, 1.0, 4.0, 2.0, 4.0])
        );
        assert_eq!(ranks(&[0.0, -0.0]), Some(vec![1.5, 1.5]));
        assert_eq!(ranks(&[]), Some(vec![]));
        assert_eq!(ranks(&[1.0, f64::NAN]), None);
    }
}
