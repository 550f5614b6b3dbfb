//! TOML as people write it: read with a bound, as a tree that knows where each part stands, or
//! into a type.
//!
//! ```text
//! file or text -> Source -> Node: a tree with places -> Node::text, Keys, ...   (studies, which lie over one another)
//!                                                    -> read::<T>, with serde   (all other files)
//! ```
//!
//! Every error says file, line and column, what stands there, and what would be right.

#![forbid(unsafe_code)]

mod error;
mod read;
mod source;
mod spanned;
mod tree;
mod value;

pub use error::TomlError;
pub use read::read;
pub use source::{Kind, Place, Source};
pub use spanned::Spanned;
pub use tree::{Node, Table, Value, overlay};
pub use value::Keys;
