//! Places in the text of a study.

use std::ops::Range;
use std::rc::Rc;

/// A text by its name.
#[derive(Debug)]
pub(super) struct Source {
    pub name: String,
    pub text: String,
}

/// A stretch of a text.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub source: Rc<Source>,
    pub span: Range<usize>,
}

impl Place {
    pub(super) fn file(&self) -> &str {
        &self.source.name
    }

    /// The place with another span in the same text.
    pub(super) fn with(&self, span: Range<usize>) -> Self {
        Self {
            source: Rc::clone(&self.source),
            span,
        }
    }

    /// Where it begins.
    pub(super) const fn start(&self) -> usize {
        self.span.start
    }

    /// Line and column in characters, from 1.
    pub(super) fn line_and_column(&self) -> (usize, usize) {
        let text = self.source.text.as_bytes();
        let before = &text[..self.span.start.min(text.len())];
        line_and_column(before)
    }

    /// What stands there: its first line, cut short.
    pub(super) fn snippet(&self) -> String {
        const LONGEST: usize = 40;
        let text = self.source.text.get(self.span.clone()).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let short: String = line.chars().take(LONGEST).collect();
        if short.len() < text.trim_end().len() {
            format!("{short}...")
        } else {
            short
        }
    }
}

/// Line and column in characters, from 1, of what stands behind this beginning of a text.
pub(crate) fn line_and_column(before: &[u8]) -> (usize, usize) {
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let begin = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[begin..]).chars().count() + 1;
    (line, column)
}
