//! What a box leaves on the host: looked up while it lives, looked for when it
//! is gone.

use super::{Broken, expect};
use crate::contract::RunningBox;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tare_host::places::SHARED;
use tare_host::{footprint, net};

/// Time for what an engine puts away after it has answered.
const GRACE: Duration = Duration::from_secs(5);

/// Depth to which cgroups are looked for: an engine's slice, its scope, its payload.
const DEPTH: u32 = 5;

/// Where a box can be seen on the host.
#[derive(Default)]
pub(super) struct Traces {
    /// Names in command lines, cgroups, mounts, sockets and folders.
    marks: Vec<String>,
    /// Its processes, with the times of their start: a number alone may be given again.
    processes: BTreeSet<(PathBuf, String)>,
    /// Where its namespaces are mounted.
    namespaces: BTreeSet<String>,
    /// The layers of its root file system that can be written.
    layers: BTreeSet<PathBuf>,
    /// The folder in which its files lie.
    scratch: PathBuf,
}

impl Traces {
    /// The traces of a living box.
    pub(super) fn of(made: &dyn RunningBox, name: &str, scratch: &Path) -> Self {
        let mut marks = made.marks();
        marks.push(name.to_owned());
        Self::by_marks(marks, scratch)
    }

    /// The traces of a box that bears these marks.
    pub(super) fn by_marks(marks: Vec<String>, scratch: &Path) -> Self {
        let found: Vec<PathBuf> = footprint::processes(&marks).collect();
        let processes = found
            .iter()
            .filter_map(|process| Some((process.clone(), started(process)?)));
        let nets: BTreeSet<String> = found.iter().filter_map(|process| network(process)).collect();
        Self {
            processes: processes.collect(),
            namespaces: mounted(&nets),
            layers: found.iter().filter_map(|process| layer(process)).collect(),
            scratch: scratch.to_owned(),
            marks,
        }
    }

    /// The traces of whatever bears this name.
    pub(super) fn named(name: &str, scratch: &Path) -> Self {
        Self {
            marks: vec![name.to_owned()],
            scratch: scratch.to_owned(),
            ..Self::default()
        }
    }

    /// Fails if anything is still there after a moment.
    pub(super) fn expect_gone(&self) -> Result<(), Broken> {
        let deadline = Instant::now() + GRACE;
        loop {
            let left = self.left();
            if left.is_empty() {
                return Ok(());
            }
            expect(Instant::now() < deadline, || {
                format!("left behind: {}", left.join("; "))
            })?;
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What is there.
    pub(super) fn left(&self) -> Vec<String> {
        let mut left: Vec<String> = footprint::processes(&self.marks)
            .filter(|process| started(process).is_some())
            .map(|process| format!("process {}", described(&process)))
            .collect();
        let known = self.processes.iter();
        left.extend(
            known
                .filter(|(process, start)| started(process).as_ref() == Some(start))
                .map(|(process, _)| format!("process {}", described(process))),
        );
        left.extend(self.mounts());
        left.extend(self.lines("/proc/net/unix", "socket"));
        left.extend(self.cgroups());
        let layers = self.layers.iter().filter(|layer| layer.exists());
        left.extend(layers.map(|layer| format!("layer {}", layer.display())));
        left.extend(self.mounted_namespaces());
        left.extend(self.links());
        left.extend(self.folders());
        left.sort();
        left.dedup();
        left
    }

    fn is_marked(&self, text: &str) -> bool {
        self.marks.iter().any(|mark| footprint::holds(text, mark))
    }

    fn lines(&self, file: &str, what: &str) -> Vec<String> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let marked = text.lines().filter(|line| self.is_marked(line));
        marked.map(|line| format!("{what} {line}")).collect()
    }

    /// All but what boxes of the run share, which stays as long as the run.
    fn mounts(&self) -> Vec<String> {
        let mut mounts = self.lines("/proc/self/mounts", "mount");
        let is_shared = |line: &str| {
            line.split(' ')
                .nth(2)
                .is_some_and(|at| Path::new(at).ends_with(SHARED))
        };
        mounts.retain(|line| !is_shared(line));
        mounts
    }

    fn cgroups(&self) -> Vec<String> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let roots = mounts.lines().filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            let path = fields.next()?;
            fields.next()?.starts_with("cgroup").then(|| PathBuf::from(path))
        });
        let mut found = Vec::new();
        roots.for_each(|root| self.cgroups_below(&root, DEPTH, &mut found));
        found
    }

    fn cgroups_below(&self, folder: &Path, depth: u32, found: &mut Vec<String>) {
        for below in folders_in(folder) {
            let name = below
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if self.is_marked(&name) {
                found.push(format!("cgroup {}", below.display()));
            } else if depth > 0 {
                self.cgroups_below(&below, depth - 1, found);
            }
        }
    }

    fn mounted_namespaces(&self) -> Vec<String> {
        let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let left = text.lines().filter(|line| self.namespaces.contains(*line));
        left.map(|line| format!("mounted namespace {line}")).collect()
    }

    /// Links of the host that lead to boxes. The bridge is the run's and stays as
    /// long as that.
    fn links(&self) -> Vec<String> {
        let leads_here = |link: &String| self.marks.iter().any(|mark| net::leads_to(link, mark));
        let left = tare_box::interface::interfaces().into_iter().filter(leads_here);
        left.map(|link| format!("link {link}")).collect()
    }

    /// Folders of boxes in the folder of the run.
    fn folders(&self) -> Vec<String> {
        let marked =
            |folder: &PathBuf| self.is_marked(&folder.file_name().unwrap_or_default().to_string_lossy());
        let left = folders_in(&self.scratch).into_iter().filter(marked);
        left.map(|folder| format!("folder {}", folder.display()))
            .collect()
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}

