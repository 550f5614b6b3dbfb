//! Drivers rest on the contract, and the contract on none of them.

use std::fs;
use std::path::{Path, PathBuf};

/// What opens platforms, or works with boxes that are open: it takes drivers by the crate's face.
const ABOVE_DRIVERS: [&str; 12] = [
    "conformance",
    "elsewhere.rs",
    "example.rs",
    "example_tests.rs",
    "factors.rs",
    "lib.rs",
    "limits",
    "mechanisms.rs",
    "nested",
    "open.rs",
    "registry.rs",
    "state.rs",
];

/// What the contract itself names of the crate.
const BELOW_CONTRACT: [&str; 3] = ["agent_file", "architecture", "link"];

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

/// The modules that a text names by a path from the crate's root.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = move |path: &str| path.find(|c| !is_name(c)).unwrap_or(path.len());
    text.split("crate::").skip(1).map(move |path| &path[..name(path)])
}

#[test]
fn the_contract_names_no_driver() {
    for file in files_at(&sources().join("contract")) {
        let text = fs::read_to_string(&file).unwrap();
        for name in named(&text) {
            assert!(
                BELOW_CONTRACT.contains(&name),
                "{} names crate::{name}",
                file.display()
            );
        }
        let is_face = file.ends_with("mod.rs") && text.contains("use super::");
        assert!(
            !is_face && !text.contains("super::super"),
            "{} names what is above it",
            file.display()
        );
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
fn drivers_take_no_type_from_the_crate_s_face() {
    let is_driver = |file: &PathBuf| {
        let relative = file.strip_prefix(sources()).unwrap();
        !ABOVE_DRIVERS.iter().any(|above| relative.starts_with(above))
    };
    for file in files_at(&sources()).into_iter().filter(is_driver) {
        let text = fs::read_to_string(&file).unwrap();
        let is_below = file.parent() != Some(&sources()) && !file.ends_with("mod.rs");
        let face = if is_below { "super::super::" } else { "super::" };
        let takes = imports_type(&text, face) || imports_type(&text, "crate::");
        assert!(!takes, "{} takes a type from lib.rs", file.display());
        for above in ["conformance", "limits", "open", "registry", "state"] {
            assert!(
                !named(&text).any(|name| name == above) && !text.contains(&format!("use {face}{above}")),
                "{} names {above}, which is above it",
                file.display()
            );
        }
    }
}
