//! What a file says that no run writes, and what it does not say of its trials: whoever reads a
//! figure of it must know.

use super::fitness::stuck;
use super::notices::{Notice, notice, some_of};
use super::trials::{CellTrials, Trials};
use std::collections::BTreeSet;
use tare_model::results::{Doubles, Header};
use tare_model::size::counted;
use tare_model::sound::{self, Unsound};

/// The notices, those on what is missing last. `doubles` are those of the file as it was read.
pub(super) fn notices(header: &Header, trials: &Trials, doubles: &Doubles) -> Vec<Notice> {
    let mut notices: Vec<Notice> = unsound(header).into_iter().collect();
    notices.extend(strays(trials));
    notices.extend(told_twice(doubles));
    notices.extend(no_figures(trials));
    notices.extend(no_slices(trials));
    notices.extend(identical(trials));
    notices.extend(host_unknown(header));
    notices.extend(noise_unknown(trials));
    notices
}

fn unsound(header: &Header) -> Option<Notice> {
    let faults = sound::faults(&header.study).into_iter();
    // The margin has a notice of its own.
    let others = faults.filter(|fault| !matches!(fault, Unsound::Margin(_)));
    let what: Vec<String> = others.map(|fault| fault.to_string()).collect();
    let text = format!(
        "the header tells of {}, which no study has: the file was altered, or tare did not write it; no verdicts",
        what.join(" and ")
    );
    (!what.is_empty()).then(|| notice("unsound-study", text))
}

fn strays(trials: &Trials) -> Vec<Notice> {
    let of = |n: usize, noun: &str, what: &str| {
        let text = format!("left out: {} of no {what} of the study", counted(n, noun));
        (n > 0).then(|| notice("stray-trials", text))
    };
    let all = [
        of(trials.strays, "trial", "cell"),
        of(trials.beyond, "trial", "block"),
        of(trials.stray_members, "group member", "cell"),
    ];
    all.into_iter().flatten().collect()
}

fn told_twice(doubles: &Doubles) -> Vec<Notice> {
    let conflicts = doubles.conflicts.len();
    let conflict = format!(
        "{} in the file more than once with unlike contents: which is the true one cannot be told, so none counts; the file was altered, or two were joined",
        counted(conflicts, "trial")
    );
    let copies = format!(
        "{} in the file again as an exact copy, and counted once",
        counted(doubles.copies.len(), "record")
    );
    let conflict = (conflicts > 0).then(|| notice("conflicting-trials", conflict));
    let copy = (!doubles.copies.is_empty()).then(|| notice("copied-records", copies));
    conflict.into_iter().chain(copy).collect()
}

/// Samples that no machine comes to.
fn no_figures(trials: &Trials) -> Option<Notice> {
    let (mut samples, mut names) = (0, BTreeSet::new());
    for cell in &trials.cells {
        for metric in &cell.metrics {
            let none = |used: &&super::trials::Used| {
                used.samples.contains_key(&metric.name) && used.sample(metric).is_none()
            };
            let n = cell.used.values().filter(none).count();
            samples += n;
            if n > 0 {
                names.insert(format!("{} {}", cell.cell.workload, metric.name));
            }
        }
    }
    let text = format!(
        "left out: {} beyond what any machine comes to in that unit: {}",
        counted(samples, "figure"),
        some_of(names.iter().map(String::as_str))
    );
    (samples > 0).then(|| notice("no-figures", text))
}

fn no_slices(trials: &Trials) -> Option<Notice> {
    let text = format!(
        "left out: {} whose cost is beyond what any machine comes to",
        counted(trials.no_figures, "slice")
    );
    (trials.no_figures > 0).then(|| notice("no-figures", text))
}

fn identical(trials: &Trials) -> Option<Notice> {
    let cells = trials.cells.iter().filter(|cell| stuck(cell).is_some());
    let names: Vec<String> = cells.map(|cell| cell.cell.to_string()).collect();
    let text = format!(
        "identical figures in all trials of {}: made up, or of a clock too coarse to tell them apart; no verdict on them",
        some_of(names.iter().map(String::as_str))
    );
    (!names.is_empty()).then(|| notice("identical-figures", text))
}

fn host_unknown(header: &Header) -> Option<Notice> {
    let untold = sound::untold(&header.host);
    let text = format!(
        "the header does not tell of the host's {}, which every run finds out: what the figures depend on is not known",
        untold.join(" and ")
    );
    (!untold.is_empty()).then(|| notice("host-unknown", text))
}

/// That no disturbance was found where nobody could look for one says nothing.
fn noise_unknown(trials: &Trials) -> Option<Notice> {
    let unknown: usize = trials.cells.iter().map(CellTrials::noise_unknown).sum();
    let of: usize = trials.cells.iter().map(|cell| cell.used.len()).sum();
    let text = format!(
        "in {unknown} of {} the host did not tell what else ran, or what its hypervisor took: whether they were disturbed is not known",
        counted(of, "trial")
    );
    (unknown > 0).then(|| notice("noise-unknown", text))
}
