//! What a results file says: figures, comparisons, verdicts and their evidence.

mod boxes;
mod carry_over;
mod cells;
mod compare;
mod comparison;
mod counters;
pub(crate) mod decide;
mod estimate;
mod evidence;
mod facts;
mod family;
mod findings;
pub(crate) mod fitness;
mod flag;
mod host_effects;
mod latencies;
mod layers;
mod notices;
mod paired;
pub(crate) mod pairing;
mod pairs;
mod refusal;
mod scores;
mod size_effects;
mod slices;
mod slicing;
pub(crate) mod steadiness;
mod stops;
mod together;
pub(crate) mod trials;
mod trust;
mod tuning;
mod undisturbed;
pub(crate) mod variability;
pub(crate) mod verdict;
mod workload_effects;

pub(crate) use boxes::float;
pub use boxes::{BoxFigures, IdleMemory, Latency, Readings};
pub use carry_over::{CarryOver, Side};
pub use cells::{CellFigures, FailureCount, MetricFigures};
pub use comparison::{BlockCost, Comparison, CostRange, MetricComparison, Op, QuantileFigure};
pub use counters::CellCounter;
pub use estimate::Estimate;
pub use evidence::{Beside, Evidence, Figure, FigureKind, Function, InKernel};
pub use facts::{PlatformFacts, RunFacts, TrialCounts, run_facts};
pub use family::{Family, FamilySize};
pub use findings::{FindingCount, FindingShare};
pub use fitness::MIN_PAIRS as FEWEST_PAIRS;
pub use flag::{Flag, OddBlock};
pub use host_effects::{HostEffect, HostEffects, HostPoint};
pub use latencies::CellLatencies;
pub use layers::{Split, Step};
pub use notices::{LongTurn, Notice, OtherFile, Placed};
pub use paired::Paired;
pub use pairs::OtherPair;
pub use refusal::Refusal;
pub use scores::{Score, ScoreAxis, ScoreTable};
pub use size_effects::{
    ChrRange, Class, Fit, NoEffects, NoFit, OverheadPart, RangeEnd, Shown, SizeEffect, SizeEffects,
    SizePoint, Standing,
};
pub use slices::{BlockOfSlices, CpuCost, SliceFigures};
pub use slicing::{Gate, InTurns, OnePiece, Processes, SlicingFacts};
pub use steadiness::{Steadiness, Steady};
pub use stops::{Stop, Stops};
pub use tare_model::study::Against;
pub use tuning::{
    BestSetting, FactorLevel, LevelEffect, NoBest, SettingFigures, TogetherEffect, Tuned, TuningEffect,
};
pub use undisturbed::{ChangedVerdict, Undisturbed};
pub use variability::overhead as variability_overhead;
pub use verdict::MOST_BLOCKS as MOST_ADDED;
pub use verdict::{Basis, Verdict, VerdictCounts, Word};
pub use workload_effects::{WorkloadCost, WorkloadEffect, WorkloadEffects};

use crate::why::{self, Gap};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::host::HostFacts;
use tare_model::platform::PlatformPath;
use tare_model::results::{Doubles, Results};
use tare_model::sound::is_margin;
use tare_model::study::{Stopping, Study};
use tare_stats::{Looks, Question};

/// Name and version of the analysis as JSON. The number changes when an old
/// reader would misread a new analysis.
pub const SCHEMA: &str = "tare-analysis/2";

/// Everything that a report shows.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Analysis {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// How many costs of platforms have which verdict, but for those of emulated machines.
    pub verdicts: VerdictCounts,
    /// Whether they stay without the trials that the host disturbed; absent if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undisturbed: Option<Undisturbed>,
    /// Version of tare that measured.
    pub tare: String,
    /// Build ID of tare.
    pub build: String,
    /// Build ID of the agent that ran in the boxes; absent where tare itself was the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The study as the file has it.
    pub study: Study,
    /// What a reader of any figure must know of this file.
    pub notices: Vec<Notice>,
    /// Every cell against its baselines.
    pub comparisons: Vec<Comparison>,
    /// Platforms against one another that the study does not ask about: figures to look at, without verdicts.
    pub other_pairs: Vec<OtherPair>,
    /// Why cells stopped; absent if every cell ran in every block.
    pub stops: Option<Stops>,
    /// Request latency, of each cell with a load.
    pub latencies: Vec<CellLatencies>,
    /// What the host counted, of each cell and counter.
    pub counters: Vec<CellCounter>,
    /// What the kernel did for cells and their baselines, where it was looked into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// What costs consist of, of each cell that is there with and without some of its mechanisms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Which parameters of a workload matter, on each kind of box, in a study that varies them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tunings: Vec<Tuned>,
    /// Gaps of boxes in boxes, split by layer.
    pub layers: Vec<Split>,
    /// What depends on the size of the box.
    pub size_effects: SizeEffects,
    /// What depends on the size of the host.
    pub host_effects: HostEffects,
    /// Workloads that the study holds together.
    pub workload_effects: WorkloadEffects,
    /// Standardised scores after li2018: one table per provisioning and size, where at least two
    /// platforms have a figure.
    pub scores: Vec<ScoreTable>,
    /// What the intervals of comparisons are: `95 %`, or `95 % (allowing for looks)` in an adaptive study.
    pub intervals: &'static str,
    /// Tests in the family of the Holm correction that holds the cells against the baseline
    /// limited alike.
    pub family: usize,
    /// The same of the CPU costs of CPU-bound work that ran in slices: a family of their own.
    pub cpu_family: usize,
    /// All families that have a test.
    pub families: Vec<FamilySize>,
    /// Every cell.
    pub cells: Vec<CellFigures>,
    /// Every kind of box: start-up and proof of limits.
    pub boxes: Vec<BoxFigures>,
    /// Findings that occur.
    pub findings: Vec<FindingShare>,
    /// How the file came to be.
    pub run: RunFacts,
    /// How trials were given their time; absent where the file knows nothing of slices.
    pub slicing: Option<SlicingFacts>,
    pub host: HostFacts,
    /// The platforms' versions and details.
    pub platforms: Vec<PlatformFacts>,
}

