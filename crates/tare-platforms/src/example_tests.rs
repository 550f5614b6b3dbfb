//! The example of `docs/adding-a-platform.md` is the one that is compiled, and its
//! boxes keep what is promised as far as a test of this crate can see it.

use super::contract::{BoxError, BoxSpec, Platform};
use super::example::OwnRoot;
use crate::link::LinkError;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tare_host::cgroup;

/// The static binary, for boxes that hold nothing else. It is another build than
/// this test: a box of it is refused as such, after its agent has answered.
fn binary() -> Option<PathBuf> {
    let named = std::env::var_os("TARE_BIN").map(PathBuf::from);
    let usable = named.filter(|path| path.is_file());
    if usable.is_none() {
        eprintln!("skipped: TARE_BIN names no binary: run the tests with 'make test'");
    }
    usable
}

fn ready() -> bool {
    match OwnRoot.probe() {
        Ok(_) => true,
        Err(absent) => {
            eprintln!("skipped: {absent}");
            false
        }
    }
}

fn spec(folder: &Path, binary: PathBuf) -> BoxSpec {
    // As unique as a run's: cgroups of one name are shared by all tests on this host.
    let run = format!("tare-example-{}", std::process::id());
    BoxSpec {
        name: format!(
            "{run}-{}",
            folder.file_name().unwrap().to_string_lossy().trim_matches('.')
        ),
        run,
        scratch: folder.to_owned(),
        binary,
        ..BoxSpec::example()
    }
}

/// Nothing bears the box's name any more.
fn expect_nothing_left(spec: &BoxSpec) {
    assert!(!spec.scratch.join(&spec.name).exists());
    assert_eq!(cgroup::sweep(&spec.name).unwrap(), Vec::<String>::new());
    let left: Vec<PathBuf> = tare_host::footprint::processes(std::slice::from_ref(&spec.name)).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn the_document_shows_the_driver_that_is_compiled() {
    let document = include_str!("../../../docs/adding-a-platform.md");
    let compiled = include_str!("example.rs");
    let begin = compiled.find("use super::child").unwrap();
    let shown = document
        .split("```rust\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    assert_eq!(
        shown,
        Some(&compiled[begin..]),
        "the driver has changed: so must the document"
    );
}

/// A box comes up to the agent's answer. That of another build is refused; that of
/// this one is a box to talk to.
#[test]
fn its_agent_starts_in_its_root_and_answers() {
    let Some(binary) = binary().filter(|_| ready()) else {
        return;
    };
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let spec = spec(folder.path(), binary);
    // Another test that forks while the agent is written has that open until it runs its program.
    let is_busy = |launched: &Result<_, BoxError>| {
        let error = launched.as_ref().err().map(ToString::to_string);
        error.is_some_and(|error| error.contains("Text file busy"))
    };
    let mut launches = (0..20).map(|_| OwnRoot.launch(&spec));
    match launches.find(|launched| !is_busy(launched)).unwrap() {
        Ok(mut made) => {
            assert_eq!(made.host_memory_limit(), Some(spec.instance.memory_bytes));
            made.freeze().unwrap();
            made.thaw().unwrap();
            made.destroy().unwrap();
        }
        Err(BoxError::NoHello {
            source: LinkError::Mismatch { ours, theirs, .. },
            ..
        }) => assert_ne!(ours, theirs),
        Err(other) => panic!("{other}"),
    }
    expect_nothing_left(&spec);
}

#[test]
fn a_box_without_an_agent_fails_with_its_last_words_and_leaves_nothing() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let program = folder.path().join("no-agent");
    std::fs::write(&program, "#!/nowhere\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let spec = spec(folder.path(), program);
    let error = OwnRoot.launch(&spec).map(drop).unwrap_err();
    assert!(matches!(error, BoxError::NoHello { .. }), "{error}");
    assert!(error.to_string().contains("/tare"), "{error}");
    expect_nothing_left(&spec);
}
