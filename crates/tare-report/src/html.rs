//! A report as one self-contained page: no network, light and dark. Nobody needs its script to read
//! it: that filters the rows of tables.
//!
//! Every value passes through askama's escaping; no template marks one as safe.

use crate::chart::Picture;
use crate::document::{Block, Depth, Document, Section, Whole};
use crate::show::{MISSING, clean, date, or_missing};
use crate::words::course;
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use tare_analysis::run_facts;
use tare_model::results::Results;

/// The only script of a page, as it stands between its tags but for its last line end.
const SCRIPT: &str = concat!("\n", include_str!("../templates/page.js"));

/// A way to another page.
#[derive(Debug, Clone)]
pub struct Link {
    /// Where it leads.
    pub href: String,
    pub text: String,
}

/// A file whose figures a page tells: what was measured, sample by sample.
#[derive(Debug, Clone)]
pub struct Data {
    pub name: String,
    /// Where it lies, seen from the page, if it can be reached from there.
    pub href: Option<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256 digest in hexadecimal digits.
    pub sha256: String,
}

/// A results file in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    name: String,
    what: String,
    when: String,
    how_much: String,
}

impl Listed {
    /// One that was read.
    pub fn of(name: String, results: &Results) -> Self {
        let study = &results.header.study;
        let run = run_facts(results);
        let platforms: Vec<String> = study.platforms.iter().map(ToString::to_string).collect();
        let title = study.template.as_ref().map(|t| format!("{}; ", t.title));
        Self {
            name,
            what: title.unwrap_or_default() + &platforms.join(", "),
            when: or_missing(run.sessions.first(), |s| date(s.started_unix_ns)),
            how_much: course::ran(study, &run),
        }
    }

    /// One that could not be read, and why.
    pub fn unread(name: String, why: String) -> Self {
        Self {
            name,
            what: why,
            when: MISSING.to_owned(),
            how_much: MISSING.to_owned(),
        }
    }

    /// The name as a part of an address.
    fn address(&self) -> String {
        address(&self.name)
    }
}

/// A name as a part of an address (RFC 3986, 2.1).
pub fn address(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let bytes = name.bytes().map(|byte| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    bytes.collect()
}

#[derive(Template)]
#[template(path = "list.html")]
struct List<'a> {
    folder: &'a str,
    files: &'a [Listed],
    version: &'static str,
}

/// The page over a folder of results files.
///
/// # Errors
/// None that a list can cause.
pub fn list(folder: &str, files: &[Listed]) -> Result<String, askama::Error> {
    let list = List {
        folder,
        files,
        version: tare_model::VERSION,
    };
    Ok(printable(&list.render()?))
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document,
    /// Its sections that have anything to show: a page has no table that only machines want.
    parts: Vec<&'a Section>,
    /// Titles of those that only the whole page has.
    left_out: Vec<&'a str>,
    links: &'a [Link],
    data: &'a [Data],
    version: &'static str,
    /// What the page lets run: a script of this digest.
    script_digest: String,
}

/// The page alone.
///
/// # Errors
/// None that a document can cause: the template writes to memory.
pub fn render(document: &Document) -> Result<String, askama::Error> {
    render_with(document, &[], &[])
}

/// The page with ways to others, where it is served, and to the data that it tells of.
///
/// # Errors
/// None that a document can cause.
pub fn render_with(document: &Document, links: &[Link], data: &[Data]) -> Result<String, askama::Error> {
    let is_here = |section: &&Section| document.whole.is_none() || section.depth < Depth::Everything;
    let seen = document.sections.iter().filter(|s| s.is_seen());
    let (parts, left_out): (Vec<&Section>, Vec<&Section>) = seen.partition(is_here);
    let page = Page {
        document,
        parts,
        left_out: left_out.iter().map(|s| s.title.as_str()).collect(),
        links,
        data,
        version: tare_model::VERSION,
        script_digest: STANDARD.encode(Sha256::digest(SCRIPT.trim_end())),
    };
    Ok(printable(&page.render()?))
}

/// Control characters that came from the file, spelled out. The template's own
/// line ends stay; a line end within a value can do no harm in a page. No sign
/// for percent is torn from its number.
pub(crate) fn printable(page: &str) -> String {
    let lines = page.lines().filter(|line| !line.trim().is_empty());
    let lines = lines.map(|line| clean(line).replace(" %", "\u{a0}%"));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
