//! What `tare clean` and the sweep of dead runs remove, and what they do not.

use crate::common::{self, Ended, Tare, ended};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Mutex;
use std::time::{Duration, Instant};

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

/// A process that is ended when dropped.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A dead run, and an engine that answers no question about what it left.
fn cannot_be_swept(tare: &Tare) -> String {
    fs::create_dir_all(tare.path("state").join(DEAD)).unwrap();
    fs::set_permissions(tare.path("state"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(tare.path("state").join(format!("{DEAD}.run")), "").unwrap();
    let socket = tare.path("docker.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    format!("unix://{}", socket.display())
}

fn run_beside(tare: &Tare, engine: &str) -> Ended {
    let mut next = tare.command("run -p fake -w syscall --cpus 1 --blocks 1 --no-settle -o r.jsonl");
    ended(next.env("DOCKER_HOST", engine).output().unwrap())
}

#[test]
fn what_cannot_be_swept_is_told_and_refuses_no_run() {
    let tare = Tare::new();
    let engine = cannot_be_swept(&tare);
    let told = format!("cannot remove what the dead run {DEAD} left: docker: ");
    let done = run_beside(&tare, &engine);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains(&told), "{done:?}");
    // Cleaning is what it was asked for: it has failed, but tells all else first.
    let mut clean = tare.command("clean");
    let done = ended(clean.env("DOCKER_HOST", &engine).output().unwrap());
    assert!(done.code == 2 && done.stderr.contains(&told), "{done:?}");
    // And the next start tries again.
    let done = tare.ok("run -p fake -w syscall --cpus 1 --blocks 1 --no-settle -o again.jsonl");
    assert!(
        done.stderr.contains(&format!("removed leftover: {DEAD}")),
        "{done:?}"
    );
    assert!(!tare.path("state").join(DEAD).exists());
}

#[test]
fn what_works_on_of_a_dead_run_is_named_and_refuses_the_next() {
    let tare = Tare::new();
    let engine = cannot_be_swept(&tare);
    let mut busy = Command::new("sh");
    let name = format!("{DEAD}-1-lxc");
    let busy = Ending(busy.args(["-c", "while :; do :; done", &name]).spawn().unwrap());
    let done = run_beside(&tare, &engine);
    assert_eq!(done.code, 2, "{done:?}");
    let told = format!("kill -9 {}", busy.0.id());
    assert!(done.stderr.contains(&told), "{done:?}");
    drop(busy);
    assert_eq!(run_beside(&tare, &engine).code, 0);
}

#[test]
fn what_a_live_run_may_use_is_left_and_told() {
    let tare = Tare::new();
    let run = "run -p fake?ms=50 -w syscall --cpus 1 --blocks 2000 --no-settle -o r.jsonl";
    let live = Ending(tare.spawn(run));
    let deadline = Instant::now() + Duration::from_secs(20);
    while !tare.path("r.jsonl").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let state = tare.path("state");
    let done = clean(&tare, state.to_str().unwrap(), &state);
    assert_eq!(done.code, 0, "{done:?}");
    let told = format!(
        "left cached files: in use by another run ({})",
        tare.run_name("r.jsonl")
    );
    assert!(done.stdout.contains(&told), "{done:?}");
    drop(live);
}

/// A user of the host without any right, removed when dropped.
struct User(String);

impl User {
    /// `None` where none can be made.
    fn add() -> Option<Self> {
        let name = format!("taretest{}", std::process::id());
        // Without a range of further ids Podman needs no helper for its user namespace.
        let ids = ["-K", "SUB_UID_COUNT=0", "-K", "SUB_GID_COUNT=0"];
        let added = Command::new("useradd")
            .args(["-M", "-d", "/nonexistent"])
            .args(ids)
            .arg(&name)
            .output();
        added.ok()?.status.success().then_some(Self(name))
    }

    fn id(&self) -> u32 {
        let told = Command::new("id").args(["-u", &self.0]).output().unwrap();
        String::from_utf8(told.stdout).unwrap().trim().parse().unwrap()
    }

    /// Its processes, with their command lines.
    fn processes(&self) -> String {
        let listed = Command::new("ps")
            .args(["-o", "pid=,args=", "-u", &self.0])
            .output();
        String::from_utf8(listed.unwrap().stdout).unwrap()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let pids = self.processes();
        let pids = pids.lines().filter_map(|line| line.split_whitespace().next());
        let _ = Command::new("kill").arg("-9").args(pids).output();
        let _ = Command::new("userdel").args(["-f", &self.0]).output();
    }
}

#[test]
fn nothing_runs_on_after_a_user_without_root_has_cleaned_and_asked_the_doctor() {
    let Some(user) = User::add() else {
        eprintln!("skipped: no user can be added here, which takes root and useradd");
        return;
    };
    let tare = Tare::new();
    let home = tare.path("home");
    fs::create_dir(&home).unwrap();
    // The folder of the test is root's alone.
    fs::set_permissions(home.parent().unwrap(), fs::Permissions::from_mode(0o711)).unwrap();
    chown(&home, Some(user.id()), None).unwrap();
    let program = home.join("tare");
    fs::copy(common::binary(), &program).unwrap();
    for what in ["doctor", "clean"] {
        let line = format!("cd; exec {} {what}", program.display());
        let mut command = Command::new("su");
        command.args([
            "-s",
            "/bin/sh",
            &user.0,
            "-c",
            &format!("HOME={}; {line}", home.display()),
        ]);
        let done = ended(command.output().unwrap());
        assert_eq!(user.processes(), "", "{what}: {done:?}");
        assert!(what == "doctor" || done.code == 0, "{done:?}");
    }
}
