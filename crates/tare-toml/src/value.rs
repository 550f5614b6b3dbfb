//! Values as what they ought to be, or an error that says what they are.

use crate::error::TomlError;
use crate::source::Place;
use crate::tree::{Node, Table, Value};
use tare_model::suggest;

/// As many items as a list of a study may have.
const MAX_ITEMS: usize = 1000;

impl Node {
    /// The error that this is not what is needed.
    fn wrong(&self, key: &str, wanted: &str, example: &str) -> TomlError {
        let is_not = self.is_not(key, wanted);
        TomlError::at(&self.place, format!("{is_not}: write {key} = {example}"))
    }

    /// That this is not what is needed, in words.
    pub(crate) fn is_not(&self, key: &str, wanted: &str) -> String {
        let is = match self.value {
            Value::Text(_) => "text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Time => "a date or time",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        };
        let found = match self.value {
            Value::Table(_) => is.to_owned(),
            _ => format!("{} ({is})", self.place.snippet()),
        };
        format!("'{key}' is {found}, where {wanted} is needed")
    }

    /// The same with how to write it, where that is known without an example.
    pub(crate) fn is_not_and_how(&self, key: &str, wanted: &str) -> String {
        let how = match (&self.value, wanted) {
            (Value::Integer(_) | Value::Float(_) | Value::Boolean(_), "text") => {
                format!(": put it in quotes, {key} = \"{}\"", self.place.snippet())
            }
            (Value::Table(_), "a list") => format!(": write [[{key}]], with two brackets"),
            _ => String::new(),
        };
        self.is_not(key, wanted) + &how
    }

    /// Text.
    ///
    /// # Errors
    /// Anything else.
    pub fn text(&self, key: &str, example: &str) -> Result<&str, TomlError> {
        match &self.value {
            Value::Text(text) if text.trim().is_empty() => Err(TomlError::at(
                &self.place,
                format!("'{key}' is empty text: write {key} = {example}, or omit it"),
            )),
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong(key, "text", example)),
        }
    }

    /// True or false.
    ///
    /// # Errors
    /// Anything else.
    pub fn boolean(&self, key: &str) -> Result<bool, TomlError> {
        match self.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(self.wrong(key, "true or false", "true")),
        }
    }

    /// A whole number from 0.
    ///
    /// # Errors
    /// Anything else.
    pub fn whole(&self, key: &str, example: &str) -> Result<u64, TomlError> {
        match self.value {
            Value::Integer(value) => u64::try_from(value).map_err(|_| {
                TomlError::at(
                    &self.place,
                    format!("'{key}' is {value}: it cannot be negative, write {key} = {example}"),
                )
            }),
            _ => Err(self.wrong(key, "a whole number", example)),
        }
    }

    /// A number with or without a fraction.
    ///
    /// # Errors
    /// Anything else.
    pub fn number(&self, key: &str, example: &str) -> Result<f64, TomlError> {
        match self.value {
            Value::Float(value) => Ok(value),
            #[expect(clippy::cast_precision_loss, reason = "what is that large is refused later")]
            Value::Integer(value) => Ok(value as f64),
            _ => Err(self.wrong(key, "a number", example)),
        }
    }

    /// Text, or a number as it would be written as text.
    ///
    /// # Errors
    /// Anything else.
    pub fn word(&self, key: &str, example: &str) -> Result<String, TomlError> {
        match &self.value {
            Value::Integer(value) => Ok(value.to_string()),
            Value::Float(value) => Ok(value.to_string()),
            _ => self.text(key, example).map(str::to_owned),
        }
    }

    /// A word that something reads.
    ///
    /// # Errors
    /// No word, and what the reader says of it.
    pub fn read<T, E: ToString>(
        &self,
        key: &str,
        example: &str,
        reader: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, TomlError> {
        let word = self.word(key, example)?;
        reader(&word).map_err(|e| TomlError::at(&self.place, format!("'{key}': {}", e.to_string())))
    }

    /// One of these words.
    ///
    /// # Errors
    /// Anything else.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, TomlError> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let word = self.text(key, &format!("\"{}\"", names.first().unwrap_or(&"")))?;
        let found = choices.iter().find(|(name, _)| *name == word);
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| TomlError::at(&self.place, unknown_word(key, word, &names)))
    }

    /// A list of at least one item.
    ///
    /// # Errors
    /// Anything else.
    pub fn list(&self, key: &str, example: &str) -> Result<&[Self], TomlError> {
        let Value::List(items) = &self.value else {
            return Err(self.wrong(key, "a list", example));
        };
        let wrong = |message: String| Err(TomlError::at(&self.place, message));
        if items.is_empty() {
            return wrong(format!(
                "'{key}' is an empty list: give at least one item, as in {key} = {example}, or omit the key"
            ));
        }
        if items.len() > MAX_ITEMS {
            return wrong(format!(
                "'{key}' has {} items: give at most {MAX_ITEMS}",
                items.len()
            ));
        }
        Ok(items)
    }

    /// The items of a list, or the one thing that stands in its place.
    ///
    /// # Errors
    /// Anything else.
    pub fn one_or_more(&self, key: &str, example: &str) -> Result<&[Self], TomlError> {
        match self.value {
            Value::List(_) => self.list(key, example),
            _ => Ok(std::slice::from_ref(self)),
        }
    }

    /// A list of texts.
    ///
    /// # Errors
    /// Anything else.
    pub fn texts(&self, key: &str, example: &str) -> Result<Vec<String>, TomlError> {
        let items = self.list(key, example)?;
        let text = |item: &Self| item.text(key, example).map(str::to_owned);
        items.iter().map(text).collect()
    }

    /// A table.
    ///
    /// # Errors
    /// Anything else.
    pub fn table(&self, key: &str, example: &str) -> Result<&Table, TomlError> {
        match &self.value {
            Value::Table(table) => Ok(table),
            _ => {
                let example = format!("{{ {example} }}");
                Err(self.wrong(key, "a table", &example))
            }
        }
    }
}

