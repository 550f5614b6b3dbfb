//! Commands in boxes that reach for what is the host's, and others on the host that reach
//! for what is a box's.

use super::site::Site;
use super::talk::act;
use super::{Broken, Kept, expect};
use crate::program;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What the files hold by which a box is found to see the host's.
const MARK: &str = "a file of the host";
/// What a box adds to them, and to names beside them.
const TRACE: &str = ".reached";

/// Where other users may lay files too.
const FOR_ALL: &str = "/var/tmp";

/// Where the file systems of the host's that a guest's kernel knows are mounted, and from where.
const PLACE: &str = "/reached";
const FROM: [&str; 2] = ["/", "/../../../../../.."];

/// The part of a disk by which it is known: behind the first kilobyte, where file systems
/// keep their names and partitions begin.
const KNOWN_BY: (u64, usize) = (1024, 1024);
/// Bytes of it that may have changed since: counters of a file system in use.
const CHANGED: usize = 64;
/// Disks that are tried.
const DISKS: usize = 8;

/// The user that is nobody.
const NOBODY: u32 = 65534;
/// Time for a user to try what it can.
const TRY_DEADLINE: Duration = Duration::from_secs(30);
/// What a box leaves for others of the host.
const LENT: &str = "lent";
const SET_USER: u32 = 0o4000;

/// Marks on the host, removed when dropped.
struct Marks(Vec<PathBuf>);

impl Marks {
    fn lay(site: &Site<'_>) -> Result<Self, Broken> {
        let order = site.order();
        let state = order
            .state
            .canonicalize()
            .map_err(Broken::host("find the state folder"))?;
        let name = format!("{}-mark", order.run.name());
        let marks = Self(
            [state.as_path(), Path::new(FOR_ALL)]
                .map(|at| at.join(&name))
                .into(),
        );
        for mark in &marks.0 {
            fs::write(mark, MARK).map_err(Broken::host("lay a mark"))?;
        }
        Ok(marks)
    }

    fn beside(mark: &Path) -> PathBuf {
        let mut name = mark.as_os_str().to_owned();
        name.push(TRACE);
        name.into()
    }

    /// Which of them were written.
    fn written(&self) -> Vec<String> {
        let touched = |mark: &&PathBuf| {
            fs::read_to_string(mark).ok().as_deref() != Some(MARK) || Self::beside(mark).exists()
        };
        let written = self.0.iter().filter(touched);
        written.map(|mark| format!("wrote {}", mark.display())).collect()
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        for mark in &self.0 {
            let _ = fs::remove_file(mark);
            let _ = fs::remove_file(Self::beside(mark));
        }
    }
}

pub(super) fn host_files(site: &mut Site<'_>) -> Result<Kept, Broken> {
    if site.platform()?.has_host_files() {
        return Ok(Kept::NotHere("its boxes have the host's files".to_owned()));
    }
    let marks = Marks::lay(site)?;
    let disks = disks();
    let mut words = vec!["reach".to_owned()];
    words.extend(marks.0.iter().map(|mark| mark.display().to_string()));
    words.extend(disks.iter().map(|(number, _)| number.clone()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let told = act(site.shared()?, &words)?.words()?;
    let is_the_hosts = |line: &&str| match line.split_once(' ') {
        Some(("disk", seen)) => disks.iter().any(|disk| is_disk(disk, seen)),
        _ => true,
    };
    let seen = told.lines().filter(is_the_hosts);
    let mut reached: Vec<String> = seen.map(|line| line.chars().take(200).collect()).collect();
    reached.extend(marks.written());
    expect(reached.is_empty(), || {
        format!("reached from within: {}", reached.join("; "))
    })?;
    Ok(Kept::Yes(Some(format!(
        "{} disks of the host tried",
        disks.len()
    ))))
}

/// The host's disks by number, with the part by which each is known.
fn disks() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir("/sys/class/block").into_iter().flatten().flatten();
    let known = entries.filter_map(|entry| {
        let number = fs::read_to_string(entry.path().join("dev"))
            .ok()?
            .trim()
            .to_owned();
        let part = known_part(&Path::new("/dev").join(entry.file_name())).ok()?;
        part.iter().any(|byte| *byte != 0).then_some((number, part))
    });
    known.take(DISKS).collect()
}

fn known_part(disk: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(disk)?;
    file.seek(SeekFrom::Start(KNOWN_BY.0))?;
    let mut part = vec![0; KNOWN_BY.1];
    file.read_exact(&mut part)?;
    Ok(part)
}

/// Whether what a box saw under a number is this disk, and no disk of its own.
fn is_disk((number, part): &(String, Vec<u8>), seen: &str) -> bool {
    let Some(bytes) = seen
        .strip_prefix(number.as_str())
        .and_then(|rest| rest.strip_prefix(' '))
    else {
        return false;
    };
    let same = part
        .iter()
        .zip(bytes.as_bytes().chunks(2))
        .filter(|(byte, seen)| format!("{byte:02x}").as_bytes() == *seen);
    same.count() + CHANGED >= part.len()
}

/// Tries to get at files of the host and at its disks, and prints a line about each of which
/// something was seen. What cannot even be tried is as good as refused.
pub(super) fn reach(wanted: &[&str]) -> io::Result<()> {
    let mut said = String::new();
    let is_number = |word: &&&str| !word.starts_with('/');
    let files: Vec<&str> = wanted.iter().filter(|word| !is_number(word)).copied().collect();
    reach_files(Path::new("/"), &files, &mut said);
    let _ = fs::create_dir(PLACE);
    for from in FROM {
        let from = CString::new(from).unwrap_or_default();
        if mount(
            "none",
            PLACE,
            "hostfs",
            MountFlags::empty(),
            Some(from.as_c_str()),
        )
        .is_ok()
        {
            reach_files(Path::new(PLACE), &files, &mut said);
            let _ = unmount(PLACE, UnmountFlags::DETACH);
        }
    }
    for number in wanted.iter().filter(is_number) {
        if let Some(part) = reach_disk(number) {
            let hex: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
            said.push_str(&format!("disk {number} {hex}\n"));
        }
    }
    io::stdout().write_all(said.as_bytes())
}

fn reach_files(root: &Path, files: &[&str], said: &mut String) {
    for file in files {
        let path = root.join(file.trim_start_matches('/'));
        if fs::read_to_string(&path).is_ok_and(|content| content.contains(MARK)) {
            said.push_str(&format!("read {}\n", path.display()));
        }
        if let Ok(mut opened) = File::options().append(true).open(&path) {
            let _ = opened.write_all(TRACE.as_bytes());
        }
        let _ = fs::write(Marks::beside(&path), TRACE);
    }
}

fn reach_disk(number: &str) -> Option<Vec<u8>> {
    let (major, minor) = number.split_once(':')?;
    let device = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
    let name = format!("{PLACE}-{number}");
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, &name, FileType::BlockDevice, mode, device).ok()?;
    let part = known_part(Path::new(&name)).ok();
    let _ = fs::remove_file(name);
    part
}

