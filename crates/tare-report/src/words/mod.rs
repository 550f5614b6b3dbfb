//! What figures say in words: an analysis holds figures alone.

mod again;
pub(crate) mod answer;
pub(crate) mod around;
pub mod carry_over;
pub(crate) mod causes;
pub(crate) mod caveats;
pub(crate) mod confinement;
pub(crate) mod course;
pub(crate) mod doubts;
pub(crate) mod effects;
pub(crate) mod facts;
pub mod findings;
pub(crate) mod flag;
pub(crate) mod fleet;
pub(crate) mod hosts;
pub mod notices;
pub(crate) mod open;
pub(crate) mod proofs;
pub mod reconnects;
pub mod refusal;
pub(crate) mod remarks;
pub(crate) mod sizes;
pub(crate) mod stops;
pub(crate) mod tuning;
pub mod verdict;
pub(crate) mod why;
