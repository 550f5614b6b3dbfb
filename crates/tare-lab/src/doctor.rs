//! What can run on this host, what is missing and how to get it, and what would disturb a measurement.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use std::{io, panic, thread};
use tare_host::cgroup::{InForce, Layout};
use tare_host::host::{self, HostMeter};
use tare_host::{build_id, program};
use tare_image::Mirrors;
use tare_model::host::HostFacts;
use tare_model::platform::PlatformPathError;
use tare_model::results::PlatformVersion;
use tare_model::size::{counted, show_memory};
use tare_platforms::REGISTRY;
use tare_study::images;

/// Length of the look at the host's load.
const LOOK: Duration = Duration::from_secs(1);

/// What `tare doctor --json` prints: what can run on this host, and what would disturb a measurement.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Findings {
    /// Version of tare.
    pub tare: &'static str,
    /// Identity of the build.
    pub build: &'static str,
    /// Every platform that measures something real.
    pub platforms: Vec<PlatformFinding>,
    /// What images need, beside tare itself.
    pub images: Vec<ImageFinding>,
    /// Whether the kernel can be looked into for evidence of causes.
    pub evidence: EvidenceFinding,
    pub host: HostFacts,
    /// What may disturb a measurement, whether or not it does here.
    pub noise: Vec<Noise>,
}

/// A platform, and whether it can run here. Either `ready` is null, or `missing` and `fix` are.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlatformFinding {
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Whether its driver has never run on its engine.
    pub untested: bool,
    /// What was found of its engine, where it can run.
    pub ready: Option<PlatformVersion>,
    /// Why it cannot run.
    pub missing: Option<String>,
    /// How to get what is missing.
    pub fix: Option<String>,
}

/// Something that images need.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ImageFinding {
    /// What is needed.
    pub what: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What was found of it; null if it is missing.
    pub found: Option<String>,
    /// How to get it, where it is missing.
    pub fix: Option<&'static str>,
}

/// What can be known of causes. Counters of control groups stand with every trial, wherever there are any.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EvidenceFinding {
    /// Whether the kernel takes eBPF programs.
    pub probes: bool,
    /// Why it does not.
    pub missing: Option<String>,
}

/// One source of noise.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Noise {
    /// What disturbs.
    pub what: &'static str,
    /// How it stands here, with its unit.
    pub found: String,
    /// What to do about it; null if it is as it should be.
    pub advice: Option<&'static str>,
}

/// Examines this host, which takes some seconds; probes keep what they find in the state folder, where there
/// is one.
///
/// # Errors
/// If the host's load cannot be read.
pub fn examine(state: &Path) -> io::Result<Findings> {
    let facts = host::facts();
    // Before the programs that are asked now use the CPUs.
    let noise = noise(&facts)?;
    let (platforms, images, evidence) = thread::scope(|scope| {
        let real = REGISTRY.iter().filter(|entry| entry.real);
        let platforms: Vec<_> = real.map(|entry| scope.spawn(|| platform(entry, state))).collect();
        let images = scope.spawn(image_tools);
        let evidence = scope.spawn(evidence);
        (
            platforms.into_iter().map(ended).collect(),
            ended(images),
            ended(evidence),
        )
    });
    Ok(Findings {
        tare: tare_model::VERSION,
        build: build_id::own(),
        platforms,
        images,
        evidence,
        noise,
        host: facts,
    })
}

/// What a thread found; its panic goes on here.
fn ended<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
}

fn platform(entry: &tare_platforms::Entry, state: &Path) -> PlatformFinding {
    let found = entry
        .name
        .parse()
        .map_err(|e: PlatformPathError| (e.to_string(), String::new()))
        .and_then(|path| tare_platforms::open(&path, state).map_err(|e| (e.to_string(), String::new())))
        .and_then(|mut platform| platform.probe().map_err(|absent| (absent.reason, absent.fix)));
    let (ready, missing, fix) = match found {
        Ok(version) => (Some(version), None, None),
        Err((reason, fix)) => (None, Some(reason), Some(fix)),
    };
    PlatformFinding {
        name: entry.name,
        about: entry.about,
        untested: entry.untested,
        ready,
        missing,
        fix,
    }
}

fn evidence() -> EvidenceFinding {
    let missing = tare_probes::try_out().err().map(|error| error.to_string());
    EvidenceFinding {
        probes: missing.is_none(),
        missing,
    }
}

/// What building images needs of this host. All else is in tare.
fn image_tools() -> Vec<ImageFinding> {
    let first = |argv: &[&str]| {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let told = program::told(&argv).ok()?;
        told.lines().next().map(str::to_owned)
    };
    let suite = images::shipped(images::names()[0]).map_or_else(String::new, |file| file.debian.suite);
    let finding = |what, about, found: Option<String>, fix| ImageFinding {
        what,
        about,
        fix: found.is_none().then_some(fix),
        found,
    };
    vec![
        finding(
            "mmdebstrap",
            "'tare image build'",
            first(&["mmdebstrap", "--version"]),
            "install it (Debian: apt-get install mmdebstrap), or import an image that is there: 'tare image import debian:12'",
        ),
        finding(
            "mirror",
            "'tare image build'",
            Mirrors::of_host(&suite).present,
            "add a Debian mirror to apt's sources and run 'apt-get update', or import an existing image",
        ),
        finding(
            "mvn",
            "images with Maven artifacts, such as apps",
            first(&["mvn", "--version"]).map(|line| plain(&line)),
            "install it (Debian: apt-get install maven)",
        ),
        finding(
            "mke2fs",
            "images as VM disks",
            first(&["mke2fs", "-V"]),
            "install it (Debian: apt-get install e2fsprogs)",
        ),
    ]
}

