//! What a slice's way to its box and back takes: the gate of the process that waits
//! there.

use super::lab::Lab;
use super::target::Target;
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tare_analysis::Analysis;

/// By platform, what it may take in microseconds. A machine may be an emulated one.
const TARGETS: [(&str, f64); 6] = [
    ("native", 150.0),
    ("crun", CONTAINER),
    ("runc", CONTAINER),
    ("lxc", CONTAINER),
    ("docker", CONTAINER),
    ("vm", 3000.0),
];
const CONTAINER: f64 = 200.0;

/// Times in microseconds by platform, a median of each study.
#[derive(Default)]
pub struct Gates {
    times: BTreeMap<String, Vec<f64>>,
    /// Why there is none of a platform.
    missing: Vec<String>,
}

impl Gates {
    /// Notes the times of a study in slices.
    pub fn note(&mut self, analysis: &Analysis) {
        for gate in analysis.slicing.iter().flat_map(|facts| &facts.gates) {
            self.add(&gate.platform.to_string(), gate.seconds * 1e6);
        }
    }

    fn add(&mut self, platform: &str, microseconds: f64) {
        self.times
            .entry(platform.to_owned())
            .or_default()
            .push(microseconds);
    }

    /// Short studies of the platforms that were not seen yet.
    pub fn hold_others(&mut self, lab: &Lab) {
        for (platform, _) in TARGETS {
            if self.times.contains_key(platform) {
                continue;
            }
            match study(lab, platform) {
                Ok(analysis) => self.note(&analysis),
                Err(why) => self.missing.push(format!("  {platform:12} not held: {why:#}")),
            }
        }
    }

    fn medians(&self) -> impl Iterator<Item = (&'static str, f64, f64)> {
        TARGETS.into_iter().filter_map(|(platform, at_most)| {
            let times = self.times.get(platform)?;
            Some((platform, crate::median(times.clone()), at_most))
        })
    }

    pub fn table(&self) -> String {
        let mut text =
            "a slice's way to its box and back, beyond its work: medians in microseconds".to_owned();
        for (platform, median, _) in self.medians() {
            let _ = write!(text, "\n  {platform:12} {median:11.0}");
        }
        self.missing.iter().for_each(|why| {
            let _ = write!(text, "\n{why}");
        });
        text
    }

    /// A target of each platform that was seen.
    pub fn targets(&self) -> Vec<Target> {
        let target = |(platform, found, at_most)| Target {
            what: format!("microseconds of a slice's way, {platform}"),
            found,
            at_most,
        };
        self.medians().map(target).collect()
    }
}

fn study(lab: &Lab, platform: &str) -> Result<Analysis> {
    let mut run = lab.study(platform);
    run.args(["-w", "syscall", "--memory", "512M", "--blocks", "5"])
        .args(["--slices", "auto", "--trial-time", "500ms"]);
    lab.analyse(run, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_platform_is_held_against_its_own_target() {
        let mut gates = Gates::default();
        [100.0, 900.0, 120.0]
            .iter()
            .for_each(|time| gates.add("native", *time));
        gates.add("lxc", 210.0);
        let targets: Vec<(f64, bool)> = gates.targets().iter().map(|t| (t.found, t.met())).collect();
        assert_eq!(targets, [(120.0, true), (210.0, false)]);
    }

    #[test]
    fn a_platform_that_cannot_run_is_told_and_misses_no_target() {
        let mut gates = Gates::default();
        gates.missing.push("  docker       not held: x".to_owned());
        assert!(gates.targets().is_empty());
        assert!(gates.table().ends_with("\n  docker       not held: x"));
    }
}
