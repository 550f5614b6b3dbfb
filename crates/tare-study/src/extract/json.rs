//! JSON in what a command printed: one document, or several among lines of text.

use super::{ExtractError, Text, shown};
use regex::{Captures, Regex};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

/// Text that may stand between documents, in characters that are shown of it.
const NO_DOCUMENT: &str = "no line begins with { or [";

/// A value whose objects keep every field, those of one name too.
#[derive(Debug, PartialEq)]
pub(super) enum Json {
    Number(serde_json::Number),
    Text(String),
    /// `true`, `false`, `null`.
    Word(&'static str),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// The one value at a pointer (RFC 6901) of all documents in a text.
pub(super) fn at<'d>(
    documents: &'d [Json],
    pointer: &str,
    text: &Text<'_>,
) -> Result<&'d Json, ExtractError> {
    let mut here: Vec<&Json> = documents.iter().collect();
    let tokens = pointer.split('/').skip(1);
    for token in tokens.map(|token| token.replace("~1", "/").replace("~0", "~")) {
        here = here.into_iter().flat_map(|value| value.below(&token)).collect();
    }
    match here[..] {
        [value] => Ok(value),
        [] => Err(ExtractError::Missing {
            place: text.stream.name(),
            what: format!("'{pointer}'"),
        }),
        [first, second, ..] => Err(ExtractError::Several {
            what: format!("'{pointer}' in {}", text.stream.name()),
            found: format!("{first} and {second}"),
        }),
    }
}

/// All documents of a text. Lines between them are none of tare's business: fio prints notes.
pub(super) fn documents(text: &Text<'_>) -> Result<Vec<Json>, ExtractError> {
    let unreadable = |why: String| ExtractError::Unreadable {
        place: text.stream.name(),
        format: "JSON",
        why,
    };
    let readable = with_odd_numbers_as_text(&text.text);
    let mut documents = Vec::new();
    let mut from = 0;
    while let Some(begin) = next_document(&readable, from) {
        let rest = &readable[begin..];
        let mut parsed = serde_json::Deserializer::from_str(rest).into_iter();
        let document = parsed.next().unwrap_or(Ok(Json::Word("null")));
        let place = || readable[..begin].lines().count();
        documents.push(document.map_err(|e| unreadable(described(&e, place())))?);
        from = begin + parsed.byte_offset();
    }
    if documents.is_empty() {
        let first = text.text.trim().lines().next().unwrap_or_default();
        return Err(unreadable(format!(
            "{NO_DOCUMENT}; it begins with '{}'",
            shown(first)
        )));
    }
    Ok(documents)
}

fn described(error: &serde_json::Error, lines_before: usize) -> String {
    match lines_before {
        0 => error.to_string(),
        n => format!("{error} of the document that begins in line {}", n + 1),
    }
}

/// Where a document begins next: behind another, or in a line of its own and so that no line of a
/// log looks like it.
fn next_document(text: &str, from: usize) -> Option<usize> {
    #[expect(clippy::unwrap_used, reason = "it is a constant, and a test reads by it")]
    static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m)^\s*(\{\s*["}]|\[\s*["{\[\]])|\A\s*(\[)[-+0-9.,eE\s]*\]\s*\z"#).unwrap()
    });
    let rest = text[from..].trim_start();
    if from > 0 && rest.starts_with('{') {
        return Some(text.len() - rest.len());
    }
    let found = BEGIN.captures_at(text, from)?;
    found.get(1).or_else(|| found.get(2)).map(|begin| begin.start())
}

/// `nan`, `-inf` and `Infinity`, which printf(3) and Python write and JSON lacks, as text: they
/// are no figures, and no reason to lose those beside them.
fn with_odd_numbers_as_text(text: &str) -> Cow<'_, str> {
    #[expect(clippy::unwrap_used, reason = "it is a constant, and a test reads by it")]
    static ODD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)"(?:[^"\\\n]|\\.)*"|(?<odd>-?\b(?:nan|inf|infinity)\b)"#).unwrap()
    });
    ODD.replace_all(text, |found: &Captures<'_>| match found.name("odd") {
        Some(odd) => format!("\"{}\"", odd.as_str()),
        None => found[0].to_owned(),
    })
}

impl Json {
    /// The elements or fields of this name.
    fn below<'a>(&'a self, token: &str) -> Vec<&'a Self> {
        match self {
            Self::Object(fields) => {
                let named = fields.iter().filter(|(name, _)| name == token);
                named.map(|(_, value)| value).collect()
            }
            Self::Array(elements) => {
                let index = token
                    .parse()
                    .ok()
                    .filter(|index: &usize| index.to_string() == token);
                index.and_then(|index| elements.get(index)).into_iter().collect()
            }
            Self::Number(_) | Self::Text(_) | Self::Word(_) => Vec::new(),
        }
    }
}

/// For people, briefly.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(&shown(text)),
            Self::Word(word) => f.write_str(word),
            Self::Array(_) => f.write_str("an array"),
            Self::Object(_) => f.write_str("an object"),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Word(if value { "true" } else { "false" }))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Word("null"))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        let number = serde_json::Number::from_f64(value);
        number
            .map(Json::Number)
            .ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = elements.next_element()? {
            all.push(element);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(field) = fields.next_entry()? {
            all.push(field);
        }
        Ok(Json::Object(all))
    }
}
