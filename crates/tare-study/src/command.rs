//! A command as a user asks for it, by options or by a file.

use crate::printed::{CheckWish, MetricWish};
use std::path::PathBuf;
use tare_model::load::LoadSpec;

/// A command as the user gave it.
#[derive(Debug, Clone, Default)]
pub struct CommandWish {
    /// Program and arguments; of an image with an entry point the arguments alone.
    pub argv: Vec<String>,
    /// The load that is run in place of a program; then all else of it is empty.
    pub load: Option<LoadSpec>,
    /// What is run of an image in place of its entry point; empty: none.
    pub entrypoint: Option<Vec<String>>,
    /// Whether it must not run on the host's own files.
    pub image_only: bool,
    /// Files and folders to carry into boxes.
    pub with: Vec<PathBuf>,
    /// Whether to carry the program's interpreter, loader and libraries.
    pub with_libraries: bool,
    /// Programs that it calls, to carry likewise.
    pub calls: Vec<String>,
    /// What runs before each trial, program and arguments; empty: nothing.
    pub setup: Vec<String>,
    /// What runs behind each trial; empty: nothing.
    pub teardown: Vec<String>,
    /// Environment, `NAME=VALUE`.
    pub env: Vec<String>,
    /// Figures that it prints.
    pub metrics: Vec<MetricWish>,
    /// What it must print, or must not.
    pub checks: Vec<CheckWish>,
}
