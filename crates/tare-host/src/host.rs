//! Facts and counters of the host, from /proc and /sys.

mod arm64;

use crate::cgroup::Layout;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Instant, SystemTime};
use tare_box::kernel::{parse_cpu_list, thp_mode, tick_ns};
use tare_model::host::HostFacts;
use tare_model::time::nanoseconds;

/// The time in nanoseconds since the epoch; 0 on a host whose clock is before it.
pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    nanoseconds(since.unwrap_or_default())
}

/// Reads the facts of this host; what cannot be read is absent.
pub fn facts() -> HostFacts {
    let meminfo = text("/proc/meminfo");
    let kib = |key: &str| {
        let value = meminfo.lines().find_map(|l| l.strip_prefix(key)).unwrap_or("");
        value.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
    };
    let online = online_cpus();
    HostFacts {
        id: identity(),
        architecture: Some(std::env::consts::ARCH.to_owned()),
        cpu_model: cpuinfo("model name").or_else(|| arm64::cpu_model(&text("/proc/cpuinfo"))),
        cpus: count(online.len()),
        cores: count(distinct(&online, &["physical_package_id", "core_id"])),
        sockets: count(distinct(&online, &["physical_package_id"])),
        numa_nodes: count(numbered("/sys/devices/system/node", "node")),
        llc_bytes: llc_bytes(),
        memory_bytes: kib("MemTotal:"),
        page_bytes: u64::try_from(rustix::param::page_size()).ok(),
        swap_bytes: kib("SwapTotal:"),
        kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
        os: os_name(),
        boot_id: line("/proc/sys/kernel/random/boot_id"),
        hypervisor: hypervisor(),
        cgroup: Layout::detect().ok().map(|layout| layout.name().to_owned()),
        clocksource: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: governors(&online),
        frequency_driver: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
        microcode: cpuinfo("microcode"),
        numa_balancing: line("/proc/sys/kernel/numa_balancing").map(|v| v != "0"),
        turbo: turbo(),
        smt: line("/sys/devices/system/cpu/smt/active").map(|v| v == "1"),
        thp: thp_mode(),
        ksm: line("/sys/kernel/mm/ksm/run").map(|v| v == "1"),
        mitigations: mitigations(),
        boot_options: boot_options(),
        storage: None,
    }
}

/// A digest of /etc/machine-id under a key of tare's own, as machine-id(5) asks of whoever lets it out.
fn identity() -> Option<String> {
    let id = line("/etc/machine-id").filter(|id| id.len() == 32)?;
    let digest = Sha256::digest(format!("tare host {id}"));
    Some(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Memory that can be given away without swapping, by the kernel's own estimate.
///
/// # Errors
/// If /proc/meminfo cannot be read, or does not tell.
pub fn available_bytes() -> io::Result<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo")?;
    let told = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"));
    let kib = told.and_then(|value| value.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/meminfo has no MemAvailable"))
}

/// CPUs of the host that are online.
pub fn online_cpus() -> Vec<u32> {
    parse_cpu_list(&text("/sys/devices/system/cpu/online"))
}

/// CPUs that this process may use.
pub fn allowed_cpus() -> Vec<u32> {
    let status = text("/proc/self/status");
    status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))
        .map(parse_cpu_list)
        .unwrap_or_default()
}

/// The set of `n` CPUs for pinned boxes: the first ones [for boxes](cpus_for_boxes).
pub fn pinned_set(n: u32) -> Vec<u32> {
    let mut set = cpus_for_boxes();
    set.truncate(n as usize);
    set.sort_unstable();
    set
}

/// CPUs that this process may use, in the order in which pinned boxes get them: whole cores first,
/// from the highest core down, since interrupts and daemons mostly run on the lowest.
pub fn cpus_for_boxes() -> Vec<u32> {
    let mut cores: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for cpu in allowed_cpus() {
        let id = |name| topology(cpu, name).unwrap_or(cpu);
        cores
            .entry((id("physical_package_id"), id("core_id")))
            .or_default()
            .push(cpu);
    }
    cores.into_values().rev().flatten().collect()
}

