//! Commands in boxes that reach for what is the host's, and others on the host that reach
//! for what is a box's.

use super::context::CheckContext;
use super::talk::act;
use super::{Broken, Kept, expect};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tare_agent::act::reach::{LENT, MARK, beside, known_part};
use tare_host::program;

/// Where other users may lay files too.
const FOR_ALL: &str = "/var/tmp";

/// Bytes of it that may have changed since: counters of a file system in use.
const CHANGED: usize = 64;
/// Disks that are tried.
const DISKS: usize = 8;

/// The user that is nobody.
const NOBODY: u32 = 65534;
/// Time for a user to try what it can.
const TRY_DEADLINE: Duration = Duration::from_secs(30);

/// Marks on the host, removed when dropped.
struct Marks(Vec<PathBuf>);

impl Marks {
    fn lay(site: &CheckContext<'_>) -> Result<Self, Broken> {
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
            fs::write(mark, MARK).map_err(Broken::host("leave a mark"))?;
        }
        Ok(marks)
    }

    /// Which of them were written.
    fn written(&self) -> Vec<String> {
        let touched =
            |mark: &&PathBuf| fs::read_to_string(mark).ok().as_deref() != Some(MARK) || beside(mark).exists();
        let written = self.0.iter().filter(touched);
        written.map(|mark| format!("wrote {}", mark.display())).collect()
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        for mark in &self.0 {
            let _ = fs::remove_file(mark);
            let _ = fs::remove_file(beside(mark));
        }
    }
}

pub(super) fn host_files(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
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

pub(super) fn closed(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    if !rustix::process::geteuid().is_root() {
        return Ok(Kept::NotHere("trying as another user takes root".to_owned()));
    }
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
