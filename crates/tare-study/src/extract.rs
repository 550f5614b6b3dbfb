//! Figures in what a command printed. A figure that is missing, is told more than once or is
//! no number is none: nothing is guessed, and a trial without its figure has failed.

mod json;
mod number;
mod pattern;
mod table;

pub use pattern::pattern;

use json::Json;
use number::number;
use pattern::{Beside, FigurePattern, Found, pattern_for};
use std::borrow::Cow;
use table::Table;
use tare_model::metric::Unit;
use tare_model::output::{Bounded, Comma, Extractor, Find, Said, Stream};
use tare_model::results::Printed;
use tare_model::text::cleaned;
use tare_model::unit_words::{self, Scaled, UnitError};

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
    /// The pattern is none; a study with it is refused before.
    #[error("'{0}' is not a regular expression: {1}")]
    Pattern(String, String),
    /// A pattern that could search for minutes.
    #[error(
        "'{0}' is too large an expression, or too large for so much output: [0-9] is smaller than \\d, [A-Za-z] than \\w"
    )]
    Large(String),
    /// A pattern without the group whose match is the figure.
    #[error(
        "'{0}' has {1} groups and none is named 'value': put only the figure into a group, as in 'rate: ([0-9.]+)', or write '{{value}} {{unit}}' where the unit is printed beside it"
    )]
    Group(String, usize),
    /// A pattern that reads a unit where none is known to convert to.
    #[error("'{0}' reads a unit, which a check cannot convert: omit the group 'unit'")]
    UnitOfCheck(String),
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
    /// It stands in the other stream.
    #[error("{place} has no {what}, but {other} has: set stream = \"{name}\", or omit 'stream'")]
    Elsewhere {
        /// Where it was looked for.
        place: &'static str,
        what: String,
        other: &'static str,
        /// As a workload file writes it.
        name: &'static str,
    },
    /// It stands there more than once.
    #[error("more than one {what}: {found}")]
    Several {
        what: String,
        /// The first two.
        found: String,
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
    /// A unit that does not come down to the metric's.
    #[error("'{printed}' is printed as the unit of the figure, which cannot be converted to {wanted}")]
    Unit { printed: String, wanted: String },
    /// A unit that may be two.
    #[error(
        "'{printed}' is printed as the unit of the figure, which can be bits or bytes: put only the number into the expression, and give --unit {} or --unit {}", clear[0], clear[1]
    )]
    BitsOrBytes {
        printed: String,
        clear: [&'static str; 2],
    },
    /// Another unit than the metric's, of the same kind, that the expression does not read.
    #[error(
        "'{printed}' is printed, but the unit was given as {given}: write '{{value}} {{unit}}' for both in the expression, which converts it, or give the unit as it is printed"
    )]
    OtherUnit {
        /// With its figure.
        printed: String,
        given: String,
    },
    /// Text of which every second byte is 0.
    #[error(
        "{place} is UTF-16: have the program print UTF-8, or pass its output through 'iconv -f UTF-16 -t UTF-8'"
    )]
    Utf16 {
        /// Where it was looked for.
        place: &'static str,
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
    /// A point that may part thousands or begin a fraction, where a comma begins one.
    #[error(
        "'{text}' is {readings}: if the point begins the fraction, omit --decimal-comma (in a file: comma = \"decimal\"), else have the program print no points between thousands"
    )]
    Point {
        text: String,
        /// Both, as numbers.
        readings: String,
    },
    /// A point that can only begin a fraction, where a comma was to.
    #[error("'{0}' has a decimal point: omit --decimal-comma (in a file: comma = \"decimal\")")]
    DecimalPoint(String),
    /// No number stands there.
    #[error("'{0}' is not a number")]
    NoNumber(String),
}

/// One stream, as text.
#[derive(Debug)]
struct Text<'a> {
    stream: Stream,
    text: Cow<'a, str>,
}

/// Bytes of the beginning and of the end that are kept of what a failed command printed.
const KEPT: usize = 4096;
/// Text that is shown of what a command printed, at most.
const SHOWN: usize = 60;

/// The figure of a metric, in the base unit of this one.
///
/// # Errors
/// [`ExtractError`] where it is not there exactly once, or is no number.
pub fn figure(from: &Extractor, unit: &Unit, output: Output<'_>) -> Result<f64, ExtractError> {
    let found = found(from, output)?;
    let scale = match found.beside {
        Some(Beside::Unit(printed)) => scale(&printed, from.scale, unit)?,
        Some(Beside::Word { word, is_close }) if is_other_unit(&word, is_close, from.scale, unit) => {
            let blank = if is_close { "" } else { " " };
            return Err(ExtractError::OtherUnit {
                printed: shown(&format!("{}{blank}{word}", found.value)),
                given: unit_words::symbol(unit, from.scale).to_owned(),
            });
        }
        _ => from.scale,
    };
    Ok(found.value * scale)
}

