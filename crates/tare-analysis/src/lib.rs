//! From results files to figures: what each box costs, how sure that is, and what it rests on.
//!
//! ```text
//! Results --analyze--> Analysis                     run      one results file
//!                      --advise--> Advice           advice   what to choose, by what was measured
//!                      --why--> Why                 why      which mechanism has which share of a cost
//! two     --compare-->  Change                      change   what differs, and whether it is the costs
//! each    --Brief-->                                brief    what it says beside others
//! several --merge-->    Merged                      merge    hosts together
//!         --trend-->    Trend                       trend    one cost along time
//! anyone's tables --> ForeignAnalysis               foreign  the same inference on other data
//! ```
//!
//! Invariants: nothing here reads a file, a clock or the system, and nothing here is a sentence: words and pictures are
//! `tare-report`'s. What cannot be said is absent, and its refusal or a notice is there instead.

#![forbid(unsafe_code)]

pub mod advice;
mod brief;
pub mod change;
pub mod density;
pub mod foreign;
pub mod merge;
pub mod pilot;
mod run;
pub mod trend;
pub mod why;

pub use brief::Brief;
pub use run::{
    Against, Analysis, Basis, Beside, BestSetting, BlockCost, BlockOfSlices, BoxFigures, CarryOver,
    CellCounter, CellFigures, CellLatencies, ChangedVerdict, ChrRange, Class, Comparison, CostRange, CpuCost,
    Estimate, Evidence, FEWEST_PAIRS, FactorLevel, FailureCount, Family, FamilySize, Figure, FigureKind,
    FindingCount, FindingShare, Fit, Flag, Function, Gate, HostEffect, HostEffects, HostPoint, IdleMemory,
    InKernel, InTurns, Latency, LevelEffect, LongTurn, MOST_ADDED, MetricComparison, MetricFigures, NoBest,
    NoEffects, NoFit, NoSuchBaseline, Notice, OddBlock, OnePiece, Op, OtherFile, OtherPair, OverheadPart,
    Paired, Placed, PlatformFacts, Processes, QuantileFigure, RangeEnd, Readings, Refusal, RunFacts, SCHEMA,
    Score, ScoreAxis, ScoreTable, SettingFigures, Shown, Side, SizeEffect, SizeEffects, SizePoint,
    SliceFigures, SlicingFacts, Split, Standing, Steadiness, Steady, Step, Stop, Stops, TogetherEffect,
    TrialCounts, Tuned, TuningEffect, Undisturbed, Verdict, VerdictCounts, Word, WorkloadCost,
    WorkloadEffect, WorkloadEffects, analyze, analyze_against, run_facts, variability_overhead,
};
