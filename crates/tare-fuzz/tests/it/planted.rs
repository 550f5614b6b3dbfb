//! A fault that is planted in the worker is found, whatever the target and whatever the fault.

use std::path::Path;
use std::process::{Command, Output};
use tare_fuzz::corpus;
use tare_fuzz::targets::TARGETS;

/// Fuzzes one target in a folder with its examples.
fn fuzz(folder: &Path, target: &str, seconds: &str, plant: Option<&str>) -> Output {
    let examples = folder.join("corpus").join(target);
    std::fs::create_dir_all(&examples).unwrap();
    for (path, input) in corpus::files(&corpus::folder().join("corpus").join(target)).unwrap() {
        std::fs::write(examples.join(path.file_name().unwrap()), input).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tare-fuzz"));
    command
        .args([seconds, target])
        .env("TARE_FUZZ_FOLDER", folder)
        .envs(plant.map(|plant| ("TARE_FUZZ_PLANT", plant)));
    command.output().unwrap()
}

/// Fuzzes with a fault planted: what is said of it.
fn found(target: &str, plant: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let done = fuzz(folder.path(), target, "20", Some(plant));
    let said = String::from_utf8(done.stdout).unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{target}, {plant}: {said}{errors}");
    let kept = corpus::files(&folder.path().join("found").join(target)).unwrap();
    let [(path, _)] = &kept[..] else {
        panic!("{target}, {plant}: {kept:?}")
    };
    assert!(said.contains(&path.display().to_string()), "{said}");
    said
}

#[test]
fn a_panic_is_found_in_every_target() {
    for target in TARGETS {
        let said = found(target.name, "panic");
        assert!(
            said.contains("exit code 101") && said.contains("planted"),
            "{said}"
        );
    }
}

#[test]
fn an_input_that_never_ends_is_found() {
    let said = found("gate", "hang");
    assert!(said.contains("no end within"), "{said}");
}

#[test]
fn an_input_that_takes_much_memory_is_found() {
    let said = found("gate", "memory");
    assert!(said.contains("over the bound"), "{said}");
    let said = found("gate", "flood");
    assert!(said.contains("memory allocation of"), "{said}");
}

#[test]
fn an_input_that_overflows_the_stack_is_found() {
    let said = found("gate", "stack");
    // Rust names the stack only where the libc tells where that of a thread ends.
    assert!(said.contains("stack") || said.contains("signal 11"), "{said}");
}

#[test]
fn where_nothing_is_wrong_nothing_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let done = fuzz(folder.path(), "frames", "1", None);
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("nothing found"), "{said}");
}

#[test]
fn what_is_no_target_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Command::new(env!("CARGO_BIN_EXE_tare-fuzz"))
        .args(["1", "nothing"])
        .env("TARE_FUZZ_FOLDER", folder.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there are frames"));
}
