//! TOML as a tree that knows where each part stands, over files.

use super::error::StudyFileError;
use super::place::Place;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

/// What TOML knows.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Time,
    List(Vec<Node>),
    Table(Table),
}

/// The entries of a table, each with the place of its key.
pub(super) type Table = BTreeMap<String, (Place, Node)>;

/// Reads TOML; `whole` is any place in the text.
pub(super) fn parse(text: &str, whole: &Place) -> Result<Node, StudyFileError> {
    let table = DeTable::parse(text).map_err(|e| {
        let place = whole.with(e.span().unwrap_or(0..0));
        let found = place.snippet();
        let found = if found.is_empty() {
            String::new()
        } else {
            format!(" at '{found}'")
        };
        StudyFileError::at(
            &place,
            format!(
                "no TOML{found}: {}; docs/study-files.md shows how a study is written",
                plain(e.message())
            ),
        )
    })?;
    Ok(Node {
        place: whole.clone(),
        value: Value::Table(self::table(table.into_inner(), whole)?),
    })
}

/// What the parser says, but for its own words.
fn plain(message: &str) -> &str {
    if message.contains("recursion") {
        "too many lists or tables lie in one another"
    } else {
        message
    }
}

fn table(table: DeTable<'_>, whole: &Place) -> Result<Table, StudyFileError> {
    let entry = |(key, value): (toml::Spanned<_>, toml::Spanned<DeValue<'_>>)| {
        let place = whole.with(key.span());
        let name: std::borrow::Cow<'_, str> = key.into_inner();
        Ok((name.into_owned(), (place, node(value, whole)?)))
    };
    table.into_iter().map(entry).collect()
}

fn node(value: toml::Spanned<DeValue<'_>>, whole: &Place) -> Result<Node, StudyFileError> {
    let place = whole.with(value.span());
    let too_large = || {
        let text = place.snippet();
        StudyFileError::at(
            &place,
            format!("{text} is too large a number: give one that makes sense"),
        )
    };
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(i) => {
            Value::Integer(i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| too_large())?)
        }
        DeValue::Float(f) => Value::Float(f.as_str().parse().map_err(|_| too_large())?),
        DeValue::Boolean(b) => Value::Boolean(b),
        DeValue::Datetime(_) => Value::Time,
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| node(item, whole))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(inner) => Value::Table(table(inner, whole)?),
    };
    Ok(Node { place, value })
}

/// Puts one tree over another: tables key by key, all else as a whole.
pub(super) fn overlay(base: Node, over: Node) -> Node {
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

/// Takes `include` out of a text.
pub(super) fn take_include(node: &mut Node) -> Result<Option<(String, Place)>, StudyFileError> {
    let Value::Table(table) = &mut node.value else {
        return Ok(None);
    };
    let Some((_, include)) = table.remove("include") else {
        return Ok(None);
    };
    let text = include.text("include", "\"base.toml\"")?.to_owned();
    Ok(Some((text, include.place)))
}

/// Takes the small size out of a study: the whole with that put over it.
pub(super) fn take_small(node: &mut Node) -> Result<Option<Node>, StudyFileError> {
    let Value::Table(table) = &mut node.value else {
        return Ok(None);
    };
    let Some((_, small)) = table.remove("small") else {
        return Ok(None);
    };
    let inner = small.table("small", "protocol = { blocks = 10 }")?;
    if let Some((key, (place, _))) = ["title", "include", "small"]
        .iter()
        .find_map(|key| inner.get_key_value(*key))
    {
        return Err(StudyFileError::at(
            place,
            format!("'{key}' cannot differ in [small]: leave it out there"),
        ));
    }
    Ok(Some(overlay(node.clone(), small)))
}
