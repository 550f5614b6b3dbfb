//! Numbers as tools print them.

use super::{ExtractError, shown};
use tare_model::output::Comma;

/// A number as tools print it: with or without a fraction, an exponent, and marks between thousands.
pub(super) fn number(text: &str, comma: Option<Comma>) -> Result<f64, ExtractError> {
    let text = text.trim();
    let read = match comma {
        Some(Comma::Thousands) => with_marks(text, ',', '.'),
        Some(Comma::Decimal) => with_marks(text, '.', ','),
        None if text.contains(',') => return only_reading(text),
        None => plain(text),
    };
    read.ok_or_else(|| ExtractError::NoNumber(shown(text)))
}

/// A number with commas of which nobody said what they are: only those between thousands show it.
fn only_reading(text: &str) -> Result<f64, ExtractError> {
    match (with_marks(text, ',', '.'), with_marks(text, '.', ',')) {
        (Some(thousands), Some(decimal)) => Err(ExtractError::Comma {
            text: shown(text),
            readings: format!("{thousands} or {decimal}"),
        }),
        (Some(thousands), None) => Ok(thousands),
        (None, Some(_)) => Err(ExtractError::DecimalComma(shown(text))),
        (None, None) => Err(ExtractError::NoNumber(shown(text))),
    }
}

/// A number whose fraction begins with `point` and whose thousands `mark` may part.
fn with_marks(text: &str, mark: char, point: char) -> Option<f64> {
    let end = text.find([point, 'e', 'E']).unwrap_or(text.len());
    let (whole, rest) = text.split_at(end);
    if rest.contains(mark) || rest.matches(point).count() > 1 {
        return None;
    }
    let digits = whole.trim_start_matches(['+', '-']);
    if let Some((first, groups)) = digits.split_once(mark) {
        let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
        if !begins || groups.split(mark).any(|group| group.len() != 3) {
            return None;
        }
    }
    plain(&text.replace(mark, "").replace(point, "."))
}

fn plain(text: &str) -> Option<f64> {
    // `inf`, `nan` and a lone sign are numbers to the parser, and figures to nobody.
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    let value: f64 = text.parse().ok().filter(|_| is_plain)?;
    value.is_finite().then_some(value)
}
