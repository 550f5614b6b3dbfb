//! What a program printed, as text: without what only terminals read.

use std::borrow::Cow;

/// The escape, the carriage return, both shifts (`tput sgr0` prints one on some terminals), and
/// the byte order mark.
const CONTROLS: [char; 5] = ['\x1b', '\r', '\x0e', '\x0f', '\u{feff}'];

/// Bytes that are not UTF-8 become U+FFFD: figures stand beside a degree sign of Latin-1. A
/// carriage return begins a line, since a terminal shows what follows it in place of the rest.
pub fn cleaned(printed: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(printed);
    match text.contains(CONTROLS) {
        true => Cow::Owned(without_controls(&text)),
        false => text,
    }
}

fn without_controls(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(CONTROLS) {
        clean.push_str(&rest[..at]);
        let controls = &rest[at..];
        rest = if let Some(after) = controls.strip_prefix('\r') {
            clean.push('\n');
            let after = after.trim_start_matches('\r');
            after.strip_prefix('\n').unwrap_or(after)
        } else if let Some(after) = controls.strip_prefix('\x1b') {
            after_sequence(after).unwrap_or(after)
        } else {
            controls.trim_start_matches(['\x0e', '\x0f', '\u{feff}'])
        };
    }
    clean + rest
}

/// What follows the rest of an escape sequence of ECMA-35 or ECMA-48; `None` of one that is cut.
fn after_sequence(text: &str) -> Option<&str> {
    let is_between = |c: char| matches!(c, ' '..='/');
    match text.chars().next()? {
        '[' => {
            let parameters = text[1..].trim_start_matches(|c| matches!(c, '0'..='?'));
            let end = parameters.trim_start_matches(is_between);
            end.strip_prefix(|c| matches!(c, '@'..='~'))
        }
        // Strings, such as the title of a window.
        ']' | 'P' | 'X' | '^' | '_' => {
            let end = &text[text.find(char::is_control)?..];
            let ends = ["\x07", "\x1b\\", "\u{9c}"];
            ends.iter().find_map(|with| end.strip_prefix(with))
        }
        _ => {
            let end = text.trim_start_matches(is_between);
            end.strip_prefix(|c| matches!(c, '0'..='~'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_odd_bytes_and_carriage_returns_leave_the_text() {
        for (bytes, text) in [
            (&b"\x1b[1mrate:\x1b[0m 5\x1b[K\n"[..], "rate: 5\n"),
            (b"\x1b[38;5;196mrate:\x1b(B\x1b[m 5\n", "rate: 5\n"),
            (b"rate: \x1b[m\x0f5\n", "rate: 5\n"),
            (
                b"\x1b]0;a title\x07rate: \x1b]8;;http://a\x1b\\5\x1b]8;;\x1b\\\n",
                "rate: 5\n",
            ),
            (b"\x1b7\x1b=rate: 5\x1b8\n", "rate: 5\n"),
            (b"\x1b]no end\nrate: 5\x1b[3", "]no end\nrate: 5[3"),
            (b"40\xb0C\r\nrate: 5\r\r\n", "40\u{fffd}C\nrate: 5\n"),
            (b"10 %\r20 %\rdone\r", "10 %\n20 %\ndone\n"),
            (b"\xef\xbb\xbfa\xef\xbb\xbf", "a"),
            (b"plain\n", "plain\n"),
        ] {
            assert_eq!(cleaned(bytes), text);
        }
    }
}
