//! A folder of results files, and the pages over it.

use super::super::forms;
use rayon::prelude::*;
use rustix::fs::{Mode, OFlags, openat};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::PathBuf;
use tare_analysis::advice::{Weights, advise};
use tare_analysis::{Brief, analyze, change, trend};
use tare_host::host;
use tare_model::results::{MOST_BYTES, ReadError, Results};
use tare_report::document::{Document, Whole};
use tare_report::html::{self, Link, Listed};
use tare_report::sections;
use tare_report::text::Where;

pub(super) struct Folder {
    path: PathBuf,
    /// It is opened once: its files are found in it, whatever takes its name.
    folder: File,
}

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
    pub fn open(path: PathBuf) -> io::Result<Self> {
        let folder = File::open(&path)?;
        Ok(Self { path, folder })
    }

    /// The page of a path below the token, with its query.
    pub fn page(&self, path: &str, query: &str) -> Result<Served, NoPage> {
        let page = match path.split_once('/').unwrap_or((path, "")) {
            ("data", name) => {
                // What is no results file is nobody's to have.
                let (mut file, _) = self.read(name)?;
                file.rewind()?;
                let mut lines = Vec::new();
                file.take(MOST_BYTES).read_to_end(&mut lines)?;
                return Ok(Served::Data(lines));
            }
            ("", "") => self.list(),
            ("report", name) => {
                let (mut file, results) = self.read(name)?;
                let document = sections::report(&analyze(&results), Where::default());
                let href = format!("../data/{}", html::address(name));
                file.rewind()?;
                let document = Document {
                    whole: (query != EVERYTHING).then(|| Whole::Page(format!("?{EVERYTHING}"))),
                    ..document
                };
                let data = forms::data_of(file, name.to_owned(), Some(href));
                Ok(html::render_with(&document, &[to_list("../")], data.as_slice())?)
            }
            ("advise", name) => {
                let analysis = analyze(&self.read(name)?.1);
                let advice = advise(&analysis, &Weights::default());
                shown(&sections::advice(&analysis, &advice, Where::default()), "../")
            }
            ("compare", "") => self.compare(query),
            ("trend", "") => shown(
                &sections::trend(&trend::trend(self.all()?, host::unix_ns())?),
                "./",
            ),
            _ => Err(NoPage::NotFound),
        };
        page.map(Served::Page)
    }

    /// Names of the results files, in order; not of links, which may lead out of the folder.
    fn names(&self) -> Result<Vec<String>, NoPage> {
        let entries = std::fs::read_dir(&self.path)?;
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

    /// A file by its name, if it is among those of the folder: no path leads anywhere else. With it the file
    /// that was read: another may have its name by now.
    fn read(&self, name: &str) -> Result<(File, Results), NoPage> {
        if !self.names()?.iter().any(|known| known == name) {
            return Err(NoPage::NotFound);
        }
        Ok(self.listed(name)?)
    }

    fn listed(&self, name: &str) -> Result<(File, Results), ReadError> {
        let shown = self.path.join(name).display().to_string();
        // A name is no path, and a link is not followed, whenever it came there.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = openat(&self.folder, name, flags, Mode::empty());
        let file = opened.map(File::from).map_err(|e| ReadError::Io {
            path: shown.clone(),
            source: e.into(),
        })?;
        let results = Results::read_file(&shown, &file)?;
        Ok((file, results))
    }

    /// All that can be read.
    fn all(&self) -> Result<Vec<Brief>, NoPage> {
        let brief = |name: String| {
            let (_, results) = self.listed(&name).ok()?;
            Some(Brief::of(name, &results))
        };
        Ok(self.names()?.into_par_iter().filter_map(brief).collect())
    }

    fn list(&self) -> Result<String, NoPage> {
        let listed = |name: String| match self.listed(&name) {
            Ok((_, results)) => Listed::of(name, &results),
            Err(why) => Listed::unread(name, why.to_string()),
        };
        let files: Vec<Listed> = self.names()?.into_iter().map(listed).collect();
        Ok(html::list(&self.path.display().to_string(), &files)?)
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
        let change = change::compare(&self.read(&before)?.1, &self.read(&after)?.1, None)?;
        shown(&sections::change(&change, [&before, &after]), "./")
    }
}

/// A page that leads back to the list.
fn shown(document: &Document, list: &str) -> Result<String, NoPage> {
    Ok(html::render_with(document, &[to_list(list)], &[])?)
}

/// The query of a report's page with everything.
const EVERYTHING: &str = "details";

/// The way back to the list: one folder up, or in the same one.
fn to_list(list: &str) -> Link {
    Link {
        href: list.to_owned(),
        text: "all results".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As if it had come there since the folder was listed.
    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed_nor_a_pipe_waited_for() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        std::fs::create_dir(at("all")).unwrap();
        std::fs::write(at("secret"), "kept").unwrap();
        std::os::unix::fs::symlink("../secret", at("all/link.jsonl")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("all/pipe.jsonl"), Mode::RWXU).unwrap();
        let folder = Folder::open(at("all")).unwrap();
        std::fs::rename(at("all"), at("moved")).unwrap();
        for name in ["link.jsonl", "pipe.jsonl"] {
            let refused = matches!(
                folder.listed(name),
                Err(ReadError::Io { .. } | ReadError::NoFile { .. })
            );
            assert!(refused, "{name}");
        }
        std::fs::write(at("moved/empty.jsonl"), "").unwrap();
        assert!(matches!(
            folder.listed("empty.jsonl"),
            Err(ReadError::Empty { .. })
        ));
    }
}
