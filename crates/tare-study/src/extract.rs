//! Figures in what a command printed. A figure that is missing, is told more than once or is
//! no number is none: nothing is guessed, and a trial without its figure has failed.

use regex_lite::Regex;
use tare_model::output::{Bounded, Comma, Extractor, Field, Find, Said, Stream};
use tare_model::results::Printed;

/// What a command printed.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// To standard output.
    pub stdout: &'a [u8],
    /// To standard error.
    pub stderr: &'a [u8],
}

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// It is not text.
    #[error("{0} is not UTF-8")]
    NoText(&'static str),
    /// The pattern is none; a study with it is refused before.
    #[error("'{0}' is not a regular expression: {1}")]
    Pattern(String, String),
    /// A pattern without the group whose match is the figure.
    #[error(
        "'{0}' has {1} groups and none is named 'value': put only the figure into a group, as in 'rate: ([0-9.]+)'"
    )]
    Group(String, usize),
    /// A pointer that is none.
    #[error("'{0}' is not a JSON pointer: begin it with a slash, as in /jobs/0/iops")]
    Pointer(String),
    /// It does not stand there.
    #[error("{place} has no {what}")]
    Missing {
        /// Where it was looked for.
        place: &'static str,
        what: String,
    },
    /// It stands there more than once.
    #[error("{place} has {times} of {what} instead of one")]
    Several {
        /// Where it was looked for.
        place: &'static str,
        what: String,
        times: usize,
    },
    /// It cannot be read at all.
    #[error("{place} is not {format}: {why}")]
    Unreadable {
        /// Where it was looked for.
        place: &'static str,
        /// `JSON`, `CSV`.
        format: &'static str,
        /// What the parser says.
        why: String,
    },
    /// A comma that may part thousands or begin a fraction.
    #[error(
        "'{text}' is {readings}: give --thousands-comma or --decimal-comma (in a file: comma = \"thousands\" or \"decimal\")"
    )]
    Comma {
        text: String,
        /// Both, as numbers.
        readings: String,
    },
    /// A comma that can only begin a fraction, which other figures of the same program may not show.
    #[error("'{0}' has a decimal comma: give --decimal-comma (in a file: comma = \"decimal\")")]
    DecimalComma(String),
    /// No number stands there.
    #[error("'{0}' is not a number")]
    NoNumber(String),
}

/// Bytes of the beginning and of the end that are kept of what a failed command printed.
const KEPT: usize = 4096;
/// Text that is shown of what a command printed, at most.
const SHOWN: usize = 60;

/// The figure, in the metric's unit.
///
/// # Errors
/// [`ExtractError`] where it is not there exactly once, or is no number.
pub fn figure(from: &Extractor, output: Output<'_>) -> Result<f64, ExtractError> {
    let (text, place) = output.text(from.stream)?;
    let figure = match &from.find {
        Find::Json(pointer) => json(text, place, pointer, from.comma)?,
        Find::Csv(field) => number(&csv(text, place, field)?, from.comma)?,
        Find::Regex(pattern) => number(&match_in(text, place, pattern)?, from.comma)?,
    };
    Ok(figure * from.scale)
}

/// What a figure that must lie within bounds is, where it does not.
pub fn out_of_bounds(check: &Bounded, output: Output<'_>) -> Result<Option<f64>, ExtractError> {
    let figure = figure(&check.from, output)?;
    let fits =
        check.at_least.is_none_or(|least| figure >= least) && check.at_most.is_none_or(|most| figure <= most);
    Ok((!fits).then_some(figure))
}

/// Whether a command printed this.
pub fn says(said: &Said, output: Output<'_>) -> Result<bool, ExtractError> {
    let (text, _) = output.text(said.stream)?;
    Ok(pattern(&said.regex)?.is_match(text))
}

/// A regular expression as tare reads it: `^` and `$` are ends of lines.
///
/// # Errors
/// [`ExtractError::Pattern`].
pub fn pattern(text: &str) -> Result<Regex, ExtractError> {
    Regex::new(&format!("(?m){text}")).map_err(|e| ExtractError::Pattern(text.to_owned(), e.to_string()))
}

