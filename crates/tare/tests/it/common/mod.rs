//! Drives the tare binary as a user does.

mod refusals;
#[allow(dead_code, reason = "tests of tare-report use all of it")]
#[path = "../../../../tare-report/tests/it/common/schema.rs"]
pub mod schema;
pub mod served;
mod turn;

pub use refusals::Refusals;
pub use turn::Turn;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tempfile::TempDir;

/// The static binary under test: `make test` builds it and names it.
pub fn binary() -> PathBuf {
    match std::env::var_os("TARE_BIN") {
        Some(path) => path.into(),
        None => panic!("TARE_BIN names no binary: run these tests by 'make test'"),
    }
}

/// The agent that it carries, which cargo builds beside it.
pub fn agent() -> PathBuf {
    let file = format!(
        "agent/{}-unknown-linux-musl/agent/tare-agent",
        std::env::consts::ARCH
    );
    let tare = binary();
    let found = tare
        .ancestors()
        .map(|folder| folder.join(&file))
        .find(|file| file.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "no {file} near {}: run these tests by 'make test'",
            tare.display()
        )
    })
}

/// A tare with a state folder and a working folder of its own.
pub struct Tare {
    folder: TempDir,
    /// Dropped after the folder.
    _turn: Option<Turn>,
}

/// The arguments of a command: one by one, or as a line parted by blanks.
pub trait Words {
    fn words(&self) -> Vec<&str>;
}

impl Words for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl Words for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Words for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Words for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Tare {
    /// For a test that makes boxes or measures; it waits for its turn.
    #[track_caller]
    pub fn new() -> Self {
        Self::with(Some(Turn::take()))
    }

    /// For a test that makes no box and measures nothing; it runs beside all others.
    pub fn beside_others() -> Self {
        Self::with(None)
    }