/// When a process was started; `None` if it has ended, also if nobody has asked
/// for its end yet.
fn started(process: &Path) -> Option<String> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The name, in brackets, may hold anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    (state != "Z" && state != "X").then(|| fields.nth(18).map(str::to_owned))?
}

fn described(process: &Path) -> String {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&line).replace('\0', " ");
    format!("{} ({})", process.display(), words.trim())
}

/// A process's network namespace, if it is not ours.
fn network(process: &Path) -> Option<String> {
    let of = |process: &Path| fs::read_link(process.join("ns/net")).ok();
    let theirs = of(process)?;
    (of(Path::new("/proc/self")) != Some(theirs.clone())).then(|| theirs.to_string_lossy().into_owned())
}

/// The lines of the table of mounts that tell of these namespaces.
fn mounted(namespaces: &BTreeSet<String>) -> BTreeSet<String> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let is_one = |line: &&str| {
        line.split(' ')
            .nth(3)
            .is_some_and(|root| namespaces.contains(root))
    };
    text.lines().filter(is_one).map(str::to_owned).collect()
}

/// The layer of a process's root that is written, where its root is made of layers.
fn layer(process: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(process.join("mountinfo")).ok()?;
    let root = text.lines().find(|line| line.split(' ').nth(4) == Some("/"))?;
    let upper = root
        .split(',')
        .find_map(|option| option.strip_prefix("upperdir="))?;
    Some(PathBuf::from(upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_a_trace_until_it_has_ended() {
        let mark = format!("tare-traces-{}", std::process::id());
        let mut child = Command::new("sh")
            // Without a child of its own, which would bear the mark too until it is another program.
            .args(["-c", "read line", &mark])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // It bears the mark once it is the shell that it is to be.
        let look = || Traces::by_marks(vec![mark.clone()], Path::new("/no/such/folder"));
        let mut traces = look();
        for _ in 0..1000 {
            if !traces.processes.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            traces = look();
        }
        assert!(!traces.processes.is_empty());
        assert!(traces.left().iter().any(|what| what.starts_with("process ")));
        child.kill().unwrap();
        // Not waited for yet, and gone all the same.
        assert!(traces.expect_gone().is_ok());
        child.wait().unwrap();
    }

    #[test]
    fn a_folder_of_the_box_is_a_trace() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("tare-00000000-1")).unwrap();
        let left = |name| Traces::named(name, scratch.path()).left();
        assert_eq!(left("tare-00000000-1").len(), 1);
        assert_eq!(left("tare-00000000").len(), 1);
        assert_eq!(left("tare-00000000-10"), Vec::<String>::new());
    }
}
