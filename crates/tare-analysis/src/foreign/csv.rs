//! Comma-separated lines, also with semicolons or tabs.
//!
//! Not by the crate `csv`: to it a quotation mark that is never closed takes in
//! the rest of the file without a word. Here a field ends in its line.

use super::fault::{DataError, Fault, short};
use super::lines::Lines;
use super::table::{Builder, Column, Row};
use std::borrow::Cow;
use std::io::BufRead;

/// Reads all rows; `head` is the first line.
pub(super) fn read<R: BufRead>(
    head: (u64, &str),
    lines: &mut Lines<R>,
    builder: &mut Builder,
) -> Result<(), DataError> {
    let source = lines.source;
    let at = |line: u64, text: &str, (byte, fault): Misplaced| {
        let column = text.get(..byte).map_or(1, |before| before.chars().count() + 1);
        DataError::at(source, line, Some(column), fault)
    };
    let layout = Layout::of(head.1).map_err(|misplaced| at(head.0, head.1, misplaced))?;
    while let Some((line, text)) = lines.next()? {
        layout
            .row(text, line, builder)
            .map_err(|misplaced| at(line, text, misplaced))?;
    }
    Ok(())
}

/// A fault at a byte of its line.
type Misplaced = (usize, Fault);

/// The separator, and which column is where.
struct Layout {
    separator: char,
    columns: Vec<Column>,
}

impl Layout {
    fn of(head: &str) -> Result<Self, Misplaced> {
        let separator = separator(head);
        let fields = split(head, separator)?;
        let mut columns = Vec::new();
        for field in &fields {
            let name = field.text.trim();
            let unknown = || (field.byte, Fault::UnknownColumn(short(name)));
            let column = Column::named(name).ok_or_else(unknown)?;
            if columns.contains(&column) {
                return Err((field.byte, Fault::RepeatedColumn(short(name))));
            }
            columns.push(column);
        }
        let missing = Column::REQUIRED.iter().find(|c| !columns.contains(c));
        match missing {
            Some(column) => Err((0, Fault::MissingColumn(column.name()))),
            None => Ok(Self { separator, columns }),
        }
    }

    fn row(&self, text: &str, line: u64, builder: &mut Builder) -> Result<(), Misplaced> {
        let fields = split(text, self.separator)?;
        let (found, wanted) = (fields.len(), self.columns.len());
        if found != wanted {
            return Err((0, Fault::Fields { found, wanted }));
        }
        let field = |column: Column| {
            let at = self.columns.iter().position(|c| *c == column)?;
            fields.get(at)
        };
        let of = |column| field(column).map_or("", |f| f.text.trim());
        let byte = |column| field(column).map_or(0, |f| f.byte);
        let value = number(of(Column::Value)).map_err(|fault| (byte(Column::Value), fault))?;
        let optional = |column| Some(of(column)).filter(|text| !text.is_empty());
        let row = Row {
            block: of(Column::Block),
            cell: of(Column::Cell),
            metric: of(Column::Metric),
            value,
            baseline: optional(Column::Baseline),
            direction: optional(Column::Direction),
            unit: optional(Column::Unit),
        };
        builder
            .add(&row, line)
            .map_err(|(column, fault)| (byte(column), fault))
    }
}

/// The separator by which the first line names a known column; else the most
/// frequent one, so that what is wrong with the names can be told.
fn separator(head: &str) -> char {
    const KNOWN: [char; 3] = [',', ';', '\t'];
    let names_one = |separator: &char| {
        let named = |name: &str| Column::named(name.trim().trim_matches('"')).is_some();
        head.contains(*separator) && head.split(*separator).any(named)
    };
    let most = KNOWN.into_iter().rev().max_by_key(|s| head.matches(*s).count());
    KNOWN.into_iter().find(names_one).or(most).unwrap_or(',')
}

struct Field<'a> {
    /// Where it begins in the line.
    byte: usize,
    text: Cow<'a, str>,
}

/// The fields of a line by RFC 4180, but for line ends within fields.
fn split(line: &str, separator: char) -> Result<Vec<Field<'_>>, Misplaced> {
    let mut fields = Vec::with_capacity(8);
    let mut byte = 0;
    loop {
        let rest = &line[byte..];
        let (text, length) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (text, length) = unquoted(quoted).ok_or((byte, Fault::Unclosed))?;
                (text, length + 1)
            }
            None => {
                let length = rest.find(separator).unwrap_or(rest.len());
                (Cow::Borrowed(&rest[..length]), length)
            }
        };
        fields.push(Field { byte, text });
        let behind = &rest[length..];
        if behind.trim_start_matches(' ').is_empty() {
            return Ok(fields);
        }
        if !behind.starts_with(separator) {
            return Err((byte + length, Fault::AfterQuote));
        }
        byte += length + separator.len_utf8();
    }
}

