//! What a command printed, as text: without what terminals are told, and without the other
//! system's line ends.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Colours, and whatever else ECMA-48 has begin with `ESC [`.
#[expect(clippy::unwrap_used, reason = "it is a constant, and a test reads by it")]
static CONTROLS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\x1b\[[0-?]*[ -/]*[@-~]|\r+(?P<end>\n)|\r+\z|\A\u{feff}").unwrap());

/// Bytes that are not UTF-8 become U+FFFD: figures stand beside a degree sign of Latin-1.
pub(super) fn cleaned(bytes: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => CONTROLS.replace_all(text, "$end"),
        Cow::Owned(text) => Cow::Owned(CONTROLS.replace_all(&text, "$end").into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_odd_bytes_and_carriage_returns_leave_the_text() {
        for (bytes, text) in [
            (&b"\x1b[1mrate:\x1b[0m 5\x1b[K\n"[..], "rate: 5\n"),
            (b"40\xb0C\r\nrate: 5\r\n", "40\u{fffd}C\nrate: 5\n"),
            (b"10 %\r20 %\rdone\r", "10 %\r20 %\rdone"),
            (b"\xef\xbb\xbfa\xef\xbb\xbf", "a\u{feff}"),
            (b"plain\n", "plain\n"),
        ] {
            assert_eq!(cleaned(bytes), text);
        }
    }
}
