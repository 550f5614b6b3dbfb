//! TOML as a tree that knows where each part stands, over files.

use crate::error::TomlError;
use crate::source::{Place, Source};
use std::collections::BTreeMap;
use std::rc::Rc;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where.
    pub place: Place,
    pub value: Value,
}

/// What TOML knows.
#[derive(Debug, Clone)]
pub enum Value {
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A date or time, which no file of tare needs.
    Time,
    List(Vec<Node>),
    Table(Table),
}

/// The entries of a table, each with the place of its key.
pub type Table = BTreeMap<String, (Place, Node)>;

/// Tables and lists that lie in one another, at most. The parser has a limit for brackets and one
/// for the parts of a key; both together let thousands through, for which no stack is large enough.
const DEEPEST: usize = 100;
const TOO_DEEP: &str = "lists or tables are nested too deeply";

impl Node {
    /// Reads a text.
    ///
    /// # Errors
    /// What is no TOML, and numbers that nobody means.
    pub fn parse(source: &Rc<Source>) -> Result<Self, TomlError> {
        let parsed = DeTable::parse(&source.text).map_err(|e| {
            let place = source.place(e.span().unwrap_or(0..0));
            no_toml(&place, &plain(e.message()))
        })?;
        Ok(Self {
            place: source.place(0..0),
            value: Value::Table(table(parsed.into_inner(), source, 0)?),
        })
    }
}

fn no_toml(place: &Place, why: &str) -> TomlError {
    let found = match place.snippet() {
        nothing if nothing.is_empty() => nothing,
        found => format!(" at '{found}'"),
    };
    let kind = place.source().kind;
    let message = format!(
        "no TOML{found}: {why}; {} shows how {} is written",
        kind.manual,
        kind.one()
    );
    TomlError::at(place, message)
}

/// What the parser says, but for its own words.
fn plain(message: &str) -> String {
    if message.contains("recurs") {
        return TOO_DEEP.to_owned();
    }
    message.replace('`', "'")
}

fn table(table: DeTable<'_>, source: &Rc<Source>, depth: usize) -> Result<Table, TomlError> {
    let entry = |(key, value): (toml::Spanned<_>, toml::Spanned<DeValue<'_>>)| {
        let place = source.place(key.span());
        let name: std::borrow::Cow<'_, str> = key.into_inner();
        Ok((name.into_owned(), (place, node(value, source, depth + 1)?)))
    };
    table.into_iter().map(entry).collect()
}

fn node(value: toml::Spanned<DeValue<'_>>, source: &Rc<Source>, depth: usize) -> Result<Node, TomlError> {
    let place = source.place(value.span());
    if depth > DEEPEST {
        return Err(no_toml(&place, TOO_DEEP));
    }
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(i) => {
            Value::Integer(i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| too_large(&place))?)
        }
        DeValue::Float(f) => Value::Float(float(f.as_str()).ok_or_else(|| too_large(&place))?),
        DeValue::Boolean(b) => Value::Boolean(b),
        DeValue::Datetime(_) => Value::Time,
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| node(item, source, depth + 1))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(inner) => Value::Table(table(inner, source, depth)?),
    };
    Ok(Node { place, value })
}

/// Infinite only where the text says so.
fn float(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (!value.is_infinite() || text.contains("inf")).then_some(value)
}

fn too_large(place: &Place) -> TomlError {
    let text = place.snippet();
    TomlError::at(place, format!("{text} is out of range: give a smaller number"))
}

/// Puts one tree over another: tables key by key, all else as a whole.
pub fn overlay(base: Node, over: Node) -> Node {
    match (base.value, over.value) {
        (Value::Table(mut base), Value::Table(over_table)) => {
            for (key, (place, node)) in over_table {
                let merged = match base.remove(&key) {
                    Some((_, below)) => overlay(below, node),
                    None => node,
                };
                base.insert(key, (place, merged));
            }
            Node {
                place: over.place,
                value: Value::Table(base),
            }
        }
        (_, value) => Node {
            place: over.place,
            value,
        },
    }
}
