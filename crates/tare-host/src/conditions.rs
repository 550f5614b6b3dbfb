//! Counters of the host around a trial: load per CPU, waits for memory,
//! frequency, heat. What a host does not count is absent.

use crate::host::online_cpus;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tare_box::kernel::{parse_cpu_list, tick_ns};
use tare_model::conditions::Conditions;

/// Model-specific registers that count at the nominal frequency, and at the one in
/// force, while a CPU is not idle (Intel SDM 3B, 15.2).
const MPERF: u64 = 0xe7;
const APERF: u64 = 0xe8;

/// Open counters, and where the host keeps the others.
#[derive(Debug)]
pub struct ConditionMeter {
    stat: File,
    sys: PathBuf,
    pressure: Option<File>,
    /// One per CPU; none where a CPU's cannot be read.
    registers: Vec<File>,
    cpus: Vec<u32>,
}

/// The counters at one moment.
#[derive(Debug, Clone)]
pub struct Reading {
    at: Instant,
    busy_ns: BTreeMap<u32, u64>,
    waited_us: Option<u64>,
    heat_throttles: Option<u64>,
    /// APERF and MPERF of all CPUs.
    cycles: Option<(u64, u64)>,
    /// The governor's frequency over the highest.
    scaled: Option<f64>,
}

impl ConditionMeter {
    /// Opens the counters of this host.
    ///
    /// # Errors
    /// If /proc is not mounted.
    pub fn open() -> io::Result<Self> {
        Self::under(Path::new("/"), online_cpus())
    }

    fn under(root: &Path, cpus: Vec<u32>) -> io::Result<Self> {
        let register = |cpu: &u32| {
            let file = File::open(root.join(format!("dev/cpu/{cpu}/msr"))).ok()?;
            // A hypervisor may have the file and not the register.
            register(&file, APERF).map(|_| file)
        };
        let registers: Option<Vec<File>> = cpus.iter().map(register).collect();
        Ok(Self {
            stat: File::open(root.join("proc/stat"))?,
            sys: root.join("sys/devices/system/cpu"),
            pressure: File::open(root.join("proc/pressure/memory")).ok(),
            registers: registers.unwrap_or_default(),
            cpus,
        })
    }

    /// Reads all counters.
    ///
    /// # Errors
    /// If /proc/stat cannot be read.
    pub fn read(&self) -> io::Result<Reading> {
        let text = whole(&self.stat)?;
        Ok(Reading {
            at: Instant::now(),
            busy_ns: text.lines().filter_map(busy).collect(),
            waited_us: self.pressure.as_ref().and_then(|p| waited_us(&whole(p).ok()?)),
            heat_throttles: self.heat_throttles(),
            cycles: self.cycles(),
            scaled: self.scaled(),
        })
    }

    /// The conditions between two readings. `set` are the CPUs that a box may run on and
    /// `own_ns` the CPU time that it used meanwhile; without either the load of the
    /// set is unknown.
    #[expect(clippy::cast_precision_loss, reason = "shares of some seconds")]
    pub fn between(&self, first: &Reading, last: &Reading, set: &[u32], own_ns: Option<u64>) -> Conditions {
        let wall = last.at.duration_since(first.at).as_nanos() as f64;
        let busy = |cpus: &[u32]| {
            let of = |reading: &Reading| {
                cpus.iter()
                    .map(|cpu| reading.busy_ns.get(cpu).copied())
                    .sum::<Option<u64>>()
            };
            (!cpus.is_empty()).then(|| Some(of(last)?.saturating_sub(of(first)?)))?
        };
        let load = |ns: u64, cpus: &[u32]| sure_load(ns, wall * cpus.len() as f64);
        let siblings = self.siblings(set);
        Conditions {
            set_load: busy(set)
                .zip(own_ns)
                .map(|(busy, own)| load(busy.saturating_sub(own), set)),
            sibling_load: busy(&siblings).map(|busy| load(busy, &siblings)),
            memory_pressure: difference(first.waited_us, last.waited_us).map(|us| us as f64 * 1e3 / wall),
            frequency: frequency(first, last),
            heat_throttles: difference(first.heat_throttles, last.heat_throttles),
            ..Conditions::default()
        }
    }

