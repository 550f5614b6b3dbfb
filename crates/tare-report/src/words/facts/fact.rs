//! One thing that is known.

/// A name and what is known of it.
pub(crate) type Fact = (String, String);
