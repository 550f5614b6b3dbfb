//! What a hostile command in a box cannot do to its host, though it is root there. The parts
//! that the command plays are in [`attack`].

use super::context::CheckContext;
use super::ends::is_agent;
use super::talk::{act, greet};
use super::traces::Traces;
use super::{Broken, Kept, expect};
use crate::contract::{MemoryView, RunningBox};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tare_agent::act::attack;
use tare_host::cgroup::{InForce, Layout};
use tare_host::footprint;

/// Why a platform whose boxes have the host's own files keeps none of this.
const NOT_APART: &str = "root in such a box is root on the host";

/// A file as it must stay.
struct Fingerprint {
    inode: (u64, u64),
    mode: u32,
    bytes: Vec<u8>,
}

impl Fingerprint {
    fn of(file: &Path) -> Result<Self, Broken> {
        let meta = fs::metadata(file).map_err(Broken::host("look at the host's copy of the binary"))?;
        Ok(Self {
            inode: (meta.dev(), meta.ino()),
            mode: meta.mode(),
            // Root reads it whatever its mode.
            bytes: fs::read(file).map_err(Broken::host("read the host's copy of the binary"))?,
        })
    }

    /// What is not as it was.
    fn difference(&self, later: &Self) -> Option<String> {
        if self.inode != later.inode {
            return Some("it is another file".to_owned());
        }
        if self.mode != later.mode {
            return Some(format!("its mode is {:o}, not {:o}", later.mode, self.mode));
        }
        (self.bytes != later.bytes).then(|| "its content is another".to_owned())
    }
}

/// Whatever a command does to the binary: neither the copy that the host runs nor the next box suffers.
pub(super) fn binary(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    if site.platform()?.has_host_files() {
        return Ok(Kept::NotHere(NOT_APART.to_owned()));
    }
    let file = &site.order().agent;
    let before = Fingerprint::of(file)?;
    let (mut made, name) = site.own()?;
    // It may end the agent with it, which harms nobody else.
    let told = act(&mut *made, &["spoil-binary"]).map(|ended| ended.stdout);
    let traces = Traces::of(&*made, &name, site.order().run.folder());
    // What a box left of itself may keep it from ending well.
    let _ = made.destroy();
    drop(made);
    traces.expect_gone()?;
    let told = String::from_utf8_lossy(&told.unwrap_or_default()).into_owned();
    if let Some(difference) = before.difference(&Fingerprint::of(file)?) {
        let file = file.display();
        return Err(Broken::Seen(format!(
            "a command in a box changed {file}, which the host runs: {difference}"
        )));
    }
    let foreign = told.lines().find(|line| line.starts_with(attack::FOREIGN));
    expect(foreign.is_none(), || {
        format!("a command in a box could change a program of the host's: {told}")
    })?;
    let (mut next, _) = site.own()?;
    greet(&mut *next)?;
    act(&mut *next, &["exit", "0"])?.words()?;
    next.destroy()?;
    Ok(told_of_itself(&told))
}

/// What a command could do to its own box alone; of many things the number.
fn told_of_itself(told: &str) -> Kept {
    const FEW: usize = 3;
    let lines: Vec<&str> = told.lines().collect();
    let words = match lines.len() {
        0 => return Kept::YES,
        1..=FEW => lines.join(", "),
        many => format!("{} and {} more", lines[..FEW].join(", "), many - FEW),
    };
    Kept::Yes(Some(format!("to itself alone: {words}")))
}

/// Files of the kernel and devices by which root in a box would be root on the host stay closed.
pub(super) fn kernel(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let platform = site.platform()?;
    if platform.has_host_files() {
        return Ok(Kept::NotHere(NOT_APART.to_owned()));
    }
    if platform.memory_view() != MemoryView::Touch {
        return Ok(Kept::NotHere("the box has a kernel of its own".to_owned()));
    }
    let disk = a_disk().unwrap_or_default();
    let opened = act(site.shared()?, &["open-kernel", &disk])?.words()?;
    expect(opened.is_empty(), || {
        format!("a command in a box could {}", list(&opened))
    })?;
    Ok(Kept::YES)
}

/// The numbers of a block device of the host's, as `major:minor`.
fn a_disk() -> Option<String> {
    let text = fs::read_to_string("/proc/partitions").ok()?;
    let mut rows = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.find_map(|row| {
        let (major, minor): (u32, u32) = (row.first()?.parse().ok()?, row.get(1)?.parse().ok()?);
        Some(format!("{major}:{minor}"))
    })
}

fn list(lines: &str) -> String {
    lines.lines().collect::<Vec<_>>().join(", ")
}

/// The limits that bind the agent do not change by what root in the box does.
pub(super) fn own_limits(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    if site.platform()?.has_host_files() {
        return Ok(Kept::NotHere(NOT_APART.to_owned()));
    }
    let (mut made, _) = site.own()?;
    let before = in_force(&*made)?;
    if before.is_empty() {
        return Ok(Kept::NotHere("the agent is not a process of the host".to_owned()));
    }
    let told = act(&mut *made, &["lift-limits"])?.words()?;
    let after = in_force(&*made)?;
    made.destroy()?;
    let is_kept =
        |(agent, limits): (&String, &InForce)| after.get(agent).is_some_and(|later| limits.is_kept(later));
    expect(before.iter().all(is_kept), || {
        format!(
            "a command in a box lifted its limits from {before:?} to {after:?}: it could {}",
            list(&told)
        )
    })?;
    expect(!told.contains(attack::RELEASE_AGENT), || {
        format!("a command in a box could {}", list(&told))
    })?;
    Ok(told_of_itself(&told))
}

/// The limits that bind the agents of a box, by their folders in /proc.
fn in_force(made: &dyn RunningBox) -> Result<BTreeMap<String, InForce>, Broken> {
    let layout = Layout::detect().map_err(|e| Broken::Seen(e.to_string()))?;
    let marks = made.marks();
    let agents = footprint::processes(&marks).filter(|process| is_agent(process));
    let limits = agents.filter_map(|process| {
        let pid = process.file_name()?.to_str()?.parse().ok()?;
        Some((process.display().to_string(), InForce::on(&layout, pid).ok()?))
    });
    Ok(limits.collect())
}
