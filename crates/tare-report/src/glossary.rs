//! The words of tare and what they mean: `docs/GLOSSARY.md`, compiled in, and the findings.

use crate::document::{Document, Section};
use crate::words::findings;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::suggest::near;

/// The glossary as it ships: chapters with a table of two columns each.
const GLOSSARY: &str = include_str!("../../../docs/GLOSSARY.md");
/// The chapter of what the glossary leaves to the findings themselves.
const FINDINGS: &str = "Findings";
/// So many words are named to one who asked for a word that there is not.
const NEAR: usize = 4;

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
#[error("the glossary has no '{word}': {hint}'tare explain' lists all terms")]
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
    for (term, meaning) in findings::MEANINGS {
        add_finding(&mut entries, term, meaning);
    }
    entries
}

/// Adds a finding: to what its word means beside it, where the glossary has that.
fn add_finding(entries: &mut Vec<Entry>, term: &'static str, meaning: &str) {
    match entries.iter_mut().find(|e| e.term == term) {
        Some(known) => known.meaning += &format!("; as a finding: {meaning}"),
        None => entries.push(Entry {
            chapter: FINDINGS,
            term,
            meaning: meaning.to_owned(),
        }),
    }
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
    Err(UnknownTerm {
        word: word.to_owned(),
        hint: hint(&wanted),
    })
}

/// The words that may be meant: those that are spelt alike, else those whose meaning has this one.
fn hint(wanted: &str) -> String {
    let all = all();
    let known: Vec<&str> = all.iter().flat_map(|e| e.term.split(", ")).collect();
    let mut meant = near(wanted, &known, NEAR);
    if meant.is_empty() {
        let tells = |e: &&Entry| e.meaning.to_lowercase().split(' ').any(|w| bare(w) == wanted);
        meant = all.iter().filter(tells).map(|e| e.term).take(NEAR).collect();
    }
    if meant.is_empty() {
        return String::new();
    }
    let meant: Vec<String> = meant.iter().map(|word| format!("'{word}'")).collect();
    format!("did you mean {}? ", meant.join(" or "))
}

/// A word without the marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Entries as a document, a section for each chapter.
pub fn document(entries: &[Entry]) -> Document {
    let chapters = entries.chunk_by(|one, next| one.chapter == next.chapter);
    let section = |entries: &[Entry]| {
        let facts = entries.iter().map(|e| (e.term.to_owned(), e.meaning.clone()));
        Section::new(entries[0].chapter).facts(facts.collect())
    };
    Document {
        whole: None,
        title: "Glossary".to_owned(),
        subtitle: String::new(),
        answer: Vec::new(),
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
        let of_glossary = all().iter().filter(|e| e.chapter != FINDINGS).count();
        assert_eq!(of_glossary, rows.count());
        assert!(
            all()
                .iter()
                .all(|e| !e.meaning.contains(['[', '`']) && !e.chapter.is_empty())
        );
    }

    #[test]
    fn every_word_and_every_finding_stands_there_once() {
        let all = all();
        let mut words: Vec<&str> = all.iter().flat_map(|e| e.term.split(", ")).collect();
        assert!(findings::MEANINGS.iter().all(|(name, _)| words.contains(name)));
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
        let carry_over = &find("carry-over").unwrap()[0].meaning;
        assert!(carry_over.contains("leaves behind") && carry_over.contains("as a finding"));
    }

    #[test]
    fn a_word_is_found_whatever_its_letters() {
        assert_eq!(find("CHR").unwrap()[0].term, "CHR");
        assert_eq!(find("typical COST").unwrap().len(), 1);
        assert_eq!(find("host-busy").unwrap()[0].chapter, FINDINGS);
    }

    #[test]
    fn one_who_asks_for_another_word_is_told_few_that_may_be_meant() {
        let told = |word| find(word).unwrap_err().to_string();
        let list = "'tare explain' lists all terms";
        assert_eq!(
            told("vanila"),
            format!("the glossary has no 'vanila': did you mean 'vanilla'? {list}")
        );
        assert!(told("undecided").contains("did you mean 'inconclusive'?"));
        assert_eq!(told("xyzzy"), format!("the glossary has no 'xyzzy': {list}"));
    }
}
