//! `tare doctor`: what can run here, what is missing and how to get it, and
//! what would disturb a measurement.

use crate::args::DoctorArgs;
use crate::out;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tare_box::host::{self, HostMeter};
use tare_box::platforms::{self, REGISTRY};
use tare_box::program;
use tare_box::state::{self, StateError};
use tare_image::Mirrors;
use tare_lab::images;
use tare_model::host::HostFacts;
use tare_model::results::PlatformVersion;
use tare_model::size::{counted, show_memory};

/// Length of the look at the host's load.
const LOOK: Duration = Duration::from_secs(1);

/// What is said of a platform whose driver has never run on its engine.
const UNTESTED: &str =
    "untested: this driver was written by the engine's documentation and has never run on it";

/// What the doctor found.
#[derive(Debug, Serialize)]
struct Findings {
    tare: &'static str,
    build: &'static str,
    platforms: Vec<PlatformFinding>,
    images: Vec<ImageFinding>,
    host: HostFacts,
    noise: Vec<Noise>,
}

#[derive(Debug, Serialize)]
struct PlatformFinding {
    name: &'static str,
    about: &'static str,
    /// Whether its driver has never run on its engine.
    untested: bool,
    ready: Option<PlatformVersion>,
    missing: Option<String>,
    fix: Option<String>,
}

/// Something that images need.
#[derive(Debug, Serialize)]
struct ImageFinding {
    what: &'static str,
    /// What it is for.
    about: &'static str,
    found: Option<String>,
    /// How to get it, where it is missing.
    fix: Option<&'static str>,
}

/// One source of noise.
#[derive(Debug, Serialize)]
struct Noise {
    what: &'static str,
    found: String,
    /// What to do about it; absent if it is as it should be.
    advice: Option<&'static str>,
}

/// Examines and prints.
pub fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let state = args.state.folder();
    // The probe of KVM keeps its finding here; without the folder it only takes longer.
    // One that cannot be made is told by whoever needs it.
    if let Err(e @ StateError::Open { .. }) = state::make(&state) {
        return Err(e.into());
    }
    let facts = host::facts();
    let findings = Findings {
        tare: tare_model::VERSION,
        build: tare_model::BUILD_ID,
        platforms: REGISTRY
            .iter()
            .filter(|e| e.real)
            .map(|e| examine(e, &state))
            .collect(),
        images: image_tools(),
        noise: noise(&facts)?,
        host: facts,
    };
    if args.json {
        out::print_json(&findings)?;
    } else {
        out::print(&text(&findings))?;
    }
    let any = findings.platforms.iter().any(|p| p.ready.is_some());
    Ok(if any {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(out::BAD_INPUT)
    })
}

