//! Kernels that touch a disk, as a user runs them: what they tell, what they refuse, and
//! that they leave nothing behind.

use crate::common::{self, Tare, ended};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tare_model::kernel::{Isa, Kernel, KernelReport, KernelSpec, Way};

const ALL: [Kernel; 10] = [
    Kernel::RandomRead,
    Kernel::RandomWrite,
    Kernel::SequentialRead,
    Kernel::SequentialWrite,
    Kernel::Fsync,
    Kernel::ByteRead,
    Kernel::ByteWrite,
    Kernel::BlockRead,
    Kernel::BlockWrite,
    Kernel::File,
];

/// A kernel at its gate, in a folder of its own.
struct Gate {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Gate {
    fn open(kernel: Kernel, folder: &Path) -> Self {
        let spec = KernelSpec {
            kernel,
            isa: Isa::Baseline,
            threads: 1,
            size: kernel.sizes().map_or(0, |sizes| sizes.least),
            seconds: 1.0,
        };
        let mut child = Command::new(common::agent())
            .args(["run-kernel", &serde_json::to_string(&spec).unwrap(), "--gate"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut gate = Self {
            child,
            orders,
            answers,
        };
        assert_eq!(gate.line(), "ready");
        gate
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn order(&mut self, units: u64) {
        writeln!(self.orders, "{{\"units\":{units},\"lead\":0}}").unwrap();
    }
}

/// What is in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    entries
        .map(|entry| name(entry).to_string_lossy().into_owned())
        .collect()
}

/// A folder on a disk, as the tests of this project need one.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

#[test]
fn files_have_no_names_while_a_kernel_waits_and_a_report_says_what_lies_between() {
    for kernel in ALL {
        let folder = folder();
        let mut gate = Gate::open(kernel, folder.path());
        gate.order(3);
        gate.line();
        if kernel != Kernel::File {
            assert!(names(folder.path()).is_empty(), "{kernel}");
        }
        drop(gate.orders);
        let mut report = String::new();
        gate.answers.read_line(&mut report).unwrap();
        let report: KernelReport = serde_json::from_str(&report).unwrap();
        assert!(report.check.passed(), "{kernel}: {:?}", report.check);
        let way = match kernel {
            Kernel::Fsync => Way::Synced,
            _ if kernel.keeps_a_queue() => Way::Direct,
            _ => Way::PageCache,
        };
        let disk = report.disk.unwrap();
        assert_eq!(disk.way, way, "{kernel}");
        assert!(!disk.file_system.is_empty());
        assert!(gate.child.wait().unwrap().success());
        assert!(names(folder.path()).is_empty(), "{kernel}");
    }
}

#[test]
fn nothing_is_left_of_killed_kernels_or_the_next_one_removes_it() {
    let folder = folder();
    for kernel in ALL {
        let mut gate = Gate::open(kernel, folder.path());
        gate.order(1_000_000);
        std::thread::sleep(std::time::Duration::from_millis(50));
        gate.child.kill().unwrap();
        gate.child.wait().unwrap();
    }
    let left = names(folder.path());
    assert!(
        left.iter().all(|name| name.starts_with(".tare-file-")),
        "{left:?}"
    );
    drop(Gate::open(Kernel::File, folder.path()).orders);
    // The process ends by itself, a moment after its orders do.
    for _ in 0..100 {
        if names(folder.path()).is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{:?}", names(folder.path()));
}

#[test]
fn a_kernel_that_measures_disks_is_refused_in_memory_with_what_to_do() {
    let tare = Tare::new();
    let run = |name: &str| {
        let mut command = tare.command(&["kernel", name, "--time", "0.1s"]);
        ended(command.current_dir("/dev/shm").output().unwrap())
    };
    for name in ["random-read", "sequential-write", "fsync"] {
        let refused = run(name);
        assert_eq!(refused.code, 2, "{refused:?}");
        let told =
            format!("tare: {name} measures a disk, but /dev/shm is on tmpfs, which is memory: start it in");
        assert!(refused.stderr.starts_with(&told), "{}", refused.stderr);
    }
    let cached = run("block-read");
    assert_eq!(cached.code, 0, "{cached:?}");
    let files = "files on tmpfs, through the page cache; no device shown";
    assert!(cached.stdout.contains(files), "{}", cached.stdout);
}

#[test]
fn a_full_disk_is_told_and_nothing_is_left_on_it() {
    let folder = folder();
    // A disk of its own, which ends with the process.
    let script =
        "mount -t tmpfs -o size=1M none . && cd \"$PWD\" && \"$0\" \"$@\"; status=$?; ls -A; exit $status";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).arg(common::binary());
    let done = command
        .args(["kernel", "block-write", "--size", "4M"])
        .current_dir(folder.path())
        .output();
    let Ok(done) = done.map(ended) else { return };
    if done.stderr.contains("unshare") || done.stderr.contains("mount:") {
        eprintln!("skipped: {}", done.stderr);
        return;
    }
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{done:?}");
    let end = "No space left on device (os error 28); free disk space there, or reduce --size\n";
    let begin = "tare: block-write cannot allocate a file in ";
    assert!(
        done.stderr.starts_with(begin) && done.stderr.ends_with(end),
        "{done:?}"
    );
}

#[test]
fn a_study_keeps_what_lies_between_with_each_trial() {
    let tare = Tare::new();
    let run = [
        "run",
        "-p",
        "native",
        "-w",
        "random-read,file",
        "--blocks",
        "2",
        "--cpus",
        "1",
    ];
    tare.ok(&[
        &run[..],
        &["--provisioning", "vanilla", "--no-settle", "-o", "r.jsonl"],
    ]
    .concat());
    let trials = tare.records_of("r.jsonl", "trial");
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        let disk = &trial["outcome"]["ok"]["kernel"]["disk"];
        let way = if trial["workload"] == "file" {
            "page-cache"
        } else {
            "direct"
        };
        assert_eq!(disk["way"], Value::from(way), "{trial}");
    }
}
