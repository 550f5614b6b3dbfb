//! What a pilot says: how much boxes, processes and iterations vary, what each
//! costs, and how often each is worth repeating.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::results::{
    BoxRecord, HostReadings, Outcome, Record, RemovedRecord, Results, Success, TrialRecord,
};
use tare_model::study::{BoxKind, Cell, Fresh, Study};
use tare_stats::{Levels, levels, mean};

/// Processes in each box and iterations in each process of a pilot.
pub const PROCESSES: u32 = 3;
const ITERATIONS: usize = 10;
/// Boxes of a pilot.
pub const BOXES: u32 = 5;
/// No trial is to be shorter, whatever its iterations vary.
const SHORTEST_TRIAL: f64 = 1.0;

/// Name and version of the pilot as JSON.
pub const SCHEMA: &str = "tare-pilot/1";

/// What a pilot says of a study.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Pilot<'a> {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of tare that measured.
    pub tare: &'a str,
    /// Build that measured.
    pub build: &'a str,
    /// The study, as the pilot ran it.
    pub study: &'a Study,
    /// The pilot of every cell, in the order of the study.
    pub cells: Vec<CellPilot>,
    /// What follows for the study.
    pub advice: Advice,
}

/// A pilot of one cell.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CellPilot {
    #[serde(flatten)]
    pub cell: Cell,
    /// Trials without a result; their boxes are left out.
    pub failed: usize,
    /// The levels from the innermost: iteration, process, box. Absent where too
    /// few boxes had figures.
    pub levels: Option<[Level; 3]>,
    /// Length of a trial in seconds that its iterations are worth: their number
    /// times the cost of one. Absent where it does not follow.
    pub trial_seconds: Option<f64>,
}

/// One level of repetition.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Level {
    /// `iteration`, `process` or `box`.
    pub level: &'static str,
    /// How many there were in each of the level above.
    pub n: usize,
    /// Variance that the level adds, over the square of the mean; 0 or less: it adds
    /// nothing that this pilot would show.
    pub variance: Option<f64>,
    /// Seconds that one more costs, without what is in it.
    pub cost_seconds: f64,
    /// How many are worth their cost in each of the level above.
    pub repetitions: Option<u64>,
}

/// What follows for a study.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Advice {
    /// Length of a trial in seconds: the longest that any cell is worth.
    pub trial_seconds: Option<f64>,
    /// How long a box is to be used.
    pub fresh: Fresh,
    pub because: &'static str,
}

/// Everything that a pilot says.
pub fn pilot(results: &Results) -> Pilot<'_> {
    let header = &results.header;
    let cells = cells(results);
    Pilot {
        schema: SCHEMA,
        tare: &header.tare,
        build: &header.build,
        study: &header.study,
        advice: advice(&cells),
        cells,
    }
}

/// The pilot of every cell, in the order of the study.
pub fn cells(results: &Results) -> Vec<CellPilot> {
    let boxes = box_seconds(results);
    let cells = results.header.study.cells();
    cells
        .into_iter()
        .map(|cell| of_cell(results, &boxes, cell))
        .collect()
}

/// Mean time to make a box and to remove it, by kind.
fn box_seconds(results: &Results) -> BTreeMap<&BoxKind, f64> {
    let mut times: BTreeMap<&BoxKind, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for record in &results.records {
        match record {
            Record::Box(BoxRecord { role: Some(_), .. })
            | Record::Removed(RemovedRecord { role: Some(_), .. }) => {}
            Record::Box(made) => times.entry(&made.kind).or_default().0.push(made.hello_seconds),
            Record::Removed(gone) => times.entry(&gone.kind).or_default().1.push(gone.seconds),
            _ => {}
        }
    }
    let both = |(made, gone): (Vec<f64>, Vec<f64>)| Some(mean(&made)? + mean(&gone).unwrap_or(0.0));
    times
        .into_iter()
        .filter_map(|(kind, times)| Some((kind, both(times)?)))
        .collect()
}

fn of_cell(results: &Results, boxes: &BTreeMap<&BoxKind, f64>, cell: Cell) -> CellPilot {
    let own: Vec<&TrialRecord> = results.trials().filter(|t| t.cell == cell).collect();
    let ended_well: Vec<Process> = own.iter().filter_map(|t| process(results, t)).collect();
    let measured = measured(&ended_well, boxes.get(&cell.kind).copied());
    let trial_seconds = measured.and_then(|levels| {
        let iterations = levels[0].repetitions?;
        #[expect(clippy::cast_precision_loss, reason = "below 1e9")]
        let seconds = iterations as f64 * levels[0].cost_seconds;
        Some(seconds.max(SHORTEST_TRIAL))
    });
    CellPilot {
        failed: own
            .iter()
            .filter(|t| !matches!(t.outcome, Outcome::Ok(_)))
            .count(),
        cell,
        levels: measured,
        trial_seconds,
    }
}

