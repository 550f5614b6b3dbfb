//! Study files: every mistake has its message with line and column, and the
//! shipped studies are right.

mod files;
mod mistakes;
mod studies;

use std::path::Path;
use tare_model::host::HostFacts;
use tare_model::study::Study;
use tare_study::study_file::{self, StudyFileError};

fn facts() -> HostFacts {
    HostFacts {
        memory_bytes: 16 << 30,
        llc_bytes: Some(32 << 20),
        ..HostFacts::default()
    }
}

/// The study of a file, or its error, with the folder cut off.
fn study_in(folder: &Path, file: &str, small: bool) -> Result<Study, String> {
    let path = folder.join(file);
    let told = |e: StudyFileError| e.to_string().replace(&format!("{}/", folder.display()), "");
    let file = study_file::read(path.to_str().unwrap(), small).map_err(told)?;
    let (study, misfits) = file.sketch(file.wishes(), &facts()).map_err(told)?;
    match misfits.into_iter().next() {
        Some(misfit) => Err(told(misfit)),
        None => Ok(study),
    }
}

fn study(text: impl AsRef<[u8]>) -> Result<Study, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), text).unwrap();
    study_in(folder.path(), "s.toml", false)
}

/// What is told of a study with this below its title.
#[track_caller]
fn told(below: &str, message: &str) {
    assert_eq!(study(format!("title = \"t\"\n{below}")).unwrap_err(), message);
}
