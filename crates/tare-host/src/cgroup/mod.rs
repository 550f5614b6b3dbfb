//! Control groups, version 1 (also in its hybrid layout) and 2.
//!
//! A [`Cgroup`] is one name in every hierarchy that matters. Those we make bear
//! the run's name and are removed with it; those that an engine made are only
//! read.

mod base;
mod in_force;
mod memory;
mod tree;
mod v1;
mod v2;

pub use base::{has_cpu_sets, is_read_only, lacks_own, stay_below_own, supports_weight};
pub use in_force::InForce;
pub use memory::{MemoryEvents, MemoryFolder};

pub use tare_box::kernel::cpu_list;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tare_model::size::Cpus;

/// Period of CPU quotas in microseconds: the kernel's default, and Docker's.
pub const PERIOD_US: u64 = 100_000;

/// That of quotas which stand around others: the longest that there is, as it is the nearest to
/// what stands within.
const AROUND_PERIOD_US: u64 = 1_000_000;

/// Time for killed processes to leave a cgroup.
const REMOVAL_DEADLINE: Duration = Duration::from_secs(10);

/// What a box gets of a CPU for which it competes with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Weight {
    /// As much as every other cgroup.
    #[default]
    Usual,
    /// The most that the kernel lets a cgroup have: 256 times the usual weight in version 1,
    /// 100 times in version 2, divided over the CPUs that the cgroup uses.
    Most,
}

impl Weight {
    /// The value of `cpu.shares`, of version 1, where it is not the usual one.
    pub const fn shares(self) -> Option<u64> {
        match self {
            Self::Usual => None,
            Self::Most => Some(262_144),
        }
    }

    /// The value of `cpu.weight`, of version 2, where it is not the usual one.
    pub const fn weight(self) -> Option<u64> {
        match self {
            Self::Usual => None,
            Self::Most => Some(10_000),
        }
    }
}

/// Within a box's cgroup, the one that its processes are in where root of the box may get at it.
pub const INNER: &str = "box";

/// Limits of a box.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// CPU time per period, if limited by quota.
    pub quota: Option<Cpus>,
    /// CPUs allowed, if limited by set.
    pub cpuset: Option<Vec<u32>>,
    /// What it gets of the CPU beside others.
    pub weight: Weight,
    /// Memory in bytes, swap included; absent for a VM, whose size is its limit.
    pub memory_bytes: Option<u64>,
    /// Whether the same limits stand below these, and bind first as long as they stand.
    pub around: bool,
}

impl Limits {
    /// The quota and its period, in microseconds.
    fn quota_us(&self) -> Option<[u64; 2]> {
        let quota_us = self.quota?.quota_us(PERIOD_US);
        if !self.around {
            return Some([quota_us, PERIOD_US]);
        }
        // Periods of the two begin at different times: ten of the longer one's parts can hold
        // what eleven of the shorter ones grant. Less would bind boxes that keep to theirs.
        let periods = AROUND_PERIOD_US / PERIOD_US;
        Some([(periods + 1) * quota_us, AROUND_PERIOD_US])
    }
}

/// CPU usage and throttling since the cgroup was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Quota periods in which it ran.
    pub periods: u64,
    /// Quota periods in which it was throttled.
    pub throttled_periods: u64,
    /// Time for which it was throttled, in nanoseconds, over all CPUs.
    pub throttled_ns: u64,
}

/// Where the hierarchies are mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// One mount per controller (by name), perhaps beside an empty v2 one.
    V1(BTreeMap<String, PathBuf>),
    /// One unified mount.
    V2(PathBuf),
}

/// Key of the one hierarchy of version 2, alone or beside those of version 1.
const UNIFIED: &str = "unified";

/// Controllers of v1 that limits, readings and freezing need.
const V1_CONTROLLERS: [&str; 5] = ["cpu", "cpuacct", "cpuset", "memory", "freezer"];

/// As many processes and threads as a box may have, on every platform: what forks without end
/// shall not take those of the host. No workload that comes with tare has a tenth of them.
const MOST_TASKS: u32 = 4096;

