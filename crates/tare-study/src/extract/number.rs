//! Numbers as tools print them.

use super::{ExtractError, shown};
use tare_model::output::Comma;

/// A number as tools print it: with or without a fraction, an exponent, and marks between thousands.
pub(super) fn number(text: &str, comma: Option<Comma>) -> Result<f64, ExtractError> {
    let text = text.trim();
    let point_begins_fraction = with_marks(text, ',', '.');
    let comma_begins_fraction = with_marks(text, '.', ',');
    let shown = || shown(text);
    match (comma, point_begins_fraction, comma_begins_fraction) {
        (Some(Comma::Decimal), Some(fraction), Some(thousands)) if text.contains('.') => {
            let readings = format!("{thousands} or {fraction}");
            let text = shown();
            Err(ExtractError::Point { text, readings })
        }
        (Some(Comma::Decimal), Some(_), None) if !text.contains(',') => {
            Err(ExtractError::DecimalPoint(shown()))
        }
        (Some(Comma::Decimal), _, read) | (Some(Comma::Thousands), read @ Some(_), _) => {
            read.ok_or_else(|| ExtractError::NoNumber(shown()))
        }
        (None, Some(thousands), Some(decimal)) if text.contains(',') => {
            let readings = format!("{thousands} or {decimal}");
            let text = shown();
            Err(ExtractError::Comma { text, readings })
        }
        (None, Some(value), _) => Ok(value),
        (_, None, Some(_)) => Err(ExtractError::DecimalComma(shown())),
        (_, None, None) => Err(ExtractError::NoNumber(shown())),
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
