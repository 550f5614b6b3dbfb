//! A folder of results files, and the pages over it.

use super::super::forms;
use std::path::PathBuf;
use tare_analysis::advice::{Weights, advise};
use tare_analysis::{analyze, change, trend};
use tare_model::results::{ReadError, Results};
use tare_report::document::Document;
use tare_report::html::{self, Link, Listed};
use tare_report::sections;
use tare_report::text::Where;

pub(super) struct Folder(PathBuf);

/// What is sent.
pub(super) enum Served {
    Page(String),
    /// A results file as it is.
    Data(Vec<u8>),
}

/// Why there is no page.
pub(super) enum NoPage {
    /// Nothing is there.
    NotFound,
    /// It cannot be made, and why.
    Failed(String),
}

impl<E: std::error::Error> From<E> for NoPage {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Folder {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The page of a path below the token, with its query.
    pub fn page(&self, path: &str, query: &str) -> Result<Served, NoPage> {
        let page = match path.split_once('/').unwrap_or((path, "")) {
            ("data", name) => {
                // What is no results file is nobody's to have.
                self.read(name)?;
                return Ok(Served::Data(std::fs::read(self.0.join(name))?));
            }
            ("", "") => self.list(),
            ("report", name) => {
                let document = sections::report(&analyze(&self.read(name)?));
                let href = format!("../data/{}", html::address(name));
                let data = forms::data(&self.0.join(name), Some(href));
                Ok(html::render_with(&document, &[to_list("../")], data.as_slice())?)
            }
            ("advise", name) => {
                let analysis = analyze(&self.read(name)?);
                let advice = advise(&analysis, &Weights::default());
                shown(&sections::advice(&analysis, &advice, Where::default()), "../")
            }
            ("compare", "") => self.compare(query),
            ("trend", "") => {
                let files = self.names()?.into_iter();
                let read = files.filter_map(|name| {
                    let results = self.listed(&name).ok()?;
                    Some((name, results))
                });
                shown(&sections::trend(&trend::trend(&read.collect::<Vec<_>>())?), "./")
            }
            _ => Err(NoPage::NotFound),
        };
        page.map(Served::Page)
    }

    /// Names of the results files, in order; not of links, which may lead out of the folder.
    fn names(&self) -> Result<Vec<String>, NoPage> {
        let entries = std::fs::read_dir(&self.0)?;
        let names = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let is_file = entry.file_type().ok()?.is_file();
            entry
                .file_name()
                .into_string()
                .ok()
                .filter(|name| is_file && name.ends_with(".jsonl"))
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        Ok(names)
    }

    /// A file by its name, if it is among those of the folder: no path leads anywhere else.
    fn read(&self, name: &str) -> Result<Results, NoPage> {
        if !self.names()?.iter().any(|known| known == name) {
            return Err(NoPage::NotFound);
        }
        Ok(self.listed(name)?)
    }

    fn listed(&self, name: &str) -> Result<Results, ReadError> {
        Results::read(&self.0.join(name))
    }

    fn list(&self) -> Result<String, NoPage> {
        let listed = |name: String| match self.listed(&name) {
            Ok(results) => Listed::of(name, &results),
            Err(why) => Listed::unread(name, why.to_string()),
        };
        let files: Vec<Listed> = self.names()?.into_iter().map(listed).collect();
        Ok(html::list(&self.0.display().to_string(), &files)?)
    }

    fn compare(&self, query: &str) -> Result<String, NoPage> {
        let value = |key: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs
                .find(|(name, _)| *name == key)
                .and_then(|(_, value)| super::http::unescaped(value))
        };
        let (Some(before), Some(after)) = (value("before"), value("after")) else {
            return Err(NoPage::Failed("choose an earlier and a later file".to_owned()));
        };
        let change = change::compare(&self.read(&before)?, &self.read(&after)?, None)?;
        shown(&sections::change(&change), "./")
    }
}

/// A page that leads back to the list.
fn shown(document: &Document, list: &str) -> Result<String, NoPage> {
    Ok(html::render_with(document, &[to_list(list)], &[])?)
}

/// The way back to the list: one folder up, or in the same one.
fn to_list(list: &str) -> Link {
    Link {
        href: list.to_owned(),
        text: "all results".to_owned(),
    }
}
