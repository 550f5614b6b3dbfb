//! A table: columns with what they mean, and rows of figures.

use super::Cell;
use std::borrow::Cow;

/// A page leaves rows out of a longer table that matter less: some 250 bytes each.
const LONG: usize = 150;

/// Rows of figures.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name in files and options: letters and hyphens.
    pub id: &'static str,
    /// What its columns are.
    pub columns: Vec<Column>,
    /// So many columns from the left say what a group of rows is of: people read them once, above
    /// the group.
    pub keys: usize,
    pub rows: Vec<Row>,
    /// Whether only machines want it: people look at its picture.
    pub is_data: bool,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub head: Cow<'static, str>,
    /// What it holds, where the head does not say it all.
    pub meaning: &'static str,
    /// How it is laid out.
    pub kind: Kind,
}

/// How a column is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name, or a word or two.
    Name,
    Number,
    /// A figure with its interval.
    Interval,
    /// Sentences.
    Words,
    /// For machines alone, such as the unit of what people read with its unit.
    Machine,
}

#[derive(Debug, Clone)]
pub struct Row {
    /// Its cells, one for each column.
    pub cells: Vec<Cell>,
    /// Whether it matters less than others.
    pub is_minor: bool,
}

impl Table {
    /// A table without rows.
    pub fn new(id: &'static str, keys: usize, columns: Vec<Column>) -> Self {
        Self {
            id,
            columns,
            keys,
            rows: Vec::new(),
            is_data: false,
        }
    }

    /// A table for machines alone.
    #[must_use]
    pub fn of_data(mut self) -> Self {
        self.is_data = true;
        self
    }

    /// Whether people read it.
    pub fn is_read(&self) -> bool {
        !self.is_data && !self.rows.is_empty()
    }

    /// Adds a row.
    pub fn push(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row {
            cells,
            is_minor: false,
        });
    }

    /// Adds a row that matters less.
    pub fn push_minor(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row {
            cells,
            is_minor: true,
        });
    }

    /// Adds a row of a primary figure, or of another.
    pub fn push_as(&mut self, is_primary: bool, cells: Vec<Cell>) {
        self.rows.push(Row {
            cells,
            is_minor: !is_primary,
        });
    }

    /// The table with these rows.
    #[must_use]
    pub fn with(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        rows.into_iter().for_each(|cells| self.push(cells));
        self
    }

    /// The table with its keys and the columns of these heads alone.
    #[must_use]
    pub fn only(mut self, heads: &[&str]) -> Self {
        let keys = self.keys;
        let is_kept = |i: usize, column: &Column| i < keys || heads.contains(&&*column.head);
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|i| is_kept(*i, &self.columns[*i]))
            .collect();
        self.columns = kept.iter().map(|i| self.columns[*i].clone()).collect();
        for row in &mut self.rows {
            row.cells = kept.iter().filter_map(|i| row.cells.get(*i).cloned()).collect();
        }
        self
    }

    /// What the group of a row is of: the cells of its keys in one line.
    pub fn group(&self, row: &Row) -> String {
        let keys = row.cells.iter().take(self.keys).zip(&self.columns);
        let shown = keys.filter(|(cell, _)| !cell.is_blank());
        let shown: Vec<String> = shown.map(|(cell, column)| column.key(cell)).collect();
        shown.join(" ")
    }

    /// The places of the columns that people read, without the keys and without those that hold
    /// nothing.
    pub fn shown(&self) -> Vec<usize> {
        let says = |i: &usize| {
            self.rows
                .iter()
                .any(|row| row.cells.get(*i).is_some_and(|c| !c.is_blank()))
        };
        let all = self.columns.iter().enumerate().skip(self.keys);
        all.filter(|(_, column)| column.kind != Kind::Machine)
            .map(|(i, _)| i)
            .filter(says)
            .collect()
    }

    /// The rows, each with the title of the group that it opens.
    pub fn grouped(&self) -> impl Iterator<Item = (Option<String>, &Row)> {
        self.in_groups(self.rows.iter())
    }

    /// The same of the rows that a page has: of a long table those that matter.
    pub fn grouped_in_page(&self) -> impl Iterator<Item = (Option<String>, &Row)> {
        let is_long = self.is_long();
        self.in_groups(self.rows.iter().filter(move |row| !(is_long && row.is_minor)))
    }

    /// Rows that a page has not.
    pub fn left_out(&self) -> usize {
        if self.is_long() {
            self.rows.iter().filter(|row| row.is_minor).count()
        } else {
            0
        }
    }

    fn is_long(&self) -> bool {
        self.rows.len() > LONG
    }

    fn in_groups<'a>(
        &'a self,
        rows: impl Iterator<Item = &'a Row>,
    ) -> impl Iterator<Item = (Option<String>, &'a Row)> {
        let mut last = None;
        rows.map(move |row| {
            if self.keys == 0 {
                return (None, row);
            }
            let group = self.group(row);
            if last.as_ref() == Some(&group) {
                return (None, row);
            }
            last = Some(group.clone());
            (Some(group), row)
        })
    }
}

impl Column {
    const fn of(kind: Kind, head: &'static str, meaning: &'static str) -> Self {
        Self {
            head: Cow::Borrowed(head),
            meaning,
            kind,
        }
    }

    pub const fn name(head: &'static str) -> Self {
        Self::of(Kind::Name, head, "")
    }

    pub const fn number(head: &'static str, meaning: &'static str) -> Self {
        Self::of(Kind::Number, head, meaning)
    }

    /// Figures with intervals.
    pub const fn interval(head: &'static str, meaning: &'static str) -> Self {
        Self::of(Kind::Interval, head, meaning)
    }

    /// Sentences.
    pub const fn words(head: &'static str) -> Self {
        Self::of(Kind::Words, head, "")
    }

    /// What machines alone need.
    pub const fn machine(head: &'static str, meaning: &'static str) -> Self {
        Self::of(Kind::Machine, head, meaning)
    }

    /// The same with a head of its own.
    #[must_use]
    pub fn named(mut self, head: impl Into<Cow<'static, str>>) -> Self {
        self.head = head.into();
        self
    }

    /// Its class in pages; names are what is usual.
    pub const fn class(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Name | Kind::Machine => None,
            Kind::Number => Some("number"),
            Kind::Interval => Some("interval"),
            Kind::Words => Some("words"),
        }
    }

    /// Whether its cells end below one another.
    pub fn is_right(&self) -> bool {
        self.kind == Kind::Number
    }

    /// A cell in the title of a group: what something is held against says so.
    fn key(&self, cell: &Cell) -> String {
        match &*self.head {
            "against" => format!("against {}", cell.shown()),
            _ => cell.shown(),
        }
    }
}
