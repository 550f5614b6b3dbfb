//! Two series, block by block.

use super::table::Value;
use crate::run::pairing::Samples;

/// The pairs of two series in the order of their blocks. A block in which only
/// one of the two has a value is a pair lost: whether the other was tried
/// there, and failed, the data cannot tell, and failures are rarely random.
pub(super) fn samples(cell: &[Value], baseline: &[Value]) -> Samples {
    let mut pairs = Vec::with_capacity(cell.len().min(baseline.len()));
    let mut blocks = 0;
    let (mut x, mut y) = (cell.iter().peekable(), baseline.iter().peekable());
    loop {
        let block = match (x.peek(), y.peek()) {
            (Some(x), Some(y)) => x.block.min(y.block),
            (Some(one), None) | (None, Some(one)) => one.block,
            (None, None) => break,
        };
        blocks += 1;
        let first = x.next_if(|v| v.block == block).filter(|v| v.value.is_finite());
        let second = y.next_if(|v| v.block == block).filter(|v| v.value.is_finite());
        pairs.extend(first.zip(second).map(|(x, y)| (x.value, y.value)));
    }
    Samples {
        lost: blocks - pairs.len(),
        pairs,
        cell: finite(cell),
        baseline: finite(baseline),
    }
}

/// The values of a series.
pub(super) fn finite(values: &[Value]) -> Vec<f64> {
    values.iter().map(|v| v.value).filter(|v| v.is_finite()).collect()
}