/// Refuses what could never find a figure.
///
/// # Errors
/// [`ExtractError`]: a pattern that is none or lacks its group, a pointer that is none.
pub fn check(find: &Find) -> Result<(), ExtractError> {
    match find {
        Find::Regex(text) => group(&pattern(text)?, text).map(drop),
        Find::Json(pointer) if !pointer.starts_with('/') => Err(ExtractError::Pointer(pointer.clone())),
        Find::Json(_) | Find::Csv(_) => Ok(()),
    }
}

impl<'a> Output<'a> {
    /// What is kept of it with a trial that failed.
    pub fn printed(self) -> Printed {
        Printed {
            stdout: ends(self.stdout),
            stderr: ends(self.stderr),
        }
    }

    fn text(self, stream: Stream) -> Result<(&'a str, &'static str), ExtractError> {
        let (bytes, place) = match stream {
            Stream::Stdout => (self.stdout, stream.name()),
            Stream::Stderr => (self.stderr, stream.name()),
        };
        let text = std::str::from_utf8(bytes).map_err(|_| ExtractError::NoText(place))?;
        Ok((text, place))
    }
}

/// Text whole, or of what is long the beginning and the end.
fn ends(bytes: &[u8]) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if bytes.len() <= 2 * KEPT {
        return text(bytes);
    }
    let (head, tail) = (&bytes[..KEPT], &bytes[bytes.len() - KEPT..]);
    let between = bytes.len() - 2 * KEPT;
    format!("{}\n[{between} B omitted]\n{}", text(head), text(tail))
}

/// The one match of a pattern's group in what a program told.
///
/// # Errors
/// [`ExtractError`] where there is none, or more than one.
pub fn matched(text: &str, expression: &str) -> Result<String, ExtractError> {
    match_in(text, "what it told", expression)
}

/// The one match of a pattern's group.
fn match_in(text: &str, place: &'static str, expression: &str) -> Result<String, ExtractError> {
    let pattern = pattern(expression)?;
    let group = group(&pattern, expression)?;
    let mut found = pattern
        .captures_iter(text)
        .filter_map(|captures| captures.get(group));
    let what = || format!("match of '{expression}'");
    let first = found
        .next()
        .ok_or_else(|| ExtractError::Missing { place, what: what() })?;
    match found.count() {
        0 => Ok(first.as_str().to_owned()),
        more => Err(ExtractError::Several {
            place,
            what: what(),
            times: more + 1,
        }),
    }
}

/// The group whose match is the figure: the one named `value`, else the only one.
fn group(pattern: &Regex, expression: &str) -> Result<usize, ExtractError> {
    let named = pattern.capture_names().position(|name| name == Some("value"));
    // The whole match is the group 0.
    match (named, pattern.captures_len() - 1) {
        (Some(group), _) => Ok(group),
        (None, 1) => Ok(1),
        (None, n) => Err(ExtractError::Group(expression.to_owned(), n)),
    }
}

fn json(text: &str, place: &'static str, pointer: &str, comma: Option<Comma>) -> Result<f64, ExtractError> {
    let document: serde_json::Value = serde_json::from_str(text).map_err(|e| ExtractError::Unreadable {
        place,
        format: "JSON",
        why: e.to_string(),
    })?;
    let missing = || ExtractError::Missing {
        place,
        what: format!("'{pointer}'"),
    };
    match document.pointer(pointer).ok_or_else(missing)? {
        serde_json::Value::Number(figure) => number(&figure.to_string(), None),
        serde_json::Value::String(text) => number(text, comma),
        other => Err(ExtractError::NoNumber(shown(&other.to_string()))),
    }
}

