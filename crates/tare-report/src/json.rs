//! The analysis for machines. Its version is [`crate::analysis::SCHEMA`]; any
//! figure may be `null`, and new keys may appear at any time.

use serde::Serialize;

/// One JSON object, indented, with a newline at its end.
///
/// # Errors
/// None that an analysis of a results file can cause.
pub fn render(analysis: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(analysis).map(|json| json + "\n")
}
