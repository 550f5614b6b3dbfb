//! The words of tare and what they mean: `docs/GLOSSARY.md`, compiled in, and the words that code prints, with what
//! their own types say of them.

mod terms;

pub use terms::of_source;

use crate::document::{Document, Section};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::suggest::near;

/// The glossary as it ships: chapters with a table of two columns each.
const GLOSSARY: &str = include_str!("../../../docs/GLOSSARY.md");
/// So many words are named to one who asked for a word that there is not.
const NEAR: usize = 4;

/// And those have so many words at most.
const MOST_WORDS: usize = 3;

/// A word, or several that mean one thing.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Entry {
    /// The chapter that it stands in.
    pub chapter: &'static str,
    /// The words, separated by commas.
    pub term: String,
    /// What they mean.
    pub meaning: String,
}

/// Words of one kind that are not written in the glossary.
#[derive(Debug, Clone, Copy)]
pub struct Chapter {
    pub title: &'static str,
    /// What such a word is, where it means something else too: `a finding`.
    pub one: &'static str,
}

/// A word that is not in the glossary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the glossary has no '{word}': {hint}'tare explain' lists all terms")]
pub struct UnknownTerm {
    word: String,
    hint: String,
}

/// All words with their meanings.
#[derive(Debug, Clone)]
pub struct Glossary {
    entries: Vec<Entry>,
}

impl Default for Glossary {
    /// The words of the glossary and of reports.
    fn default() -> Self {
        let mut glossary = Self::written();
        terms::add(&mut glossary);
        glossary
    }
}

impl Glossary {
    /// What is written in the glossary.
    fn written() -> Self {
        let mut chapter = "";
        let mut entries = Vec::new();
        for line in GLOSSARY.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                chapter = title;
            }
            entries.extend(entry(chapter, line));
        }
        Self { entries }
    }

    /// Adds a word: to its other meanings, if it has any.
    pub fn add(&mut self, chapter: Chapter, term: &str, meaning: &str) {
        let is_it = |e: &&mut Entry| e.term.split(", ").any(|known| known == term);
        match self.entries.iter_mut().find(is_it) {
            Some(known) if known.term == term => {
                known.meaning += &format!("; as {}: {meaning}", chapter.one);
            }
            Some(known) => known.meaning += &format!("; {term} as {}: {meaning}", chapter.one),
            None => self.entries.push(Entry {
                chapter: chapter.title,
                term: term.to_owned(),
                meaning: meaning.to_owned(),
            }),
        }
    }

    /// Every word, in the order of the glossary, then those that were added.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries of a word; those that have it as a part where none is that word.
    ///
    /// # Errors
    /// There is none; the nearest are named.
    pub fn find(&self, word: &str) -> Result<Vec<Entry>, UnknownTerm> {
        let wanted = spelt(
            word.trim()
                .trim_matches(['\'', '"', '`', '.', ':', ';', '?', '!']),
        );
        let of = |is: &dyn Fn(&str) -> bool| -> Vec<Entry> {
            let words = |e: &&Entry| e.term.split(", ").any(|w| is(&spelt(w)));
            self.entries.iter().filter(words).cloned().collect()
        };
        let singular = wanted.strip_suffix('s').unwrap_or(&wanted);
        let mut found = of(&|known| known == wanted);
        if found.is_empty() {
            found = of(&|known| known == singular);
        }
        if found.is_empty() {
            found = of(&|known| known.split(' ').any(|part| part == wanted));
        }
        if found.is_empty() {
            return Err(UnknownTerm {
                word: word.to_owned(),
                hint: self.hint(&wanted),
            });
        }
        Ok(found)
    }

    /// The words that may be meant: those that are spelt alike, else those whose meaning has this one.
    fn hint(&self, wanted: &str) -> String {
        let known = self.entries.iter().flat_map(|e| e.term.split(", "));
        // Longer ones have words such as `of`, which many are spelt like.
        let known: Vec<&str> = known
            .filter(|term| term.split(' ').count() <= MOST_WORDS)
            .collect();
        let mut meant = near(wanted, &known, NEAR);
        if meant.is_empty() {
            let tells = |e: &&Entry| e.meaning.to_lowercase().split(' ').any(|w| bare(w) == wanted);
            let telling = self.entries.iter().filter(tells);
            meant = telling.map(|e| e.term.as_str()).take(NEAR).collect();
        }
        if meant.is_empty() {
            return String::new();
        }
        let meant: Vec<String> = meant.iter().map(|word| format!("'{word}'")).collect();
        format!("did you mean {}? ", meant.join(" or "))
    }
}

