//! Many results files, of each of which only what it says beside the others is kept.

use anyhow::Context;
use rayon::prelude::*;
use std::path::PathBuf;
use tare_analysis::Brief;
use tare_model::results::{ReadError, Results};

/// The files that are named, and those of the folders that are, by their names.
pub fn paths(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let shown = path.display();
        let entries = std::fs::read_dir(path).with_context(|| format!("cannot read folder {shown}"))?;
        let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        found.retain(|path| path.extension().is_some_and(|ext| ext == "jsonl") && path.is_file());
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// Reads and analyses each on a CPU of its own.
pub fn read(paths: &[PathBuf]) -> Vec<Result<Brief, ReadError>> {
    let brief = |path: &PathBuf| {
        let results = Results::read(path)?;
        Ok(Brief::of(path.display().to_string(), &results))
    };
    paths.par_iter().map(brief).collect()
}