/// What a figure that must lie within bounds is, where it does not.
pub fn out_of_bounds(check: &Bounded, output: Output<'_>) -> Result<Option<f64>, ExtractError> {
    let figure = found(&check.from, output)?.value * check.from.scale;
    let fits =
        check.at_least.is_none_or(|least| figure >= least) && check.at_most.is_none_or(|most| figure <= most);
    Ok((!fits).then_some(figure))
}

/// Where a command printed this; `None`: nowhere.
pub fn said_in(said: &Said, output: Output<'_>) -> Result<Option<Stream>, ExtractError> {
    output.refuse_utf16(said.stream)?;
    let texts = output.texts(said.stream);
    let pattern = pattern_for(&said.regex, &texts)?;
    let has_it = texts.iter().find(|text| pattern.is_match(&text.text));
    Ok(has_it.map(|text| text.stream))
}

/// The last line of what a server printed, if its pattern matches that and only its end is missing.
pub fn line_without_end(pattern: &str, said: &[u8]) -> Option<String> {
    let said = cleaned(said);
    let last = said.rsplit('\n').next()?;
    let pattern = regex_lite::Regex::new(pattern).ok()?;
    pattern.is_match(last).then(|| shown(last))
}

/// How many groups the pattern of a server's line has, as the agent reads it.
///
/// # Errors
/// [`ExtractError::Pattern`].
pub fn groups_of_line(text: &str) -> Result<usize, ExtractError> {
    let pattern = regex_lite::Regex::new(text);
    let pattern = pattern.map_err(|e| ExtractError::Pattern(text.to_owned(), e.to_string()))?;
    Ok(pattern.captures_len() - 1)
}

/// Refuses what could never find the figure of a metric.
///
/// # Errors
/// [`ExtractError`]: a pattern that is none or lacks its group, a pointer that is none.
pub fn check(find: &Find) -> Result<(), ExtractError> {
    match find {
        Find::Regex(text) => FigurePattern::of(text).map(drop),
        Find::Json(pointer) if !pointer.starts_with('/') => Err(ExtractError::Pointer(pointer.clone())),
        Find::Json(_) | Find::Csv(_) => Ok(()),
    }
}

/// The same of a figure that is no metric, and has no unit.
///
/// # Errors
/// As [`check`], and [`ExtractError::UnitOfCheck`].
pub fn check_without_unit(find: &Find) -> Result<(), ExtractError> {
    check(find)?;
    match find {
        Find::Regex(text) if FigurePattern::of(text)?.reads_unit() => {
            Err(ExtractError::UnitOfCheck(text.clone()))
        }
        _ => Ok(()),
    }
}

/// The one match of a pattern's group in what a program told.
///
/// # Errors
/// [`ExtractError`] where there is none, or more than one.
pub fn matched(told: &[u8], expression: &str) -> Result<String, ExtractError> {
    let text = Text {
        stream: Stream::Both,
        text: cleaned(told),
    };
    Ok(match_of(expression, &[text])?.value)
}

impl<'a> Output<'a> {
    /// What is kept of it with a trial that failed.
    pub fn printed(self) -> Printed {
        Printed {
            stdout: ends(self.stdout),
            stderr: ends(self.stderr),
        }
    }

    fn texts(self, stream: Stream) -> Vec<Text<'a>> {
        match stream {
            Stream::Stdout | Stream::Stderr => vec![self.text(stream)],
            Stream::Both => vec![self.text(Stream::Stdout), self.text(Stream::Stderr)],
        }
    }

    fn text(self, stream: Stream) -> Text<'a> {
        let bytes = match stream {
            Stream::Stdout | Stream::Both => self.stdout,
            Stream::Stderr => self.stderr,
        };
        Text {
            stream,
            text: cleaned(bytes),
        }
    }

    /// No expression would match in it, and what must not be printed would not be found.
    fn refuse_utf16(self, stream: Stream) -> Result<(), ExtractError> {
        let streams = [(Stream::Stdout, self.stdout), (Stream::Stderr, self.stderr)];
        let found = streams.into_iter().find(|(of, bytes)| {
            let is_read = stream == *of || stream == Stream::Both;
            is_read && is_utf16(bytes)
        });
        found.map_or(Ok(()), |(of, _)| Err(ExtractError::Utf16 { place: of.name() }))
    }

    /// The text that is a document: of two that of standard output, unless it is blank.
    fn document(self, stream: Stream) -> Text<'a> {
        let mut texts = self.texts(stream);
        let is_blank = |text: &Text<'_>| text.text.trim().is_empty();
        if texts.len() > 1 && is_blank(&texts[0]) && !is_blank(&texts[1]) {
            texts.swap_remove(1)
        } else {
            texts.swap_remove(0)
        }
    }
}

