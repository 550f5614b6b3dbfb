//! What `tare clean` and the sweep of dead runs remove, and what they do not.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Ended, Tare, ended};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Engines keep images for all: two that are removed at a time would hide what each test looks for.
static CLEAN: Mutex<()> = Mutex::new(());

/// The name of a run that died.
const DEAD: &str = "tare-0badc0de";

/// A folder of the host that is mounted in another, unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// `None` where nothing can be mounted.
    fn bind(what: &Path, on: &Path) -> Option<Self> {
        let done = Command::new("mount")
            .arg("--bind")
            .args([what, on])
            .output()
            .ok()?;
        done.status.success().then(|| Self(on.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

fn clean(tare: &Tare, state: &str, within: &Path) -> Ended {
    let _alone = CLEAN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut command = tare.command(&["clean", "--state-dir", state]);
    ended(command.current_dir(within).output().unwrap())
}

/// Lays a dead run with something of the host's mounted in it, and sweeps it by this name
/// of the state folder, as seen from the folder above.
fn what_is_mounted_survives(folder: &str, told: &str) {
    let tare = Tare::new();
    let (state, precious) = (tare.path(folder), tare.path("precious"));
    let inside = state.join(DEAD).join("box/rootfs");
    fs::create_dir_all(&inside).unwrap();
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("file"), "of the host").unwrap();
    fs::write(state.join(format!("{DEAD}.run")), "").unwrap();
    std::os::unix::fs::symlink(".", tare.path("link")).unwrap();
    let Some(_mounted) = Mounted::bind(&precious, &inside) else {
        eprintln!("skipped: nothing can be mounted here");
        return;
    };
    let done = clean(&tare, told, precious.parent().unwrap());
    assert_eq!(
        fs::read_to_string(precious.join("file")).ok().as_deref(),
        Some("of the host"),
        "{done:?}"
    );
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!state.join(DEAD).exists(), "{done:?}");
}

#[test]
fn what_is_mounted_survives_the_sweep_of_a_state_folder_with_a_blank() {
    what_is_mounted_survives("a state\\040folder", "a state\\040folder");
}

#[test]
fn what_is_mounted_survives_the_sweep_of_a_relative_state_folder() {
    what_is_mounted_survives("state", "./state");
}

#[test]
fn what_is_mounted_survives_the_sweep_of_a_state_folder_behind_a_link() {
    what_is_mounted_survives("state", "link/state");
}

#[test]
fn two_may_clean_at_a_time() {
    let tare = Tare::new();
    let start = |state: &str| {
        let mut command = tare.command(&["clean", "--state-dir", state]);
        command.spawn().unwrap()
    };
    let _alone = CLEAN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for both in [start("one"), start("other")] {
        let done = ended(both.wait_with_output().unwrap());
        assert_eq!(done.code, 0, "{done:?}");
    }
}
