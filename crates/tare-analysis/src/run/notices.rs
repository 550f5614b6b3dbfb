//! What a reader of any figure of this file must know.

use super::boxes::{BoxFigures, Readings};
use super::comparison::Comparison;
use super::facts::{PlatformFacts, RunFacts};
use super::margin;
use super::slicing::SlicingFacts;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::platform::PlatformPath;
use tare_model::results::EndReason;
use tare_model::study::{Cell, Fresh, Study, Workload};
use tare_stats::LOOKS;

/// Something out of the ordinary about data.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "notice", rename_all = "kebab-case")]
pub enum Notice {
    /// A platform ran without hardware virtualisation: its figures are those of emulation.
    Emulated { platform: PlatformPath },
    /// The driver of a platform was written from documentation and has never run on its engine.
    UntestedDriver { platform: PlatformPath },
    /// The run ended before the limits of some kinds of box were checked: no verdict on their cells.
    NotReached {
        /// The kinds of box.
        kinds: Vec<String>,
    },
    /// The limits of a kind of box could not be proven: no verdict on its cells.
    LimitsNotProven {
        /// The kind of box.
        kind: String,
        /// What was granted and what was used; absent without a proof.
        readings: Option<Readings>,
        /// What the check remarked.
        remarks: Vec<String>,
    },
    /// The baseline is not among the study's platforms: nothing can be compared.
    NoBaseline { baseline: PlatformPath },
    /// Costs use another baseline than the study's, chosen after seeing the figures.
    OtherBaseline {
        /// That of the study.
        of_study: PlatformPath,
    },
    /// The study's margin is not one of 0.01 to 100 %: no verdicts.
    NoMargin,
    /// The client or the server of a workload ran outside the compared box: the figure includes the network between
    /// them.
    EndOutside {
        /// Where their ends ran, and which they are.
        workloads: Vec<Placed>,
        /// By what network, for each platform.
        networks: Vec<(PlatformPath, &'static str)>,
    },
    /// The boxes of a cell have more CPUs together than the host: those that work at the same time wait for one another.
    Oversubscribed { host_cpus: u32, workloads: Vec<String> },
    /// One box per platform served the whole study: figures apply to these boxes, and platforms get no verdict.
    KeptBoxes,
    /// The file ends in the middle of a record, which is ignored: the run was killed while writing.
    Torn,
    /// Records of a kind that only a later version of tare knows are ignored.
    UnknownRecords { kind: String, records: usize },
    /// Figures that the header of the file does not name are ignored.
    UnnamedFigures {
        /// Their workloads and names.
        figures: Vec<String>,
    },
    /// Files of a trend that begin later than now: a clock ran ahead, so that their order may be wrong.
    AheadOfNow { files: Vec<String> },
    /// Files of a trend that begin before 2020: a clock was not set, so that their order may be wrong.
    ClockUnset { files: Vec<String> },
    /// Files of a trend that begin at the same time: their order is that in which they are named.
    SameStart { files: Vec<String> },
    /// The file was written in several sessions (a run and its resumptions): the host may have changed between them.
    Sessions { sessions: usize },
    /// The host was rebooted between sessions; intervals do not include what a reboot changes.
    Boots { boots: usize },
    /// The run ended before all planned blocks.
    Incomplete {
        /// How it ended; absent if the file does not say so.
        end: Option<EndReason>,
        /// Blocks begun.
        blocks: usize,
        /// Blocks planned.
        planned: u32,
    },
    /// Turns took longer than intended: their overhead weighs less there than in other cells.
    LongTurns {
        /// How long they should have been, in seconds.
        aim_seconds: f64,
        /// The cells, with how long they were.
        cells: Vec<LongTurn>,
    },
    /// The trial or slice right before changed the figures of comparisons.
    CarryOver {
        comparisons: usize,
        /// Of how many.
        of: usize,
        /// The cells of which, each once.
        cells: Vec<Cell>,
    },
    /// The header of the file has values that no study has: the file was altered, and there are no verdicts.
    UnsoundStudy { what: Vec<String> },
    /// Trials of no cell of the study are ignored.
    StrayTrials { trials: usize },
    /// Trials of no block of the study are ignored.
    StrayBlocks { trials: usize },
    /// Slices of no cell of the study are ignored.
    StrayMembers { members: usize },
    /// Trials that the file holds more than once with different contents: none of them counts.
    ConflictingTrials { trials: usize },
    /// Records that the file holds more than once as exact copies count once.
    CopiedRecords { records: usize },
    /// Figures beyond what any machine can reach are ignored.
    NoFigures {
        samples: usize,
        /// Workloads and metrics.
        of: Vec<String>,
    },
    /// Slices with a cost that no machine can reach are ignored.
    NoSlices { slices: usize },
    /// All trials of a cell have the same figure: made up, or from a clock with too low a resolution.
    IdenticalFigures { cells: Vec<String> },
    /// The header of the file lacks facts about the host on which figures depend.
    HostUnknown {
        /// Which facts.
        what: Vec<String>,
    },
    /// The load of other processes and of the hypervisor was not recorded during trials: nobody knows whether they
    /// were disturbed.
    NoiseUnknown {
        trials: usize,
        /// Of how many.
        of: usize,
        /// Whether each of them was too short for the ticks in which the host counts.
        are_short: bool,
    },
    /// In data of other tools: a figure is the mean of the repetitions of one run, and counts as one block.
    Repetitions { files: usize },
    /// In data of other tools: blocks have names, and are assumed to be in the order of the file.
    BlockOrder,
    /// In data of other tools: metrics of unknown direction, assumed to be better when lower.
    Direction { metrics: Vec<String> },
    /// In data of other tools: cells without a baseline are compared with nothing.
    WithoutBaseline { cells: Vec<String> },
    /// In data of other tools: values of 0 or less have no log ratio, so there is no paired ratio and no verdict.
    NoLogarithm {
        comparisons: usize,
        /// Of how many.
        of: usize,
    },
    /// In data of other tools: the ratio is the same in every block, which times hardly ever are.
    NoSpread {
        comparisons: usize,
        /// Of how many.
        of: usize,
    },
    /// Between two files: different builds of the agent measured them.
    Builds,
    /// Between two files: the programs or images that were measured differ.
    Files { others: Vec<OtherFile> },
    /// Between two files: only one was measured in slices, so whole trials are compared.
    Slices,
    /// Between two files: the one given first is the newer one.
    Order,
    /// Between two files: both have trials of the same run and are not independent.
    SameRun,
}

/// A file, or an image, that is another before and after.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct OtherFile {
    /// The path, or the image's name.
    pub file: String,
    /// The first digits of its SHA-256; absent where it was not there.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Where the ends of workloads ran.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Placed {
    pub places: String,
    pub workloads: Vec<String>,
}

