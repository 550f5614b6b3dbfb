//! The workloads that come with tare: the files of `workloads/`.

use include_dir::{Dir, include_dir};

static FOLDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../workloads");

/// The names of all, in order.
pub fn names() -> Vec<&'static str> {
    let files = FOLDER.files().map(|file| file.path().to_str());
    let mut names: Vec<&str> = files.filter_map(|path| path?.strip_suffix(".toml")).collect();
    names.sort_unstable();
    names
}

/// The text of one.
pub(super) fn text(name: &str) -> Option<&'static str> {
    FOLDER.get_file(format!("{name}.toml"))?.contents_utf8()
}
