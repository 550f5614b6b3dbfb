//! The object that is part of the program is the one that its source makes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

/// The compiler whose bytes are part of the program; another makes others.
const COMPILER: &str = "clang version 14.";

#[test]
fn the_object_is_made_of_its_source() {
    let version = Command::new("clang").arg("--version").output();
    let version = version.map(|told| String::from_utf8_lossy(&told.stdout).into_owned());
    if !version.as_ref().is_ok_and(|told| told.contains(COMPILER)) {
        eprintln!("skipped: only {COMPILER} makes the same bytes, and there is {version:?}");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    let made = tempfile::NamedTempFile::new().unwrap();
    let built = Command::new(folder.join("build.sh")).arg(made.path()).status();
    assert!(built.unwrap().success());
    let [made, kept] = [made.path(), &folder.join("probes.bpf.o")].map(|path| std::fs::read(path).unwrap());
    assert!(
        made == kept,
        "probes.bpf.o is not what its source makes: run bpf/build.sh"
    );
}