/// A cell whose turns took long.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct LongTurn {
    pub cell: Cell,
    /// How long they took, in seconds.
    pub seconds: f64,
}

impl Notice {
    /// Its name: that in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Emulated { .. } => "emulated",
            Self::UntestedDriver { .. } => "untested-driver",
            Self::NotReached { .. } => "not-reached",
            Self::LimitsNotProven { .. } => "limits-not-proven",
            Self::NoBaseline { .. } => "no-baseline",
            Self::OtherBaseline { .. } => "other-baseline",
            Self::NoMargin => "no-margin",
            Self::EndOutside { .. } => "end-outside",
            Self::Oversubscribed { .. } => "oversubscribed",
            Self::KeptBoxes => "kept-boxes",
            Self::Torn => "torn",
            Self::UnknownRecords { .. } => "unknown-records",
            Self::UnnamedFigures { .. } => "unnamed-figures",
            Self::AheadOfNow { .. } => "ahead-of-now",
            Self::ClockUnset { .. } => "clock-unset",
            Self::SameStart { .. } => "same-start",
            Self::Sessions { .. } => "sessions",
            Self::Boots { .. } => "boots",
            Self::Incomplete { .. } => "incomplete",
            Self::LongTurns { .. } => "long-turns",
            Self::CarryOver { .. } => "carry-over",
            Self::UnsoundStudy { .. } => "unsound-study",
            Self::StrayTrials { .. } => "stray-trials",
            Self::StrayBlocks { .. } => "stray-blocks",
            Self::StrayMembers { .. } => "stray-members",
            Self::ConflictingTrials { .. } => "conflicting-trials",
            Self::CopiedRecords { .. } => "copied-records",
            Self::NoFigures { .. } => "no-figures",
            Self::NoSlices { .. } => "no-slices",
            Self::IdenticalFigures { .. } => "identical-figures",
            Self::HostUnknown { .. } => "host-unknown",
            Self::NoiseUnknown { .. } => "noise-unknown",
            Self::Repetitions { .. } => "repetitions",
            Self::BlockOrder => "block-order",
            Self::Direction { .. } => "direction",
            Self::WithoutBaseline { .. } => "without-baseline",
            Self::NoLogarithm { .. } => "no-logarithm",
            Self::NoSpread { .. } => "no-spread",
            Self::Builds => "builds",
            Self::Files { .. } => "files",
            Self::Slices => "slices",
            Self::Order => "order",
            Self::SameRun => "same-run",
        }
    }
}

