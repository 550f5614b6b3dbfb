//! The answer drawn, and what makes it doubtful.

use crate::chart::Picture;
use crate::document::Section;
use crate::words::open::{self, Where};
use crate::words::{confinement, course, doubts};
use tare_analysis::{Analysis, FEWEST_PAIRS, Stops};
use tare_model::platform::Provisioning;
use tare_model::size::counted;
use tare_model::study::{Fresh, Workload};

/// What each kind of box costs, drawn.
pub(super) fn section(analysis: &Analysis) -> Section {
    let section = Section::new(format!(
        "Cost of each platform over {} ({})",
        analysis.study.baseline,
        course::blocks(&analysis.study, &analysis.run)
    ));
    if analysis.comparisons.is_empty() {
        return section.list(vec!["nothing to compare".to_owned()]);
    }
    section
        .list(about(analysis))
        .facts(workloads(analysis))
        .picture(Picture::heat(analysis))
        .picture(Picture::shown(analysis))
}

/// What each workload does, unless there are too many to stand above the figures: the study has them all.
fn workloads(analysis: &Analysis) -> Vec<(String, String)> {
    /// So many are told.
    const FEW: usize = 8;
    let told = analysis.study.workloads.iter().filter(|w| !w.about.is_empty());
    let told: Vec<_> = told
        .map(|w| (w.name().to_string(), w.about.clone() + &verdict_by(w)))
        .collect();
    if told.len() > FEW { Vec::new() } else { told }
}

/// `; verdicts by triad`, of a workload with several figures.
fn verdict_by(workload: &Workload) -> String {
    let metrics = workload.metrics();
    let primary = metrics.iter().find(|metric| metric.primary);
    let primary = primary.filter(|_| metrics.len() > 1);
    primary.map_or_else(String::new, |metric| format!("; verdicts by {}", metric.name))
}

/// What the names of boxes mean, and what is to be known before any figure.
fn about(analysis: &Analysis) -> Vec<String> {
    let has = |by| analysis.study.provisioning.contains(&by);
    let vanilla = has(Provisioning::Vanilla).then_some("Vanilla boxes have a CPU time quota.");
    let pinned = has(Provisioning::Pinned).then_some("Pinned boxes have CPUs of their own and no quota.");
    let few = (analysis.run.blocks < FEWEST_PAIRS)
        .then(|| format!("Verdicts need at least {FEWEST_PAIRS} blocks."));
    let protocol = &analysis.study.protocol;
    let how = (protocol.fresh == Fresh::Block).then(|| {
        let first = analysis.stops.as_ref().and_then(Stops::first_settled);
        let fewer = first.filter(|blocks| *blocks as usize != analysis.run.blocks);
        let from = fewer.map_or_else(String::new, |blocks| format!("{blocks} to "));
        let blocks = counted(analysis.run.blocks, "block");
        format!("Each block makes new boxes and runs every workload once in each; costs have {} intervals over {from}{blocks}.", analysis.intervals)
    });
    let told = [
        how,
        vanilla.map(str::to_owned),
        pinned.map(str::to_owned),
        few,
        confinement::words(analysis),
        confinement::network(analysis),
        own_work(analysis),
    ];
    told.into_iter().flatten().collect()
}

/// What the cost of a kernel is to an application.
fn own_work(analysis: &Analysis) -> Option<String> {
    let mut workloads = analysis.study.workloads.iter();
    let has_kernels = workloads.any(|workload| workload.kernel().is_some());
    has_kernels.then(|| {
        "A cost applies to the named work only: an application pays it for the share of its time spent on such work."
            .to_owned()
    })
}

/// What is not decided, drawn.
pub(super) fn open(analysis: &Analysis, place: Where<'_>) -> Option<Section> {
    let next = open::open(analysis, place).map(|open| {
        let words = match (open.whole, open.command) {
            (Some(whole), _) => format!("{}: {whole}", open.words.replace("rerun with", "run")),
            (None, Some(command)) => format!("{} {command}", open.words),
            (None, None) => open.words,
        };
        [words, open.rows]
    });
    let next = next.into_iter().flatten().filter(|line| !line.is_empty());
    Section::new("Inconclusive comparisons")
        .picture(Picture::open(analysis))
        .list(next.collect())
        .unless_empty()
}

/// What holds for parts of the file and makes figures doubtful, all kinds in one place.
pub(super) fn doubts(analysis: &Analysis) -> Section {
    let mut found: Vec<String> = doubts::of_parts(analysis).into_iter().map(|d| d.text).collect();
    if found.is_empty() {
        found.push("none found".to_owned());
    }
    Section::new("Reasons to doubt").list(found)
}
