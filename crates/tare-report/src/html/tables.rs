//! The tables of the page.

use crate::analysis::{Analysis, BoxFigures, CellFigures, Comparison, MetricComparison, MetricFigures};
use crate::facts;
use crate::remarks;
use crate::show::{or_missing, p_value, percent, percent_with_interval, ratio, ratio_with_interval};
use tare_model::metric::Unit;

pub(super) struct Table {
    pub head: Vec<Head>,
    pub rows: Vec<Row>,
}

/// The heading of a column.
pub(super) struct Head {
    pub text: &'static str,
    pub class: &'static str,
}

pub(super) struct Row {
    /// A line above the row that opens a group.
    pub group: Option<String>,
    pub class: &'static str,
    pub cells: Vec<Cell>,
}

pub(super) struct Cell {
    pub text: String,
    pub class: &'static str,
    /// The class of a verdict, where the cell holds one.
    pub verdict: Option<&'static str>,
}

pub(super) const NAME: &str = "name";
pub(super) const TEXT: &str = "text";
pub(super) const NUMBER: &str = "num";

pub(super) fn head(columns: &[(&'static str, &'static str)]) -> Vec<Head> {
    columns
        .iter()
        .map(|&(text, class)| Head { text, class })
        .collect()
}

pub(super) fn cell(class: &'static str, text: impl Into<String>) -> Cell {
    Cell {
        text: text.into(),
        class,
        verdict: None,
    }
}

/// Names a group in its first row only.
pub(super) fn group(last: &mut Option<String>, name: String) -> Option<String> {
    if last.as_ref() == Some(&name) {
        return None;
    }
    *last = Some(name.clone());
    Some(name)
}

pub(super) fn importance(primary: bool) -> &'static str {
    if primary { "primary" } else { "secondary" }
}

/// Paired ratios and verdicts of one baseline.
pub(super) fn headline(analysis: &Analysis, comparisons: &[&Comparison]) -> Table {
    let mut last = None;
    let mut rows = Vec::new();
    for comparison in comparisons {
        for metric in comparison.primary_first() {
            rows.push(Row {
                group: group(&mut last, comparison.cell.kind.to_string()),
                class: importance(metric.metric.primary),
                cells: headline_cells(analysis, comparison, metric),
            });
        }
    }
    Table {
        head: head(&[
            ("workload", NAME),
            ("metric", NAME),
            ("n", NUMBER),
            (remarks::headline(analysis), NUMBER),
            ("95 % interval", NUMBER),
            ("ratio of means", NUMBER),
            ("verdict", TEXT),
            ("remarks", TEXT),
        ]),
        rows,
    }
}

fn headline_cells(analysis: &Analysis, comparison: &Comparison, metric: &MetricComparison) -> Vec<Cell> {
    let verdict = metric.verdict.as_ref();
    let phrase = verdict.map_or_else(String::new, |v| v.phrase.clone());
    let remarks = remarks::joined(vec![phrase, remarks::of_metric(analysis, comparison, metric)]);
    vec![
        cell(NAME, &comparison.cell.workload),
        cell(NAME, &metric.metric.name),
        cell(NUMBER, metric.n.to_string()),
        cell(NUMBER, or_missing(metric.cost(), ratio)),
        cell(
            NUMBER,
            remarks::interval_of(metric, |e| format!("{} to {}", ratio(e.low), ratio(e.high))),
        ),
        cell(NUMBER, means(metric)),
        Cell {
            text: verdict.map_or_else(String::new, |v| v.word.to_string()),
            class: TEXT,
            verdict: verdict.map(|v| v.word.name()),
        },
        cell(TEXT, remarks),
    ]
}

fn means(metric: &MetricComparison) -> String {
    or_missing(metric.ratio_of_means, |e| {
        ratio_with_interval(e.value, e.low, e.high)
    })
}

/// The figures beside the headline.
pub(super) fn beside(analysis: &Analysis) -> Table {
    let mut last = None;
    let mut rows = Vec::new();
    for comparison in &analysis.comparisons {
        for metric in &comparison.metrics {
            rows.push(Row {
                group: group(&mut last, remarks::compared(comparison)),
                class: importance(metric.metric.primary),
                cells: beside_cells(comparison, metric),
            });
        }
    }
    Table {
        head: head(&[
            ("workload", NAME),
            ("metric", NAME),
            ("n", NUMBER),
            ("lost", NUMBER),
            ("ratio of means", NUMBER),
            ("Loss", NUMBER),
            ("Op", NAME),
            ("variability overhead", NUMBER),
            ("steadiness", NAME),
            ("pair correlation", NUMBER),
            ("p", NUMBER),
            ("Holm's p", NUMBER),
            ("Wilcoxon p", NUMBER),
            ("TOST p", NUMBER),
        ]),
        rows,
    }
}

fn beside_cells(comparison: &Comparison, metric: &MetricComparison) -> Vec<Cell> {
    let paired = metric.paired.as_ref();
    let loss = or_missing(metric.loss, |e| percent_with_interval(e.value, e.low, e.high));
    let p = |p: Option<f64>| cell(NUMBER, or_missing(p, p_value));
    vec![
        cell(NAME, &comparison.cell.workload),
        cell(NAME, &metric.metric.name),
        cell(NUMBER, metric.n.to_string()),
        cell(NUMBER, metric.lost.to_string()),
        cell(NUMBER, means(metric)),
        cell(NUMBER, loss),
        cell(NAME, or_missing(metric.op, |op| remarks::op(&metric.metric, op))),
        cell(NUMBER, or_missing(metric.variability_overhead, percent)),
        cell(NAME, remarks::steadiness(metric)),
        cell(NUMBER, or_missing(metric.pair_correlation, |r| format!("{r:.2}"))),
        p(paired.and_then(|p| p.p)),
        p(paired.and_then(|p| p.p_holm)),
        p(paired.and_then(|p| p.p_wilcoxon)),
        p(paired.and_then(|p| p.p_equal)),
    ]
}

