//! What a file says that no run writes, and what it does not say of its trials: whoever reads a
//! figure of it must know.

use super::fitness::stuck;
use super::notices::Notice;
use super::trials::{Trials, Used};
use std::collections::BTreeSet;
use tare_model::results::{Doubles, Header};
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
    (!what.is_empty()).then_some(Notice::UnsoundStudy { what })
}

fn strays(trials: &Trials) -> impl Iterator<Item = Notice> {
    let (cells, blocks, members) = (trials.strays, trials.beyond, trials.stray_members);
    let all = [
        (cells > 0).then_some(Notice::StrayTrials { trials: cells }),
        (blocks > 0).then_some(Notice::StrayBlocks { trials: blocks }),
        (members > 0).then_some(Notice::StrayMembers { members }),
    ];
    all.into_iter().flatten()
}

fn told_twice(doubles: &Doubles) -> impl Iterator<Item = Notice> {
    let (trials, records) = (doubles.conflicts.len(), doubles.copies.len());
    let conflict = (trials > 0).then_some(Notice::ConflictingTrials { trials });
    let copy = (records > 0).then_some(Notice::CopiedRecords { records });
    conflict.into_iter().chain(copy)
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
    (samples > 0).then(|| Notice::NoFigures {
        samples,
        of: names.into_iter().collect(),
    })
}

fn no_slices(trials: &Trials) -> Option<Notice> {
    let slices = trials.no_figures;
    (slices > 0).then_some(Notice::NoSlices { slices })
}

fn identical(trials: &Trials) -> Option<Notice> {
    let cells = trials.cells.iter().filter(|cell| stuck(cell).is_some());
    let cells: Vec<String> = cells.map(|cell| cell.cell.to_string()).collect();
    (!cells.is_empty()).then_some(Notice::IdenticalFigures { cells })
}

fn host_unknown(header: &Header) -> Option<Notice> {
    let what: Vec<String> = sound::untold(&header.host)
        .iter()
        .map(ToString::to_string)
        .collect();
    (!what.is_empty()).then_some(Notice::HostUnknown { what })
}

/// That no disturbance was found where nobody could look for one says nothing.
fn noise_unknown(trials: &Trials) -> Option<Notice> {
    let used = || trials.cells.iter().flat_map(|cell| cell.used.values());
    let unknown: Vec<&Used> = used().filter(|used| !used.noise_is_known()).collect();
    (!unknown.is_empty()).then(|| Notice::NoiseUnknown {
        trials: unknown.len(),
        of: used().count(),
        are_short: unknown.iter().all(|used| used.is_short_for_ticks()),
    })
}
