//! Version 1: one hierarchy per controller.

use super::{Cgroup, CgroupError, Limits, Meter, Usage, cpu_list, keyed, open, pread, read, write};
use std::io;
use std::time::{Duration, Instant};

pub(super) fn apply(cgroup: &Cgroup, limits: &Limits) -> Result<(), CgroupError> {
    // A process can only be attached to a cpuset whose nodes and CPUs are set.
    let top = |name: &str| cgroup.file("cpuset", "..").join(name);
    write(
        &cgroup.file("cpuset", "cpuset.mems"),
        read(&top("cpuset.mems"))?.trim(),
    )?;
    let cpus = match &limits.cpuset {
        Some(cpus) => cpu_list(cpus),
        None => read(&top("cpuset.cpus"))?.trim().to_owned(),
    };
    write(&cgroup.file("cpuset", "cpuset.cpus"), &cpus)?;
    if let Some([quota, period]) = limits.quota_us() {
        write(&cgroup.file("cpu", "cpu.cfs_period_us"), &period.to_string())?;
        match write(&cgroup.file("cpu", "cpu.cfs_quota_us"), &quota.to_string()) {
            // A cgroup above grants less than what is to stand around a quota, and so does as well.
            Err(CgroupError::File { source, .. })
                if limits.around && source.kind() == io::ErrorKind::InvalidInput => {}
            written => written?,
        }
    }
    if let Some(shares) = limits.weight.shares() {
        write(&cgroup.file("cpu", "cpu.shares"), &shares.to_string())?;
    }
    // Kernels before 5.11 count what is below only if told so, before anything is below.
    let hierarchy = cgroup.file("memory", "memory.use_hierarchy");
    if limits.around && hierarchy.exists() {
        write(&hierarchy, "1")?;
    }
    if let Some(bytes) = limits.memory_bytes {
        write(
            &cgroup.file("memory", "memory.limit_in_bytes"),
            &bytes.to_string(),
        )?;
        // Absent where the kernel does not account swap; proof by touching decides.
        let with_swap = cgroup.file("memory", "memory.memsw.limit_in_bytes");
        if with_swap.exists() {
            write(&with_swap, &bytes.to_string())?;
        }
    }
    Ok(())
}

pub(super) fn meter(cgroup: &Cgroup) -> Result<Meter, CgroupError> {
    let cpu = open(&cgroup.file("cpuacct", "cpuacct.usage"))?;
    let stat = open(&cgroup.file("cpu", "cpu.stat"))?;
    Ok(Meter {
        cpu,
        stat: Some(stat),
        swap: open(&cgroup.file("memory", "memory.stat")).ok(),
        memory: cgroup.memory(),
        folder: cgroup.folder("cpu"),
        v2: false,
    })
}

pub(super) fn read_meter(meter: &Meter) -> io::Result<Usage> {
    let mut buffer = [0; 1024];
    let cpu_ns = pread(&meter.cpu, &mut buffer)?.trim().parse().unwrap_or(0);
    let Some(stat) = &meter.stat else {
        return Ok(Usage {
            cpu_ns,
            ..Usage::default()
        });
    };
    let text = pread(stat, &mut buffer)?;
    Ok(Usage {
        cpu_ns,
        periods: keyed(text, "nr_periods").unwrap_or(0),
        throttled_periods: keyed(text, "nr_throttled").unwrap_or(0),
        throttled_ns: keyed(text, "throttled_time").unwrap_or(0),
    })
}

pub(super) fn freeze(cgroup: &Cgroup, frozen: bool) -> Result<(), CgroupError> {
    let file = cgroup.file("freezer", "freezer.state");
    let state = if frozen { "FROZEN" } else { "THAWED" };
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        // Written each time: a process forked meanwhile leaves it at FREEZING.
        write(&file, state)?;
        if read(&file)?.trim() == state {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(CgroupError::Busy(file.display().to_string()));
        }
        std::thread::sleep(Duration::from_micros(50));
    }
}
