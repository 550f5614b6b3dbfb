//! A Docker engine that dies under a run. It is one of this test's own: nobody
//! else's is killed.

use crate::common::{Tare, ended, left_of};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for an engine to start, and for what it does to be seen.
const DEADLINE: Duration = Duration::from_secs(120);

/// An engine with a data folder and a socket of its own, and all of it removed
/// in the end.
struct Engine {
    folder: PathBuf,
    daemon: Option<Child>,
}

impl Engine {
    fn new(folder: PathBuf) -> Self {
        Self { folder, daemon: None }
    }

    fn address(&self) -> String {
        format!("unix://{}", self.folder.join("docker.sock").display())
    }

    fn start(&mut self) {
        let log = self.folder.with_extension("log");
        std::fs::create_dir_all(&self.folder).unwrap();
        let at = |name: &str| self.folder.join(name);
        let daemon = Command::new("dockerd")
            .args(["--iptables=false", "--bridge=none", "-H", &self.address()])
            .args([
                Path::new("--data-root"),
                &at("data"),
                Path::new("--exec-root"),
                &at("exec"),
            ])
            .args([Path::new("--pidfile"), &at("pid")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn();
        self.daemon = Some(daemon.unwrap());
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        wait(
            || self.docker(&["version"]).is_some(),
            || format!("the engine does not start: {}", said()),
        );
    }

    fn docker(&self, args: &[&str]) -> Option<String> {
        let done = Command::new("docker")
            .args(["-H", &self.address()])
            .args(args)
            .output();
        let done = done.ok().filter(|done| done.status.success())?;
        Some(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill().unwrap();
            daemon.wait().unwrap();
        }
        // The next one does not start where it finds the number of another.
        let _ = std::fs::remove_file(self.folder.join("pid"));
    }

    fn stop(&mut self) {
        let Some(daemon) = &mut self.daemon else { return };
        let _ = Command::new("kill").arg(daemon.id().to_string()).status();
        let begun = Instant::now();
        while matches!(daemon.try_wait(), Ok(None)) && begun.elapsed() < DEADLINE / 4 {
            std::thread::sleep(Duration::from_millis(50));
        }
        self.kill();
    }

    /// Its containerd outlives it when it is killed.
    fn stop_containerd(&self) {
        let number = std::fs::read_to_string(self.folder.join("exec/containerd/containerd.pid"));
        if let Ok(pid) = number {
            let _ = Command::new("kill")
                .args(["-KILL", pid.trim()])
                .stderr(Stdio::null())
                .status();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
        self.stop_containerd();
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let mut inside: Vec<&str> = mounts
            .lines()
            .filter_map(|line| line.split(' ').nth(1))
            .filter(|at| Path::new(at).starts_with(&self.folder))
            .collect();
        inside.sort_unstable_by_key(|at| std::cmp::Reverse(at.len()));
        for at in inside {
            let _ = Command::new("umount").args(["-l", at]).status();
        }
    }
}

fn wait(holds: impl Fn() -> bool, what: impl Fn() -> String) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < DEADLINE, "{}", what());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether an engine of our own can be had. Where engines are required, it must.
fn can_run() -> bool {
    let works = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let possible = works("dockerd") && works("docker") && is_root();
    assert!(
        possible || std::env::var_os("TARE_REQUIRE_ENGINES").is_none(),
        "no dockerd that this user could start"
    );
    possible
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// A tare beside an engine of its own that runs; says why not where there can be none.
fn with_engine() -> Option<(Tare, Engine)> {
    if !can_run() {
        eprintln!("skipped: no dockerd that this user could start");
        return None;
    }
    let tare = Tare::new();
    let mut engine = Engine::new(tare.path("engine"));
    engine.start();
    Some((tare, engine))
}

#[test]
fn a_run_outlives_its_engine_and_what_that_left_is_swept() {
    let Some((tare, mut engine)) = with_engine() else {
        return;
    };
    let args = "run -p docker -w syscall --cpus 1 --memory 256M --blocks 1000 --fresh study --no-settle --trial-time 50ms -o r.jsonl";
    let mut command = tare.command(args);
    let run = command.env("DOCKER_HOST", engine.address()).spawn().unwrap();
    let trials = || tare.path("r.jsonl").exists() && tare.records_of("r.jsonl", "trial").len() >= 2;
    wait(trials, || "no trial in a box of the engine".to_owned());
    let name = tare.run_name("r.jsonl");
    engine.kill();
    let done = ended(run.wait_with_output().unwrap());
    assert_ne!(done.code, 0, "{}", done.stderr);
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
    let records = tare.records("r.jsonl");
    assert_eq!(records.last().unwrap()["record"], "end", "the file is whole");

    engine.start();
    // Any next start sweeps.
    let mut next = tare.command("run -p fake -w syscall --cpus 1 --no-settle -o next.jsonl");
    let swept = ended(next.env("DOCKER_HOST", engine.address()).output().unwrap());
    assert_eq!(swept.code, 0, "{}", swept.stderr);
    assert_eq!(engine.docker(&["ps", "-aq"]).unwrap(), "", "{done:?} {swept:?}");
    assert_eq!(left_of(&name), Vec::<String>::new());
}

#[test]
fn images_that_a_live_run_or_a_container_uses_are_left_and_told() {
    let Some((tare, engine)) = with_engine() else {
        return;
    };
    let args = "run -p docker -w syscall --cpus 1 --memory 256M --blocks 1000 --no-settle --trial-time 50ms -o r.jsonl";
    let mut command = tare.command(args);
    let mut run = command.env("DOCKER_HOST", engine.address()).spawn().unwrap();
    let begun = || tare.path("r.jsonl").exists() && !tare.records_of("r.jsonl", "box").is_empty();
    wait(begun, || "no box of the engine".to_owned());
    let clean = || {
        let mut clean = tare.command("clean --state-dir other");
        let done = ended(clean.env("DOCKER_HOST", engine.address()).output().unwrap());
        assert_eq!(done.code, 0, "{done:?}");
        done.stdout
    };
    let left = clean();
    let told = left.contains("left image tare-box-") && left.contains("in use by another run");
    assert!(told && left.contains(&tare.run_name("r.jsonl")), "{left}");
    let images = ["images", "-q", "--filter", "reference=tare-box-*"];
    let image = engine.docker(&images).unwrap().trim().to_owned();
    assert!(!image.is_empty() && run.try_wait().unwrap().is_none(), "{left}");
    run.kill().unwrap();
    run.wait().unwrap();
    // The next start with its state folder removes its boxes; a container of somebody else's stays.
    engine
        .docker(&["create", "--name", "other", &image, "/tare"])
        .unwrap();
    let mut next = tare.command("run -p fake -w syscall --cpus 1 --blocks 1 --no-settle -o next.jsonl");
    let next = ended(next.env("DOCKER_HOST", engine.address()).output().unwrap());
    assert_eq!(next.code, 0, "{next:?}");
    let left = clean();
    let is_told =
        left.contains("left image tare-box-") && left.contains(": in use by a container of this engine");
    assert!(is_told || left.contains("in use by another run"), "{left}");
    engine.docker(&["rm", "other"]).unwrap();
    let removed = clean();
    // Unless a run of somebody else's, with an engine of its own, lives on this host.
    let is_gone = engine.docker(&images).unwrap().trim().is_empty();
    assert!(is_gone || removed.contains("in use by another run"), "{removed}");
}
