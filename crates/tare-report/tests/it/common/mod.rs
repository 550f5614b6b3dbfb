//! Results files with a known truth, and the forms in which they are reported.

#[path = "../../../../tare-analysis/tests/it/common/mod.rs"]
mod fixture;
mod look;
mod schema;

pub use fixture::*;
pub use look::*;
pub use schema::Schema;
