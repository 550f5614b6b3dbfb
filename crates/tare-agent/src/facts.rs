//! What the box looks like from inside.

use rustix::thread::CpuSet;
use std::fs;
use tare_box::kernel::parse_cpu_list;
use tare_box::oom::KernelLog;
use tare_wire::host::BoxFacts;
use tare_wire::protocol::{Counters, KilledProcess};

/// Killed processes that are named: a fork bomb may have many.
const MOST_NAMES: usize = 256;

/// Reads the box's facts; what cannot be read is absent or 0.
pub(crate) fn facts() -> BoxFacts {
    let meminfo = text("/proc/meminfo");
    let status = text("/proc/self/status");
    BoxFacts {
        // By system calls: gVisor has neither in its files.
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        allowed_cpus: allowed_cpus(),
        online_cpus: u32::try_from(parse_cpu_list(&text("/sys/devices/system/cpu/online")).len())
            .unwrap_or(0),
        memory_bytes: kib(&meminfo, "MemTotal:"),
        firmware_ram_bytes: firmware_ram(),
        swap_bytes: kib(&meminfo, "SwapTotal:"),
        clocksource: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        thp: tare_box::kernel::thp_mode(),
        seccomp: field(&status, "Seccomp:").map(|mode| mode != "0"),
        capabilities: field(&status, "CapEff:").and_then(|set| u64::from_str_radix(set, 16).ok()),
        no_new_privileges: field(&status, "NoNewPrivs:").map(|set| set != "0"),
        uid_map: tare_box::kernel::uid_map(),
        agent_rss_bytes: resident(&status),
    }
}

/// The resident set of this process, by what is mapped: the kernel's own count, which its status
/// tells, is behind by up to 64 pages of each thread, or of each CPU.
fn resident(status: &str) -> u64 {
    let mapped = kib(&text("/proc/self/smaps_rollup"), "Rss:");
    if mapped > 0 { mapped } else { kib(status, "VmRSS:") }
}

fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        return Vec::new();
    };
    let allowed = (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    allowed.filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

/// Reads the counters of the box's kernel.
pub(crate) fn counters() -> Counters {
    let stat = text("/proc/stat");
    let vmstat = text("/proc/vmstat");
    let cpu: Vec<u64> = field(&stat, "cpu ")
        .unwrap_or("")
        .split_whitespace()
        .flat_map(str::parse)
        .collect();
    let pages = |key| field(&vmstat, key).and_then(|v| v.parse::<u64>().ok());
    Counters {
        monotonic_ns: clock_ns(rustix::time::ClockId::Monotonic),
        unix_ns: clock_ns(rustix::time::ClockId::Realtime),
        steal_ns: cpu.get(7).map(|ticks| ticks * tare_box::kernel::tick_ns()),
        context_switches: field(&stat, "ctxt").and_then(|v| v.parse().ok()),
        swapped_pages: pages("pswpin").zip(pages("pswpout")).map(|(i, o)| i + o),
        oom_kills: pages("oom_kill "),
    }
}

/// The last processes that the box's kernel killed since there was no memory.
pub(crate) fn killed() -> Vec<KilledProcess> {
    let mut processes = KernelLog::from_boot().map_or_else(Vec::new, KernelLog::killed);
    processes.drain(..processes.len().saturating_sub(MOST_NAMES));
    processes
}

/// Sets the wall clock.
pub(crate) fn set_wall_clock(unix_ns: u64) -> std::io::Result<()> {
    let part = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let time = rustix::time::Timespec {
        tv_sec: part(unix_ns / 1_000_000_000),
        tv_nsec: part(unix_ns % 1_000_000_000),
    };
    Ok(rustix::time::clock_settime(
        rustix::time::ClockId::Realtime,
        time,
    )?)
}

fn clock_ns(clock: rustix::time::ClockId) -> u64 {
    let now = rustix::time::clock_gettime(clock);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// RAM in the memory map that the firmware handed over (sysfs-firmware-memmap).
fn firmware_ram() -> Option<u64> {
    let hex = |path: std::path::PathBuf| {
        let text = fs::read_to_string(path).ok()?;
        u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
    };
    let mut total = None;
    for entry in fs::read_dir("/sys/firmware/memmap").ok()?.flatten() {
        if line(&entry.path().join("type").to_string_lossy()).as_deref() == Some("System RAM") {
            let size = hex(entry.path().join("end"))? - hex(entry.path().join("start"))? + 1;
            total = Some(total.unwrap_or(0) + size);
        }
    }
    total
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// What follows `key` at the start of a line.
fn field<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines()
        .find_map(|line| line.strip_prefix(key))
        .map(str::trim)
}

fn kib(text: &str, key: &str) -> u64 {
    field(text, key)
        .and_then(|v| v.trim_end_matches(" kB").trim().parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}
