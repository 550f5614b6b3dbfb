//! One JSON object per line.

use super::fault::{DataError, Fault, short};
use super::lines::Lines;
use super::table::{Builder, Row};
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::io::BufRead;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    block: Label<'a>,
    #[serde(borrow)]
    cell: Cow<'a, str>,
    #[serde(borrow)]
    metric: Cow<'a, str>,
    // Required: a key that is not there is a slip, and null is a trial without a result.
    #[serde(deserialize_with = "Option::deserialize")]
    value: Option<f64>,
    #[serde(default)]
    baseline: Option<String>,
    #[serde(default)]
    direction: Option<String>,
    #[serde(default)]
    unit: Option<String>,
}

/// Reads all rows; `first` is the first line.
pub(super) fn read<R: BufRead>(
    first: (u64, &str),
    lines: &mut Lines<R>,
    builder: &mut Builder,
) -> Result<(), DataError> {
    let source = lines.source;
    row(source, first, builder)?;
    while let Some(line) = lines.next()? {
        row(source, line, builder)?;
    }
    Ok(())
}

fn row(source: &str, (number, text): (u64, &str), builder: &mut Builder) -> Result<(), DataError> {
    if !text.trim_start().starts_with('{') {
        let fault = Fault::Json("no object".to_owned());
        return Err(DataError::at(source, number, Some(1), fault));
    }
    let line: Line = serde_json::from_str(text).map_err(|e| {
        let column = text
            .get(..e.column().saturating_sub(1))
            .map(|before| before.chars().count() + 1);
        let fault = match not_finite(text, e.column()) {
            Some(value) => Fault::JsonNotFinite(short(value)),
            None => Fault::Json(short_message(&tare_model::plain::fault(&e))),
        };
        DataError::at(source, number, column, fault)
    })?;
    let filled = |text: &'_ Option<String>| {
        text.clone()
            .map(|t| t.trim().to_owned())
            .filter(|t| !t.is_empty())
    };
    let (baseline, direction, unit) = (
        filled(&line.baseline),
        filled(&line.direction),
        filled(&line.unit),
    );
    let row = Row {
        block: line.block.0.trim(),
        cell: line.cell.trim(),
        metric: line.metric.trim(),
        value: line.value,
        baseline: baseline.as_deref(),
        direction: direction.as_deref(),
        unit: unit.as_deref(),
    };
    let added = builder.add(&row, number);
    added.map_err(|(_, fault)| DataError::at(source, number, None, fault))
}

/// A value that JSON does not know and programs write all the same, at a fault's column.
fn not_finite(line: &str, column: usize) -> Option<&str> {
    let value = line.get(..column)?.rfind(':')? + 1;
    let value = line.get(value..)?.split([',', '}']).next()?.trim();
    let word = value.trim_start_matches(['-', '+']).to_ascii_lowercase();
    ["nan", "inf", "infinity"]
        .contains(&word.as_str())
        .then_some(value)
}

fn short_message(text: &str) -> String {
    if text.len() > 200 {
        short(text)
    } else {
        text.to_owned()
    }
}

/// A block's label: a text or a number.
struct Label<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Label<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Labels;
        impl<'de> Visitor<'de> for Labels {
            type Value = Label<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or a name of a block")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Label(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Label(Cow::Owned(text.to_owned())))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Label(Cow::Owned(number.to_string())))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Label(Cow::Owned(number.to_string())))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Label(Cow::Owned(number.to_string())))
            }
        }
        deserializer.deserialize_any(Labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_finite_is_told_as_in_a_table() {
        for value in ["NaN", "nan", "Infinity", "-Infinity", "-inf"] {
            let text = format!(r#"{{"block":3,"cell":"a:b","metric":"t","value": {value},"unit":"s"}}"#);
            let error = row("data", (6, &text), &mut Builder::new("data"))
                .unwrap_err()
                .to_string();
            let told = format!("value '{value}' is not finite: write null if a trial has no result");
            assert!(error.starts_with("data:6:") && error.contains(&told), "{error}");
        }
    }
}