fn examine(entry: &platforms::Entry, state: &Path) -> PlatformFinding {
    let found = entry
        .name
        .parse()
        .map_err(|e: tare_model::platform::PlatformPathError| (e.to_string(), String::new()))
        .and_then(|path| platforms::open(&path, state).map_err(|e| (e.to_string(), String::new())))
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
            "name a mirror of Debian in apt's sources and run 'apt-get update', or import an image that is there",
        ),
        finding(
            "mvn",
            "images with artifacts of Maven, as apps",
            first(&["mvn", "--version"]).map(|line| plain(&line)),
            "install it (Debian: apt-get install maven)",
        ),
        finding(
            "mke2fs",
            "images as disks of machines",
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

fn noise(facts: &HostFacts) -> anyhow::Result<Vec<Noise>> {
    let meter = HostMeter::open()?;
    let before = meter.cpu_times()?;
    let swapped = meter.swapped_pages()?;
    std::thread::sleep(LOOK);
    let after = meter.cpu_times()?;
    let swapped = meter.swapped_pages()? - swapped;
    let capacity = after.at.duration_since(before.at).as_secs_f64() * f64::from(meter.cpus());
    let share = |ns: u64| Duration::from_nanos(ns).as_secs_f64() / capacity;
    let load = share(after.busy_ns.saturating_sub(before.busy_ns));
    let steal = share(after.steal_ns.saturating_sub(before.steal_ns));
    let percent = |x: f64| format!("{:.1} % of {}", x * 100.0, counted(meter.cpus(), "CPU"));
    let mut noise = vec![
        check(
            "load",
            percent(load),
            load < 0.02,
            "something runs: stop it, or every trial waits for a quiet host",
        ),
        check(
            "steal",
            percent(steal),
            steal < 0.01,
            "the hypervisor below takes CPU time: measure on a dedicated host",
        ),
        check(
            "swapping",
            format!("{swapped} pages/s"),
            swapped == 0,
            "free memory, or turn swap off: swapoff -a",
        ),
    ];
    noise.extend(settings(facts));
    Ok(noise)
}

fn settings(facts: &HostFacts) -> Vec<Noise> {
    let unknown = || "not told by this host".to_owned();
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
            "turn it off: the frequency follows temperature and neighbours",
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
            "this host is itself a VM: figures hold for it, not for bare metal, and VMs in it may lack hardware help",
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

/// Whether a platform can run, in one word.
fn standing(platform: &PlatformFinding) -> &'static str {
    match &platform.ready {
        None => "missing",
        // Its figures are those of an emulated CPU, not of a VM.
        Some(version) if version.details.get("accelerator").is_some_and(|a| a == "tcg") => "emulated",
        Some(_) => "ready",
    }
}

fn text(findings: &Findings) -> String {
    let mut text = String::from("Platforms\n");
    let names = findings.platforms.iter().map(|platform| platform.name.len());
    let width = names.max().unwrap_or(0);
    for found in &findings.platforms {
        platform(&mut text, found, width);
    }
    text += "\nImages\n";
    for found in &findings.images {
        let mark = if found.fix.is_some() { "!" } else { " " };
        let words = found.found.as_deref().unwrap_or("missing");
        let words = format!("{words}, for {}", found.about);
        text += &out::wrapped(&format!("{mark} {}", found.what), 15, &words);
        if let Some(fix) = found.fix {
            text += &out::wrapped(&format!("{:15}->", ""), 18, fix);
        }
    }
    text += "\nHost\n";
    for line in host_lines(&findings.host) {
        text += &out::wrapped("", 2, &line);
    }
    text += "\nNoise\n";
    for noise in &findings.noise {
        let mark = if noise.advice.is_some() { "!" } else { " " };
        text += &out::wrapped(&format!("{mark} {}", noise.what), 15, &noise.found);
        if let Some(advice) = noise.advice {
            text += &out::wrapped(&format!("{:15}->", ""), 18, advice);
        }
    }
    text
}

/// One platform; its name has `width` columns.
fn platform(text: &mut String, platform: &PlatformFinding, width: usize) {
    const STATE: usize = 10;
    let indent = 2 + STATE + width + 1;
    let first = format!("  {:STATE$}{}", standing(platform), platform.name);
    let blank = " ".repeat(indent);
    let mut row = |first: &str, words: &str, more: usize| *text += &out::wrapped(first, indent + more, words);
    match &platform.ready {
        Some(version) => {
            row(&first, &version.version, 0);
            for (key, value) in &version.details {
                row(&blank, &format!("{key}: {value}"), 0);
            }
        }
        None => {
            row(&first, platform.missing.as_deref().unwrap_or(""), 0);
            row(&format!("{blank}->"), platform.fix.as_deref().unwrap_or(""), 3);
        }
    }
    if platform.untested {
        row(&blank, UNTESTED, 0);
    }
}

fn host_lines(host: &HostFacts) -> [String; 3] {
    let llc = host.llc_bytes.map_or_else(|| "unknown".to_owned(), show_memory);
    [
        format!(
            "{}: {}, {}",
            host.cpu_model.as_deref().unwrap_or("CPU unknown"),
            counted(host.cpus, "CPU"),
            counted(host.cores, "core")
        ),
        format!(
            "{} of memory, last-level cache {llc}",
            show_memory(host.memory_bytes)
        ),
        format!(
            "Linux {}, {}, cgroup {}",
            host.kernel,
            host.os.as_deref().unwrap_or("distribution unknown"),
            host.cgroup.as_deref().unwrap_or("not mounted")
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(name: &'static str, accelerator: Option<&str>) -> PlatformFinding {
        let details = accelerator.map(|a| ("accelerator".to_owned(), a.to_owned()));
        PlatformFinding {
            name,
            about: "",
            untested: true,
            ready: Some(PlatformVersion {
                version: "engine 1 ".repeat(20),
                details: details.into_iter().collect(),
            }),
            missing: None,
            fix: None,
        }
    }

    #[test]
    fn long_names_keep_their_columns_and_emulation_is_told() {
        let mut text = String::new();
        platform(&mut text, &finding("vm", Some("tcg")), 16);
        platform(&mut text, &finding("cloud-hypervisor", Some("kvm")), 16);
        assert!(text.contains("  emulated  vm               engine 1"), "{text}");
        assert!(text.contains("  ready     cloud-hypervisor engine 1"), "{text}");
        assert!(text.lines().all(|line| line.len() <= out::width()), "{text}");
    }
}