/// Devices that every box may have, as rules of cgroups: any may be made, and used are null, zero,
/// full, random, urandom, tty, ptmx and the terminals of a box.
pub const DEVICES: [&str; 10] = [
    "c *:* m",
    "b *:* m",
    "c 1:3 rwm",
    "c 1:5 rwm",
    "c 1:7 rwm",
    "c 1:8 rwm",
    "c 1:9 rwm",
    "c 5:0 rwm",
    "c 5:2 rwm",
    "c 136:* rwm",
];

/// Others of v1, in which boxes have a cgroup of their own where they are mounted: root of a box
/// that were in the topmost one could mount that, and make cgroups beside those of others.
const MORE_OF_V1: [&str; 9] = [
    "blkio",
    "devices",
    "hugetlb",
    "misc",
    "net_cls",
    "net_prio",
    "perf_event",
    "pids",
    "rdma",
];

fn is_optional(option: &str) -> bool {
    MORE_OF_V1.contains(&option) || option.starts_with("name=")
}

/// What is wrong with the host's cgroups.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// No usable hierarchy is mounted.
    #[error(
        "no cgroup hierarchy with {0} is mounted: mount cgroup2 on /sys/fs/cgroup, or the v1 controllers below it"
    )]
    NotMounted(String),
    /// A file of a cgroup could not be read or written.
    #[error("cannot {what} {path}: {source}")]
    File {
        /// `read`, `write` or `make`.
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A controller that a limit needs is not there.
    #[error(
        "cgroup {folder} has no controller '{controller}', since whoever made it handed none down: see docs/platforms.md, Ordinary users, or run tare as root"
    )]
    NoController {
        /// The cgroup.
        folder: PathBuf,
        controller: &'static str,
    },
    /// Processes of the cgroup did not end.
    #[error("cgroup {0} could not be removed: processes in it did not end")]
    Busy(String),
}

impl Layout {
    /// Finds the mounted hierarchies.
    ///
    /// # Errors
    /// [`CgroupError::NotMounted`].
    pub fn detect() -> Result<Self, CgroupError> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        Self::from_mounts(&mounts)
    }

    fn from_mounts(mounts: &str) -> Result<Self, CgroupError> {
        let mut v1 = BTreeMap::new();
        let mut v2 = None;
        for line in mounts.lines() {
            let mut fields = line.split(' ').skip(1);
            let (Some(path), Some(kind), Some(options)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            match kind {
                "cgroup" => {
                    let known = options
                        .split(',')
                        .filter(|o| V1_CONTROLLERS.contains(o) || is_optional(o));
                    known.for_each(|o| drop(v1.insert(o.to_owned(), PathBuf::from(path))));
                }
                "cgroup2" => v2 = v2.or_else(|| Some(PathBuf::from(path))),
                _ => {}
            }
        }
        let missing: Vec<_> = V1_CONTROLLERS
            .iter()
            .filter(|c| !v1.contains_key(**c))
            .copied()
            .collect();
        match v2 {
            Some(path) if v1.keys().all(|key| is_optional(key)) => Ok(Self::V2(path)),
            unified if missing.is_empty() => {
                v1.extend(unified.map(|path| (UNIFIED.to_owned(), path)));
                Ok(Self::V1(v1))
            }
            _ => Err(CgroupError::NotMounted(missing.join(", "))),
        }
    }

    /// `v1` (or `hybrid`) or `v2`, for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::V1(_) if self.unified_beside_v1().is_some() => "hybrid",
            Self::V1(_) => "v1",
            Self::V2(_) => "v2",
        }
    }

    /// Where version 2 is mounted beside the controllers of version 1.
    pub fn unified_beside_v1(&self) -> Option<&Path> {
        match self {
            Self::V1(mounts) => mounts.get(UNIFIED).map(PathBuf::as_path),
            Self::V2(_) => None,
        }
    }
}

/// One cgroup, in every hierarchy that matters.
#[derive(Debug, Clone)]
pub struct Cgroup {
    /// Folder by controller (v1), or one folder named `unified` (v2).
    folders: BTreeMap<String, PathBuf>,
    v2: bool,
}