    fn with(turn: Option<Turn>) -> Self {
        // Below /var/tmp: boxes run programs from it, and their files may be large.
        let folder = tempfile::Builder::new()
            .prefix("tare-test-")
            .tempdir_in("/var/tmp");
        Self {
            folder: folder.expect("a temporary folder"),
            _turn: turn,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command<W: Words + ?Sized>(&self, args: &W) -> Command {
        let mut command = Command::new(binary());
        command
            .args(args.words())
            .current_dir(self.folder.path())
            .env("TARE_STATE_DIR", self.path("state"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run<W: Words + ?Sized>(&self, args: &W) -> Ended {
        ended(self.command(args).output().expect("tare starts"))
    }

    /// Runs and expects success.
    pub fn ok<W: Words + ?Sized>(&self, args: &W) -> Ended {
        let ended = self.run(args);
        let args = args.words();
        assert_eq!(ended.code, 0, "{args:?}: {}\n{}", ended.stderr, ended.stdout);
        ended
    }

    /// Runs and expects exit code 2 with one line that holds all of `words`.
    pub fn refused<W: Words + ?Sized>(&self, args: &W, words: &[&str]) -> Ended {
        let ended = self.run(args);
        let args = args.words();
        assert_eq!(ended.code, 2, "{args:?}: {}\n{}", ended.stderr, ended.stdout);
        for word in words {
            assert!(
                ended.stderr.contains(word),
                "{args:?}: '{word}' is not in: {}",
                ended.stderr
            );
        }
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended
    }

    pub fn spawn<W: Words + ?Sized>(&self, args: &W) -> Child {
        self.command(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("tare starts")
    }

    /// The records of a results file in this folder, half ones left out.
    pub fn records(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(name)).expect("a results file");
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect()
    }

    /// The records of one kind.
    pub fn records_of(&self, name: &str, kind: &str) -> Vec<Value> {
        self.records(name)
            .into_iter()
            .filter(|r| r["record"] == kind)
            .collect()
    }

    /// The last record of each trial: one that failed may have been repeated.
    pub fn trials_in_the_end(&self, name: &str) -> Vec<Value> {
        let of_number = |trial: Value| (trial["trial"].as_u64(), trial);
        let all = self.records_of(name, "trial").into_iter();
        all.map(of_number)
            .collect::<BTreeMap<_, _>>()
            .into_values()
            .collect()
    }

    /// Name of the run that last wrote to a results file.
    pub fn run_name(&self, name: &str) -> String {
        let sessions = self.records_of(name, "session");
        sessions.last().expect("a session")["run"]
            .as_str()
            .expect("a name")
            .to_owned()
    }
}

pub fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Held by tests of one file whose trials must all end well. The boxes of two runs weigh alike: each
/// waits for the other's between its slices, for longer than what it tells of time explains.
pub struct Alone {
    _run: MutexGuard<'static, ()>,
    _turn: Turn,
}

/// Waits for the turn first: who has it may wait for the other run.
#[track_caller]
pub fn alone() -> Alone {
    static RUNS: Mutex<()> = Mutex::new(());
    let turn = Turn::take();
    Alone {
        _run: RUNS.lock().unwrap_or_else(PoisonError::into_inner),
        _turn: turn,
    }
}

/// Whether a platform can run here. If not, says why; where engines are
/// required, fails.
pub fn ready(platform: &str) -> bool {
    let found = doctor();
    if platform.starts_with("ssh:") {
        return host_ready(platform);
    }
    platform.split('/').all(|layer| layer_ready(layer, found))
}

/// Whether images can be built here, and Maven can be reached.
pub fn can_build_images() -> bool {
    let tools = doctor()["images"].as_array().unwrap();
    let missing: Vec<&Value> = tools.iter().filter(|tool| tool["found"].is_null()).collect();
    let required = std::env::var_os("TARE_REQUIRE_ENGINES").is_some();
    assert!(missing.is_empty() || !required, "{missing:?}");
    if !missing.is_empty() {
        eprintln!("skipped: {missing:?}");
    }
    missing.is_empty()
}

/// What the doctor found of this host, once.
fn doctor() -> &'static Value {
    static FOUND: OnceLock<Value> = OnceLock::new();
    let examine = || serde_json::from_str(&Tare::beside_others().run(&["doctor", "--json"]).stdout);
    FOUND.get_or_init(|| examine().expect("doctor prints JSON"))
}

/// Whether the kernel takes probes. If not, says why: no software could change that.
pub fn can_probe() -> bool {
    let missing = &doctor()["evidence"]["missing"];
    if !missing.is_null() {
        eprintln!("skipped: {missing}");
    }
    missing.is_null()
}

/// Whether a program is on the search path, where it is not required.
pub fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether a program is on the search path.
pub fn installed(program: &str) -> bool {
    on_path(program) || skipped(&format!("{program} is not installed"))
}

/// Whether another host can be used: the doctor knows of none.
fn host_ready(path: &str) -> bool {
    let planned = Tare::beside_others().run(&["plan", "-p", path, "-w", "syscall"]);
    if planned.code == 0 {
        return true;
    }
    skipped(&format!("{path}: {}", planned.stderr))
}

/// Says why a test is skipped; fails where engines are required. One that no software could make run
/// on this CPU is not.
pub fn skipped(what: &str) -> bool {
    let reason = format!("skipped: {what}");
    let required = std::env::var_os("TARE_REQUIRE_ENGINES").is_some();
    assert!(!required || what.contains("this CPU"), "{reason}");
    eprintln!("{reason}");
    false
}

fn layer_ready(platform: &str, found: &Value) -> bool {
    let platform = platform.split('?').next().unwrap_or(platform);
    let list = found["platforms"].as_array().expect("a list of platforms");
    let entry = list
        .iter()
        .find(|p| p["name"] == platform)
        .expect("a platform of this name");
    if entry["ready"].is_object() {
        return true;
    }
    skipped(&format!("{platform}: {} -> {}", entry["missing"], entry["fix"]))
}

/// The processes whose command line holds `mark`.
pub fn processes_that_bear(mark: &str) -> Vec<String> {
    let lines = entries(Path::new("/proc")).into_iter().map(|process| {
        let line = std::fs::read(format!("{process}/cmdline")).unwrap_or_default();
        format!("process {process}: {}", String::from_utf8_lossy(&line))
    });
    lines.filter(|line| line.contains(mark)).collect()
}

/// Everything on this machine that bears the name of a run.
pub fn left_of(run: &str) -> Vec<String> {
    let mut left = Vec::new();
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    left.extend(
        mounts
            .lines()
            .filter(|l| l.contains(run))
            .map(|l| format!("mount {l}")),
    );
    let cgroups = mounts.lines().filter_map(|l| {
        let fields: Vec<&str> = l.split(' ').collect();
        fields[2].starts_with("cgroup").then(|| PathBuf::from(fields[1]))
    });
    left.extend(
        cgroups
            .flat_map(|mount| entries(&mount))
            .filter(|path| names(path, run)),
    );
    left.extend(processes_that_bear(run));
    // nspawn's, libvirt's, and those of a host that is reached by ssh and is this one.
    let folders = [
        "/run/systemd/nspawn/propagate",
        "/run/systemd/nspawn/unix-export",
        "/var/log/libvirt/qemu",
        "/run/tare",
        "/var/tmp",
        "/tmp",
        "/dev/shm",
    ];
    left.extend(
        folders
            .iter()
            .flat_map(|folder| entries(Path::new(folder)))
            .filter(|path| names(path, run)),
    );
    for (what, program, arguments) in [
        ("containerd's container", "ctr", &["containers", "list", "-q"][..]),
        ("domain", "virsh", &["-q", "list", "--all", "--name"]),
    ] {
        let mut listed = lines_of(program, arguments);
        listed.retain(|name| name.contains(run));
        left.extend(listed.iter().map(|name| format!("{what} {name}")));
    }
    let label = format!("label=tare.run={run}");
    for engine in ["docker", "podman"] {
        let listed = lines_of(engine, &["ps", "-aq", "--filter", &label]);
        left.extend(listed.iter().map(|id| format!("{engine} container {id}")));
    }
    left
}

/// What a program prints, by line; nothing where it is not installed.
fn lines_of(program: &str, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| e.path().display().to_string()).collect()
}

fn names(path: &str, run: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(run))
}
