//! The words of tare and what they mean: `docs/GLOSSARY.md`, compiled in, and the findings.

use crate::document::{Document, Section};
use crate::words::findings;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::suggest::among;

/// The glossary as it ships: chapters with a table of two columns each.
const GLOSSARY: &str = include_str!("../../../docs/GLOSSARY.md");
/// The chapter of what the glossary leaves to the findings themselves.
const FINDINGS: &str = "Findings";

/// A word, or several that mean one thing.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Entry {
    /// The chapter that it stands in.
    pub chapter: &'static str,
    /// The words, separated by commas.
    pub term: &'static str,
    /// What they mean.
    pub meaning: String,
}

/// A word that is not in the glossary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the glossary has no '{word}': {hint}")]
pub struct UnknownTerm {
    word: String,
    hint: String,
}

/// Every word, in the order of the glossary, then the findings.
pub fn all() -> Vec<Entry> {
    let mut chapter = "";
    let mut entries = Vec::new();
    for line in GLOSSARY.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            chapter = title;
        }
        entries.extend(entry(chapter, line));
    }
    let finding = |(term, meaning): &(&'static str, &'static str)| Entry {
        chapter: FINDINGS,
        term,
        meaning: (*meaning).to_owned(),
    };
    entries.extend(findings::MEANINGS.iter().map(finding));
    entries
}

/// The entry of a row of a table: not its head, nor the rule below that.
fn entry(chapter: &'static str, line: &'static str) -> Option<Entry> {
    let (term, meaning) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
    (term != "term").then(|| Entry {
        chapter,
        term: term.trim_matches('`'),
        meaning: plain(meaning),
    })
}

/// Text without the marks of Markdown: a link is what it says.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        out.push_str(before);
        let Some((words, after)) = link.split_once("](") else {
            rest = link;
            continue;
        };
        out.push_str(words);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    (out + rest).replace('`', "")
}

/// The entries of a word; those that begin with it where none is that word.
///
/// # Errors
/// There is none; the nearest is told.
pub fn find(word: &str) -> Result<Vec<Entry>, UnknownTerm> {
    let wanted = word.trim().to_lowercase();
    let of = |is: &dyn Fn(&str) -> bool| -> Vec<Entry> {
        let words = |e: &Entry| e.term.split(", ").any(|w| is(&w.to_lowercase()));
        all().into_iter().filter(words).collect()
    };
    let exact = of(&|known| known == wanted);
    let found = if exact.is_empty() {
        of(&|known| known.split(' ').any(|part| part == wanted))
    } else {
        exact
    };
    if !found.is_empty() {
        return Ok(found);
    }
    let known: Vec<&str> = all().iter().flat_map(|e| e.term.split(", ")).collect();
    Err(UnknownTerm {
        word: word.to_owned(),
        hint: among(word, &known, "its words"),
    })
}

/// Entries as a document, a section for each chapter.
pub fn document(entries: &[Entry]) -> Document {
    let chapters = entries.chunk_by(|one, next| one.chapter == next.chapter);
    let section = |entries: &[Entry]| {
        let facts = entries.iter().map(|e| (e.term.to_owned(), e.meaning.clone()));
        Section::new(entries[0].chapter).facts(facts.collect())
    };
    Document {
        title: "What the words of tare mean".to_owned(),
        subtitle: String::new(),
        notices: Vec::new(),
        sections: chapters.map(section).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_glossary_is_an_entry_without_marks() {
        let rows = GLOSSARY
            .lines()
            .filter(|l| l.starts_with("| ") && !l.starts_with("| term"));
        assert_eq!(all().len(), rows.count() + findings::MEANINGS.len());
        assert!(
            all()
                .iter()
                .all(|e| !e.meaning.contains(['[', '`']) && !e.chapter.is_empty())
        );
    }

    #[test]
    fn a_word_is_found_whatever_its_letters_and_a_slip_is_told() {
        assert_eq!(find("CHR").unwrap()[0].term, "CHR");
        assert_eq!(find("typical COST").unwrap().len(), 1);
        assert_eq!(find("host-busy").unwrap()[0].chapter, FINDINGS);
        assert!(
            find("vanila")
                .unwrap_err()
                .to_string()
                .contains("did you mean 'vanilla'?")
        );
        assert!(find("xyzzy").unwrap_err().to_string().contains("its words are"));
    }
}