/// Every cell by itself.
pub(super) fn cells(analysis: &Analysis) -> Table {
    let mut last = None;
    let mut rows = Vec::new();
    for figures in &analysis.cells {
        for metric in &figures.metrics {
            rows.push(Row {
                group: group(&mut last, figures.cell.kind.to_string()),
                class: importance(metric.metric.primary),
                cells: cell_cells(figures, metric),
            });
        }
    }
    Table {
        head: head(&[
            ("workload", NAME),
            ("metric", NAME),
            ("n", NUMBER),
            ("mean", NUMBER),
            ("sd", NUMBER),
            ("CV", NUMBER),
            ("95 % interval of the mean", NUMBER),
            ("failures and findings", TEXT),
        ]),
        rows,
    }
}

fn cell_cells(figures: &CellFigures, metric: &MetricFigures) -> Vec<Cell> {
    let unit = &metric.metric.unit;
    let show = |value| cell(NUMBER, or_missing(value, |v| unit.show(v)));
    let interval = or_missing(metric.interval, |e| {
        format!("{} to {}", unit.show(e.low), unit.show(e.high))
    });
    // Once per cell, not once per metric.
    let remarks = metric.metric.primary.then(|| remarks::of_cell(figures));
    vec![
        cell(NAME, &figures.cell.workload),
        cell(NAME, &metric.metric.name),
        cell(NUMBER, metric.n.to_string()),
        show(metric.mean),
        show(metric.sd),
        cell(NUMBER, or_missing(metric.cv, percent)),
        cell(NUMBER, interval),
        cell(TEXT, remarks.unwrap_or_default()),
    ]
}

/// Gaps of boxes in boxes, step by step.
pub(super) fn layers(analysis: &Analysis) -> Table {
    let mut last = None;
    let mut rows = Vec::new();
    for split in &analysis.layers {
        for step in split.steps.iter().chain([&split.whole]) {
            rows.push(Row {
                group: group(&mut last, format!("{} {}", split.cell, split.metric)),
                class: importance(!std::ptr::eq(step, &split.whole)),
                cells: vec![
                    cell(NAME, step.name()),
                    cell(NUMBER, step.n.to_string()),
                    cell(NUMBER, or_missing(step.ratio, |e| ratio(e.value))),
                    cell(
                        NUMBER,
                        or_missing(step.ratio, |e| format!("{} to {}", ratio(e.low), ratio(e.high))),
                    ),
                ],
            });
        }
    }
    Table {
        head: head(&[
            ("step", NAME),
            ("n", NUMBER),
            ("paired ratio", NUMBER),
            ("95 % interval", NUMBER),
        ]),
        rows,
    }
}

/// Start-up latency per kind of box.
pub(super) fn startup(analysis: &Analysis) -> Table {
    let show = |value| cell(NUMBER, or_missing(value, |v| Unit::Second.show(v)));
    let row = |figures: &BoxFigures| Row {
        group: None,
        class: "primary",
        cells: vec![
            cell(TEXT, figures.kind.to_string()),
            cell(NUMBER, figures.startup.n.to_string()),
            show(figures.startup.mean),
            show(figures.startup.sd),
            show(figures.startup.min),
            show(figures.startup.median),
        ],
    };
    Table {
        head: head(&[
            ("kind of box", TEXT),
            ("n", NUMBER),
            ("mean", NUMBER),
            ("sd", NUMBER),
            ("min", NUMBER),
            ("median", NUMBER),
        ]),
        rows: analysis.boxes.iter().map(row).collect(),
    }
}

/// Removal and idle footprint per kind of box.
pub(super) fn footprint(analysis: &Analysis) -> Table {
    let [n, seconds, processes, memory, disk] = facts::FOOTPRINT;
    let row = |figures: &BoxFigures| Row {
        group: None,
        class: "primary",
        cells: std::iter::once(cell(TEXT, figures.kind.to_string()))
            .chain(facts::footprint(figures).map(|value| cell(NUMBER, value)))
            .collect(),
    };
    Table {
        head: head(&[
            ("kind of box", TEXT),
            (n, NUMBER),
            (seconds, NUMBER),
            (processes, NUMBER),
            (memory, NUMBER),
            (disk, NUMBER),
        ]),
        rows: analysis.boxes.iter().map(row).collect(),
    }
}

/// The proof of every kind of box's limits.
pub(super) fn limits(analysis: &Analysis) -> Table {
    let [cpus, host, inside, memory, touched, refused] = facts::READINGS;
    let row = |proof: facts::Proof| {
        let state = if proof.proven { "equal" } else { "slower" };
        let mut cells = vec![
            cell(TEXT, proof.kind),
            Cell {
                verdict: Some(state),
                ..cell(TEXT, proof.state)
            },
        ];
        cells.extend(proof.readings.map(|reading| cell(NUMBER, reading)));
        cells.push(cell(TEXT, proof.remarks));
        Row {
            group: None,
            class: "primary",
            cells,
        }
    };
    Table {
        head: head(&[
            ("kind of box", TEXT),
            ("limits", TEXT),
            (cpus, NUMBER),
            (host, NUMBER),
            (inside, NUMBER),
            (memory, NUMBER),
            (touched, NUMBER),
            (refused, NUMBER),
            ("remarks", TEXT),
        ]),
        rows: analysis.boxes.iter().flat_map(facts::proofs).map(row).collect(),
    }
}
