//! A report as one self-contained page: no network, light and dark. Nobody needs its script to read
//! it: that filters the rows of tables.
//!
//! Every value passes through askama's escaping; no template marks one as safe.

use crate::chart::Picture;
use crate::document::{Block, Document};
use crate::show::clean;
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The only script of a page, as it stands between its tags but for its last line end.
const SCRIPT: &str = concat!("\n", include_str!("../templates/page.js"));

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document,
    version: &'static str,
    /// What the page lets run: a script of this digest.
    script_digest: String,
}

/// The page.
///
/// # Errors
/// None that a document can cause: the template writes to memory.
pub fn render(document: &Document) -> Result<String, askama::Error> {
    let page = Page {
        document,
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
