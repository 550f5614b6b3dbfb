//! What a kernel shows of itself and lets be done, in a box as on the host.

use std::fmt::Write as _;
use std::fs;
use std::io;

/// Writes out what waits for that, since unwritten pages cannot be dropped, and drops the page cache,
/// dentries and inodes of the kernel.
///
/// # Errors
/// If the kernel does not let this process.
pub fn drop_caches() -> io::Result<()> {
    const PATH: &str = "/proc/sys/vm/drop_caches";
    rustix::fs::sync();
    fs::write(PATH, "3")
        .map_err(|e| io::Error::new(e.kind(), format!("the caches cannot be dropped: {PATH}: {e}")))
}

/// The transparent huge page mode in force.
pub fn thp_mode() -> Option<String> {
    let text = line("/sys/kernel/mm/transparent_hugepage/enabled")?;
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(mode, _)| mode.to_owned())
}

/// Nanoseconds per tick of the CPU times in /proc.
pub fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// How users are mapped, as this process sees it.
pub fn uid_map() -> Option<String> {
    let text = fs::read_to_string("/proc/self/uid_map").ok()?;
    let ranges = text
        .lines()
        .map(|range| range.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(ranges.collect::<Vec<_>>().join(", ")).filter(|map| !map.is_empty())
}

/// CPUs as the kernel writes lists of them: `0,2,3`.
pub fn cpu_list(cpus: &[u32]) -> String {
    let mut list = String::new();
    for cpu in cpus {
        let comma = if list.is_empty() { "" } else { "," };
        let _ = write!(list, "{comma}{cpu}");
    }
    list
}

/// Reads a list of CPUs as the kernel writes it: `0-3,8`.
pub fn parse_cpu_list(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<u32>().ok()?..=last.trim().parse::<u32>().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_read_and_written() {
        assert_eq!(parse_cpu_list("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(parse_cpu_list(""), [0u32; 0]);
        assert_eq!(cpu_list(&[0, 3]), "0,3");
    }
}