impl Analysis {
    /// Whether guests of this platform were translated in software: its figures say nothing of a
    /// machine with hardware support.
    pub fn is_emulated(&self, platform: &PlatformPath) -> bool {
        facts::is_emulated(&self.platforms, platform)
    }

    /// What the platforms cost, apart from what buying a size costs.
    pub fn asked(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|c| c.against == Against::Native)
    }

    /// Those of them that are of no emulated machine, which says nothing of a real one.
    pub fn real(&self) -> impl Iterator<Item = &Comparison> {
        self.asked().filter(|c| !self.is_emulated(&c.cell.kind.platform))
    }

    /// Whether any headline is a typical cost of slices.
    pub fn has_slices(&self) -> bool {
        let in_slices = |c: &Comparison| c.metrics.iter().any(|m| m.slices.is_some());
        self.comparisons.iter().any(in_slices)
    }
}

/// Analyses a results file. Whatever the file holds, the answer is an analysis:
/// what cannot be said is absent, and the notices tell why.
pub fn analyze(results: &Results) -> Analysis {
    let doubles = results.doubles();
    let results = &*doubles.told_once(results);
    let header = &results.header;
    let study = &header.study;
    let Base {
        platforms,
        trials,
        boxes,
        comparisons,
        families,
        run,
        slicing,
        notices,
    } = Base::of(results, &doubles);
    let cells = cells::all(&trials);
    let native = families.iter().find(|size| size.family == Family::Native);
    let of_native = |tests: fn(&FamilySize) -> usize| native.map_or(0, tests);
    let is_real = |c: &&Comparison| {
        let platform = &c.cell.kind.platform;
        c.against == Against::Native && !facts::is_emulated(&platforms, platform)
    };
    let real = || comparisons.iter().filter(is_real);
    let judged = |trials: &trials::Trials| {
        Judge {
            study,
            platforms: &platforms,
            boxes: &boxes,
        }
        .comparisons(trials)
        .0
    };
    let mut analysis = Analysis {
        schema: SCHEMA,
        verdicts: VerdictCounts::of(real().map(Comparison::word)),
        undisturbed: undisturbed::find(real(), &trials, judged),
        tare: header.tare.clone(),
        build: header.build.clone(),
        agent: header.agent.clone(),
        study: study.clone(),
        notices,
        other_pairs: pairs::all(study, &trials, &platforms),
        stops: stops::all(results),
        latencies: latencies::all(&trials),
        counters: counters::all(&trials),
        evidence: evidence::all(results, &comparisons),
        gaps: Vec::new(),
        tunings: tuning::all(study, &trials, &boxes),
        layers: layers::all(study, &trials),
        size_effects: size_effects::all(study, &header.host, &trials, &comparisons),
        host_effects: host_effects::all(study, &header.host, &trials, &comparisons),
        workload_effects: workload_effects::all(study, &trials, &comparisons),
        scores: scores::all(&cells),
        cells,
        findings: findings::shares(&trials, &boxes, &comparisons),
        comparisons,
        intervals: interval_label(study),
        family: of_native(|size| size.tests),
        cpu_family: of_native(|size| size.cpu_tests),
        families,
        boxes,
        run,
        slicing,
        host: header.host.clone(),
        platforms,
    };
    analysis.gaps = why::gaps(&analysis);
    analysis
}