impl Cgroup {
    /// Makes a cgroup in the [base](base) of each hierarchy and sets its limits.
    ///
    /// # Errors
    /// [`CgroupError::File`]; what was made is removed again.
    pub fn create(layout: &Layout, name: &str, limits: &Limits) -> Result<Self, CgroupError> {
        if matches!(layout, Layout::V2(_)) {
            v2::delegate(&base::base(layout).folder(UNIFIED))?;
        }
        let cgroup = Self::at(layout, name);
        cgroup.limit(limits).inspect_err(|_| drop(sweep(name)))?;
        Ok(cgroup)
    }

    /// Makes a cgroup of this name with these limits, and tells where within it that of the box
    /// is to be made, with the same limits, by an engine or by [`Cgroup::limit`].
    ///
    /// Root of a box may get at the files of the cgroup that it is in (version 1 belongs to
    /// whoever is root, also from a namespace that he makes), but not at those around it.
    ///
    /// # Errors
    /// [`CgroupError`]; what was made is removed again.
    pub fn within(layout: &Layout, name: &str, limits: &Limits) -> Result<Self, CgroupError> {
        let around = Limits {
            around: true,
            ..limits.clone()
        };
        let cgroup = Self::create(layout, name, &around)?;
        if cgroup.v2 {
            v2::delegate(&cgroup.folder(UNIFIED)).inspect_err(|_| drop(sweep(name)))?;
        }
        Ok(Self::at(layout, &format!("{name}/{INNER}")))
    }

    /// The cgroup of this name in the [base](base) of each hierarchy, which another made.
    pub fn at(layout: &Layout, name: &str) -> Self {
        let base = base::base(layout);
        let below = |(controller, folder): (String, PathBuf)| (controller, folder.join(name));
        Self {
            folders: base.folders.into_iter().map(below).collect(),
            v2: base.v2,
        }
    }

    /// Forbids all devices but [`DEVICES`] to what is in it and below, where version 1 tells
    /// devices. In version 2 a program of the kernel's would be needed.
    ///
    /// # Errors
    /// [`CgroupError::File`].
    pub fn forbid_devices(&self) -> Result<(), CgroupError> {
        let (deny, allow) = (
            self.file("devices", "devices.deny"),
            self.file("devices", "devices.allow"),
        );
        if !deny.exists() {
            return Ok(());
        }
        write(&deny, "a")?;
        DEVICES.iter().try_for_each(|rule| write(&allow, rule))
    }

    /// The root of each hierarchy.
    fn top(layout: &Layout) -> Self {
        match layout {
            Layout::V1(mounts) => Self {
                folders: mounts.clone(),
                v2: false,
            },
            Layout::V2(mount) => Self {
                folders: [(UNIFIED.to_owned(), mount.clone())].into(),
                v2: true,
            },
        }
    }

    /// Its path as the kernel knows it, from the root of the hierarchy that limits the CPU.
    pub fn path(&self, layout: &Layout) -> PathBuf {
        let (folder, top) = (self.folder("cpu"), Self::top(layout).folder("cpu"));
        Path::new("/").join(folder.strip_prefix(top).unwrap_or(&folder))
    }

    /// Makes it, if nobody did, and sets its limits.
    ///
    /// # Errors
    /// [`CgroupError`].
    pub fn limit(&self, limits: &Limits) -> Result<(), CgroupError> {
        self.folders.values().try_for_each(|folder| make(folder))?;
        if self.v2 {
            v2::apply(self, limits)?;
        } else {
            v1::apply(self, limits)?;
        }
        let tasks = self.file("pids", "pids.max");
        // Not every kernel counts them, and no figure depends on it.
        if tasks.exists() {
            write(&tasks, &MOST_TASKS.to_string())?;
        }
        Ok(())
    }