    /// Threads of the set's cores that are not in the set.
    fn siblings(&self, set: &[u32]) -> Vec<u32> {
        let of = |cpu: &u32| {
            let path = self.sys.join(format!("cpu{cpu}/topology/thread_siblings_list"));
            parse_cpu_list(&fs::read_to_string(path).unwrap_or_default())
        };
        let all: BTreeSet<u32> = set.iter().flat_map(of).collect();
        all.into_iter().filter(|cpu| !set.contains(cpu)).collect()
    }

    /// Times that cores and packages were throttled since boot.
    fn heat_throttles(&self) -> Option<u64> {
        let count =
            |cpu: &u32, name: &str| number(&self.sys.join(format!("cpu{cpu}/thermal_throttle/{name}")));
        let of = |cpu| {
            Some(count(cpu, "core_throttle_count")? + count(cpu, "package_throttle_count").unwrap_or(0))
        };
        self.cpus.iter().map(of).sum()
    }

    fn cycles(&self) -> Option<(u64, u64)> {
        let both = |file| Some((register(file, APERF)?, register(file, MPERF)?));
        let of: Vec<(u64, u64)> = self.registers.iter().map(both).collect::<Option<_>>()?;
        let sum = |(a, b): (u64, u64), (x, y)| (a.wrapping_add(x), b.wrapping_add(y));
        (!of.is_empty()).then(|| of.into_iter().fold((0, 0), sum))
    }

    #[expect(clippy::cast_precision_loss, reason = "kilohertz")]
    fn scaled(&self) -> Option<f64> {
        if !self.registers.is_empty() {
            return None;
        }
        let of = |name: &str| {
            let path = |cpu: &u32| self.sys.join(format!("cpu{cpu}/cpufreq/{name}"));
            self.cpus
                .iter()
                .map(|cpu| number(&path(cpu)))
                .sum::<Option<u64>>()
        };
        let (now, highest) = (of("scaling_cur_freq")?, of("cpuinfo_max_freq")?);
        (highest > 0).then(|| now as f64 / highest as f64)
    }
}

/// Ticks by which the counters of a CPU may be off: one at either end.
const TICKS: u64 = 2;

/// CPU time over what there was, less what the ticks may be off by: a load that is
/// sure.
#[expect(clippy::cast_precision_loss, reason = "shares of some seconds")]
fn sure_load(ns: u64, capacity: f64) -> f64 {
    (ns.saturating_sub(TICKS * tick_ns()) as f64 / capacity.max(1.0)).min(1.0)
}

fn difference(first: Option<u64>, last: Option<u64>) -> Option<u64> {
    Some(last?.saturating_sub(first?))
}

#[expect(clippy::cast_precision_loss, reason = "cycles of some seconds")]
fn frequency(first: &Reading, last: &Reading) -> Option<f64> {
    let of_cycles = first.cycles.zip(last.cycles).and_then(|((a, m), (b, n))| {
        let nominal = n.wrapping_sub(m);
        (nominal > 0).then(|| b.wrapping_sub(a) as f64 / nominal as f64)
    });
    of_cycles.or_else(|| Some(f64::midpoint(first.scaled?, last.scaled?)))
}

/// `cpu0 user nice system idle iowait irq softirq ...`: the CPU and its busy time.
fn busy(line: &str) -> Option<(u32, u64)> {
    let mut fields = line.strip_prefix("cpu")?.split_whitespace();
    let cpu = fields
        .next()
        .filter(|_| !line.starts_with("cpu "))?
        .parse()
        .ok()?;
    let ticks: Vec<u64> = fields.map_while(|v| v.parse().ok()).collect();
    let at = |i: usize| ticks.get(i).copied().unwrap_or(0);
    Some((cpu, (at(0) + at(1) + at(2) + at(5) + at(6)) * tick_ns()))
}

/// The total of the line `some avg10=… total=N` of a file of pressure.
fn waited_us(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|l| l.strip_prefix("some "))?;
    some.split(' ')
        .find_map(|f| f.strip_prefix("total="))?
        .parse()
        .ok()
}

fn register(file: &File, number: u64) -> Option<u64> {
    let mut value = [0; 8];
    file.read_exact_at(&mut value, number).ok()?;
    Some(u64::from_le_bytes(value))
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The whole of an open file of /proc, from its start.
fn whole(file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        let n = file.read_at(&mut buffer, bytes.len() as u64)?;
        bytes.extend_from_slice(&buffer[..n]);
        if n == 0 {
            return String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e));
        }
    }
}

#[cfg(test)]
mod tests;
