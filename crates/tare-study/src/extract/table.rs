//! CSV in what a command printed.

use super::{ExtractError, Text, shown};
use csv::StringRecord;
use tare_model::output::{Field, Row};

/// The lines of a table, the first of which may have names.
pub(super) struct Table<'a> {
    lines: Vec<StringRecord>,
    text: &'a Text<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn of(text: &'a Text<'a>) -> Result<Self, ExtractError> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text.text.as_bytes());
        let lines: Result<_, csv::Error> = reader.records().collect();
        let lines = lines.map_err(|e| ExtractError::Unreadable {
            place: text.stream.name(),
            format: "CSV",
            why: e.to_string(),
        })?;
        Ok(Self { lines, text })
    }

    /// What stands in a field.
    pub(super) fn field(&self, field: &Field) -> Result<&str, ExtractError> {
        let column = self.column(&field.column)?;
        let line = match &field.row {
            None => self.lines.last(),
            Some(row) => Some(self.line(row)?),
        };
        let line = line.ok_or_else(|| self.missing("line".to_owned()))?;
        line.get(column)
            .ok_or_else(|| self.missing(format!("column '{}'", field.column)))
    }

    /// The only column of a name, or the one of a number.
    fn column(&self, column: &str) -> Result<usize, ExtractError> {
        let missing = || self.missing(format!("column '{column}'"));
        if let Ok(number) = column.parse::<usize>() {
            return number.checked_sub(1).ok_or_else(missing);
        }
        let names = self.lines.first().into_iter().flatten().enumerate();
        let mut named = names.filter(|(_, name)| name.trim() == column).map(|(at, _)| at);
        let first = named.next().ok_or_else(missing)?;
        match named.next() {
            None => Ok(first),
            Some(second) => Err(ExtractError::Several {
                what: format!("column '{column}' in {}", self.text.stream.name()),
                found: format!("columns {} and {}", first + 1, second + 1),
            }),
        }
    }

    /// The only line with this in a column.
    fn line(&self, row: &Row) -> Result<&StringRecord, ExtractError> {
        let key = self.column(&row.column)?;
        let is_it = |line: &&StringRecord| line.get(key).is_some_and(|is| is.trim() == row.is);
        let mut found = self.lines.iter().filter(is_it);
        let what = format!("line where '{}' is '{}'", row.column, row.is);
        match (found.next(), found.next()) {
            (None, _) => Err(self.missing(what)),
            (Some(line), None) => Ok(line),
            (Some(first), Some(second)) => {
                let words = |line: &StringRecord| shown(&line.iter().collect::<Vec<_>>().join(","));
                Err(ExtractError::Several {
                    what: format!("{what} in {}", self.text.stream.name()),
                    found: format!("'{}' and '{}'", words(first), words(second)),
                })
            }
        }
    }

    fn missing(&self, what: String) -> ExtractError {
        ExtractError::Missing {
            place: self.text.stream.name(),
            what,
        }
    }
}