/// Size of the last-level cache in bytes.
pub fn llc_bytes() -> Option<u64> {
    let index = |i: u32| format!("/sys/devices/system/cpu/cpu0/cache/index{i}");
    let size = |i: u32| {
        let text = line(&format!("{}/size", index(i)))?;
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let scale = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => 1,
        };
        number.parse::<u64>().ok().map(|n| n * scale)
    };
    (0..8)
        .filter(|i| line(&format!("{}/type", index(*i))).is_some_and(|t| t != "Instruction"))
        .filter_map(size)
        .max()
}

/// CPU time of the whole host, since its boot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuTimes {
    /// When it was read.
    pub at: Instant,
    /// Time in which CPUs were neither idle nor waiting for I/O, in nanoseconds.
    pub busy_ns: u64,
    /// Time that the hypervisor below took, in nanoseconds.
    pub steal_ns: u64,
}

/// Open counters of the host, read often.
#[derive(Debug)]
pub struct HostMeter {
    stat: File,
    meminfo: File,
    vmstat: File,
    cpus: u32,
}

impl HostMeter {
    /// Opens the counters.
    ///
    /// # Errors
    /// If /proc is not mounted.
    pub fn open() -> io::Result<Self> {
        let cpus = count(online_cpus().len()).max(1);
        let open =
            |path: &str| File::open(path).map_err(|e| io::Error::new(e.kind(), format!("read {path}: {e}")));
        Ok(Self {
            stat: open("/proc/stat")?,
            meminfo: open("/proc/meminfo")?,
            vmstat: open("/proc/vmstat")?,
            cpus,
        })
    }

    /// CPUs of the host.
    pub fn cpus(&self) -> u32 {
        self.cpus
    }

    /// CPU time of the whole host.
    ///
    /// # Errors
    /// If /proc/stat cannot be read.
    pub fn cpu_times(&self) -> io::Result<CpuTimes> {
        // The first line is enough: `cpu user nice system idle iowait irq softirq steal ...`.
        let mut buffer = [0; 256];
        let n = self.stat.read_at(&mut buffer, 0)?;
        let text = String::from_utf8_lossy(&buffer[..n]);
        let first = text.lines().next().unwrap_or_default();
        let ticks: Vec<u64> = first
            .split_whitespace()
            .skip(1)
            .map_while(|v| v.parse().ok())
            .collect();
        let at = |i: usize| ticks.get(i).copied().unwrap_or(0);
        let busy = at(0) + at(1) + at(2) + at(5) + at(6);
        Ok(CpuTimes {
            at: Instant::now(),
            busy_ns: busy * tick_ns(),
            steal_ns: at(7) * tick_ns(),
        })
    }

    /// Bytes of dirty pages and of pages under writeback.
    ///
    /// # Errors
    /// If /proc/meminfo cannot be read.
    pub fn unwritten_bytes(&self) -> io::Result<u64> {
        let mut buffer = [0; 2048];
        let n = self.meminfo.read_at(&mut buffer, 0)?;
        let text = String::from_utf8_lossy(&buffer[..n]);
        let kib = |key: &str| {
            let value = text.lines().find_map(|l| l.strip_prefix(key)).unwrap_or("0");
            value.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0)
        };
        Ok((kib("Dirty:") + kib("Writeback:")) * 1024)
    }

    /// Pages swapped in and out since boot.
    ///
    /// # Errors
    /// If /proc/vmstat cannot be read.
    pub fn swapped_pages(&self) -> io::Result<u64> {
        let mut buffer = vec![0; 8192];
        let n = self.vmstat.read_at(&mut buffer, 0)?;
        let text = String::from_utf8_lossy(&buffer[..n]);
        let value = |key: &str| {
            let found = text.lines().find_map(|l| l.strip_prefix(key)).unwrap_or("0");
            found.trim().parse::<u64>().unwrap_or(0)
        };
        Ok(value("pswpin ") + value("pswpout "))
    }
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn topology(cpu: u32, name: &str) -> Option<u32> {
    line(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}"))?
        .parse()
        .ok()
}

