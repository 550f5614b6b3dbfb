//! Where the processes of a workload run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the process of a role runs.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In the box of the cell.
    Tested,
    /// On the host, in a box of its own that is the same for every cell.
    Outside,
    /// In a box of its own of the same kind as that of the cell, beside it.
    Apart,
    /// What only a later version knows, as it stands in the file.
    #[serde(untagged)]
    Later(String),
}
