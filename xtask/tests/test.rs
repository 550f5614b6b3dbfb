//! `xtask test` with a cargo and with programs of tests that are scripts. This file also has
//! 'cargo test' build the program xtask, which `scripts/test` then runs: 'cargo build' would build
//! most crates a second time, with fewer features of their dependencies.

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A harness with one test that passes and one that fails; it prints where and how it was started.
const HARNESS: &str = r#"#!/bin/sh
echo "running 2 tests"
echo "in $(pwd) with $* $RUSTC_BOOTSTRAP"
echo "test quick ... ok <0.100s>"
echo "test slow ... FAILED <2.000s>"
# What a test leaves running keeps the output open.
sleep 10 2>/dev/null &
echo "test result: FAILED. 1 passed; 1 failed; 0 ignored"
exit 101
"#;

const WITHOUT_HARNESS: &str = "#!/bin/sh\necho no harness\n";

const DYING: &str = "#!/bin/sh\necho running 1 test\nkill -SEGV $$\n";

/// A cargo whose lints fail, and which has built what a file lists.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
clippy*) exit 1 ;;
*--no-run*) cat "$(dirname "$0")/messages" ;;
esac
"#;

fn script(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// The message of cargo about a program of tests of the package `x`.
fn message(folder: &Path, name: &str) -> String {
    json!({
        "reason": "compiler-artifact", "manifest_path": folder.join("x/Cargo.toml"),
        "profile": { "test": true }, "target": { "kind": ["test"], "name": name },
        "executable": folder.join(name),
    })
    .to_string()
}

#[test]
fn all_run_though_some_fail_and_the_counts_come_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::create_dir(folder.join("x")).expect("a folder");
    let programs = [("a", HARNESS), ("b", WITHOUT_HARNESS), ("c", DYING)];
    for (name, text) in programs {
        script(&folder.join(name), text);
    }
    let messages = programs.map(|(name, _)| message(folder, name)).join("\n");
    fs::write(folder.join("messages"), messages).expect("a file");
    script(&folder.join("cargo"), CARGO);
    let begun = Instant::now();
    let done = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["test", "--begun", "setup=100"])
        .env("CARGO", folder.join("cargo"))
        .output()
        .expect("xtask starts");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "it waited for what a test left"
    );
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{said}");
    let started = format!(
        "\nin {} with -Z unstable-options --report-time --show-output 1\n",
        folder.join("x").display()
    );
    let failed = format!(
        "\nfailed:\n  cargo clippy --all-targets --workspace --locked --release --target {}-unknown-linux-musl -- -D warnings\n  x a slow\n  x c: signal: 11",
        std::env::consts::ARCH
    );
    for words in [
        started.as_str(),
        "\n2 passed, 3 failed\n",
        failed.as_str(),
        " s  setup\n",
        "\nslowest tests:\n      2.0 s  x a slow\n      0.1 s  x a quick\n",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