pub(crate) fn all(
    (study, host_cpus): (&Study, u32),
    run: &RunFacts,
    boxes: &[BoxFigures],
    platforms: &[PlatformFacts],
    comparisons: &[Comparison],
) -> Vec<Notice> {
    let emulated = platforms
        .iter()
        .filter(|p| p.emulated())
        .map(|p| Notice::Emulated {
            platform: p.platform.clone(),
        });
    let untested = platforms
        .iter()
        .filter(|p| p.untested())
        .map(|p| Notice::UntestedDriver {
            platform: p.platform.clone(),
        });
    let mut notices: Vec<Notice> = emulated.chain(untested).collect();
    notices.extend(of_run(study, run));
    notices.extend(not_reached(boxes));
    notices.extend(boxes.iter().filter(|b| b.not_proven()).map(not_proven));
    notices.extend(of_study(study, host_cpus));
    notices.extend(carried_over(comparisons));
    notices
}

/// Turns that nobody ended in time.
pub(crate) fn long_turns(slicing: &SlicingFacts) -> Option<Notice> {
    const LONG: f64 = 1.5;
    let aim_seconds = slicing.slicing.turn_seconds();
    let long = slicing.in_turns.iter();
    let long = long.filter(|c| c.turns > 1.0 && c.seconds > LONG * aim_seconds);
    let cells: Vec<LongTurn> = long
        .map(|c| LongTurn {
            cell: c.cell.clone(),
            seconds: c.seconds,
        })
        .collect();
    (!cells.is_empty()).then_some(Notice::LongTurns { aim_seconds, cells })
}

fn carried_over(comparisons: &[Comparison]) -> Option<Notice> {
    let moved = || comparisons.iter().filter(|c| !c.carry_over.is_empty());
    let mut cells: Vec<Cell> = Vec::new();
    for comparison in moved() {
        if !cells.contains(&comparison.cell) {
            cells.push(comparison.cell.clone());
        }
    }
    (!cells.is_empty()).then(|| Notice::CarryOver {
        comparisons: moved().count(),
        of: comparisons.len(),
        cells,
    })
}

/// One notice for all kinds of box that the run did not come to.
fn not_reached(boxes: &[BoxFigures]) -> Option<Notice> {
    let missed = boxes.iter().filter(|b| b.not_reached());
    let kinds: Vec<String> = missed.map(|b| b.kind.to_string()).collect();
    (!kinds.is_empty()).then_some(Notice::NotReached { kinds })
}

