//! The file of the agent, which goes into every box.

use super::architecture::{Architecture, PerArchitecture};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tare_host::build_id;

/// A path of the agent's file for an architecture.
type Source = fn(Architecture) -> io::Result<PathBuf>;

/// Where the file comes from; unset, it is this program's own.
static SOURCE: OnceLock<Source> = OnceLock::new();

/// Has the file come from a controller, which carries it. An agent that makes boxes hands on its own.
pub fn provide(source: Source) {
    let _ = SOURCE.set(source);
}

/// A path of the file, which lasts as long as this process.
///
/// # Errors
/// If there is none.
pub fn path() -> io::Result<PathBuf> {
    path_for(Architecture::HERE)
}

/// The same for an architecture.
///
/// # Errors
/// If there is none.
pub fn path_for(architecture: Architecture) -> io::Result<PathBuf> {
    match SOURCE.get() {
        Some(source) => source(architecture),
        None if architecture.is_foreign() => Err(io::ErrorKind::NotFound.into()),
        None => std::env::current_exe(),
    }
}

/// A path of the program for a box: the agent, or this program where boxes are made in it, since
/// whoever makes boxes measures nothing.
///
/// # Errors
/// If there is none.
pub fn for_box(holds_boxes: bool) -> io::Result<PathBuf> {
    if holds_boxes {
        std::env::current_exe()
    } else {
        path()
    }
}

/// Bytes that are written at a time.
const PIECE: usize = 8192;

/// Copies a program in small pieces, as container engines unpack theirs. The pages of a file are cached in folios as large
/// as what was written at a time, and to start a program from large ones takes less: written in pieces of 64 KiB here,
/// the start of a process in Docker seemed 9 % slower than natively rather than 2 %.
///
/// # Errors
/// Those of the file system.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let (bytes, mut file) = (fs::read(from)?, File::create(to)?);
    bytes.chunks(PIECE).try_for_each(|piece| file.write_all(piece))?;
    file.set_permissions(fs::metadata(from)?.permissions())
}

/// The build ID of the agent: that of the file, with which every agent has to answer.
pub fn build_id() -> &'static str {
    build_id_for(Architecture::HERE)
}

/// The same of that for an architecture.
pub fn build_id_for(architecture: Architecture) -> &'static str {
    static IDS: PerArchitecture<String> = PerArchitecture::empty();
    let of_file =
        || path_for(architecture).map_or_else(|_| "unknown".to_owned(), |file| build_id::of_file(&file));
    IDS.of(architecture).get_or_init(of_file)
}