/// Maven's version without the colours that it writes wherever it writes to.
fn plain(line: &str) -> String {
    let begin = line.find("Apache").unwrap_or_default();
    let words = line.get(begin..).unwrap_or_default().split('\u{1b}');
    words.take(1).collect()
}

/// Share of the host's CPUs that is in use while somebody looks for so long.
///
/// # Errors
/// If the host does not count.
pub fn load(look: Duration) -> io::Result<f64> {
    let meter = HostMeter::open()?;
    let before = meter.cpu_times()?;
    thread::sleep(look);
    let after = meter.cpu_times()?;
    let busy_ns = after.busy_ns.saturating_sub(before.busy_ns);
    Ok(share(busy_ns, after.at.duration_since(before.at), meter.cpus()))
}

/// CPU time over what so many CPUs had meanwhile.
fn share(ns: u64, wall: Duration, cpus: u32) -> f64 {
    Duration::from_nanos(ns).as_secs_f64() / (wall.as_secs_f64() * f64::from(cpus))
}

fn noise(facts: &HostFacts) -> io::Result<Vec<Noise>> {
    let meter = HostMeter::open()?;
    let before = meter.cpu_times()?;
    let swapped = meter.swapped_pages()?;
    thread::sleep(LOOK);
    let after = meter.cpu_times()?;
    let swapped = meter.swapped_pages()? - swapped;
    let wall = after.at.duration_since(before.at);
    let share = |ns: u64| share(ns, wall, meter.cpus());
    let load = share(after.busy_ns.saturating_sub(before.busy_ns));
    let steal = share(after.steal_ns.saturating_sub(before.steal_ns));
    let percent = |x: f64| format!("{:.1} % of {}", x * 100.0, counted(meter.cpus(), "CPU"));
    let mut noise = vec![
        check(
            "load",
            percent(load),
            load < 0.02,
            "other processes use the CPUs: stop them, or trials are marked as disturbed",
        ),
        check(
            "steal",
            percent(steal),
            steal < 0.01,
            "the hypervisor gives CPU time to other VMs: measure on a dedicated host",
        ),
        check(
            "swapping",
            format!("{swapped} pages/s"),
            swapped == 0,
            "free memory, or turn swap off: swapoff -a",
        ),
    ];
    noise.push(limits(facts));
    noise.extend(settings(facts));
    Ok(noise)
}

/// The limits on tare itself, which its clients and the boxes of some platforms share.
fn limits(facts: &HostFacts) -> Noise {
    let layout = Layout::detect().ok();
    let bound = layout.and_then(|layout| InForce::on(&layout, std::process::id()).ok());
    let shown = bound.and_then(|bound| bound.show(facts.memory_bytes));
    let fine = shown.is_none();
    check(
        "limits",
        shown.unwrap_or_else(|| "none on tare itself".to_owned()),
        fine,
        "the cgroup that tare runs in has these limits, and its clients share them: start tare outside it",
    )
}

fn settings(facts: &HostFacts) -> Vec<Noise> {
    let unknown = || "not reported by this host".to_owned();
    let on = |v: bool| if v { "on" } else { "off" }.to_owned();
    let governor = facts.governor.clone();
    let steady = governor.as_deref().is_none_or(|g| g == "performance");
    let vulnerable = facts
        .mitigations
        .values()
        .filter(|m| m.starts_with("Vulnerable"))
        .count();
    let mitigated = facts
        .mitigations
        .values()
        .filter(|m| m.starts_with("Mitigation"))
        .count();
    vec![
        check(
            "governor",
            governor.unwrap_or_else(unknown),
            steady,
            "fix the frequency: cpupower frequency-set -g performance",
        ),
        check(
            "turbo",
            facts.turbo.map_or_else(unknown, on),
            facts.turbo != Some(true),
            "turn it off, as the frequency then depends on temperature and on other cores: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or else echo 0 > /sys/devices/system/cpu/cpufreq/boost",
        ),
        check(
            "SMT",
            facts.smt.map_or_else(unknown, on),
            facts.smt != Some(true),
            "pin to whole cores, or turn it off: echo off > /sys/devices/system/cpu/smt/control",
        ),
        check(
            "swap",
            show_memory(facts.swap_bytes),
            facts.swap_bytes == 0,
            "turn it off: swapoff -a",
        ),
        check("THP", facts.thp.clone().unwrap_or_else(unknown), true, ""),
        check(
            "KSM",
            facts.ksm.map_or_else(unknown, on),
            facts.ksm != Some(true),
            "turn it off: echo 0 > /sys/kernel/mm/ksm/run",
        ),
        check(
            "mitigations",
            format!("{mitigated} in force, {vulnerable} vulnerable"),
            true,
            "",
        ),
        check(
            "hypervisor",
            facts.hypervisor.clone().unwrap_or_else(|| "none seen".to_owned()),
            facts.hypervisor.is_none(),
            "this host is itself a VM: figures apply to it, not to bare metal, and VMs in it may lack hardware virtualization",
        ),
    ]
}

fn check(what: &'static str, found: String, fine: bool, advice: &'static str) -> Noise {
    Noise {
        what,
        found,
        advice: (!fine).then_some(advice),
    }
}
