//! Lines of a terminal page. Every span is cleaned as it is added: the only
//! escape sequences in the output are those of [`Style`].

use super::TextOptions;
use crate::show::clean;
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a span looks where colours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Red => "\x1b[31m",
            Self::Green => "\x1b[32m",
            Self::Yellow => "\x1b[33m",
        }
    }
}

pub(crate) struct Page {
    out: String,
    options: TextOptions,
}

impl Page {
    /// Narrower than 40 columns nothing can be read; wider lines are not filled.
    pub fn new(options: TextOptions) -> Self {
        Self {
            out: String::new(),
            options: TextOptions {
                width: options.width.max(40),
                ..options
            },
        }
    }

    /// Columns of a line.
    pub const fn width(&self) -> usize {
        self.options.width
    }

    /// Whether drawings are wanted.
    pub const fn draws(&self) -> bool {
        self.options.drawings
    }

    pub fn finish(self) -> String {
        self.out
    }

    pub fn blank(&mut self) {
        self.out.push('\n');
    }

    pub fn line(&mut self, spans: &[(Style, &str)]) {
        for (style, text) in spans {
            self.span(*style, text);
        }
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
        self.out.push('\n');
    }

    fn span(&mut self, style: Style, text: &str) {
        let coloured = self.options.colour && style != Style::Plain && !text.is_empty();
        if coloured {
            self.out.push_str(style.code());
        }
        let cleaned = clean(text);
        self.out.push_str(&if self.options.ascii {
            in_ascii(&cleaned)
        } else {
            cleaned
        });
        if coloured {
            self.out.push_str("\x1b[0m");
        }
    }

    pub fn heading(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.blank();
        }
        self.wrapped("", 0, Style::Bold, text);
    }

    /// Words of `text`, wrapped, behind `first`; later lines begin at `indent`.
    pub fn wrapped(&mut self, first: &str, indent: usize, style: Style, text: &str) {
        let cleaned = clean(text);
        let mut line = left(first, indent);
        // A name that fills the column would run into the words.
        if columns_of(first) >= indent && !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        let mut empty = true;
        for word in pieces(&cleaned, self.width().saturating_sub(indent).max(20)) {
            if !empty && columns_of(&line) + 1 + columns_of(&word) > self.width() {
                self.line(&[(style, &line)]);
                line = " ".repeat(indent);
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(&word);
            empty = false;
        }
        self.line(&[(style, &line)]);
    }
}

/// The same in ASCII: signs of ours by what looks most like them, letters of others spelled out.
fn in_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{0}'..='\u{7f}' => plain.push(c),
            '—' | '─' => plain.push('-'),
            '│' => plain.push('|'),
            '┊' => plain.push(':'),
            '●' => plain.push('o'),
            '…' => plain.push('~'),
            '·' => plain.push('-'),
            '±' => plain.push_str("+-"),
            other => plain.extend(other.escape_default()),
        }
    }
    Cow::Owned(plain)
}

/// Columns that a text occupies on a terminal.
pub(super) fn columns_of(text: &str) -> usize {
    text.width()
}

/// A text that ends in front of column `width`, or further to the right where it is longer.
pub(super) fn left(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(columns_of(text)))
}

/// As much of a text as fits into so many columns.
pub(super) fn front(text: &str, width: usize) -> &str {
    let mut taken = 0;
    let mut all = text.char_indices();
    let beyond = all.find(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken > width
    });
    beyond.map_or(text, |(end, _)| &text[..end])
}

/// The words of `text`; one longer than a line is cut, and no sign for percent
/// is torn from its number.
fn pieces(text: &str, longest: usize) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        match words.last_mut() {
            Some(number) if word.starts_with('%') => *number = format!("{number} {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    words.into_iter().flat_map(move |word| cut(&word, longest))
}

/// A word in pieces of so many columns.
fn cut(word: &str, longest: usize) -> Vec<String> {
    let mut rest = word;
    let mut pieces = Vec::new();
    while columns_of(rest) > longest {
        let piece = front(rest, longest);
        pieces.push(piece.to_owned());
        rest = &rest[piece.len()..];
    }
    pieces.push(rest.to_owned());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrow(colour: bool) -> TextOptions {
        TextOptions {
            colour,
            width: 40,
            ascii: false,
            drawings: true,
        }
    }

    fn wrapped(text: &str) -> String {
        let mut page = Page::new(narrow(false));
        page.wrapped("  name", 10, Style::Plain, text);
        page.finish()
    }

    #[test]
    fn words_are_wrapped_behind_their_name() {
        assert_eq!(
            wrapped("one two three four five six seven eight"),
            "  name    one two three four five six\n          seven eight\n"
        );
    }

    #[test]
    fn a_name_wider_than_its_column_stands_off_from_the_words() {
        let mut page = Page::new(narrow(false));
        page.wrapped("  a-long-name", 10, Style::Plain, "one two");
        assert_eq!(page.finish(), "  a-long-name one two\n");
    }

    #[test]
    fn endless_words_are_cut() {
        let text = wrapped(&"x".repeat(75));
        assert!(text.lines().all(|l| columns_of(l) <= 40), "{text}");
        assert_eq!(text.matches('x').count(), 75);
    }

    #[test]
    fn a_terminal_of_ascii_gets_signs_that_look_alike() {
        let mut page = Page::new(TextOptions {
            ascii: true,
            ..narrow(false)
        });
        page.line(&[(Style::Plain, "┊ ─●─ │ — é…")]);
        assert_eq!(page.finish(), ": -o- | - \\u{e9}~\n");
    }

    #[test]
    fn escape_sequences_of_others_are_spelled_out() {
        let mut page = Page::new(narrow(true));
        page.line(&[(Style::Red, "a\x1b[2Jb\r\n")]);
        assert_eq!(page.finish(), "\x1b[31ma\\u{1b}[2Jb\\r\\n\x1b[0m\n");
    }
}
