//! The modules of this crate rest on one another in one order, in which no two can
//! form a circle of imports.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up: each names only those before it. Of the platforms, the
/// contract is a layer by itself, below all that makes boxes or works with them.
const ORDER: [&str; 22] = [
    "interrupt",
    "precautions",
    "words",
    "seat",
    "places",
    "remove",
    "carry",
    "jail",
    "cgroup",
    "oom",
    "footprint",
    "host",
    "conditions",
    "link",
    "program",
    "net",
    CONTRACT,
    "limits",
    "platforms",
    "state",
    "agent",
    "conformance",
];
const CONTRACT: &str = "platforms/contract";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of Rust at and below a path.
fn files_at(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return vec![path.to_owned()];
    };
    let below = entries.flatten().map(|entry| entry.path());
    below.flat_map(|path| files_at(&path)).collect()
}

/// The layer of a file.
fn layer_of(file: &Path) -> Option<usize> {
    let relative = file.strip_prefix(sources()).expect("a file of the sources");
    let starts =
        |layer: &&str| relative.starts_with(layer) || relative == Path::new(layer).with_extension("rs");
    // The contract before the folder that it lies in.
    ORDER.iter().position(starts)
}

/// The modules that a text names by their path from the crate's root.
fn named(text: &str) -> Vec<&str> {
    let paths = text.split("crate::").skip(1);
    paths
        .flat_map(|path| match path.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default().split(',').collect(),
            None => vec![path],
        })
        .map(|path| match path.trim() {
            inner if inner.starts_with("platforms::contract") => CONTRACT,
            outer => outer
                .split(|c: char| !c.is_ascii_lowercase())
                .next()
                .unwrap_or_default(),
        })
        .collect()
}

#[test]
fn each_module_names_only_those_below_it() {
    for file in files_at(&sources()) {
        let Some(own) = layer_of(&file) else {
            assert!(
                file.ends_with("lib.rs"),
                "{} is of no layer: add it to the order",
                file.display()
            );
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        for name in named(&text) {
            let other = ORDER.iter().position(|layer| *layer == name);
            assert!(
                other.is_some_and(|other| other <= own),
                "{} names crate::{name}, which is not below it",
                file.display()
            );
        }
    }
}

/// Whether a text imports a type by this prefix, alone or in a list. Modules are no types.
fn imports_type(text: &str, prefix: &str) -> bool {
    let imports = text.split("\nuse ").skip(1);
    imports
        .filter_map(|import| import.strip_prefix(prefix))
        .any(|names| {
            names
                .trim_start_matches('{')
                .trim_start()
                .starts_with(|c: char| c.is_ascii_uppercase())
        })
}

#[test]
fn what_is_in_the_platforms_takes_no_type_from_their_face() {
    let platforms = sources().join("platforms");
    for file in files_at(&platforms) {
        let text = fs::read_to_string(&file).unwrap();
        let is_below = file.parent() != Some(&platforms) && !file.ends_with("mod.rs");
        let face = if is_below { "super::super::" } else { "super::" };
        let takes = imports_type(&text, face) || text.contains("crate::");
        assert!(!takes, "{} takes a type from platforms/mod.rs", file.display());
    }
}