fn not_proven(figures: &BoxFigures) -> Notice {
    Notice::LimitsNotProven {
        kind: figures.kind.to_string(),
        readings: figures.readings(),
        remarks: figures.proof.iter().flat_map(|p| p.remarks.clone()).collect(),
    }
}

fn of_study(study: &Study, host_cpus: u32) -> Vec<Notice> {
    let no_baseline = (!study.platforms.contains(&study.baseline)).then(|| Notice::NoBaseline {
        baseline: study.baseline.clone(),
    });
    let no_margin = margin(study).is_none().then_some(Notice::NoMargin);
    let kept = (study.protocol.fresh == Fresh::Study).then_some(Notice::KeptBoxes);
    let all = [
        no_baseline,
        no_margin,
        crossed(study),
        oversubscribed(study, host_cpus),
        kept,
    ];
    all.into_iter().flatten().collect()
}

fn oversubscribed(study: &Study, host_cpus: u32) -> Option<Notice> {
    let workloads = study.oversubscribed(host_cpus).into_iter();
    let workloads = study.together(workloads.map(Workload::name));
    let is_known = host_cpus > 0 && !workloads.is_empty();
    is_known.then_some(Notice::Oversubscribed { host_cpus, workloads })
}

/// Of workloads with ends in several boxes, between which places their messages went, and by what.
fn crossed(study: &Study) -> Option<Notice> {
    let told = study.placed().into_iter().filter_map(|(placed, mut workloads)| {
        workloads.retain(|workload| workload.is_in_several_boxes());
        let names = study.together(workloads.iter().map(|w| w.name()));
        (!names.is_empty()).then(|| Placed {
            places: placed.to_string(),
            workloads: names,
        })
    });
    let workloads: Vec<Placed> = told.collect();
    let networks = study.platforms.iter().map(|path| (path.clone(), network(path)));
    (!workloads.is_empty()).then(|| Notice::EndOutside {
        workloads,
        networks: networks.collect(),
    })
}

/// The network between the host and the boxes of a platform that it reaches.
fn network(path: &PlatformPath) -> &'static str {
    let outermost = path.segments().first();
    let named = outermost.and_then(|segment| segment.options.get("network"));
    match named.map(String::as_str) {
        Some("bridge") => "bridge",
        Some("published") => "published",
        _ => "host",
    }
}

fn of_run(study: &Study, run: &RunFacts) -> Vec<Notice> {
    let mut notices: Vec<Notice> = run.torn.then_some(Notice::Torn).into_iter().collect();
    let unknown = run.unknown_records.iter();
    notices.extend(unknown.map(|(kind, records)| Notice::UnknownRecords {
        kind: kind.clone(),
        records: *records,
    }));
    if !run.unnamed_figures.is_empty() {
        let figures = run.unnamed_figures.iter().cloned().collect();
        notices.push(Notice::UnnamedFigures { figures });
    }
    if run.sessions.len() > 1 {
        notices.push(Notice::Sessions {
            sessions: run.sessions.len(),
        });
    }
    if run.boots > 1 {
        notices.push(Notice::Boots { boots: run.boots });
    }
    notices.extend(incomplete(study, run));
    notices
}

/// A study that stops by its results is whole from its first look on.
fn incomplete(study: &Study, run: &RunFacts) -> Option<Notice> {
    let end = run.end.map(|e| e.reason);
    let first_look = Some(LOOKS[0]).filter(|_| !study.protocol.stopping.is_fixed());
    let was_looked_at = first_look.is_some_and(|look| run.blocks >= look as usize);
    let is_whole = match end {
        Some(EndReason::Complete | EndReason::Settled) => true,
        Some(EndReason::BudgetSpent) => was_looked_at,
        _ => false,
    };
    (!is_whole).then_some(Notice::Incomplete {
        end,
        blocks: run.blocks,
        planned: first_look.unwrap_or(u32::MAX).min(run.blocks_planned),
    })
}
