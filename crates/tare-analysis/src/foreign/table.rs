//! Foreign data in memory: rows by cell and metric, names by number.

use super::blocks::{self, Blocks};
use super::fault::{DataError, Fault, short};
use super::names::Names;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use tare_model::metric::{Direction, Unit};
use tare_model::unit_words;

/// A column, or a key of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Block,
    Cell,
    Metric,
    Value,
    Baseline,
    Direction,
    Unit,
}

impl Column {
    pub const REQUIRED: [Self; 4] = [Self::Block, Self::Cell, Self::Metric, Self::Value];
    const ALL: [Self; 7] = [
        Self::Block,
        Self::Cell,
        Self::Metric,
        Self::Value,
        Self::Baseline,
        Self::Direction,
        Self::Unit,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Cell => "cell",
            Self::Metric => "metric",
            Self::Value => "value",
            Self::Baseline => "baseline",
            Self::Direction => "direction",
            Self::Unit => "unit",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }
}

/// One row as read.
pub(super) struct Row<'a> {
    pub block: &'a str,
    pub cell: &'a str,
    pub metric: &'a str,
    /// Absent where the trial has no result.
    pub value: Option<f64>,
    pub baseline: Option<&'a str>,
    pub direction: Option<&'a str>,
    pub unit: Option<&'a str>,
}

/// One value of a series.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    /// The block: its label's number while rows are read, its place afterwards.
    pub block: u32,
    /// The row's line.
    pub line: u32,
    /// The figure; NaN where the trial has no result.
    pub value: f64,
}

/// One metric of one cell, in the order of the blocks.
#[derive(Debug)]
pub(super) struct Series {
    pub cell: u32,
    pub metric: u32,
    pub values: Vec<Value>,
}

/// What rows say of one metric.
#[derive(Debug, Default)]
pub(super) struct MetricFacts {
    pub direction: Option<Direction>,
    pub unit: Option<String>,
}

impl MetricFacts {
    /// The direction that the rows name, else the user, else the unit.
    pub fn direction_or(&self, wish: Option<Direction>) -> Option<Direction> {
        self.direction.or(wish).or_else(|| {
            let text = self.unit.as_deref()?;
            let unit = unit_words::read(text).map(|scaled| scaled.unit);
            unit.unwrap_or_else(|_| Unit::Other(text.to_owned())).direction()
        })
    }
}

/// A baseline that rows name for a cell.
#[derive(Debug)]
pub(super) struct Named {
    pub baseline: String,
    pub line: u64,
}

/// Foreign data, read and in order.
#[derive(Debug)]
pub struct Table {
    pub(super) source: String,
    pub(super) cells: Names,
    pub(super) metrics: Names,
    pub(super) facts: Vec<MetricFacts>,
    pub(super) baselines: HashMap<u32, Named>,
    pub(super) series: Vec<Series>,
    pub(super) places: HashMap<(u32, u32), usize>,
    pub(super) blocks: Blocks,
    pub(super) rows: usize,
    /// Files of benchmark tools, each of which is a block.
    pub(super) files: usize,
}

impl Table {
    /// The series of a metric of a cell.
    pub(super) fn series(&self, cell: u32, metric: u32) -> &[Value] {
        let place = self.places.get(&(cell, metric));
        place.map_or(&[], |at| &self.series[*at].values)
    }
}

/// Takes rows in.
pub(super) struct Builder {
    table: Table,
    labels: Names,
}

/// A fault and the column it is in.
pub(super) type InColumn = (Column, Fault);

impl Builder {
    pub fn new(source: &str) -> Self {
        Self {
            table: Table {
                source: source.to_owned(),
                cells: Names::default(),
                metrics: Names::default(),
                facts: Vec::new(),
                baselines: HashMap::new(),
                series: Vec::new(),
                places: HashMap::new(),
                blocks: Blocks::default(),
                rows: 0,
                files: 0,
            },
            labels: Names::default(),
        }
    }

    pub fn count_file(&mut self) {
        self.table.files += 1;
    }

