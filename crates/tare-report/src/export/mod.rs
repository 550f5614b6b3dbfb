//! What results files measured, row by row, for other programs: one row per sample, or one per
//! slice.

mod columns;
mod parquet;

pub use columns::{Column, Values};

use crate::tabular::writer;
use parquet::Parquet;
use std::io::{self, Write};
use tare_model::group::{GroupRecord, Member, Series};
use tare_model::results::{Failure, Outcome, Record, Results, TrialRecord};
use tare_model::study::Cell;

/// Columns of one length.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub columns: Vec<Column>,
}

impl Rows {
    /// Rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those of other rows, of the same columns, behind these.
    fn append(&mut self, other: Self) {
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            column.values.append(more.values);
        }
    }

    fn new(columns: Vec<(&'static str, Values)>) -> Self {
        let column = |(name, values)| Column { name, values };
        Self {
            columns: columns.into_iter().map(column).collect(),
        }
    }
}

/// Which run, host and cell a row is of, in columns.
struct Cells {
    /// What tells the host from others; absent if the file does not.
    host_id: Option<String>,
    run: Vec<Option<String>>,
    platform: Vec<Option<String>>,
    provisioning: Vec<Option<String>>,
    size: Vec<Option<String>>,
    workload: Vec<Option<String>>,
}

impl Cells {
    fn of(results: &Results) -> Self {
        let host = &results.header.host;
        Self {
            host_id: host.id.clone().or_else(|| host.boot_id.clone()),
            run: Vec::new(),
            platform: Vec::new(),
            provisioning: Vec::new(),
            size: Vec::new(),
            workload: Vec::new(),
        }
    }

    fn push(&mut self, run: Option<&str>, cell: &Cell) {
        self.run.push(run.map(str::to_owned));
        self.platform.push(Some(cell.kind.platform.to_string()));
        self.provisioning.push(Some(cell.kind.provisioning.to_string()));
        self.size.push(cell.kind.instance.clone());
        self.workload.push(Some(cell.workload.clone()));
    }

