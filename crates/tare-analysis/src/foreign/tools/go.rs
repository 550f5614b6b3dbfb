//! `go test -bench`: `BenchmarkFib-8   3000   401 ns/op   16 B/op   2 allocs/op`.

use super::{Figure, TIME};
use tare_stats::mean;

/// The units whose figures are read, and the metrics that they are of.
const UNITS: [(&str, &str); 4] = [
    ("ns/op", TIME),
    ("B/op", "bytes"),
    ("allocs/op", "allocations"),
    ("MB/s", "bandwidth"),
];

/// A benchmark that `-count` repeats has one figure of each unit: repetitions are of one process.
pub(super) fn figures(text: &str) -> Vec<Figure> {
    let mut all: Vec<(&str, usize, Vec<f64>)> = Vec::new();
    for (name, unit, value) in text.lines().filter_map(line).flatten() {
        match all.iter_mut().find(|(n, u, _)| (*n, *u) == (name, unit)) {
            Some((_, _, values)) => values.push(value),
            None => all.push((name, unit, vec![value])),
        }
    }
    let figure = |(name, unit, values): (&str, usize, Vec<f64>)| Figure {
        name: name.to_owned(),
        metric: UNITS[unit].1.into(),
        unit: Some(UNITS[unit].0.to_owned()),
        direction: None,
        value: mean(&values),
    };
    all.into_iter().map(figure).collect()
}

/// Name, unit and value of each figure of a line; `None` for any other line.
fn line(line: &str) -> Option<Vec<(&str, usize, f64)>> {
    let mut words = line.split_whitespace();
    let name = words.next()?.strip_prefix("Benchmark")?;
    words.next()?.parse::<u64>().ok()?;
    let words: Vec<&str> = words.collect();
    let figure = |pair: &[&'_ str]| {
        let unit = UNITS.iter().position(|(unit, _)| *unit == pair[1])?;
        Some((unit, pair[0].parse::<f64>().ok()?))
    };
    let figures = words.chunks_exact(2).filter_map(figure);
    Some(figures.map(|(unit, value)| (name, unit, value)).collect())
}
