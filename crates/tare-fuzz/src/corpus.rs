//! Inputs on the disk: examples, and what was found.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder `fuzz` of this repository.
pub fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).join("fuzz")
}

/// The files of a folder with what they hold, in the order of their names; none where there
/// is no such folder.
///
/// # Errors
/// Those of reading a file.
pub fn files(folder: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry?.path());
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| Ok((path.clone(), fs::read(&path)?)))
        .collect()
}

/// Keeps an input under its hash; returns the path.
///
/// # Errors
/// Those of the file system.
pub fn keep(folder: &Path, input: &[u8]) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{:016x}", hash(input)));
    fs::write(&path, input)?;
    Ok(path)
}

/// FNV-1a: short, and the same in every build.
pub fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
