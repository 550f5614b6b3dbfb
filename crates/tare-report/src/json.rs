//! The analysis for machines. Its version is [`tare_analysis::SCHEMA`]; any
//! figure may be `null`, and new keys may appear at any time.

use crate::show::is_unprintable;
use serde::Serialize;

/// One JSON object, indented, with a newline at its end.
///
/// # Errors
/// None that an analysis of a results file can cause.
pub fn render(analysis: &impl Serialize) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string_pretty(analysis)?;
    Ok(escaped(&json) + "\n")
}

/// JSON with the characters escaped that could drive a terminal and that JSON lets stand:
/// those beyond ASCII, which occur in strings alone.
fn escaped(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if c >= '\u{7f}' && is_unprintable(c) {
            // JSON has 16 bits in each: what lies beyond is a pair of surrogates.
            for half in c.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{half:04x}"));
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_is_escaped_and_reads_as_it_was() {
        let hostile = "a\u{1b}[31m\u{9b}31m\u{202e}\u{7f}\u{feff}\u{e0041}\u{1d173}\nä";
        let json = render(&[hostile]).expect("a string");
        assert!(!json.chars().any(|c| c != '\n' && is_unprintable(c)), "{json:?}");
        let read: [String; 1] = serde_json::from_str(&json).expect("JSON");
        assert_eq!(read, [hostile]);
    }
}
