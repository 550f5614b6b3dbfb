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

pub use analysis::{ForeignAnalysis, SCHEMA, analyze};
pub use comparison::{ForeignComparison, ForeignMetric, Wishes};
pub use fault::DataError;
pub use fault::short;
pub use figures::SeriesFigures;
pub use table::{Table, direction};

use fault::Fault;
use lines::Lines;
use std::io::BufRead;
use table::Builder;

/// Reads a table in long form: CSV (also with semicolons or tabs) with the
/// columns `block`, `cell`, `metric`, `value` and, where wanted, `baseline`,
/// `direction`, `unit`, or one JSON object with these keys per line. `source`
/// names it in messages.
///
/// # Errors
/// [`DataError`], with line and column where there are some.
pub fn read(source: &str, input: impl BufRead) -> Result<Table, DataError> {
    let mut lines = Lines::new(source, input);
    let mut builder = Builder::new(source);
    let first = lines.next()?.map(|(line, text)| (line, text.to_owned()));
    let Some((line, text)) = first else {
        return Err(DataError::whole(source, Fault::Empty));
    };
    let first = (line, text.as_str());
    if text.starts_with("{\"record\":") {
        return Err(DataError::whole(source, Fault::ResultsFile));
    }
    if text.trim_start().starts_with('{') {
        json_lines::read(first, &mut lines, &mut builder)?;
    } else {
        csv::read(first, &mut lines, &mut builder)?;
    }
    builder.finish()
}