/// The text up to the closing quotation mark, and its length with that mark.
fn unquoted(quoted: &str) -> Option<(Cow<'_, str>, usize)> {
    let mut end = quoted.find('"')?;
    if !quoted[end + 1..].starts_with('"') {
        return Some((Cow::Borrowed(&quoted[..end]), end + 1));
    }
    while quoted[end + 1..].starts_with('"') {
        end += 2;
        end += quoted[end..].find('"')?;
    }
    Some((Cow::Owned(quoted[..end].replace("\"\"", "\"")), end + 1))
}

/// A value; `None` where it is empty: a trial without a result.
fn number(text: &str) -> Result<Option<f64>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Some(value)),
        Ok(_) => Err(Fault::NotFinite(short(text))),
        Err(_) => Err(not_a_number(text)),
    }
}

fn not_a_number(text: &str) -> Fault {
    let pointed = text.replace(',', ".");
    let decimal = || short(&pointed);
    match (without_groups(text), pointed.parse::<f64>().is_ok()) {
        (Some(plain), true) => Fault::TwoReadings(short(text), short(&plain), decimal()),
        (Some(plain), false) => Fault::Thousands(short(text), short(&plain)),
        (None, true) if text.contains(',') => Fault::Comma(short(text), decimal()),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => Fault::NotPlain(short(text)),
        _ => Fault::NotANumber(short(text)),
    }
}

/// A number without the commas that part its thousands, if that is what all of its commas do.
fn without_groups(text: &str) -> Option<String> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let (first, others) = whole.split_once(',')?;
    let is_number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0') && is_number(first);
    let are_groups = others
        .split(',')
        .all(|group| group.len() == 3 && is_number(group));
    (is_first && are_groups && is_number(fraction)).then(|| format!("{sign}{}", digits.replace(',', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Vec<String> {
        let fields = split(line, ',').expect("fields");
        fields.iter().map(|f| f.text.to_string()).collect()
    }

    #[test]
    fn lines_are_split_by_rfc_4180() {
        assert_eq!(fields("a,b,,d"), ["a", "b", "", "d"]);
        assert_eq!(fields("\"a,b\",\"c\"\"d\"\"\",e\"f"), ["a,b", "c\"d\"", "e\"f"]);
        assert_eq!(fields("\"\",\"\"\"\""), ["", "\""]);
        assert_eq!(fields("a,"), ["a", ""]);
    }

    #[test]
    fn what_is_wrong_with_quotation_marks_is_told_with_its_place() {
        assert!(matches!(split("a,\"b", ','), Err((2, Fault::Unclosed))));
        assert!(matches!(split("a,\"b\"\"", ','), Err((2, Fault::Unclosed))));
        assert!(matches!(split("\"a\"b,c", ','), Err((3, Fault::AfterQuote))));
    }

    #[test]
    fn a_comma_in_a_number_is_told_with_each_reading() {
        for (text, told) in [
            (
                "1,401",
                "value '1,401' has two readings: write 1401 if its comma parts thousands, 1.401 if it is a decimal comma",
            ),
            (
                "1,400.76",
                "value '1,400.76' is not a number: write it without commas, as 1400.76",
            ),
            (
                "-1,234,567",
                "value '-1,234,567' is not a number: write it without commas, as -1234567",
            ),
            (
                "0,234",
                "value '0,234' is not a number: write it with a point, as 0.234",
            ),
            (
                "1,5",
                "value '1,5' is not a number: write it with a point, as 1.5",
            ),
            (
                "1234,567",
                "value '1234,567' is not a number: write it with a point, as 1234.567",
            ),
            (
                "1,23,4",
                "value '1,23,4' is not a number: write it as digits with a point, without its unit or marks between thousands",
            ),
            (
                "99.83 ms",
                "value '99.83 ms' is not a number: write it as digits with a point, without its unit or marks between thousands",
            ),
            (
                ",",
                "value ',' is not a number: leave it empty if a trial has no result",
            ),
        ] {
            assert_eq!(number(text).unwrap_err().to_string(), told);
        }
    }

    #[test]
    fn separators_are_told_by_the_first_line() {
        for (head, expected) in [
            ("block,cell,metric,value", ','),
            ("block;cell;metric;value", ';'),
            ("\"block\"\t\"cell\"\tmetric\tvalue", '\t'),
            ("a;b;c,d", ';'),
        ] {
            assert_eq!(separator(head), expected, "{head}");
        }
    }
}