pub(super) fn closed(site: &mut Site<'_>) -> Result<Kept, Broken> {
    let run = site.order().run.folder().to_owned();
    let in_files = site.folder().display().to_string();
    // Where it has the host's files, none is made outside of the run's folder.
    let places = [&in_files, "/", "."];
    let places = if site.platform()?.has_host_files() {
        &places[..1]
    } else {
        &places
    };
    let made = site.shared()?;
    let words: Vec<&str> = ["lend"].iter().chain(places).copied().collect();
    act(made, &words)?.words()?;
    let root = made.host_root().map(Path::to_owned);
    let mut lent = Vec::new();
    find_lent(&run, &mut lent);
    let beside = root.as_deref().filter(|root| !root.starts_with(&run));
    beside.into_iter().for_each(|root| find_lent(root, &mut lent));
    let found = lent.len();
    lent.push(run.clone());
    let reached = tried(&lent);
    lent.iter().for_each(|path| drop(fs::remove_file(path)));
    let reached = reached?;
    expect(reached.is_empty(), || {
        format!("open to others: {}", reached.join("; "))
    })?;
    // The state folder above it may be closed here and open elsewhere.
    let meta = fs::metadata(&run).map_err(Broken::host("look at the run's folder"))?;
    expect(meta.mode() & 0o007 == 0, || {
        format!("the run's folder has the mode {:o}", meta.mode() & 0o7777)
    })?;
    Ok(Kept::Yes(Some(format!("{found} files of a box looked for"))))
}

/// Copies this program as one that runs as its owner, wherever it may.
pub(super) fn lend(folders: &[&str]) -> io::Result<()> {
    for folder in folders {
        let target = Path::new(folder).join(LENT);
        let _ = fs::create_dir_all(folder);
        let lent = fs::copy("/proc/self/exe", &target)
            .and_then(|_| fs::set_permissions(&target, fs::Permissions::from_mode(SET_USER | 0o755)));
        if lent.is_err() {
            let _ = fs::remove_file(target);
        }
    }
    Ok(())
}

/// Files below a folder that a box has lent.
fn find_lent(folder: &Path, lent: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => find_lent(&path, lent),
            Ok(_) if entry.file_name() == LENT => lent.push(path),
            _ => {}
        }
    }
}

/// Those of these paths that another user of the host gets at.
fn tried(paths: &[PathBuf]) -> Result<Vec<String>, Broken> {
    let mut command = Command::new("/proc/self/exe");
    command
        .args(["run-act", "try"])
        .args(paths)
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/");
    let ended = program::output(&mut command, TRY_DEADLINE).map_err(Broken::host("try as another user"))?;
    expect(ended.status.success(), || {
        let words = String::from_utf8_lossy(&ended.stderr);
        format!("another user could not even try: {}", words.trim())
    })?;
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    Ok(told.lines().map(str::to_owned).collect())
}

/// Prints those of these paths that can be opened, or that are there at all.
pub(super) fn try_paths(paths: &[&str]) -> io::Result<()> {
    let mut said = String::new();
    for path in paths {
        let opened = if Path::new(path).is_dir() {
            fs::read_dir(path).map(drop)
        } else {
            File::open(path).map(drop)
        };
        if opened.is_ok() {
            said.push_str(&format!("{path}\n"));
        }
    }
    io::stdout().write_all(said.as_bytes())
}
