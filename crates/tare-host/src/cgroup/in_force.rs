//! The limits that bind a process: those of its own cgroup and of all above it.

use super::base::base;
use super::{Cgroup, CgroupError, Layout};
use std::fs;
use std::path::{Path, PathBuf};
use tare_box::kernel::parse_cpu_list;
use tare_model::size::{Cpus, InstanceType, show_cpus, show_memory};

/// What a process is bound by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    /// The least memory limit, in bytes.
    memory_bytes: Option<u64>,
    /// The least quota, in thousandths of a CPU.
    quota_milli: Option<u64>,
    /// The CPUs of its set.
    cpus: Vec<u32>,
}

impl InForce {
    /// What binds this process now.
    ///
    /// # Errors
    /// If the process is gone.
    pub fn on(layout: &Layout, pid: u32) -> Result<Self, CgroupError> {
        Ok(Self::of(layout, &Cgroup::of_process(layout, pid)?))
    }

    /// The limits that all cgroups of this process share.
    pub fn on_boxes(layout: &Layout) -> Self {
        Self::of(layout, &base(layout))
    }

    fn of(layout: &Layout, own: &Cgroup) -> Self {
        let top = Cgroup::top(layout);
        let above = |controller: &str| upwards(own.folder(controller), &top.folder(controller));
        let (memory, cpu) = (above("memory"), above("cpu"));
        let set = own.folder("cpuset");
        Self {
            memory_bytes: memory.iter().filter_map(|folder| memory_limit(folder)).min(),
            quota_milli: cpu.iter().filter_map(|folder| quota_milli(folder)).min(),
            cpus: ["cpuset.effective_cpus", "cpuset.cpus.effective", "cpuset.cpus"]
                .iter()
                .find_map(|file| Some(parse_cpu_list(&text(&set, file)?)))
                .unwrap_or_default(),
        }
    }

    /// The memory limit in bytes, if it is less than the host's memory.
    pub fn memory_below(&self, host_bytes: u64) -> Option<u64> {
        self.memory_bytes.filter(|bytes| *bytes < host_bytes)
    }

    /// `0.5 CPUs, 512 MiB of memory` on a host with this much memory; `None` without a limit.
    pub fn show(&self, host_bytes: u64) -> Option<String> {
        let memory = self
            .memory_below(host_bytes)
            .map(|bytes| format!("{} of memory", show_memory(bytes)));
        let limits: Vec<String> = self.quota().map(show_cpus).into_iter().chain(memory).collect();
        (!limits.is_empty()).then(|| limits.join(", "))
    }

    /// Whether a box of this size fits within the limits.
    pub fn fits(&self, size: &InstanceType) -> bool {
        self.quota().is_none_or(|cpus| cpus >= size.cpus)
            && self.memory_bytes.is_none_or(|bytes| bytes >= size.memory_bytes)
    }

    fn quota(&self) -> Option<Cpus> {
        let milli = self.quota_milli?;
        Some(Cpus::from_milli(u32::try_from(milli).unwrap_or(u32::MAX)))
    }

    /// Whether what binds later is what binds now. A quota may be what stands around that of the
    /// box, which grants a period in ten more.
    pub fn is_kept(&self, later: &Self) -> bool {
        let most = self.quota_milli.map(|milli| milli * 11 / 10);
        let is_bound = |most: u64| later.quota_milli.is_some_and(|milli| milli <= most);
        later.memory_bytes == self.memory_bytes && later.cpus == self.cpus && most.is_none_or(is_bound)
    }
}

/// A folder and those above it, up to the mount.
fn upwards(folder: PathBuf, top: &Path) -> Vec<PathBuf> {
    let within = |above: &&Path| above.starts_with(top);
    folder
        .ancestors()
        .take_while(within)
        .map(Path::to_owned)
        .collect()
}

fn text(folder: &Path, file: &str) -> Option<String> {
    Some(fs::read_to_string(folder.join(file)).ok()?.trim().to_owned())
}

fn memory_limit(folder: &Path) -> Option<u64> {
    let files = ["memory.limit_in_bytes", "memory.max"];
    files.iter().find_map(|file| text(folder, file)?.parse().ok())
}

fn quota_milli(folder: &Path) -> Option<u64> {
    let both = text(folder, "cpu.max").or_else(|| {
        let [quota, period] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(|file| text(folder, file));
        Some(format!("{} {}", quota?, period?))
    })?;
    let (quota, period) = both.split_once(' ')?;
    // None is -1 in version 1 and `max` in version 2: neither is such a number.
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota * 1000).checked_div(period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_read_in_both_versions_and_none_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, value: &str| fs::write(folder.path().join(file), value).unwrap();
        assert_eq!(quota_milli(folder.path()), None);
        write("cpu.cfs_period_us", "100000\n");
        write("cpu.cfs_quota_us", "-1\n");
        assert_eq!(quota_milli(folder.path()), None);
        write("cpu.cfs_quota_us", "60000\n");
        assert_eq!(quota_milli(folder.path()), Some(600));
        write("cpu.max", "max 100000\n");
        assert_eq!(quota_milli(folder.path()), None);
        write("cpu.max", "150000 100000\n");
        assert_eq!(quota_milli(folder.path()), Some(1500));
    }

    #[test]
    fn limits_that_were_lifted_are_told_from_those_that_stand() {
        let with = |quota_milli, memory_bytes| InForce {
            memory_bytes,
            quota_milli,
            cpus: vec![0, 1],
        };
        let before = with(Some(1000), Some(256));
        assert!(before.is_kept(&before) && before.is_kept(&with(Some(1100), Some(256))));
        assert!(!before.is_kept(&with(Some(1200), Some(256))) && !before.is_kept(&with(None, Some(256))));
        assert!(!before.is_kept(&with(Some(1000), None)));
        let one = InForce {
            cpus: vec![0],
            ..before.clone()
        };
        assert!(!one.is_kept(&before));
    }

    #[test]
    fn a_box_fits_if_it_is_granted_no_more_than_the_limits() {
        let size = |milli, memory_bytes| InstanceType {
            cpus: Cpus::from_milli(milli),
            memory_bytes,
        };
        let bound = InForce {
            memory_bytes: Some(1 << 29),
            quota_milli: Some(500),
            cpus: vec![0, 1],
        };
        assert!(bound.fits(&size(500, 1 << 29)));
        assert!(!bound.fits(&size(600, 1 << 29)) && !bound.fits(&size(500, 1 << 30)));
        assert_eq!(bound.show(1 << 30).unwrap(), "0.5 CPUs, 512 MiB of memory");
        let free = InForce {
            memory_bytes: Some(u64::MAX >> 1),
            quota_milli: None,
            ..bound
        };
        assert!(free.fits(&size(64_000, 1 << 40)) && free.show(1 << 40).is_none());
    }

    #[test]
    fn what_is_above_counts_up_to_the_mount() {
        let found = upwards("/m/box/inner".into(), Path::new("/m"));
        assert_eq!(found, ["/m/box/inner", "/m/box", "/m"].map(PathBuf::from));
    }
}
