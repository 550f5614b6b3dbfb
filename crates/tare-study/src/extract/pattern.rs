//! Patterns, and their one match in what a command printed.

use super::{ExtractError, Text, shown};
use regex::{Captures, Regex, RegexBuilder};

/// Bytes that a compiled pattern may take: `\w` takes 64 KiB.
const LARGEST: usize = 1 << 18;
/// The same times the bytes that it is looked for in. The worst patterns searched 1 MiB in 14 s
/// at 64 KiB and in 1.7 s at 8 KiB, on one CPU of two that were busy.
const MOST_WORK: usize = 1 << 36;
/// What `{value}` and `{unit}` stand for; a blank between them may be absent, as in `1.02ms`.
const PLACEHOLDERS: [(&str, &str); 3] = [
    ("{value} {unit}", r"{value}[ \t]*{unit}"),
    (
        "{value}",
        r"(?<value>[-+]?(?-u:\d)*(?:[.,]?(?-u:\d)+)+(?:[eE][-+]?(?-u:\d)+)?)",
    ),
    ("{unit}", r"(?<unit>[A-Za-z\u{b5}\u{3bc}/]+)"),
];

/// A figure, and what stands beside it, as they were printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub value: String,
    pub beside: Beside,
}

/// What stands beside a figure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// The unit that the pattern reads, empty where nothing was printed.
    Unit(String),
    /// The word behind it, if the pattern reads no unit; `is_close` without a blank between
    /// them, as in `12.3k`.
    Word { word: String, is_close: bool },
}

impl Beside {
    fn word_at_start_of(text: &str) -> Self {
        let rest = text.trim_start_matches([' ', '\t']);
        let is_of_word = |c: char| c.is_alphanumeric() || "/_-".contains(c);
        let word = rest.split(|c| !is_of_word(c)).next().unwrap_or_default();
        Self::Word {
            word: word.to_owned(),
            is_close: rest.len() == text.len(),
        }
    }
}

/// A regular expression as tare reads it: `^` and `$` are ends of lines.
///
/// # Errors
/// [`ExtractError::Pattern`], [`ExtractError::Large`].
pub fn pattern(text: &str) -> Result<Regex, ExtractError> {
    pattern_for(text, &[])
}

/// The same, small enough to be looked for in these texts.
pub(super) fn pattern_for(text: &str, texts: &[Text<'_>]) -> Result<Regex, ExtractError> {
    compiled(text, text, texts)
}

/// The pattern of a figure.
pub(super) struct FigurePattern {
    regex: Regex,
    /// The group whose match is the figure.
    value: usize,
    unit: Option<usize>,
}

impl FigurePattern {
    pub(super) fn of(text: &str) -> Result<Self, ExtractError> {
        Self::made_for(text, &[])
    }

    /// Small enough to be looked for in these texts.
    pub(super) fn made_for(text: &str, texts: &[Text<'_>]) -> Result<Self, ExtractError> {
        let written = PLACEHOLDERS
            .iter()
            .fold(text.to_owned(), |text, (name, group)| text.replace(name, group));
        let regex = compiled(text, &written, texts)?;
        let named = |name| regex.capture_names().position(|group| group == Some(name));
        let unit = named("unit");
        // The whole match is the group 0.
        let value = match (named("value"), regex.captures_len() - 1) {
            (Some(group), _) => group,
            (None, 1) if unit.is_none() => 1,
            (None, n) => return Err(ExtractError::Group(text.to_owned(), n)),
        };
        Ok(Self { regex, value, unit })
    }

    pub(super) const fn reads_unit(&self) -> bool {
        self.unit.is_some()
    }

    /// The one match in all of these texts. More than two are not looked for: each search may
    /// go through all that follows.
    pub(super) fn only_match(&self, texts: &[Text<'_>], what: &str) -> Result<Found, ExtractError> {
        let in_text = |text| self.matches(text).map(move |found| (text, found));
        let mut all = texts.iter().flat_map(in_text);
        let Some((first_text, first)) = all.next() else {
            return Err(ExtractError::Missing {
                place: super::place(texts),
                what: what.to_owned(),
            });
        };
        let Some((second_text, second)) = all.next() else {
            return Ok(first);
        };
        let at =
            |text: &Text<'_>, found: &Found| format!("'{}' in {}", shown(&found.value), text.stream.name());
        // Such as the progress that a terminal shows in one line.
        let way_out = match first_text.stream == second_text.stream {
            true => "; for the last one begin the expression with (?s).*",
            false => "",
        };
        Err(ExtractError::Several {
            what: what.to_owned(),
            found: format!(
                "{} and {}{way_out}",
                at(first_text, &first),
                at(second_text, &second)
            ),
        })
    }

    fn matches<'t>(&'t self, text: &'t Text<'_>) -> impl Iterator<Item = Found> + 't {
        let captures = self.regex.captures_iter(&text.text);
        // A group that took no part in the match is no figure.
        captures.filter_map(|captures| self.found(&captures, &text.text))
    }

    fn found(&self, captures: &Captures<'_>, text: &str) -> Option<Found> {
        let value = captures.get(self.value)?;
        let unit = |group| captures.get(group).map_or("", |unit| unit.as_str());
        Some(Found {
            value: value.as_str().to_owned(),
            beside: match self.unit {
                Some(group) => Beside::Unit(unit(group).to_owned()),
                None => Beside::word_at_start_of(&text[value.end()..]),
            },
        })
    }
}

fn compiled(given: &str, written: &str, texts: &[Text<'_>]) -> Result<Regex, ExtractError> {
    let bytes = texts.iter().map(|text| text.text.len()).sum::<usize>().max(1);
    let compiled = RegexBuilder::new(written)
        .multi_line(true)
        .size_limit(LARGEST.min(MOST_WORK / bytes))
        .build();
    compiled.map_err(|e| match e {
        regex::Error::CompiledTooBig(_) => ExtractError::Large(given.to_owned()),
        other => ExtractError::Pattern(given.to_owned(), reason(&other.to_string())),
    })
}

/// The last line of what the parser says; those before it point into the expression, which a line cannot.
fn reason(told: &str) -> String {
    let last = told.lines().last().unwrap_or_default().trim();
    last.trim_start_matches("error: ").to_owned()
}