/// A table of which every key is known.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    table: &'a Table,
    place: &'a Place,
}

impl<'a> Keys<'a> {
    /// The table, if it has no other keys; `name` is how it is called, `[factors]`, and empty for
    /// the whole file.
    ///
    /// # Errors
    /// No table, and keys that are not known.
    pub fn of(node: &'a Node, name: &str, known: &[&str]) -> Result<Self, TomlError> {
        let example = format!("{} = ...", known.first().unwrap_or(&""));
        let table = node.table(name.trim_matches(['[', ']']), &example)?;
        let mut unknown: Vec<(&Place, &str)> = table
            .iter()
            .filter(|(key, _)| !known.contains(&key.as_str()))
            .map(|(key, (place, _))| (place, key.as_str()))
            .collect();
        unknown.sort_by_key(|(place, _)| place.span.start);
        if let Some((place, key)) = unknown.first() {
            let within = match name {
                "" => &node.place.source().kind.one(),
                name => name,
            };
            return Err(TomlError::at(place, unknown_key(key, within, known)));
        }
        Ok(Self {
            table,
            place: &node.place,
        })
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key).map(|(_, node)| node)
    }

    /// Where a key stands.
    pub fn key_place(&self, key: &str) -> Option<&'a Place> {
        self.table.get(key).map(|(place, _)| place)
    }

    /// The value of a key that must be there.
    ///
    /// # Errors
    /// It is not there.
    pub fn needed(&self, key: &str, example: &str) -> Result<&'a Node, TomlError> {
        self.get(key)
            .ok_or_else(|| TomlError::at(self.place, format!("'{key}' is missing: add {key} = {example}")))
    }
}

/// What a key is told that is not known there.
pub(crate) fn unknown_key(key: &str, within: &str, known: &[&str]) -> String {
    let advice = suggest::among(key, known, "the keys");
    format!("unknown key '{key}' in {within}: {advice}")
}

/// What a word is told that is none of those that can stand there.
pub(crate) fn unknown_word(key: &str, word: &str, known: &[&str]) -> String {
    let advice = suggest::among(word, known, "the choices");
    format!("'{key}' cannot be '{word}': {advice}")
}