/// How many different combinations of these topology ids there are.
fn distinct(cpus: &[u32], names: &[&str]) -> usize {
    let ids = |cpu: &u32| names.iter().map(|name| topology(*cpu, name)).collect::<Vec<_>>();
    cpus.iter().map(ids).collect::<BTreeSet<_>>().len()
}

fn numbered(folder: &str, prefix: &str) -> usize {
    let is_numbered = |name: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|e| is_numbered(&e.file_name().to_string_lossy()))
        .count()
}

fn cpuinfo(key: &str) -> Option<String> {
    let text = text("/proc/cpuinfo");
    let value = text.lines().find(|l| l.starts_with(key))?.split_once(':')?.1;
    Some(value.trim().to_owned())
}

fn os_name() -> Option<String> {
    let text = text("/etc/os-release");
    let value = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_owned())
}

/// The hypervisor below this host, if it identifies itself.
fn hypervisor() -> Option<String> {
    if let Some(kind) = line("/sys/hypervisor/type") {
        return Some(kind);
    }
    let Some(flags) = cpuinfo("flags") else {
        return arm64::hypervisor(Path::new("/"));
    };
    if !flags.split(' ').any(|flag| flag == "hypervisor") {
        return None;
    }
    let product = line("/sys/class/dmi/id/sys_vendor").filter(|v| !v.is_empty());
    let clock =
        line("/sys/devices/system/clocksource/clocksource0/available_clocksource").unwrap_or_default();
    let guess = if clock.contains("kvm-clock") {
        "KVM"
    } else {
        "unknown hypervisor"
    };
    Some(product.map_or_else(|| guess.to_owned(), |vendor| format!("{guess} ({vendor})")))
}

fn governors(cpus: &[u32]) -> Option<String> {
    let governor = |cpu| {
        line(&format!(
            "/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
        ))
    };
    let found: BTreeSet<String> = cpus.iter().filter_map(governor).collect();
    (!found.is_empty()).then(|| found.into_iter().collect::<Vec<_>>().join(", "))
}

fn turbo() -> Option<bool> {
    let intel = line("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|v| v == "0");
    intel.or_else(|| line("/sys/devices/system/cpu/cpufreq/boost").map(|v| v == "1"))
}

fn mitigations() -> BTreeMap<String, String> {
    let entries = fs::read_dir("/sys/devices/system/cpu/vulnerabilities")
        .into_iter()
        .flatten()
        .flatten();
    let pair = |e: fs::DirEntry| {
        Some((
            e.file_name().to_string_lossy().into_owned(),
            line(&e.path().to_string_lossy())?,
        ))
    };
    entries.filter_map(pair).collect()
}

/// Boot options that move figures; the whole command line may hold secrets.
fn boot_options() -> Vec<String> {
    const TELLING: [&str; 8] = [
        "isolcpus",
        "nohz_full",
        "rcu_nocbs",
        "mitigations",
        "nosmt",
        "idle",
        "processor.max_cstate",
        "tsc",
    ];
    let command_line = text("/proc/cmdline");
    let telling = |option: &&str| TELLING.contains(&option.split('=').next().unwrap_or(""));
    command_line
        .split_whitespace()
        .filter(telling)
        .map(str::to_owned)
        .collect()
}

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is mounted.
    pub at: String,
    /// Its type, such as `ext4`.
    pub kind: String,
    /// Whether no program may run from it.
    pub is_noexec: bool,
}

impl Mount {
    /// The file system that holds `path`, which is absolute.
    pub fn of(path: &Path) -> Option<Self> {
        Self::among(&text("/proc/self/mounts"), path)
    }

