//! A value with where it stands, in types that are read.

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// The name by which a reader of this crate knows that a value is asked for with its span.
pub(crate) const SPANNED: &str = "tare-toml spanned";

/// A value with its stretch of the text, for errors that are found later.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    span: Range<usize>,
    value: T,
}

impl<T> Spanned<T> {
    /// Where it stands.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What stands there.
    pub const fn get_ref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple_struct(SPANNED, 3, Parts(PhantomData))
    }
}

/// Begin, end, value.
struct Parts<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let cut = || A::Error::custom("a value without its place");
        let start = parts.next_element()?.ok_or_else(cut)?;
        let end = parts.next_element()?.ok_or_else(cut)?;
        let value = parts.next_element()?.ok_or_else(cut)?;
        let span = start..end;
        Ok(Spanned { span, value })
    }
}
