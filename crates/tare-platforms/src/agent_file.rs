//! The file of the agent, which goes into every box.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use tare_host::build_id;

/// Where the file comes from; unset, it is this program's own.
static SOURCE: OnceLock<fn() -> io::Result<PathBuf>> = OnceLock::new();

/// Has the file come from a controller, which carries it. An agent that makes boxes hands on its own.
pub fn provide(source: fn() -> io::Result<PathBuf>) {
    let _ = SOURCE.set(source);
}

/// A path of the file, which lasts as long as this process.
///
/// # Errors
/// If there is none.
pub fn path() -> io::Result<PathBuf> {
    SOURCE.get().map_or_else(std::env::current_exe, |source| source())
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

/// The build ID of the agent: that of the file, with which every agent has to answer.
pub fn build_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| path().map_or_else(|_| "unknown".to_owned(), |file| build_id::of_file(&file)))
}