/// A word however it is written: `box-cpu`, `box_cpu` and `Box CPU` are one.
fn spelt(word: &str) -> String {
    word.to_lowercase().replace(['-', '_'], " ").replace(',', "")
}

/// The entry of a row of a table: not its head, nor the rule below that.
fn entry(chapter: &'static str, line: &'static str) -> Option<Entry> {
    let (term, meaning) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
    (term != "term").then(|| Entry {
        chapter,
        term: term.replace('`', ""),
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

/// A word without the marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Entries as a document, a section for each chapter.
pub fn document(entries: &[Entry]) -> Document {
    let chapters = entries.chunk_by(|one, next| one.chapter == next.chapter);
    let section = |entries: &[Entry]| {
        let facts = entries.iter().map(|e| (e.term.clone(), e.meaning.clone()));
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

    fn find(word: &str) -> Result<Vec<Entry>, UnknownTerm> {
        Glossary::default().find(word)
    }

    #[test]
    fn every_row_of_the_glossary_is_an_entry_without_marks() {
        let rows = GLOSSARY
            .lines()
            .filter(|l| l.starts_with("| ") && !l.starts_with("| term"));
        assert_eq!(Glossary::written().entries().len(), rows.count());
        let glossary = Glossary::default();
        let is_plain = |e: &Entry| !e.meaning.contains(['[', '`']) && !e.term.contains('`');
        let odd: Vec<&Entry> = glossary
            .entries()
            .iter()
            .filter(|e| !is_plain(e) || e.chapter.is_empty() || e.meaning.is_empty())
            .collect();
        assert!(odd.is_empty(), "{odd:?}");
    }

    #[test]
    fn every_word_stands_there_once_with_all_its_meanings() {
        let glossary = Glossary::default();
        let mut words: Vec<&str> = glossary
            .entries()
            .iter()
            .flat_map(|e| e.term.split(", "))
            .collect();
        words.sort_unstable();
        let twice: Vec<_> = words.windows(2).filter(|w| w[0] == w[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let carry_over = &find("carry-over").unwrap()[0].meaning;
        assert!(carry_over.contains("leaves behind") && carry_over.contains("as a finding: "));
    }

    #[test]
    fn a_word_is_found_however_it_is_written() {
        assert_eq!(find("chr").unwrap()[0].term, "CHR");
        assert_eq!(find("typical COST").unwrap().len(), 1);
        assert_eq!(find("findings").unwrap()[0].term, "finding");
        assert_eq!(find("host-busy").unwrap()[0].chapter, "Findings");
        for written in ["host-busy", "host_busy", "Host busy", "'host-busy'"] {
            assert_eq!(find(written).unwrap()[0].term, "host-busy", "{written}");
        }
    }

    #[test]
    fn one_who_asks_for_another_word_is_told_few_that_may_be_meant() {
        let told = |word| find(word).unwrap_err().to_string();
        let list = "'tare explain' lists all terms";
        assert_eq!(
            told("vanila"),
            format!("the glossary has no 'vanila': did you mean 'vanilla'? {list}")
        );
        assert!(told("indecisive").contains("'tare explain' lists all terms"));
        assert!(!told("tie").contains("cost of the"));
        assert_eq!(told("xyzzy"), format!("the glossary has no 'xyzzy': {list}"));
    }
}
