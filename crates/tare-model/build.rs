//! Derives the build id from what goes into the binary, so that two builds of
//! the same sources agree and any other pair does not.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let crates = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..");
    println!("cargo::rerun-if-changed={}", crates.display());
    let mut files = BTreeSet::new();
    sources(&crates, &mut files);
    files.insert(crates.join("../Cargo.lock"));
    // DefaultHasher::new() has fixed keys: the digest does not change from run to run.
    let mut hasher = DefaultHasher::new();
    for name in ["PROFILE", "TARGET", "OPT_LEVEL"] {
        std::env::var(name).unwrap_or_default().hash(&mut hasher);
    }
    for file in files {
        std::fs::read(&file).unwrap_or_default().hash(&mut hasher);
    }
    println!("cargo::rustc-env=TARE_BUILD_ID={:016x}", hasher.finish());
}

fn sources(dir: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path
            .extension()
            .is_some_and(|e| e == "rs" || e == "toml" || e == "html")
        {
            found.insert(path);
        }
    }
}
