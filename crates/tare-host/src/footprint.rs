//! What an idle box occupies: every process that is there because of it, and
//! the files made for it.

mod mappings;

use crate::owner;
use mappings::Mappings;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tare_model::results::Footprint;

/// Files of a process that tell what it belongs to.
const CMDLINE: &str = "cmdline";
const CGROUP: &str = "cgroup";

/// Takes the footprint of a box whose processes bear one of `marks` in the name of a
/// cgroup, or in their command line where they are not another user's, and whose files lie
/// in `folder`.
pub fn footprint(marks: &[String], folder: &Path) -> Footprint {
    let processes: Vec<u64> = processes(marks)
        .map(|process| proportional_bytes(&process))
        .collect();
    Footprint {
        processes: u32::try_from(processes.len()).unwrap_or(u32::MAX),
        memory_bytes: processes.iter().sum(),
        disk_bytes: disk_bytes(folder),
    }
}

/// The memory of a box in bytes, every page once and in full, whoever else has it: what it
/// would occupy if it stood alone. Marks as for [`footprint`].
pub fn resident_bytes(marks: &[String]) -> u64 {
    let mut mappings = Mappings::default();
    for process in processes(marks) {
        // One that has just ended occupies nothing.
        mappings.add(&fs::read_to_string(process.join("smaps")).unwrap_or_default());
    }
    mappings.resident_bytes()
}

/// Folders in /proc of the processes that bear one of `marks`.
pub fn processes(marks: &[String]) -> impl Iterator<Item = PathBuf> {
    // The cgroup first: to read it waits for nobody.
    marked(marks, &[CGROUP, CMDLINE])
}

/// Folders in /proc of those that bear one in their command line: the engine's,
/// that make the box and watch over it.
pub fn engine(marks: &[String]) -> impl Iterator<Item = PathBuf> {
    marked(marks, &[CMDLINE])
}

fn marked(marks: &[String], files: &'static [&'static str]) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |name: &str| name.bytes().all(|b| b.is_ascii_digit());
    entries
        .filter(move |entry| is_process(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .filter(move |process| is_marked(process, marks, files))
}

fn is_marked(process: &Path, marks: &[String], files: &[&str]) -> bool {
    files.iter().any(|file| {
        // Another user may call his programs as he likes. He may also let whoever reads their
        // command lines wait for ever, by a page of theirs that never comes: no deadline and no
        // signal would end that.
        if *file == CMDLINE && !owner::is_ours(process) {
            return false;
        }
        let bytes = fs::read(process.join(file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        marks.iter().any(|mark| holds(&text, mark))
    })
}

/// Folders in /proc of what a container of this id consists of: the processes in its
/// cgroup, its sandbox, its monitor or shim. Others may name the id, such as a pager
/// that shows its counters.
pub fn container(id: &str) -> Vec<PathBuf> {
    let marks = [id.to_owned()];
    let belongs = |process: &PathBuf| is_marked(process, &marks, &[CGROUP]) || is_engines(process);
    processes(&marks).filter(belongs).collect()
}

fn is_engines(process: &Path) -> bool {
    if !owner::is_ours(process) {
        return false;
    }
    let line = fs::read(process.join(CMDLINE)).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let program = line.split('\0').next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    ["containerd-shim", "conmon", "runsc"]
        .iter()
        .any(|engine| name.starts_with(engine))
}

/// Kills a process by its folder in /proc.
pub fn kill(process: &Path) {
    let number = process.file_name().and_then(|name| name.to_str()?.parse().ok());
    if let Some(pid) = number.and_then(Pid::from_raw) {
        // It may have ended meanwhile, which is as good.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Whether `mark` stands in `text` as a whole: `tare-x-1` is no part of `tare-x-10`.
pub fn holds(text: &str, mark: &str) -> bool {
    text.match_indices(mark).any(|(at, _)| {
        let after = text[at + mark.len()..].chars().next();
        after.is_none_or(|c| !c.is_ascii_alphanumeric())
    })
}

/// Proportional set size: a page that n processes share counts 1/n.
fn proportional_bytes(process: &Path) -> u64 {
    let text = fs::read_to_string(process.join("smaps_rollup")).unwrap_or_default();
    let kilobytes = text.lines().find_map(|line| match mappings::field(line) {
        Some(("Pss", kilobytes)) => Some(kilobytes),
        _ => None,
    });
    kilobytes.unwrap_or(0) * 1024
}

/// Blocks on the disk of all files below a folder, without those that other boxes share.
fn disk_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let meta = fs::symlink_metadata(entry.path()).ok()?;
            if meta.is_dir() {
                return Some(meta.blocks() * 512 + disk_bytes(&entry.path()));
            }
            (meta.nlink() == 1).then(|| meta.blocks() * 512)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_as_a_whole() {
        assert!(holds("qemu -name\0tare-x-1\0-M", "tare-x-1"));
        assert!(holds("0::/tare-x-1-lxc\n", "tare-x-1"));
        assert!(!holds("qemu -name\0tare-x-10\0", "tare-x-1"));
    }

    #[test]
    fn what_another_user_calls_his_processes_counts_for_nothing() {
        use std::os::unix::process::CommandExt;
        use std::process::{Command, Stdio};
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can be another user");
            return;
        }
        let mark = format!("tare-mark-{}", std::process::id());
        let started = |user: u32| {
            let mut command = Command::new("sleep");
            command.arg0(&mark).arg("20").uid(user).stdin(Stdio::null());
            command.spawn().unwrap()
        };
        let mut children = [started(65_534), started(0)];
        let seen: Vec<PathBuf> = processes(&[mark]).collect();
        let own = PathBuf::from(format!("/proc/{}", children[1].id()));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(seen, [own]);
    }

    #[test]
    fn this_process_has_a_footprint() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), [1; 10_000]).unwrap();
        let own = fs::read_to_string("/proc/self/cmdline").unwrap();
        let program = own.split('\0').next().unwrap().to_owned();
        let marks = [program];
        let footprint = footprint(&marks, folder.path());
        assert!(footprint.processes >= 1 && footprint.memory_bytes > 100_000);
        assert!(resident_bytes(&marks) > 100_000);
        assert!(footprint.disk_bytes >= 8192);
    }
}