    pub fn add(&mut self, row: &Row, line: u64) -> Result<(), InColumn> {
        let names = [
            (Column::Block, row.block),
            (Column::Cell, row.cell),
            (Column::Metric, row.metric),
        ];
        if let Some((column, _)) = names.into_iter().find(|(_, name)| name.is_empty()) {
            return Err((column, Fault::EmptyName(column.name())));
        }
        let cell = self.table.cells.number(row.cell);
        let metric = self.table.metrics.number(row.metric);
        self.facts(row, metric)?;
        self.baseline(row, cell, line)?;
        let value = Value {
            block: self.labels.number(row.block),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            value: row.value.unwrap_or(f64::NAN),
        };
        self.push(cell, metric, value);
        self.table.rows += 1;
        Ok(())
    }

    fn push(&mut self, cell: u32, metric: u32, value: Value) {
        let table = &mut self.table;
        let place = *table.places.entry((cell, metric)).or_insert_with(|| {
            table.series.push(Series {
                cell,
                metric,
                values: Vec::new(),
            });
            table.series.len() - 1
        });
        table.series[place].values.push(value);
    }

    fn facts(&mut self, row: &Row, metric: u32) -> Result<(), InColumn> {
        let at = metric as usize;
        if self.table.facts.len() <= at {
            self.table.facts.resize_with(at + 1, MetricFacts::default);
        }
        let facts = &mut self.table.facts[at];
        let contradiction = |column: Column, found: &str, known: &str| {
            let fault = Fault::Contradiction {
                what: column.name(),
                of: "metric",
                name: short(row.metric),
                found: short(found),
                known: short(known),
            };
            Err((column, fault))
        };
        if let Some(text) = row.direction {
            let direction = direction(text).ok_or_else(|| {
                let fault = Fault::UnknownDirection(short(text));
                (Column::Direction, fault)
            })?;
            let known = *facts.direction.get_or_insert(direction);
            if known != direction {
                return contradiction(Column::Direction, text, known.name());
            }
        }
        if let Some(text) = row.unit {
            match &facts.unit {
                Some(known) if known != text => return contradiction(Column::Unit, text, known),
                Some(_) => {}
                None => facts.unit = Some(text.to_owned()),
            }
        }
        Ok(())
    }

    fn baseline(&mut self, row: &Row, cell: u32, line: u64) -> Result<(), InColumn> {
        let Some(baseline) = row.baseline else {
            return Ok(());
        };
        match self.table.baselines.entry(cell) {
            Entry::Vacant(entry) => {
                entry.insert(Named {
                    baseline: baseline.to_owned(),
                    line,
                });
                Ok(())
            }
            Entry::Occupied(known) if known.get().baseline == baseline => Ok(()),
            Entry::Occupied(known) => {
                let fault = Fault::Contradiction {
                    what: "baseline",
                    of: "cell",
                    name: short(row.cell),
                    found: short(baseline),
                    known: short(&known.get().baseline),
                };
                Err((Column::Baseline, fault))
            }
        }
    }

    /// Puts the blocks in order.
    pub fn finish(self) -> Result<Table, DataError> {
        let Self { mut table, labels } = self;
        if table.rows == 0 {
            return Err(DataError::whole(&table.source, Fault::NoRows));
        }
        let order = blocks::order(labels.all());
        for at in 0..table.series.len() {
            let values = &mut table.series[at].values;
            for value in values.iter_mut() {
                value.block = order.places[value.block as usize];
            }
            values.sort_by_key(|v| (v.block, v.line));
            let twice = values.windows(2).find(|pair| pair[0].block == pair[1].block);
            if let Some(&[first, second]) = twice {
                return Err(repeated(&table, &table.series[at], &order.blocks, first, second));
            }
        }
        table.blocks = order.blocks;
        Ok(table)
    }
}

fn repeated(table: &Table, series: &Series, blocks: &Blocks, first: Value, second: Value) -> DataError {
    let fault = Fault::Repeated {
        block: short(blocks.label(first.block)),
        cell: short(table.cells.name(series.cell)),
        metric: short(table.metrics.name(series.metric)),
        line: first.line,
    };
    DataError::at(&table.source, u64::from(second.line), None, fault)
}

/// Reads the word for which direction is better.
pub fn direction(text: &str) -> Option<Direction> {
    [Direction::Higher, Direction::Lower]
        .into_iter()
        .find(|d| d.name() == text)
}