/// One process of a pilot.
struct Process {
    box_id: u32,
    /// Time per unit of work in each stretch or repetition.
    figures: Vec<f64>,
    /// Time that was measured, and time beside it.
    timed_seconds: f64,
    beside_seconds: f64,
}

fn process(results: &Results, trial: &TrialRecord) -> Option<Process> {
    let Outcome::Ok(success) = &trial.outcome else {
        return None;
    };
    let workload = results.header.study.workload(&trial.cell)?;
    let metric = workload.metrics().into_iter().find(|m| m.primary)?;
    let (figures, timed_seconds) = stretches(success, &metric.name)?;
    let host = trial.host.as_ref()?;
    Some(Process {
        box_id: trial.box_id?,
        figures,
        timed_seconds,
        beside_seconds: (whole_seconds(host) - timed_seconds).max(0.0),
    })
}

/// Stretches of a kernel's primary metric per unit of work, or repetitions of a
/// command, and the time that was measured.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of hours fit into 53 bits")]
fn stretches(success: &Success, metric: &str) -> Option<(Vec<f64>, f64)> {
    if let Some(repetitions) = &success.repetitions {
        let seconds: Vec<f64> = repetitions.iter().map(|r| r.wall_ns as f64 / 1e9).collect();
        let timed = seconds.iter().sum();
        return Some((seconds, timed));
    }
    let kernel = success.kernel.as_ref()?;
    // A kernel of one kind of stretch names it otherwise than its metric.
    let own = kernel.raw_seconds.get_key_value(metric);
    let (name, seconds) = own.or_else(|| kernel.raw_seconds.first_key_value())?;
    let work = kernel.work_per_stretch.get(name).copied().filter(|w| *w > 0.0)?;
    Some((seconds.iter().map(|s| s / work).collect(), kernel.wall_seconds))
}

/// Time of a trial from the wait for a quiet host to the reply.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of hours fit into 53 bits")]
fn whole_seconds(host: &HostReadings) -> f64 {
    (host.wall_ns as f64 + host.waited_ns as f64) / 1e9
}

fn measured(processes: &[Process], box_seconds: Option<f64>) -> Option<[Level; 3]> {
    let mut boxes: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
    for process in processes {
        boxes.entry(process.box_id).or_default().push(process);
    }
    boxes.retain(|_, processes| processes.len() == PROCESSES as usize);
    let all: Vec<&Process> = boxes.values().flatten().copied().collect();
    let iterations = all.iter().map(|p| p.figures.len()).min()?.min(ITERATIONS);
    let figures: Vec<Vec<Vec<f64>>> = boxes
        .values()
        .map(|processes| {
            processes
                .iter()
                .map(|p| grouped(&p.figures, iterations))
                .collect()
        })
        .collect();
    let of = |time: fn(&Process) -> f64| mean(&all.iter().map(|p| time(p)).collect::<Vec<_>>());
    #[expect(clippy::cast_precision_loss, reason = "at most ten")]
    let iteration = of(|p| p.timed_seconds)? / iterations as f64;
    let costs = [iteration, of(|p| p.beside_seconds)?, box_seconds?];
    Some(named(levels(&figures, costs)?, costs))
}

/// Neighbouring figures averaged into `n` groups of one size; what is left over at
/// the end is left out.
fn grouped(figures: &[f64], n: usize) -> Vec<f64> {
    let size = (figures.len() / n.max(1)).max(1);
    figures.chunks_exact(size).take(n).filter_map(mean).collect()
}

fn named(found: Levels, costs: [f64; 3]) -> [Level; 3] {
    let level = |i: usize, level| Level {
        level,
        n: found.shape[2 - i],
        variance: found.variances[i],
        cost_seconds: costs[i],
        repetitions: found.repetitions.get(i).copied().flatten(),
    };
    [level(0, "iteration"), level(1, "process"), level(2, "box")]
}

/// What the pilots of all cells advise for one study.
pub fn advice(cells: &[CellPilot]) -> Advice {
    let longest = cells.iter().filter_map(|c| c.trial_seconds).reduce(f64::max);
    let processes = cells
        .iter()
        .filter_map(|c| c.levels)
        .map(|levels| levels[1].repetitions);
    let mut each: Vec<Option<u64>> = processes.collect();
    each.dedup();
    let (fresh, because) = if each == [Some(1)] {
        (
            Fresh::Trial,
            "a second process per box is worth its cost in no cell: boxes vary a lot, or cost little",
        )
    } else {
        (
            Fresh::Block,
            "in some cells a new box costs more than it is worth: the workloads of a block share one, and each still gets a new box per block",
        )
    };
    Advice {
        trial_seconds: longest,
        fresh,
        because,
    }
}