/// What everything else of an analysis rests on.
struct Base<'a> {
    platforms: Vec<PlatformFacts>,
    trials: trials::Trials<'a>,
    boxes: Vec<BoxFigures>,
    comparisons: Vec<Comparison>,
    families: Vec<FamilySize>,
    run: RunFacts,
    slicing: Option<SlicingFacts>,
    notices: Vec<Notice>,
}

/// By what trials are compared and judged.
struct Judge<'a> {
    study: &'a Study,
    platforms: &'a [PlatformFacts],
    boxes: &'a [BoxFigures],
}

impl Judge<'_> {
    fn comparisons(&self, trials: &trials::Trials) -> (Vec<Comparison>, Vec<FamilySize>) {
        let Self {
            study,
            platforms,
            boxes,
        } = self;
        let mut comparisons = compare::all(study, trials, platforms);
        let families = decide::all(&mut comparisons, decide::Evidence { study, trials, boxes });
        (comparisons, families)
    }
}

impl<'a> Base<'a> {
    /// Of results without what is told twice.
    fn of(results: &'a Results, doubles: &Doubles) -> Self {
        let header = &results.header;
        let study = &header.study;
        let platforms = facts::platforms(header);
        let trials = trials::Trials::collect(results);
        let boxes = boxes::figures(results);
        let judge = Judge {
            study,
            platforms: &platforms,
            boxes: &boxes,
        };
        let (mut comparisons, families) = judge.comparisons(&trials);
        let run = facts::facts(results);
        let trial_seconds = run.trial_seconds();
        for comparison in &mut comparisons {
            comparison.after_minute =
                trial_seconds.and_then(|seconds| comparison.narrowed_by_minute(seconds));
        }
        let slicing = slicing::facts(results);
        let mut notices = notices::all((study, header.host.cpus), &run, &boxes, &platforms, &comparisons);
        notices.extend(slicing.as_ref().and_then(notices::long_turns));
        notices.extend(trust::notices(header, &trials, doubles));
        Self {
            platforms,
            trials,
            boxes,
            comparisons,
            families,
            run,
            slicing,
            notices,
        }
    }
}

/// The comparisons of results with their verdicts, the course of the run, and what a reader must know: as in an analysis,
/// without the rest of it.
pub(crate) fn comparisons(results: &Results) -> (Vec<Comparison>, RunFacts, Vec<Notice>) {
    let doubles = results.doubles();
    let results = doubles.told_once(results);
    let base = Base::of(&results, &doubles);
    (base.comparisons, base.run, base.notices)
}

/// The study has no such platform, of which its cells could be held against it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the study has no platform '{asked}' to compare the others with: it has {}", listed(.platforms))]
pub struct NoSuchBaseline {
    asked: PlatformPath,
    platforms: Vec<PlatformPath>,
}

fn listed(platforms: &[PlatformPath]) -> String {
    let names: Vec<String> = platforms.iter().map(PlatformPath::to_string).collect();
    names.join(", ")
}

/// As [`analyze`], with another platform of the study as baseline. A notice tells so: it was chosen when
/// the figures were there.
///
/// # Errors
/// If the study has no such platform.
pub fn analyze_against(mut results: Results, baseline: &PlatformPath) -> Result<Analysis, NoSuchBaseline> {
    let study = &mut results.header.study;
    if !study.platforms.contains(baseline) {
        return Err(NoSuchBaseline {
            asked: baseline.clone(),
            platforms: study.platforms.clone(),
        });
    }
    let of_study = std::mem::replace(&mut study.baseline, baseline.clone());
    let mut analysis = analyze(&results);
    if of_study != *baseline {
        analysis.notices.insert(0, Notice::OtherBaseline { of_study });
    }
    Ok(analysis)
}

/// The beginning of what a program said: enough to know it by. The file has
/// the whole.
pub(crate) fn clipped(text: &str) -> String {
    const LETTERS: usize = 240;
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The margin in logs: ln(1 + margin), if the study's is one that a study can have.
pub(crate) fn margin(study: &Study) -> Option<f64> {
    let margin = study.protocol.margin;
    is_margin(margin).then(|| margin.ln_1p())
}

/// What the intervals of a study's comparisons cover. Where cells were looked at
/// while the study grew they are t intervals at 96 %, which cover 95 % with the looks.
pub(crate) const fn interval_label(study: &Study) -> &'static str {
    match study.protocol.stopping {
        Stopping::Fixed => "95 %",
        Stopping::Adaptive { .. } => "95 % (allowing for looks)",
    }
}

/// What is asked of every comparison of a study.
pub(crate) fn question(study: &Study) -> Question {
    Question {
        looks: match study.protocol.stopping {
            Stopping::Fixed => Looks::None,
            Stopping::Adaptive { .. } => Looks::Allowed,
        },
        margin: margin(study),
        check: Some(study.protocol.seed),
    }
}
