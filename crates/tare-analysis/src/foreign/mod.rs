//! The same analysis on anyone's data: tables in long form.
//!
//! ```text
//! bytes --lines--> text --csv, json_lines--> rows --table--> series by block
//!   --compare--> comparisons by the code that compares cells of results files
//! ```

mod analysis;
mod baselines;
mod blocks;
mod comparison;
mod csv;
mod fault;
mod figures;
mod json_lines;
mod lines;
mod names;
mod notices;
mod pairs;
mod table;
mod tools;

pub use analysis::{ForeignAnalysis, SCHEMA, analyze};
pub use comparison::{ForeignComparison, ForeignMetric, Wishes};
pub use fault::DataError;
pub use fault::short;
pub use figures::SeriesFigures;
pub use table::{Table, direction};

use fault::Fault;
use lines::Lines;
use std::collections::HashMap;
use std::io::BufRead;
use table::Builder;
use tools::Place;

/// A file to be read.
pub struct Input<'a, R> {
    /// Its name, for messages.
    pub source: &'a str,
    /// The cell of all figures of a benchmark tool; absent where each benchmark is one.
    pub cell: Option<&'a str>,
    pub bytes: R,
}

/// Reads a table in long form: CSV (also with semicolons or tabs) with the
/// columns `block`, `cell`, `metric`, `value` and, where wanted, `baseline`,
/// `direction`, `unit`, or one JSON object with these keys per line. `source`
/// names it in messages. A file of a benchmark tool is read as one block.
///
/// # Errors
/// [`DataError`], with line and column where there are some.
pub fn read(source: &str, input: impl BufRead) -> Result<Table, DataError> {
    let cell = None;
    let bytes = input;
    read_all(vec![Input { source, cell, bytes }])
}

/// As [`read`], of several files of benchmark tools: the files of a cell are its blocks, in their
/// order.
///
/// # Errors
/// [`DataError`].
pub fn read_all<R: BufRead>(inputs: Vec<Input<'_, R>>) -> Result<Table, DataError> {
    let sources: Vec<&str> = inputs.iter().map(|input| input.source).collect();
    let mut builder = Builder::new(&sources.join(", "));
    let is_alone = inputs.len() == 1;
    let mut blocks = HashMap::new();
    for input in inputs {
        let block: &mut u32 = blocks.entry(input.cell).or_default();
        *block += 1;
        let place = Place {
            cell: input.cell,
            block: *block,
        };
        let mut lines = Lines::new(input.source, input.bytes);
        read_one(&mut lines, place, is_alone && input.cell.is_none(), &mut builder)?;
    }
    builder.finish()
}

fn read_one(
    lines: &mut Lines<impl BufRead>,
    place: Place<'_>,
    may_be_table: bool,
    builder: &mut Builder,
) -> Result<(), DataError> {
    let source = lines.source;
    let failed = |fault| Err(DataError::whole(source, fault));
    let first = lines.next()?.map(|(line, text)| (line, text.to_owned()));
    let Some((line, text)) = first else {
        return failed(Fault::Empty);
    };
    let first = (line, text.as_str());
    if text.starts_with("{\"record\":") {
        return failed(Fault::ResultsFile);
    }
    if tools::is_benchstat(&text) {
        return failed(Fault::Benchstat);
    }
    let figures = if tools::is_document(&text) {
        tools::document(&text, lines)?
    } else if tools::is_go(&text) {
        tools::go(&text, lines)?
    } else if !may_be_table {
        return failed(Fault::OneTable);
    } else if text.trim_start().starts_with('{') {
        return json_lines::read(first, lines, builder);
    } else {
        return csv::read(first, lines, builder);
    };
    if figures.is_empty() {
        return failed(Fault::NoFigures);
    }
    builder.count_file();
    tools::add(&figures, place, source, builder)
}
