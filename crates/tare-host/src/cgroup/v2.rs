//! Version 2: one unified hierarchy.

use super::{
    Cgroup, CgroupError, Limits, Meter, Usage, adopt, cpu_list, keyed, make, open, pread, processes_in, read,
    write,
};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Processes of a cgroup that hands controllers down are kept in this one below it.
pub(super) const LEAF: &str = "tare-own";

/// Time for all processes of a cgroup to be moved.
const VACATED: Duration = Duration::from_secs(2);

/// What limits need.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuset", "memory", "pids"];

/// Lets cgroups below `folder` have the controllers that limits need. Only the
/// topmost cgroup may hold processes beside such: those of others move to a leaf.
pub(super) fn delegate(folder: &Path) -> Result<(), CgroupError> {
    let file = folder.join("cgroup.subtree_control");
    let (enabled, there) = (read(&file)?, read(&folder.join("cgroup.controllers"))?);
    let wish: String = CONTROLLERS
        .into_iter()
        .filter(|controller| is_in(&there, controller) && !is_in(&enabled, controller))
        .map(|controller| format!("+{controller} "))
        .collect();
    if wish.is_empty() {
        return Ok(());
    }
    let deadline = Instant::now() + VACATED;
    loop {
        // All at once: those that could be enabled beside processes would bar the others.
        match write(&file, wish.trim_end()) {
            Err(CgroupError::File { source, .. })
                if source.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline =>
            {
                vacate(folder)?;
            }
            done => return done,
        }
    }
}

/// Whether a list of controllers has this one.
fn is_in(list: &str, controller: &str) -> bool {
    list.split_whitespace().any(|c| c == controller)
}

/// Whether a cgroup was handed sets of CPUs.
pub(super) fn has_cpu_sets(folder: &Path) -> bool {
    read(&folder.join("cgroup.controllers")).is_ok_and(|there| is_in(&there, "cpuset"))
}

/// Whether what is below a cgroup can have a limit of CPU time and one of memory.
pub(super) fn has_limits(folder: &Path) -> Result<(), CgroupError> {
    let enabled = read(&folder.join("cgroup.subtree_control"))?;
    let missing = ["cpu", "memory"].into_iter().find(|c| !is_in(&enabled, c));
    match missing {
        Some(controller) => Err(CgroupError::NoController {
            folder: folder.to_owned(),
            controller,
        }),
        None => Ok(()),
    }
}

/// Moves the processes of a cgroup to its leaf. Those that they start meanwhile stay behind, and some may end.
fn vacate(folder: &Path) -> Result<(), CgroupError> {
    let leaf = folder.join(LEAF);
    make(&leaf)?;
    let is_gone = |source: &io::Error| source.raw_os_error() == Some(Errno::SRCH.raw_os_error());
    processes_in(folder)
        .into_iter()
        .try_for_each(|pid| match adopt(&leaf, pid) {
            Err(CgroupError::File { source, .. }) if is_gone(&source) => Ok(()),
            moved => moved,
        })
}

pub(super) fn apply(cgroup: &Cgroup, limits: &Limits) -> Result<(), CgroupError> {
    if let Some(cpus) = &limits.cpuset {
        write(&file(cgroup, "cpuset", "cpuset.cpus")?, &cpu_list(cpus))?;
    }
    if let Some([quota, period]) = limits.quota_us() {
        write(&file(cgroup, "cpu", "cpu.max")?, &format!("{quota} {period}"))?;
    }
    if let Some(weight) = limits.weight.weight() {
        write(&file(cgroup, "cpu", "cpu.weight")?, &weight.to_string())?;
    }
    if let Some(bytes) = limits.memory_bytes {
        write(&file(cgroup, "memory", "memory.max")?, &bytes.to_string())?;
        let swap = cgroup.file("", "memory.swap.max");
        if swap.exists() {
            write(&swap, "0")?;
        }
    }
    Ok(())
}

/// A controller's file; absent where it was not handed down.
fn file(cgroup: &Cgroup, controller: &'static str, name: &str) -> Result<PathBuf, CgroupError> {
    let path = cgroup.file(controller, name);
    if path.exists() {
        return Ok(path);
    }
    Err(CgroupError::NoController {
        folder: cgroup.folder(controller),
        controller,
    })
}

pub(super) fn meter(cgroup: &Cgroup) -> Result<Meter, CgroupError> {
    Ok(Meter {
        cpu: open(&cgroup.file("", "cpu.stat"))?,
        stat: None,
        swap: open(&cgroup.file("", "memory.swap.current")).ok(),
        memory: cgroup.memory(),
        folder: cgroup.folder(""),
        v2: true,
    })
}

pub(super) fn read_meter(meter: &Meter) -> io::Result<Usage> {
    let mut buffer = [0; 1024];
    let text = pread(&meter.cpu, &mut buffer)?;
    let value = |key| keyed(text, key).unwrap_or(0);
    Ok(Usage {
        cpu_ns: value("usage_usec") * 1000,
        periods: value("nr_periods"),
        throttled_periods: value("nr_throttled"),
        throttled_ns: value("throttled_usec") * 1000,
    })
}

pub(super) fn freeze(cgroup: &Cgroup, frozen: bool) -> Result<(), CgroupError> {
    write(&cgroup.file("", "cgroup.freeze"), if frozen { "1" } else { "0" })?;
    let events = cgroup.file("", "cgroup.events");
    let deadline = Instant::now() + Duration::from_secs(10);
    while keyed(&read(&events)?, "frozen") != Some(u64::from(frozen)) {
        if Instant::now() > deadline {
            return Err(CgroupError::Busy(events.display().to_string()));
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    Ok(())
}