    /// The cgroup that a process is in.
    ///
    /// # Errors
    /// If the process is gone or its cgroups are not visible here.
    pub fn of_process(layout: &Layout, pid: u32) -> Result<Self, CgroupError> {
        let path = PathBuf::from(format!("/proc/{pid}/cgroup"));
        let text = read(&path)?;
        let mut folders = BTreeMap::new();
        for line in text.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(name)) = (fields.next(), fields.next()) else {
                continue;
            };
            let relative = name.trim_start_matches('/');
            match layout {
                Layout::V1(mounts) => folders.extend(controllers.split(',').filter_map(|controller| {
                    mounts
                        .get(controller)
                        .map(|mount| (controller.to_owned(), mount.join(relative)))
                })),
                Layout::V2(mount) if controllers.is_empty() => {
                    folders.insert(UNIFIED.to_owned(), mount.join(relative));
                }
                Layout::V2(_) => {}
            }
        }
        Ok(Self {
            folders,
            v2: matches!(layout, Layout::V2(_)),
        })
    }

    /// The cgroup of which this one is the part of this name, in each hierarchy where it is one.
    #[must_use]
    pub fn whole(mut self, part: &str) -> Self {
        for folder in self.folders.values_mut() {
            if folder.ends_with(part) {
                folder.pop();
            }
        }
        self
    }

    /// Its folder in the hierarchy of a controller.
    fn folder(&self, controller: &str) -> PathBuf {
        let key = if self.v2 { UNIFIED } else { controller };
        self.folders.get(key).cloned().unwrap_or_default()
    }

    fn file(&self, controller: &str, name: &str) -> PathBuf {
        self.folder(controller).join(name)
    }

    /// Takes a process in, with all that it will start.
    ///
    /// # Errors
    /// [`CgroupError::File`].
    pub fn adopt(&self, pid: u32) -> Result<(), CgroupError> {
        self.folders.values().try_for_each(|folder| adopt(folder, pid))
    }

    /// Lets the process that `command` starts be in this cgroup from its first
    /// instruction on, with all that it starts itself.
    pub fn hold(&self, command: &mut Command) {
        let files = self.folders.values().map(|folder| folder.join("cgroup.procs"));
        tare_sys::enter_cgroups(command, files.collect());
    }

    /// As [`Cgroup::hold`], in the hierarchy of version 2 alone that is beside those of version 1.
    pub fn hold_in_unified(&self, command: &mut Command) {
        tare_sys::enter_cgroups(command, vec![self.file(UNIFIED, "cgroup.procs")]);
    }

    /// Opens the counters for repeated reading.
    ///
    /// # Errors
    /// [`CgroupError::File`].
    pub fn meter(&self) -> Result<Meter, CgroupError> {
        if self.v2 { v2::meter(self) } else { v1::meter(self) }
    }

    /// Where what happens to its memory is counted, with what is below it.
    pub(super) fn memory(&self) -> MemoryFolder {
        MemoryFolder::new(self.outermost().folder("memory"), self.v2)
    }

    /// The memory limit in force, in bytes, if there is one.
    ///
    /// # Errors
    /// [`CgroupError::File`].
    pub fn memory_limit(&self) -> Result<Option<u64>, CgroupError> {
        let name = if self.v2 {
            "memory.max"
        } else {
            "memory.limit_in_bytes"
        };
        Ok(read(&self.file("memory", name))?.trim().parse().ok())
    }

    /// The cgroup of which this is the inner one, if it is one: root of the box cannot let it go on.
    #[must_use]
    pub fn outermost(&self) -> Self {
        self.clone().whole(INNER)
    }

    /// Stops every process of the cgroup, or lets them go on, and waits until
    /// that has taken effect.
    ///
    /// # Errors
    /// [`CgroupError`]; `Busy` if it takes more than ten seconds.
    pub fn freeze(&self, frozen: bool) -> Result<(), CgroupError> {
        if self.v2 {
            v2::freeze(self, frozen)
        } else {
            v1::freeze(self, frozen)
        }
    }

    /// CPUs that its processes may run on; `None` if there are none.
    pub fn allowed_cpus(&self) -> Option<Vec<u32>> {
        allowed_cpus(&self.processes())
    }

    /// Processes in the cgroup and below it.
    pub fn processes(&self) -> Vec<u32> {
        let mut pids: Vec<u32> = self
            .folders
            .values()
            .flat_map(|folder| tree::processes(folder))
            .collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }
}