    fn among(mounts: &str, path: &Path) -> Option<Self> {
        let holds = |line: &str| {
            let fields: Vec<&str> = line.split(' ').collect();
            let [_, at, kind, options, ..] = fields[..] else {
                return None;
            };
            path.starts_with(at).then(|| Self {
                at: at.to_owned(),
                kind: kind.to_owned(),
                is_noexec: options.split(',').any(|option| option == "noexec"),
            })
        };
        // Of several at one place, the last one hides the others.
        mounts
            .lines()
            .filter_map(holds)
            .max_by_key(|mount| mount.at.len())
    }
}

/// Why a program cannot run: says so if the file system that holds it is mounted noexec.
pub fn with_noexec(error: io::Error, program: &Path) -> io::Error {
    let mount = Mount::of(program).filter(|mount| mount.is_noexec);
    match mount {
        Some(mount) if error.kind() == io::ErrorKind::PermissionDenied => io::Error::new(
            error.kind(),
            format!(
                "{at} is mounted noexec, so no program can run from it: choose a state folder elsewhere with --state-dir or TARE_STATE_DIR, or run: mount -o remount,exec {at}",
                at = mount.at
            ),
        ),
        _ => error,
    }
}

/// CPU time that this process and its children that ended used so far, in nanoseconds.
pub fn own_cpu_ns() -> u64 {
    // Behind the name, which may hold blanks: `state ppid ...`, then from the 12th field on utime stime cutime cstime.
    let stat = text("/proc/self/stat");
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(4);
    ticks.filter_map(|n| n.parse::<u64>().ok()).sum::<u64>() * tick_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_this_host_are_plausible() {
        let facts = facts();
        assert!(facts.cpus >= 1 && facts.cores >= 1 && facts.cores <= facts.cpus);
        assert!(facts.memory_bytes > 1 << 26);
        assert!(!facts.kernel.is_empty());
    }

    #[test]
    fn the_innermost_mount_says_whether_programs_may_run() {
        let mounts = "/dev/vda / ext4 rw 0 0\nnone /srv tmpfs rw 0 0\nnone /srv tmpfs rw,nosuid,noexec 0 0\n";
        let of = |path: &str| Mount::among(mounts, Path::new(path)).unwrap();
        assert!(!of("/srvs/x").is_noexec);
        assert_eq!(
            of("/srv/tare/agent"),
            Mount {
                at: "/srv".to_owned(),
                kind: "tmpfs".to_owned(),
                is_noexec: true
            }
        );
    }

    #[test]
    fn other_errors_than_noexec_stay_as_they_are() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let root = Path::new("/nowhere/tare-agent");
        assert_eq!(with_noexec(denied(), root).to_string(), denied().to_string());
        // Most hosts let no program run from here.
        if Mount::of(Path::new("/proc/x")).is_some_and(|mount| mount.is_noexec) {
            let told = with_noexec(denied(), Path::new("/proc/x")).to_string();
            assert!(
                told.starts_with("/proc is mounted noexec") && told.contains("--state-dir"),
                "{told}"
            );
        }
        let missing = io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(
            with_noexec(missing, Path::new("/proc/x")).kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn own_time_grows_with_that_of_children_that_ended() {
        let before = own_cpu_ns();
        let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let ended = std::process::Command::new("sh")
            .args(["-c", burn])
            .status()
            .unwrap();
        assert!(ended.success() && own_cpu_ns() >= before + 50_000_000);
    }

    #[test]
    fn a_pinned_set_holds_as_many_cpus_as_asked() {
        assert_eq!(pinned_set(1).len(), 1);
        assert!(allowed_cpus().contains(&pinned_set(1)[0]));
    }

    #[test]
    fn busy_time_grows_while_we_burn() {
        let meter = HostMeter::open().unwrap();
        let before = meter.cpu_times().unwrap();
        let end = before.at + std::time::Duration::from_millis(200);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        assert!(meter.cpu_times().unwrap().busy_ns > before.busy_ns + 100_000_000);
    }
}
