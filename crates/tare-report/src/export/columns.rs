//! Columns of values, any of which may be missing.

use crate::tabular::harmless;

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: &'static str,
    /// What it holds.
    pub values: Values,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    /// Moments in nanoseconds since the epoch.
    Time(Vec<Option<i64>>),
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Whole(values) | Self::Time(values) => values.len(),
            Self::Number(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds those of another column of the same kind.
    pub(super) fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Text(values), Self::Text(more)) => values.extend(more),
            (Self::Number(values), Self::Number(more)) => values.extend(more),
            (Self::Whole(values), Self::Whole(more)) | (Self::Time(values), Self::Time(more)) => {
                values.extend(more);
            }
            _ => unreachable!("the same columns are of the same kinds"),
        }
    }

    /// One of them as text: with all its digits, empty where it is missing.
    pub(super) fn shown(&self, row: usize) -> String {
        match self {
            Self::Text(values) => values.get(row).cloned().flatten().map(|text| harmless(&text)),
            Self::Whole(values) | Self::Time(values) => {
                values.get(row).copied().flatten().map(|n| n.to_string())
            }
            Self::Number(values) => values.get(row).copied().flatten().map(|n| n.to_string()),
        }
        .unwrap_or_default()
    }
}
