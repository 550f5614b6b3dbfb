//! Values as what they ought to be, or an error that says what they are.

use super::error::StudyFileError;
use super::place::Place;
use super::tree::{Node, Table, Value};
use tare_model::suggest;

/// As many items as a list of a study may have.
const MAX_ITEMS: usize = 1000;

impl Node {
    /// The error that this is not what is needed.
    pub(super) fn wrong(&self, key: &str, wanted: &str, example: &str) -> StudyFileError {
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
        StudyFileError::at(
            &self.place,
            format!("'{key}' is {found}, where {wanted} is needed: write {key} = {example}"),
        )
    }

    /// Text.
    pub(super) fn text(&self, key: &str, example: &str) -> Result<&str, StudyFileError> {
        match &self.value {
            Value::Text(text) if text.trim().is_empty() => Err(StudyFileError::at(
                &self.place,
                format!("'{key}' is empty text: write {key} = {example}, or leave it out"),
            )),
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong(key, "text", example)),
        }
    }

    /// True or false.
    pub(super) fn boolean(&self, key: &str) -> Result<bool, StudyFileError> {
        match self.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(self.wrong(key, "true or false", "true")),
        }
    }

    /// A whole number from 0.
    pub(super) fn whole(&self, key: &str, example: &str) -> Result<u64, StudyFileError> {
        match self.value {
            Value::Integer(value) => u64::try_from(value).map_err(|_| {
                StudyFileError::at(
                    &self.place,
                    format!("'{key}' is {value}: it cannot be negative, write {key} = {example}"),
                )
            }),
            _ => Err(self.wrong(key, "a whole number", example)),
        }
    }

    /// A number with or without a fraction.
    pub(super) fn number(&self, key: &str, example: &str) -> Result<f64, StudyFileError> {
        match self.value {
            Value::Float(value) => Ok(value),
            #[expect(clippy::cast_precision_loss, reason = "what is that large is refused later")]
            Value::Integer(value) => Ok(value as f64),
            _ => Err(self.wrong(key, "a number", example)),
        }
    }

    /// Text, or a number as it would be written as text.
    pub(super) fn word(&self, key: &str, example: &str) -> Result<String, StudyFileError> {
        match &self.value {
            Value::Integer(value) => Ok(value.to_string()),
            Value::Float(value) => Ok(value.to_string()),
            _ => self.text(key, example).map(str::to_owned),
        }
    }

    /// A word that something reads.
    pub(super) fn read<T, E: ToString>(
        &self,
        key: &str,
        example: &str,
        reader: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, StudyFileError> {
        let word = self.word(key, example)?;
        reader(&word).map_err(|e| StudyFileError::at(&self.place, format!("'{key}': {}", e.to_string())))
    }

    /// One of these words.
    pub(super) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, StudyFileError> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let word = self.text(key, &format!("\"{}\"", names.first().unwrap_or(&"")))?;
        let found = choices.iter().find(|(name, _)| *name == word);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let advice = suggest::among(word, &names, "the choices");
            StudyFileError::at(&self.place, format!("'{key}' cannot be '{word}': {advice}"))
        })
    }

    /// A list of at least one item.
    pub(super) fn list(&self, key: &str, example: &str) -> Result<&[Self], StudyFileError> {
        let Value::List(items) = &self.value else {
            return Err(self.wrong(key, "a list", example));
        };
        let wrong = |message: String| Err(StudyFileError::at(&self.place, message));
        if items.is_empty() {
            return wrong(format!(
                "'{key}' is an empty list: name at least one, as in {key} = {example}, or leave the key out"
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
    pub(super) fn one_or_more(&self, key: &str, example: &str) -> Result<&[Self], StudyFileError> {
        match self.value {
            Value::List(_) => self.list(key, example),
            _ => Ok(std::slice::from_ref(self)),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self, key: &str, example: &str) -> Result<Vec<String>, StudyFileError> {
        let items = self.list(key, example)?;
        let text = |item: &Self| item.text(key, example).map(str::to_owned);
        items.iter().map(text).collect()
    }

    /// A table.
    pub(super) fn table(&self, key: &str, example: &str) -> Result<&Table, StudyFileError> {
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
pub(super) struct Keys<'a> {
    table: &'a Table,
    place: &'a Place,
}

impl<'a> Keys<'a> {
    /// The table, if it has no other keys; `name` is how it is called, `[factors]`.
    pub(super) fn of(node: &'a Node, name: &str, known: &[&str]) -> Result<Self, StudyFileError> {
        let example = format!("{} = ...", known.first().unwrap_or(&""));
        let table = node.table(name.trim_matches(['[', ']']), &example)?;
        let mut unknown: Vec<(&Place, &str)> = table
            .iter()
            .filter(|(key, _)| !known.contains(&key.as_str()))
            .map(|(key, (place, _))| (place, key.as_str()))
            .collect();
        unknown.sort_by_key(|(place, _)| place.start());
        if let Some((place, key)) = unknown.first() {
            let advice = suggest::among(key, known, "the keys");
            let within = if name.is_empty() {
                "a study".to_owned()
            } else {
                name.to_owned()
            };
            return Err(StudyFileError::at(
                place,
                format!("unknown key '{key}' in {within}: {advice}"),
            ));
        }
        Ok(Self {
            table,
            place: &node.place,
        })
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key).map(|(_, node)| node)
    }

    /// Where a key stands.
    pub(super) fn key_place(&self, key: &str) -> Option<&'a Place> {
        self.table.get(key).map(|(place, _)| place)
    }

    /// The value of a key that must be there.
    pub(super) fn needed(&self, key: &str, example: &str) -> Result<&'a Node, StudyFileError> {
        self.get(key).ok_or_else(|| {
            StudyFileError::at(self.place, format!("'{key}' is missing: add {key} = {example}"))
        })
    }
}
