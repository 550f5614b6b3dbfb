//! A text into a type, by serde. What does not fit is told in the words of those who write
//! files: of keys, lists and tables, never of the types that it is read into.

use crate::error::TomlError;
use crate::source::{Place, Source};
use crate::spanned::SPANNED;
use crate::tree::{Node, Value};
use crate::value::{unknown_key, unknown_word};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt::Display;
use std::rc::Rc;
use std::vec;

/// Reads a text.
///
/// # Errors
/// [`TomlError`] for the first thing that is wrong.
pub fn read<T: DeserializeOwned>(source: &Rc<Source>) -> Result<T, TomlError> {
    let node = Node::parse(source)?;
    let whole = FilePart {
        node: &node,
        key: "",
        path: String::new(),
        is_item: false,
    };
    T::deserialize(whole.clone()).map_err(|fault| whole.error(&node.place, fault))
}

/// What is wrong, until it is known where.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Placed(TomlError),
    #[error("'{0}' is missing")]
    Missing(&'static str),
    #[error("unknown key '{0}'")]
    Key(String, &'static [&'static str]),
    #[error("unknown word '{0}'")]
    Word(String, &'static [&'static str]),
    #[error("{0}")]
    Other(String),
}

impl Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn missing_field(key: &'static str) -> Self {
        Self::Missing(key)
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::Key(key.to_owned(), known)
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::Word(word.to_owned(), known)
    }
}

/// A part of a file that is read.
#[derive(Clone)]
struct FilePart<'a> {
    node: &'a Node,
    /// The key whose value it is, or is an item of.
    key: &'a str,
    /// The keys from the whole file to it: `role.ready`.
    path: String,
    is_item: bool,
}

impl<'a> FilePart<'a> {
    /// As a table is called: `[command]`, `[[metric]]`, or the file.
    fn name(&self) -> String {
        match (self.path.as_str(), self.is_item) {
            ("", _) => self.node.place.source().kind.one(),
            (path, false) => format!("[{path}]"),
            (path, true) => format!("[[{path}]]"),
        }
    }

    /// What is wrong in this part, at this place unless it is known already where.
    fn error(&self, place: &Place, fault: Fault) -> TomlError {
        let message = match fault {
            Fault::Placed(error) => return error,
            Fault::Missing(key) => format!("'{key}' is missing in {}: add {key} = ...", self.name()),
            Fault::Key(key, known) => unknown_key(&key, &self.name(), known),
            Fault::Word(word, known) => unknown_word(self.key, &word, known),
            Fault::Other(message) => message,
        };
        TomlError::at(place, message)
    }

    fn is_not(&self, wanted: &str) -> Fault {
        let message = self.node.is_not_and_how(self.key, wanted);
        Fault::Placed(TomlError::at(&self.node.place, message))
    }

    fn read<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        let own = self.clone();
        let read = seed.deserialize(self);
        read.map_err(|fault| Fault::Placed(own.error(&own.node.place, fault)))
    }

    fn item(&self, node: &'a Node) -> Self {
        Self {
            node,
            is_item: true,
            ..self.clone()
        }
    }

    fn below(&self, key: &'a str, node: &'a Node) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self {
            node,
            key,
            path: format!("{}{dot}{key}", self.path),
            is_item: false,
        }
    }
}

/// Methods that take one kind of value each.
macro_rules! kinds {
    ($($method:ident: $kind:pat, $wanted:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.node.value {
                $kind => self.deserialize_any(visitor),
                _ => Err(self.is_not($wanted)),
            }
        }
    )*};
}

/// Methods that take whole numbers of a type.
macro_rules! whole_numbers {
    ($($method:ident: $of:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.node.value {
                Value::Integer(value) if <$of>::try_from(value).is_ok() => visitor.visit_i64(value),
                Value::Integer(_) => {
                    Err(self.is_not(&format!("a whole number from {} to {}", <$of>::MIN, <$of>::MAX)))
                }
                _ => Err(self.is_not("a whole number")),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for FilePart<'_> {
    type Error = Fault;

    kinds! {
        deserialize_bool: Value::Boolean(_), "true or false";
        deserialize_f32: Value::Float(_) | Value::Integer(_), "a number";
        deserialize_f64: Value::Float(_) | Value::Integer(_), "a number";
        deserialize_str: Value::Text(_), "text";
        deserialize_string: Value::Text(_), "text";
        deserialize_seq: Value::List(_), "a list";
        deserialize_map: Value::Table(_), "a table";
    }

    whole_numbers! {
        deserialize_u8: u8;
        deserialize_u16: u16;
        deserialize_u32: u32;
        deserialize_u64: u64;
        deserialize_i8: i8;
        deserialize_i16: i16;
        deserialize_i32: i32;
        deserialize_i64: i64;
    }

    forward_to_deserialize_any! { char bytes byte_buf unit unit_struct tuple identifier ignored_any }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Boolean(value) => visitor.visit_bool(*value),
            // None of the values that any type takes.
            Value::Time => visitor.visit_unit(),
            Value::List(items) => {
                let items: Vec<Self> = items.iter().map(|item| self.item(item)).collect();
                visitor.visit_seq(Items(items.into_iter()))
            }
            Value::Table(table) => {
                let entries = table.iter();
                let mut entries: Vec<(&Place, Self)> = entries
                    .map(|(key, (place, node))| (place, self.below(key, node)))
                    .collect();
                // The first mistake of a file is told first.
                entries.sort_by_key(|(place, _)| place.span.start);
                visitor.visit_map(Entries {
                    table: self,
                    rest: entries.into_iter(),
                    value: None,
                })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_map(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == SPANNED {
            visitor.visit_seq(WithSpan { part: self, given: 0 })
        } else {
            self.deserialize_seq(visitor)
        }
    }

    /// One of some words: no file of tare has a table that says which it is.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Text(word) => visitor.visit_enum(word.as_str().into_deserializer()),
            _ => Err(self.is_not("text")),
        }
    }
}

/// The items of a list.
struct Items<'a>(vec::IntoIter<FilePart<'a>>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        self.0.next().map(|item| item.read(seed)).transpose()
    }
}

/// A value with its span: where it begins, where it ends, and itself.
struct WithSpan<'a> {
    part: FilePart<'a>,
    given: usize,
}

impl<'de> SeqAccess<'de> for WithSpan<'_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let span = &self.part.node.place.span;
        self.given += 1;
        match self.given {
            1 => seed.deserialize(span.start.into_deserializer()).map(Some),
            2 => seed.deserialize(span.end.into_deserializer()).map(Some),
            _ => self.part.clone().read(seed).map(Some),
        }
    }
}

/// The entries of a table.
struct Entries<'a> {
    table: FilePart<'a>,
    rest: vec::IntoIter<(&'a Place, FilePart<'a>)>,
    value: Option<FilePart<'a>>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some((place, part)) = self.rest.next() else {
            return Ok(None);
        };
        let key = part.key;
        self.value = Some(part);
        let read = seed.deserialize(key.into_deserializer());
        read.map(Some)
            .map_err(|fault| Fault::Placed(self.table.error(place, fault)))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let value = self
            .value
            .take()
            .ok_or_else(|| Fault::custom("a value before its key"))?;
        value.read(seed)
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
