//! Files that tare writes where its user says: what they must not take the place of.

use std::io;
use std::path::Path;
use tare_lab::safe_file;

/// Who may read such a file, as far as the umask lets them.
const MODE: u32 = 0o644;

/// A kind of file that tare makes anew where an older one of the kind lies.
pub struct Made {
    /// What every file of the kind begins with.
    start: &'static [u8],
    /// What it is called.
    what: &'static str,
    /// The option that names it.
    option: &'static str,
    /// What one may be called.
    example: &'static str,
}

/// A report.
pub const PAGE: Made = Made {
    start: b"<!DOCTYPE html>",
    what: "page",
    option: "--html",
    example: "report.html",
};

/// A picture of one.
pub const PICTURE: Made = Made {
    start: b"<svg",
    what: "picture",
    option: "--svg",
    example: "costs.svg",
};

/// A page must not take the place of the results that it shows.
pub fn refuse_same(page: &Path, results: &Path) -> anyhow::Result<()> {
    let place = |path: &Path| {
        let folder = safe_file::folder_of(path).canonicalize().ok()?;
        let path = folder.join(path.file_name()?);
        Some(path.canonicalize().unwrap_or(path))
    };
    anyhow::ensure!(
        page != results && (place(page).is_none() || place(page) != place(results)),
        "{} is the results file, which the page would overwrite: give another path with --html",
        page.display()
    );
    Ok(())
}

/// Why a file is not written, and what to do: another path does not help where the disk is full.
pub fn unwritten(file: &str, option: &str, error: &io::Error) -> anyhow::Error {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free disk space there".to_owned(),
        _ => format!("give a writable path with {option}"),
    };
    anyhow::anyhow!("cannot write {file}: {error}; {advice}")
}

impl Made {
    /// Such a file takes the place of nothing but an older one: not of a device, a pipe or
    /// somebody's notes, nor of what a link leads to, which another user may have put there.
    fn refuse_foreign(&self, path: &Path) -> anyhow::Result<()> {
        let Self {
            start,
            what,
            option,
            example,
        } = self;
        let shown = path.display();
        let found = match std::fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            // Who cannot look does not know that nothing is there.
            Err(e) => anyhow::bail!("cannot read {shown}: {e}; give another path with {option}"),
        };
        anyhow::ensure!(
            !found.is_symlink(),
            "{shown} is a symbolic link, and tare does not write a {what} through a link: give the path of the {what} itself with {option}"
        );
        anyhow::ensure!(
            !found.is_dir(),
            "{shown} is a folder: give the path of a {what} with {option}, such as {}",
            path.join(example).display()
        );
        let is_ours = || -> io::Result<bool> {
            let begins = safe_file::beginning(path, start.len() as u64)?;
            Ok(begins.is_empty() || begins.eq_ignore_ascii_case(start))
        };
        anyhow::ensure!(
            found.is_file() && is_ours().unwrap_or(false),
            "{shown} exists and is not a {what}; tare does not overwrite it: give another path with {option}"
        );
        Ok(())
    }

    /// Refuses a file that cannot be written, before anything is measured for it.
    pub fn check(&self, path: &Path) -> anyhow::Result<()> {
        self.refuse_foreign(path)?;
        safe_file::try_replace(path).map_err(|e| self.unwritten(path, &e))
    }

    /// Writes one; an older one of the same name is replaced whole.
    pub fn write(&self, path: &Path, text: &str) -> anyhow::Result<()> {
        self.refuse_foreign(path)?;
        safe_file::replace(path, MODE, text.as_bytes()).map_err(|e| self.unwritten(path, &e))
    }

    fn unwritten(&self, path: &Path, error: &io::Error) -> anyhow::Error {
        unwritten(&format!("{} {}", self.what, path.display()), self.option, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_needs_room_and_not_another_path() {
        let told = |kind: io::ErrorKind| PAGE.unwritten(Path::new("p.html"), &kind.into()).to_string();
        assert_eq!(
            told(io::ErrorKind::StorageFull),
            "cannot write page p.html: no storage space; free disk space there"
        );
        let denied = told(io::ErrorKind::PermissionDenied);
        assert!(
            denied.ends_with("permission denied; give a writable path with --html"),
            "{denied}"
        );
    }
}