fn csv(text: &str, place: &'static str, field: &Field) -> Result<String, ExtractError> {
    let unreadable = |e: csv::Error| ExtractError::Unreadable {
        place,
        format: "CSV",
        why: e.to_string(),
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let lines: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().map_err(unreadable)?;
    let missing = |what: String| ExtractError::Missing { place, what };
    let at = |column: &str| {
        let at = match column.parse::<usize>() {
            Ok(number) => number.checked_sub(1),
            Err(_) => lines
                .first()
                .and_then(|head| head.iter().position(|name| name.trim() == column)),
        };
        at.ok_or_else(|| missing(format!("column '{column}'")))
    };
    let column = at(&field.column)?;
    let line = match &field.row {
        None => lines.last().ok_or_else(|| missing("line".to_owned()))?,
        Some(row) => {
            let key = at(&row.column)?;
            let mut found = lines
                .iter()
                .filter(|line| line.get(key).is_some_and(|is| is.trim() == row.is));
            let what = || format!("line where '{}' is '{}'", row.column, row.is);
            let first = found.next().ok_or_else(|| missing(what()))?;
            let more = found.count();
            if more > 0 {
                return Err(ExtractError::Several {
                    place,
                    what: what(),
                    times: more + 1,
                });
            }
            first
        }
    };
    let value = line
        .get(column)
        .ok_or_else(|| missing(format!("column '{}'", field.column)))?;
    Ok(value.to_owned())
}

/// A number as tools print it: with or without a fraction, an exponent, and marks between thousands.
fn number(text: &str, comma: Option<Comma>) -> Result<f64, ExtractError> {
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

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tare_model::output::Row;

    fn of(find: Find, stdout: &str) -> Result<f64, ExtractError> {
        let output = Output {
            stdout: stdout.as_bytes(),
            stderr: b"",
        };
        figure(&Extractor::of(find), output)
    }

    fn regex(pattern: &str, stdout: &str) -> Result<f64, ExtractError> {
        of(Find::Regex(pattern.to_owned()), stdout)
    }

    fn field(column: &str, row: Option<(&str, &str)>) -> Find {
        Find::Csv(Field {
            column: column.to_owned(),
            row: row.map(|(column, is)| Row {
                column: column.to_owned(),
                is: is.to_owned(),
            }),
        })
    }

    #[test]
    fn a_pattern_finds_one_figure() {
        let text = "Copy: 18466.0 MB/s\nTriad: 15754.5 MB/s\n";
        assert_eq!(regex(r"^Triad: ([\d.]+) MB/s$", text), Ok(15754.5));
        assert_eq!(regex(r"^(Copy): (?<value>[\d.]+)", text), Ok(18466.0));
        assert!(matches!(
            regex(r"^Add: ([\d.]+)", text),
            Err(ExtractError::Missing { .. })
        ));
        assert!(matches!(
            regex(r": ([\d.]+) MB/s", text),
            Err(ExtractError::Several { times: 2, .. })
        ));
    }

    #[test]
    fn numbers_are_read_as_tools_print_them_and_nothing_else_is_one() {
        for (text, value) in [
            ("1", 1.0),
            (" 2.50 ", 2.5),
            ("1.5e3", 1500.0),
            ("1,234.0", 1234.0),
            ("1,234,567", 1_234_567.0),
            ("12,345,678.9", 12_345_678.9),
            ("-3", -3.0),
        ] {
            assert_eq!(number(text, None), Ok(value), "{text}");
        }
        for text in [
            "",
            "+++++",
            "inf",
            "nan",
            "-",
            ",",
            "1,2,3",
            "0,234,567",
            "1,23,456",
            "12 MB",
            "0x10",
            "1e999",
        ] {
            let found = number(text, None);
            assert!(
                matches!(found, Err(ExtractError::NoNumber(_))),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn a_comma_with_two_readings_is_refused_with_both() {
        let told = |text: &str| number(text, None).unwrap_err().to_string();
        assert!(told("1,234").starts_with("'1,234' is 1234 or 1.234: give --thousands-comma"));
        assert!(told("-12,500").starts_with("'-12,500' is -12500 or -12.5:"));
        for decimal in ["0,234", "+0,500", "00,123", "1,5", "1,2345", "1.234,5", "0,5e3"] {
            let found = number(decimal, None);
            assert_eq!(found, Err(ExtractError::DecimalComma(decimal.to_owned())));
        }
    }

    #[test]
    fn commas_are_read_as_their_owner_says() {
        for (text, value) in [
            ("1,234", 1.234),
            ("0,234", 0.234),
            ("1.234,5", 1234.5),
            ("12", 12.0),
            ("5,5e3", 5500.0),
        ] {
            assert_eq!(number(text, Some(Comma::Decimal)), Ok(value), "{text}");
        }
        for (text, value) in [("1,234", 1234.0), ("999.5", 999.5), ("12", 12.0)] {
            assert_eq!(number(text, Some(Comma::Thousands)), Ok(value), "{text}");
        }
        for text in ["1,5", "0,234"] {
            assert!(number(text, Some(Comma::Thousands)).is_err(), "{text}");
        }
        // With a decimal comma a point parts thousands.
        assert_eq!(number("1.234", Some(Comma::Decimal)), Ok(1234.0));
        assert!(number("1.5", Some(Comma::Decimal)).is_err());
    }

    #[test]
    fn a_pointer_finds_a_number_in_json() {
        let text = r#"{"jobs":[{"read":{"iops":80600.5,"text":"1,200.0","none":null}}]}"#;
        let at = |pointer: &str| of(Find::Json(pointer.to_owned()), text);
        assert_eq!(at("/jobs/0/read/iops"), Ok(80600.5));
        assert_eq!(at("/jobs/0/read/text"), Ok(1200.0));
        assert!(matches!(at("/jobs/0/read/none"), Err(ExtractError::NoNumber(_))));
        assert!(matches!(
            at("/jobs/1/read/iops"),
            Err(ExtractError::Missing { .. })
        ));
        let cut = of(Find::Json("/a".to_owned()), "{\"a\":");
        assert!(matches!(
            cut,
            Err(ExtractError::Unreadable { format: "JSON", .. })
        ));
    }

    #[test]
    fn a_field_of_csv_is_found_by_name_or_number_and_its_line_by_what_stands_in_it() {
        let redis = "\"test\",\"rps\"\n\"SET\",\"183554.33\"\n\"GET\",\"192827.61\"\n";
        assert_eq!(of(field("rps", Some(("test", "GET"))), redis), Ok(192_827.61));
        assert_eq!(of(field("2", Some(("1", "SET"))), redis), Ok(183_554.33));
        assert_eq!(of(field("2", None), redis), Ok(192_827.61));
        let several = "a,1\na,2\n";
        assert!(matches!(
            of(field("2", Some(("1", "a"))), several),
            Err(ExtractError::Several { times: 2, .. })
        ));
        // Bonnie++ prints crosses for what was too short to be timed.
        let crosses = "1.98,host,+++++,12\n";
        assert!(matches!(
            of(field("3", None), crosses),
            Err(ExtractError::NoNumber(_))
        ));
        assert!(matches!(
            of(field("9", None), crosses),
            Err(ExtractError::Missing { .. })
        ));
        assert!(matches!(
            of(field("0", None), crosses),
            Err(ExtractError::Missing { .. })
        ));
        assert!(matches!(
            of(field("1", None), ""),
            Err(ExtractError::Missing { .. })
        ));
    }

    #[test]
    fn what_could_never_find_a_figure_is_refused() {
        let wrong = |pattern: &str| check(&Find::Regex(pattern.to_owned())).unwrap_err();
        assert!(matches!(wrong("("), ExtractError::Pattern(..)));
        assert!(matches!(wrong("x"), ExtractError::Group(_, 0)));
        assert!(matches!(wrong("(a)(b)"), ExtractError::Group(_, 2)));
        assert!(check(&Find::Regex("(a)(?<value>b)".to_owned())).is_ok());
        assert!(check(&Find::Json("iops".to_owned())).is_err());
    }

    #[test]
    fn a_check_looks_at_standard_error_where_it_is_told_to() {
        let output = Output {
            stdout: b"errors: 3\n",
            stderr: b"warning: x\n",
        };
        let said = |stream, regex: &str| {
            let regex = regex.to_owned();
            says(&Said { stream, regex }, output)
        };
        assert_eq!(said(Stream::Stderr, "^warning"), Ok(true));
        assert_eq!(said(Stream::Stdout, "^warning"), Ok(false));
        let none = Bounded {
            name: "errors".to_owned(),
            from: Extractor::of(Find::Regex(r"errors: (\d+)".to_owned())),
            at_least: None,
            at_most: Some(0.0),
        };
        assert_eq!(out_of_bounds(&none, output), Ok(Some(3.0)));
    }

    proptest! {
        #[test]
        fn no_output_makes_it_panic(text in ".{0,200}", pointer in ".{0,20}", column in ".{0,5}") {
            let _ = of(Find::Json(pointer), &text);
            let _ = of(field(&column, Some(("1", "a"))), &text);
            let _ = regex("a(.*)", &text);
        }

        #[test]
        fn a_number_that_was_printed_is_read_again(value in -1e12..1e12_f64) {
            prop_assert_eq!(number(&value.to_string(), None), Ok(value));
        }
    }
}
