//! `tare doctor`: what can run here, what is missing and how to get it, and
//! what would disturb a measurement.

use crate::args::DoctorArgs;
use crate::out;
use std::process::ExitCode;
use tare_lab::doctor::{self, Findings, PlatformFinding};
use tare_model::host::HostFacts;
use tare_model::size::{counted, show_memory};
use tare_platforms::state::{self, StateError};

/// What is said of a platform whose driver has never run on its engine.
const UNTESTED: &str =
    "untested: this driver was written from the engine's documentation and has never run on it";

/// What an ordinary user can do wherever no platform is ready.
const WITHOUT_ROOT: &str =
    "Without root, these work: tare report, compare, analyze, advise, serve and kernel.";

/// What probes are for.
const PROBES: &str = "eBPF, for 'tare why' and 'tare run --evidence'";
/// What is known without probes.
const COUNTERS: &str = "of control groups and processes, with every trial: faults, throttling, switches";

/// Examines and prints.
pub fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let state = args.state.folder();
    // The probe of KVM keeps its finding here; without the folder it only takes longer.
    // One that cannot be made is told by whoever needs it.
    if let Err(e @ StateError::Open { .. }) = state::make(&state) {
        return Err(e.into());
    }
    let findings = doctor::examine(&state)?;
    if args.json {
        out::print_json(&findings)?;
    } else {
        out::print(&text(&findings))?;
    }
    Ok(if can_measure(&findings) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(out::BAD_INPUT)
    })
}

/// Whether any platform can run.
fn can_measure(findings: &Findings) -> bool {
    findings.platforms.iter().any(|platform| platform.ready.is_some())
}

/// Whether a platform can run, in one word.
fn standing(platform: &PlatformFinding) -> &'static str {
    match &platform.ready {
        None => "missing",
        // Its figures are those of an emulated CPU, not of a VM.
        Some(version) if version.is_emulated() => "emulated",
        Some(_) => "ready",
    }
}

fn text(findings: &Findings) -> String {
    let mut text = String::from("Platforms\n");
    let names = findings.platforms.iter().map(|platform| platform.name.len());
    let width = names.max().unwrap_or(0);
    for found in alike(&findings.platforms) {
        platforms(&mut text, &found, width);
    }
    if !can_measure(findings) && !rustix::process::geteuid().is_root() {
        text += &out::wrapped("", 2, WITHOUT_ROOT);
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
    text += "\nEvidence of causes\n";
    let (mark, found) = match &findings.evidence.missing {
        None => (" ", PROBES),
        Some(why) => ("!", why.as_str()),
    };
    text += &out::wrapped(&format!("{mark} probes"), 15, found);
    text += &out::wrapped("  counters", 15, COUNTERS);
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

/// The platforms in their order, with those that miss the same beside the first of them.
fn alike(platforms: &[PlatformFinding]) -> Vec<Vec<&PlatformFinding>> {
    let misses_the_same = |a: &PlatformFinding, b: &PlatformFinding| {
        a.ready.is_none()
            && b.ready.is_none()
            && (&a.missing, &a.fix, a.untested) == (&b.missing, &b.fix, b.untested)
    };
    let mut groups: Vec<Vec<&PlatformFinding>> = Vec::new();
    for platform in platforms {
        match groups
            .iter_mut()
            .find(|group| misses_the_same(group[0], platform))
        {
            Some(group) => group.push(platform),
            None => groups.push(vec![platform]),
        }
    }
    groups
}

/// Platforms of which the same is said; the name of one has `width` columns.
fn platforms(text: &mut String, alike: &[&PlatformFinding], width: usize) {
    const STATE: usize = 10;
    let indent = 2 + STATE + width + 1;
    let blank = " ".repeat(indent);
    let (found, first) = match alike {
        [found] => (found, format!("  {:STATE$}{}", standing(found), found.name)),
        [found, ..] => {
            let names: Vec<&str> = alike.iter().map(|platform| platform.name).collect();
            let first = format!("  {:STATE$}", standing(found));
            *text += &out::wrapped(first.trim_end(), 2 + STATE, &names.join(", "));
            (found, blank.clone())
        }
        [] => return,
    };
    let mut row = |first: &str, words: &str, more: usize| *text += &out::wrapped(first, indent + more, words);
    match &found.ready {
        Some(version) => {
            row(&first, &version.version, 0);
            for (key, value) in &version.details {
                row(&blank, &format!("{key}: {value}"), 0);
            }
        }
        None => {
            row(&first, found.missing.as_deref().unwrap_or(""), 0);
            row(&format!("{blank}->"), found.fix.as_deref().unwrap_or(""), 3);
        }
    }
    if found.untested {
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
    use tare_model::results::PlatformVersion;

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
        platforms(&mut text, &[&finding("vm", Some("tcg"))], 16);
        platforms(&mut text, &[&finding("cloud-hypervisor", Some("kvm"))], 16);
        assert!(text.contains("  emulated  vm               engine 1"), "{text}");
        assert!(text.contains("  ready     cloud-hypervisor engine 1"), "{text}");
        assert!(text.lines().all(|line| line.len() <= out::width()), "{text}");
    }

    #[test]
    fn what_several_platforms_miss_is_told_once() {
        let missing = |name: &'static str, why: &str| PlatformFinding {
            untested: false,
            ready: None,
            missing: Some(why.to_owned()),
            fix: Some("sudo".to_owned()),
            ..finding(name, None)
        };
        let all = [
            missing("native", "not root"),
            missing("oci", "no crun"),
            missing("lxc", "not root"),
        ];
        let mut text = String::new();
        for group in alike(&all) {
            platforms(&mut text, &group, 6);
        }
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "missing   native, lxc",
                "not root",
                "-> sudo",
                "missing   oci    no crun",
                "-> sudo"
            ]
        );
    }
}
