//! Files that tare writes where its user says: what they must not take the place of.

use anyhow::Context;
use std::path::Path;
use tare_lab::own;

/// What every page begins with.
const PAGE_START: &[u8] = b"<!DOCTYPE html>";
/// Who may read a page, as far as the umask lets them.
const PAGE_MODE: u32 = 0o644;

/// A page must not take the place of the results that it shows.
pub fn refuse_same(page: &Path, results: &Path) -> anyhow::Result<()> {
    let place = |path: &Path| {
        let folder = own::folder_of(path).canonicalize().ok()?;
        let path = folder.join(path.file_name()?);
        Some(path.canonicalize().unwrap_or(path))
    };
    anyhow::ensure!(
        page != results && (place(page).is_none() || place(page) != place(results)),
        "{} is the results file, and the page would take its place: give another path with --html",
        page.display()
    );
    Ok(())
}

/// A page takes the place of nothing but an older page: not of a device, a pipe or
/// somebody's notes, nor of what a link leads to, which another user may have put there.
pub fn refuse_foreign(page: &Path) -> anyhow::Result<()> {
    let shown = page.display();
    let found = match std::fs::symlink_metadata(page) {
        Ok(found) => found,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        // Who cannot look does not know that nothing is there.
        Err(e) => anyhow::bail!("cannot look at {shown}: {e}; give another path with --html"),
    };
    anyhow::ensure!(
        !found.is_symlink(),
        "{shown} is a symbolic link, and a page is written to no other place than it is given: \
         give the path of the page itself with --html"
    );
    anyhow::ensure!(
        !found.is_dir(),
        "{shown} is a folder: give the path of a page with --html, such as {}",
        page.join("report.html").display()
    );
    let is_page = || -> std::io::Result<bool> {
        let start = own::beginning(page, PAGE_START.len() as u64)?;
        Ok(start.is_empty() || start.eq_ignore_ascii_case(PAGE_START))
    };
    anyhow::ensure!(
        found.is_file() && is_page().unwrap_or(false),
        "{shown} is there and is no page, and a page would take its place: give another path with --html"
    );
    Ok(())
}

/// Refuses a page that cannot be written, before anything is measured for it.
pub fn check_page(page: &Path) -> anyhow::Result<()> {
    refuse_foreign(page)?;
    own::try_replace(page).with_context(|| {
        format!(
            "cannot write page {}: give a path that can be written",
            page.display()
        )
    })
}

/// Writes a page; an older one of the same name is replaced whole.
pub fn write_page(page: &Path, text: &str) -> anyhow::Result<()> {
    refuse_foreign(page)?;
    own::replace(page, PAGE_MODE, text.as_bytes()).with_context(|| {
        format!(
            "cannot write page {}: give a path that can be written with --html",
            page.display()
        )
    })
}