/// A figure as it was printed.
struct Figure {
    value: f64,
    /// Of a document nothing.
    beside: Option<Beside>,
}

/// The figure in the stream that is named; that of the other one is told of.
fn found(from: &Extractor, output: Output<'_>) -> Result<Figure, ExtractError> {
    output.refuse_utf16(from.stream)?;
    let other = match from.stream {
        Stream::Stdout => Stream::Stderr,
        Stream::Stderr => Stream::Stdout,
        Stream::Both => return found_in(from, from.stream, output),
    };
    match found_in(from, from.stream, output) {
        Err(ExtractError::Missing { place, what }) if found_in(from, other, output).is_ok() => {
            Err(ExtractError::Elsewhere {
                place,
                what,
                other: other.name(),
                name: if other == Stream::Stderr {
                    "stderr"
                } else {
                    "stdout"
                },
            })
        }
        found => found,
    }
}

fn found_in(from: &Extractor, stream: Stream, output: Output<'_>) -> Result<Figure, ExtractError> {
    let plain = |value| Figure { value, beside: None };
    match &from.find {
        Find::Json(pointer) => json_number(&output.document(stream), pointer, from.comma).map(plain),
        Find::Csv(field) => {
            let text = output.document(stream);
            let table = Table::of(&text)?;
            number(table.field(field)?, from.comma).map(plain)
        }
        Find::Regex(expression) => {
            let Found { value, beside } = match_of(expression, &output.texts(stream))?;
            Ok(Figure {
                value: number(&value, from.comma)?,
                beside: Some(beside),
            })
        }
    }
}

fn json_number(text: &Text<'_>, pointer: &str, comma: Option<Comma>) -> Result<f64, ExtractError> {
    match json::at(&json::documents(text)?, pointer, text)? {
        Json::Number(figure) => number(&figure.to_string(), None),
        Json::Text(text) => number(text, comma),
        other => Err(ExtractError::NoNumber(other.to_string())),
    }
}

fn match_of(expression: &str, texts: &[Text<'_>]) -> Result<Found, ExtractError> {
    FigurePattern::made_for(expression, texts)?.only_match(texts, &format!("match of '{expression}'"))
}

/// How much one of the printed unit is in the base unit of a metric. Where nothing is printed
/// it is the metric's own, which plain numbers alone can have: `12.3k`, `950`.
fn scale(printed: &str, own: f64, metric: &Unit) -> Result<f64, ExtractError> {
    let is_plain = matches!(metric, Unit::One | Unit::Other(_));
    match unit_words::printed(printed) {
        Ok(scaled) if scaled.unit == *metric => Ok(scaled.scale),
        Err(UnitError::BitsOrBytes { text, clear }) => {
            Err(ExtractError::BitsOrBytes { printed: text, clear })
        }
        _ if is_plain && printed.is_empty() => Ok(own),
        _ if is_plain && let Some(times) = unit_words::prefix(printed, metric.symbol()) => Ok(times * own),
        _ => Err(ExtractError::Unit {
            printed: shown(printed),
            wanted: metric.symbol().to_owned(),
        }),
    }
}

/// Whether a word behind a figure is a unit of the metric's kind and not its own. `MB` can be
/// that of MiB, which many programs call so.
fn is_other_unit(word: &str, is_close: bool, own: f64, metric: &Unit) -> bool {
    if matches!(metric, Unit::One | Unit::Other(_)) {
        return (is_close || word.len() > 1) && unit_words::prefix(word, metric.symbol()).is_some();
    }
    let mut of_kind = unit_words::readings(word);
    of_kind.retain(|scaled| scaled.unit == *metric);
    let is_own = |scaled: &Scaled| (0.999..1.1).contains(&(own / scaled.scale));
    !of_kind.is_empty() && !of_kind.iter().any(is_own)
}

/// UTF-16 of mostly ASCII: of each two bytes one is 0, always the same.
fn is_utf16(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 64;
    let text = bytes
        .strip_prefix(b"\xff\xfe")
        .or_else(|| bytes.strip_prefix(b"\xfe\xff"));
    let text = text.unwrap_or(bytes);
    let (pairs, _) = text[..text.len().min(LOOKED_AT)].as_chunks::<2>();
    let is_ascii = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    pairs.len() > 1
        && (pairs.iter().all(|pair| pair[0] == 0 && is_ascii(pair[1]))
            || pairs.iter().all(|pair| pair[1] == 0 && is_ascii(pair[0])))
}

/// What was looked through.
fn place(texts: &[Text<'_>]) -> &'static str {
    match texts {
        [text] => text.stream.name(),
        _ => Stream::Both.name(),
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

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
