//! What a report is made of, whatever shows it: sections of words, facts, pictures and tables.
//!
//! A section is written once; text, page, Markdown and CSV lay out the same tables.

mod cell;
mod table;

pub use cell::{Cell, Show};
pub use table::{Column, Kind, Row, Table};

use crate::chart::Picture;

/// A report.
#[derive(Debug, Clone)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// What was run, in one line.
    pub subtitle: String,
    /// What is decided, in a sentence or some.
    pub answer: Vec<String>,
    /// What a reader of any figure must know.
    pub notices: Vec<String>,
    /// Its parts, what matters most first.
    pub sections: Vec<Section>,
    /// Where the page with everything is, if a page of this leaves parts out.
    pub whole: Option<Whole>,
}

/// Where the page with everything is.
#[derive(Debug, Clone)]
pub enum Whole {
    /// What a command writes.
    Command(String),
    /// A page beside this one, by its address.
    Page(String),
}

/// A part of a report.
#[derive(Debug, Clone)]
pub struct Section {
    pub title: String,
    pub depth: Depth,
    /// What is in it, in order.
    pub blocks: Vec<Block>,
}

/// How deep a section lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// A page shows it.
    Shown,
    /// A page folds it.
    Folded,
    /// Only a page with everything has it, folded.
    Everything,
}

/// A piece of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// What figures are and where they come from.
    About(String),
    /// Statements.
    List(Vec<String>),
    /// Names and what is known of them.
    Facts(Vec<(String, String)>),
    /// Figures.
    Table(Table),
    /// A drawing of figures that a table holds too.
    Picture(Picture),
}

impl Document {
    /// Its pictures, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.filter_map(|block| match block {
            Block::Picture(picture) => Some(picture),
            _ => None,
        })
    }
}

impl Block {
    /// Whether it says anything by itself where pictures are not shown.
    fn is_read(&self) -> bool {
        match self {
            Self::About(_) | Self::Picture(_) => false,
            Self::List(items) => !items.is_empty(),
            Self::Facts(facts) => !facts.is_empty(),
            Self::Table(table) => table.is_read(),
        }
    }
}

impl Section {
    /// A part that is always shown.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            depth: Depth::Shown,
            blocks: Vec::new(),
        }
    }

    /// A part that a page folds.
    pub fn detail(title: impl Into<String>) -> Self {
        Self::new(title).at(Depth::Folded)
    }

    /// A part for whoever wants every figure and test.
    pub fn evidence(title: impl Into<String>) -> Self {
        Self::new(title).at(Depth::Everything)
    }

    /// The same at another depth.
    #[must_use]
    pub fn at(self, depth: Depth) -> Self {
        Self { depth, ..self }
    }

    /// Whether a page folds it.
    pub fn is_folded(&self) -> bool {
        self.depth > Depth::Shown
    }

    /// What its figures are.
    #[must_use]
    pub fn about(self, text: impl Into<String>) -> Self {
        self.with(Block::About(text.into()))
    }

    /// Statements.
    #[must_use]
    pub fn list(self, items: Vec<String>) -> Self {
        self.with(Block::List(items))
    }

    /// Names and values.
    #[must_use]
    pub fn facts(self, facts: Vec<(String, String)>) -> Self {
        self.with(Block::Facts(facts))
    }

    /// Figures.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.with(Block::Table(table))
    }

    /// A drawing, if there is one.
    #[must_use]
    pub fn picture(mut self, picture: Option<Picture>) -> Self {
        self.blocks.extend(picture.map(Block::Picture));
        self
    }

    fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// The section, unless it says nothing.
    pub fn unless_empty(self) -> Option<Self> {
        let holds = self.blocks.iter().any(|block| match block {
            Block::Table(table) => !table.rows.is_empty(),
            Block::Picture(_) => true,
            other => other.is_read(),
        });
        holds.then_some(self)
    }

    /// Whether it says anything where pictures are not shown.
    pub fn is_read(&self) -> bool {
        self.blocks.iter().any(Block::is_read)
    }

    /// Whether it shows anything where pictures are.
    pub fn is_seen(&self) -> bool {
        self.is_read() || self.blocks.iter().any(|block| matches!(block, Block::Picture(_)))
    }

    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }
}