    /// All of them, with others between run and cell, and behind the cell.
    fn columns<const N: usize, const M: usize>(
        self,
        between: [(&'static str, Values); N],
        behind: [(&'static str, Values); M],
    ) -> Rows {
        let hosts = vec![self.host_id; self.run.len()];
        let whose = [("run", Values::Text(self.run)), ("host", Values::Text(hosts))];
        let cell = [
            ("platform", Values::Text(self.platform)),
            ("provisioning", Values::Text(self.provisioning)),
            ("size", Values::Text(self.size)),
            ("workload", Values::Text(self.workload)),
        ];
        let all = whose.into_iter().chain(between).chain(cell).chain(behind);
        Rows::new(all.collect())
    }
}

/// The records of a file, each with the name of the run that wrote it.
fn with_runs(results: &Results) -> impl Iterator<Item = (Option<&str>, &Record)> {
    let mut run = None;
    results.records.iter().map(move |record| {
        if let Record::Session(session) = record {
            run = Some(session.run.as_str());
        }
        (run, record)
    })
}

/// Every sample of every trial, and a row without a value for each trial that has none.
pub fn samples(results: &Results) -> Rows {
    let mut cells = Cells::of(results);
    let (mut trial, mut block, mut attempt, mut box_id) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut started, mut outcome, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    let (mut metric, mut unit, mut value) = (Vec::new(), Vec::new(), Vec::new());
    for (run, record) in with_runs(results) {
        let Record::Trial(of) = record else { continue };
        for (name, figure) in figures(of) {
            cells.push(run, &of.cell);
            trial.push(Some(of.trial.into()));
            block.push(Some((of.block + 1).into()));
            attempt.push(Some(of.attempt.into()));
            box_id.push(of.box_id.map(i64::from));
            started.push(i64::try_from(of.started_unix_ns).ok());
            outcome.push(Some(ended(of)));
            let names: Vec<&str> = of.findings.iter().map(|f| f.name()).collect();
            findings.push((!names.is_empty()).then(|| names.join(" ")));
            unit.push(name.and_then(|name| symbol(results, &of.cell, name)));
            metric.push(name.cloned());
            value.push(figure);
        }
    }
    let between = [
        ("trial", Values::Whole(trial)),
        ("block", Values::Whole(block)),
        ("attempt", Values::Whole(attempt)),
        ("started", Values::Time(started)),
    ];
    let behind = [
        ("box", Values::Whole(box_id)),
        ("metric", Values::Text(metric)),
        ("unit", Values::Text(unit)),
        ("value", Values::Number(value)),
        ("outcome", Values::Text(outcome)),
        ("findings", Values::Text(findings)),
    ];
    cells.columns(between, behind)
}

/// Names and figures of a trial; nothing of neither where it has none.
fn figures(trial: &TrialRecord) -> Vec<(Option<&String>, Option<f64>)> {
    match &trial.outcome {
        Outcome::Ok(success) if !success.samples.is_empty() => success
            .samples
            .iter()
            .map(|(name, figure)| (Some(name), Some(*figure)))
            .collect(),
        _ => vec![(None, None)],
    }
}

fn ended(trial: &TrialRecord) -> String {
    let why = |how: &str, failure: &Failure| format!("{how}: {}", failure.reason);
    match &trial.outcome {
        Outcome::Ok(_) => "ok".to_owned(),
        Outcome::Failed(failure) => why("failed", failure),
        Outcome::Skipped(failure) => why("skipped", failure),
    }
}

fn symbol(results: &Results, cell: &Cell, metric: &str) -> Option<String> {
    let workload = results.header.study.workload(cell)?;
    let found = workload.metrics().into_iter().find(|m| m.name == metric)?;
    Some(found.unit.symbol().to_owned())
}

/// Every slice of every group.
pub fn slices(results: &Results) -> Rows {
    let mut cells = Cells::of(results);
    let mut columns = SliceColumns::default();
    for (run, record) in with_runs(results) {
        let Record::Group(group) = record else { continue };
        for member in &group.members {
            for (part, series) in &member.parts {
                for i in 0..series.len() {
                    cells.push(run, &member.cell);
                    columns.push((group, member), (part, series), i);
                }
            }
        }
    }
    let between = [
        ("group", Values::Whole(columns.group)),
        ("block", Values::Whole(columns.block)),
    ];
    let behind = [
        ("box", Values::Whole(columns.box_id)),
        ("part", Values::Text(columns.part)),
        ("slice", Values::Whole(columns.slice)),
        ("round", Values::Whole(columns.round)),
        ("place", Values::Whole(columns.place)),
        ("work", Values::Number(columns.work)),
        ("wall_ns", Values::Whole(columns.wall_ns)),
        ("cpu_ns", Values::Whole(columns.cpu_ns)),
    ];
    cells.columns(between, behind)
}

#[derive(Default)]
struct SliceColumns {
    group: Vec<Option<i64>>,
    block: Vec<Option<i64>>,
    box_id: Vec<Option<i64>>,
    part: Vec<Option<String>>,
    slice: Vec<Option<i64>>,
    round: Vec<Option<i64>>,
    place: Vec<Option<i64>>,
    work: Vec<Option<f64>>,
    wall_ns: Vec<Option<i64>>,
    cpu_ns: Vec<Option<i64>>,
}

impl SliceColumns {
    fn push(
        &mut self,
        (group, member): (&GroupRecord, &Member),
        (part, series): (&String, &Series),
        i: usize,
    ) {
        let whole = |n: u64| i64::try_from(n).ok();
        let slice = i64::try_from(i).ok();
        self.group.push(Some(group.group.into()));
        self.block.push(Some((group.block + 1).into()));
        self.box_id.push(Some(member.box_id.into()));
        self.part.push(Some(part.clone()));
        self.slice.push(slice);
        self.round
            .push(slice.map(|slice| slice * i64::from(member.every)));
        self.place
            .push(member.places.get(i).map(|place| i64::from(*place)));
        self.work.push(Some(series.work.of(i)));
        self.wall_ns.push(series.wall_ns.get(i).copied().and_then(whole));
        self.cpu_ns.push(series.cpu_ns.get(i).copied().and_then(whole));
    }
}

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Csv,
    Parquet,
}

/// Rows that are gathered before they are written: readers of Parquet want large groups.
const GROUP: usize = 1 << 15;

/// Writes the rows of one file or several into one.
pub struct Writer<W: Write + Send> {
    to: To<W>,
    /// Rows that are yet to be written.
    pending: Option<Rows>,
    rows: usize,
}

enum To<W: Write + Send> {
    Csv { to: csv::Writer<W>, has_head: bool },
    Parquet(Parquet<W>),
}

impl<W: Write + Send> Writer<W> {
    pub fn new(form: Form, to: W) -> Self {
        let to = match form {
            Form::Csv => To::Csv {
                to: writer(to),
                has_head: false,
            },
            Form::Parquet => To::Parquet(Parquet::new(to)),
        };
        Self {
            to,
            pending: None,
            rows: 0,
        }
    }

    /// Adds rows of the same columns as those before.
    ///
    /// # Errors
    /// `to` cannot be written.
    pub fn add(&mut self, rows: Rows) -> io::Result<()> {
        self.rows += rows.len();
        let pending = match self.pending.take() {
            Some(mut pending) => {
                pending.append(rows);
                pending
            }
            None => rows,
        };
        if pending.len() >= GROUP {
            return self.to.write(&pending);
        }
        self.pending = Some(pending);
        Ok(())
    }

    /// Ends the file; the answer is how many rows it has.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn finish(mut self) -> io::Result<usize> {
        if let Some(pending) = self.pending.take() {
            self.to.write(&pending)?;
        }
        match self.to {
            To::Csv { mut to, .. } => to.flush()?,
            To::Parquet(to) => to.finish()?,
        }
        Ok(self.rows)
    }
}

impl<W: Write + Send> To<W> {
    fn write(&mut self, rows: &Rows) -> io::Result<()> {
        let (to, has_head) = match self {
            Self::Csv { to, has_head } => (to, has_head),
            Self::Parquet(to) => return to.write(rows),
        };
        if !std::mem::replace(has_head, true) {
            to.write_record(rows.columns.iter().map(|column| column.name))?;
        }
        for row in 0..rows.len() {
            to.write_record(rows.columns.iter().map(|column| column.values.shown(row)))?;
        }
        Ok(())
    }
}