/// CPUs that any thread of these processes may run on; `None` if all have ended.
pub fn allowed_cpus(processes: &[u32]) -> Option<Vec<u32>> {
    let of_thread = |thread: PathBuf| {
        let status = fs::read_to_string(thread.join("status")).ok()?;
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(tare_box::kernel::parse_cpu_list(list))
    };
    let threads = processes
        .iter()
        .flat_map(|pid| subfolders(Path::new(&format!("/proc/{pid}/task"))));
    let mut cpus: Vec<u32> = threads.filter_map(of_thread).flatten().collect();
    cpus.sort_unstable();
    cpus.dedup();
    (!cpus.is_empty()).then_some(cpus)
}

/// Kills what runs in these folders and below them and removes them, deepest first.
fn remove_folders(folders: &[PathBuf]) -> Result<(), CgroupError> {
    let deadline = Instant::now() + REMOVAL_DEADLINE;
    let mut pause = Duration::from_micros(50);
    loop {
        let left: Vec<_> = folders.iter().filter(|f| !tree::remove(f)).collect();
        let Some(first) = left.first() else { return Ok(()) };
        if Instant::now() > deadline {
            return Err(CgroupError::Busy(first.display().to_string()));
        }
        for folder in &left {
            tree::thaw(folder);
            tree::processes(folder).into_iter().for_each(kill);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Kills a process by its id.
fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended meanwhile, which is as good.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// Makes a cgroup, if nobody did.
fn make(folder: &Path) -> Result<(), CgroupError> {
    match fs::create_dir(folder) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => Err(CgroupError::File {
            what: "make",
            path: folder.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}

fn adopt(folder: &Path, pid: u32) -> Result<(), CgroupError> {
    write(&folder.join("cgroup.procs"), &pid.to_string())
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
        .map(|e| e.path())
        .collect()
}

/// Processes in a cgroup itself; those of another process namespace are 0 and left out.
fn processes_in(folder: &Path) -> Vec<u32> {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    let pids = text.lines().filter_map(|line| line.parse().ok());
    pids.filter(|pid| *pid > 0).collect()
}

/// Removes every cgroup at the top or in the base of any mounted hierarchy whose
/// name is `stem` or starts with `stem` and a dash, with what runs in it. Returns
/// the names.
///
/// # Errors
/// [`CgroupError::Busy`].
pub fn sweep(stem: &str) -> Result<Vec<String>, CgroupError> {
    let base = Layout::detect().map(|layout| base::base(&layout).folders);
    let mut places: Vec<PathBuf> = mounted()
        .into_iter()
        .chain(base.into_iter().flatten().map(|(_, f)| f))
        .collect();
    places.sort();
    places.dedup();
    let is_ours = |name: &str| {
        name.strip_prefix(stem)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let ours = |folder: &PathBuf| folder.file_name().is_some_and(|n| is_ours(&n.to_string_lossy()));
    let folders: Vec<PathBuf> = places
        .iter()
        .flat_map(|place| subfolders(place))
        .filter(ours)
        .collect();
    let mut names: Vec<String> = folders
        .iter()
        .filter_map(|f| Some(f.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names.dedup();
    remove_folders(&folders)?;
    Ok(names)
}

/// Removes every cgroup in the name of which this mark occurs, wherever an
/// engine put it, with what runs in it.
///
/// # Errors
/// [`CgroupError::Busy`].
pub fn remove_marked(mark: &str) -> Result<(), CgroupError> {
    let mut found = Vec::new();
    let mut look_at = mounted();
    while let Some(folder) = look_at.pop() {
        let (marked, others): (Vec<_>, Vec<_>) = subfolders(&folder).into_iter().partition(|f| {
            f.file_name()
                .is_some_and(|name| name.to_string_lossy().contains(mark))
        });
        found.extend(marked);
        look_at.extend(others);
    }
    remove_folders(&found)
}

/// Where hierarchies are mounted, those without controllers of ours included.
fn mounted() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let cgroup_mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let path = fields.next()?;
        let is_cgroup = fields.next()?.starts_with("cgroup");
        is_cgroup.then(|| PathBuf::from(path))
    });
    cgroup_mounts.collect()
}

/// Open counters of a cgroup.
#[derive(Debug)]
pub struct Meter {
    cpu: File,
    stat: Option<File>,
    /// Where the host accounts for swap.
    swap: Option<File>,
    memory: MemoryFolder,
    /// That of the cpu controller.
    folder: PathBuf,
    v2: bool,
}

impl Meter {
    /// Reads the counters now.
    ///
    /// # Errors
    /// If the cgroup is gone.
    pub fn read(&self) -> io::Result<Usage> {
        if self.v2 {
            v2::read_meter(self)
        } else {
            v1::read_meter(self)
        }
    }

    /// Memory of the cgroup that is in swap now; `None` where the host does not
    /// account for it.
    pub fn swap_bytes(&self) -> Option<u64> {
        let mut buffer = [0; 1024];
        let text = pread(self.swap.as_ref()?, &mut buffer).ok()?;
        if self.v2 {
            text.trim().parse().ok()
        } else {
            keyed(text, "swap")
        }
    }

    /// The number by which the kernel knows the cgroup of the cpu controller, that of its folder; `None` if it is gone.
    pub fn number(&self) -> Option<u64> {
        fs::metadata(&self.folder).ok().map(|of| of.ino())
    }

    /// Processes in the cgroup and in those below it.
    pub fn processes(&self) -> Vec<u32> {
        let mut found = Vec::new();
        let mut look_at = vec![self.folder.clone()];
        while let Some(folder) = look_at.pop() {
            found.extend(processes_in(&folder));
            look_at.extend(subfolders(&folder));
        }
        found
    }

    /// Where what happens to the memory of the cgroup is counted.
    pub const fn memory(&self) -> &MemoryFolder {
        &self.memory
    }
}

/// Reads a small file from its start without allocating.
fn pread<'b>(file: &File, buffer: &'b mut [u8; 1024]) -> io::Result<&'b str> {
    let n = file.read_at(buffer, 0)?;
    std::str::from_utf8(&buffer[..n]).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

/// The number after `key` in a file of `key value` lines.
fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

fn read(path: &Path) -> Result<String, CgroupError> {
    fs::read_to_string(path).map_err(|source| CgroupError::File {
        what: "read",
        path: path.to_owned(),
        source,
    })
}

fn open(path: &Path) -> Result<File, CgroupError> {
    File::open(path).map_err(|source| CgroupError::File {
        what: "read",
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, value: &str) -> Result<(), CgroupError> {
    fs::write(path, value).map_err(|source| CgroupError::File {
        what: "write",
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_leads_to_the_whole_where_it_is_one() {
        let folders = [("cpu", "/c/vm/emulator"), ("memory", "/m/vm")];
        let folders = folders.map(|(key, folder)| (key.to_owned(), PathBuf::from(folder)));
        let part = Cgroup {
            folders: folders.into(),
            v2: false,
        };
        let whole = part.whole("emulator");
        assert_eq!(whole.folders["cpu"], Path::new("/c/vm"));
        assert_eq!(whole.folders["memory"], Path::new("/m/vm"));
    }

    const V1: &str = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
        cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
        cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn what_stands_around_a_quota_binds_none_who_keeps_to_it() {
        let within = Limits {
            quota: Some(Cpus::from_milli(600)),
            ..Limits::default()
        };
        let around = Limits {
            around: true,
            ..within.clone()
        };
        assert_eq!(within.quota_us(), Some([60_000, 100_000]));
        // A window of a second meets eleven periods of a tenth at most.
        assert_eq!(around.quota_us(), Some([660_000, 1_000_000]));
    }

    #[test]
    fn layouts_are_told_apart() {
        let Layout::V1(mounts) = Layout::from_mounts(V1).unwrap() else {
            panic!("v1 expected")
        };
        assert_eq!(mounts["cpuacct"], Path::new("/sys/fs/cgroup/cpu,cpuacct"));
        let v2 = Layout::from_mounts("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n").unwrap();
        assert_eq!(v2, Layout::V2("/sys/fs/cgroup".into()));
        let error = Layout::from_mounts("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n").unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
    }

    #[test]
    fn counters_are_found_by_their_whole_name() {
        assert_eq!(keyed("nr_periods 12\nnr_throttled 3\n", "nr_throttled"), Some(3));
        assert_eq!(keyed("nr_periods_x 12\n", "nr_periods"), None);
    }
}
