//! What is not decided, and what would decide it.

use super::again;
use std::collections::BTreeSet;
use tare_analysis::{Analysis, Comparison, FEWEST_PAIRS, MOST_ADDED, Word};
use tare_model::results::EndReason;
use tare_model::shell::word as shell_word;
use tare_model::size::show_seconds;
use tare_model::study::{Cell, Stopping};
use tare_model::workload::Workload;
use tare_stats::LOOKS;

/// Nobody waits longer for one more decision, in seconds.
const LONGEST: f64 = 3600.0;
/// More blocks than this are not run either, where it is not known how long one takes.
const MOST_BLOCKS: u64 = 100;
/// Longer lists of what is open are counted rather than named.
const MOST_LETTERS: usize = 32;

/// Where an analysis comes from, as whoever reads it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Where<'a> {
    /// How this program is called.
    pub program: &'a str,
    /// The results file.
    pub file: &'a str,
    /// The page that was written beside it.
    pub page: Option<&'a str>,
    /// What runs the same again with other options, which stand in the place of `{}`; absent:
    /// the reader knows.
    pub again: Option<&'a str>,
    /// What goes on with a file, with options in the place of `{}`.
    pub resume: &'a str,
}

impl Where<'_> {
    /// How the same is run with these options.
    fn again(&self, options: &str) -> String {
        self.again
            .map_or_else(|| options.to_owned(), |again| again.replace("{}", options))
    }
}

impl Default for Where<'_> {
    fn default() -> Self {
        Self {
            program: "tare",
            file: "FILE",
            page: None,
            again: None,
            resume: "tare run {}",
        }
    }
}

/// Something that is not decided, in words, with what is to be typed or added.
pub(crate) struct Open {
    pub words: String,
    /// Stays in one line, however long: it is to be copied.
    pub command: Option<String>,
    /// The whole of it, for a reader who knows nothing of how the figures were made; `None` where no options name what is
    /// measured.
    pub whole: Option<String>,
    /// Which rows this would decide, and what is to be known of the others; empty where the words say it.
    pub rows: String,
}

/// What is open, if anything is, and how to settle what can be settled.
pub(crate) fn open(analysis: &Analysis, place: Where<'_>) -> Option<Open> {
    if let Some(open) = before_verdicts(analysis, place) {
        return Some(open);
    }
    let open: Vec<(&Comparison, Option<u64>)> = analysis
        .real()
        .filter_map(|c| {
            let verdict = c.primary()?.verdict.as_ref()?;
            (verdict.word == Word::Inconclusive).then_some((c, verdict.more_blocks))
        })
        .collect();
    // What the details say that blocks will not settle is not promised here.
    let is_near = |of: &(&Comparison, Option<u64>)| {
        of.1.is_some_and(|more| more <= MOST_ADDED && is_bearable(analysis, &[*of], more))
    };
    if open.is_empty() {
        return None;
    }
    let all = open.len();
    let mut near: Vec<_> = open.into_iter().filter(is_near).collect();
    near.sort_by_key(|(_, more)| *more);
    let can_go_on = |of: &(&Comparison, Option<u64>)| goes_on(analysis, &[*of]);
    if near.iter().any(can_go_on) {
        near.retain(can_go_on);
    }
    // Together they may take hours: those that are settled soonest are told.
    let bearable = |n: &usize| {
        let more = near[n - 1].1.unwrap_or(1);
        is_bearable(analysis, &near[..*n], more)
    };
    let told = (1..=near.len()).rev().find(bearable).unwrap_or(near.len());
    near.truncate(told);
    if near.is_empty() {
        let words = format!(
            "{all} of {} remain inconclusive: each needs over an hour more, or a quieter host",
            analysis.real().count()
        );
        return Some(Open {
            words,
            command: None,
            whole: None,
            rows: String::new(),
        });
    }
    Some(more(analysis, &near, all, place))
}

/// What a run goes on with whose budget left no verdict any time.
fn before_verdicts(analysis: &Analysis, place: Where<'_>) -> Option<Open> {
    let run = &analysis.run;
    let more = FEWEST_PAIRS.checked_sub(run.blocks).filter(|more| *more > 0)? as u64;
    let is_spent = run.end.is_some_and(|end| end.reason == EndReason::BudgetSpent);
    let suffices = run.blocks_planned as usize >= FEWEST_PAIRS;
    if !(is_spent && suffices && analysis.real().next().is_some()) {
        return None;
    }
    let seconds = time_to_go_on(analysis, more);
    let time = seconds.map_or_else(String::new, |seconds| format!(" in about {}", about(seconds)));
    Some(Open {
        words: format!("Verdicts need {FEWEST_PAIRS} blocks: for {more} more{time}, go on with"),
        command: Some(going_on(analysis, more, seconds, place)),
        whole: None,
        rows: String::new(),
    })
}

fn is_bearable(analysis: &Analysis, open: &[(&Comparison, Option<u64>)], more: u64) -> bool {
    let blocks = to_run(analysis, open, more);
    time(analysis, open, more).map_or(blocks <= MOST_BLOCKS, |seconds| seconds <= LONGEST)
}

/// Blocks to be run for so many more than there are. Those of a file count again if its looks allow for more.
fn to_run(analysis: &Analysis, open: &[(&Comparison, Option<u64>)], more: u64) -> u64 {
    if goes_on(analysis, open) {
        more
    } else {
        analysis.run.blocks as u64 + more
    }
}

/// Whether a file can be gone on with for the blocks that each of these needs: they are added to a study by looks alone, and
/// to no cell that a look let go. To one whose number was fixed beforehand they would be added after a look at its
/// result, which makes verdicts of chance.
fn goes_on(analysis: &Analysis, open: &[(&Comparison, Option<u64>)]) -> bool {
    let most = u64::from(LOOKS[LOOKS.len() - 1]);
    let fits = |more: Option<u64>| more.is_some_and(|more| analysis.run.blocks as u64 + more <= most);
    let runs = |of: &Comparison| !is_settled(analysis, &of.cell);
    !analysis.study.protocol.stopping.is_fixed() && open.iter().all(|(of, more)| runs(of) && fits(*more))
}

/// Whether a look let a cell go.
fn is_settled(analysis: &Analysis, cell: &Cell) -> bool {
    let mut stops = analysis.stops.iter().flat_map(|stops| &stops.comparisons);
    stops.any(|stop| stop.settled && stop.at.cell == *cell)
}

/// How long it takes to run the blocks of which the last of these needs so many, in seconds, by those that were run.
fn time(analysis: &Analysis, open: &[(&Comparison, Option<u64>)], more: u64) -> Option<f64> {
    if goes_on(analysis, open) {
        return time_to_go_on(analysis, more);
    }
    let cells = analysis.study.cells().len();
    let share = Chosen::of(analysis, open).share(analysis);
    #[expect(clippy::cast_precision_loss, reason = "for people: two digits are shown")]
    let trials = cells as f64 * share * to_run(analysis, open, more) as f64;
    Some(analysis.run.trial_seconds()? * trials)
}

/// How long so many blocks of all cells take that still run, and of their baselines.
fn time_to_go_on(analysis: &Analysis, blocks: u64) -> Option<f64> {
    let open = analysis
        .comparisons
        .iter()
        .filter(|of| !is_settled(analysis, &of.cell));
    let running: BTreeSet<&Cell> = open.flat_map(|of| [&of.cell, &of.baseline]).collect();
    #[expect(clippy::cast_precision_loss, reason = "for people: two digits are shown")]
    let trials = running.len() as f64 * blocks as f64;
    Some(analysis.run.trial_seconds()? * trials)
}

/// The platforms and workloads that are open, with the baseline.
struct Chosen<'a> {
    platforms: Vec<String>,
    workloads: Vec<&'a Workload>,
}

impl<'a> Chosen<'a> {
    fn of(analysis: &'a Analysis, open: &[(&Comparison, Option<u64>)]) -> Self {
        let study = &analysis.study;
        let is_open = |of: &dyn Fn(&Comparison) -> bool| open.iter().any(|(c, _)| of(c));
        let platforms = study.platforms.iter().filter(|platform| {
            **platform == study.baseline || is_open(&|c| c.cell.kind.platform == **platform)
        });
        let workloads = study.workloads.iter();
        Self {
            platforms: platforms.map(ToString::to_string).collect(),
            workloads: workloads
                .filter(|w| is_open(&|c| c.cell.workload == w.name()))
                .collect(),
        }
    }

    /// The workloads by which `-w` leaves out the rest; `None` where all are chosen, or one of them is a command of the
    /// user's, which no option names.
    fn names(&self, analysis: &Analysis) -> Option<Vec<String>> {
        if self.workloads.len() == analysis.study.workloads.len() {
            return None;
        }
        self.workloads.iter().map(|w| again::name(w)).collect()
    }

    /// Its share of the study's cells.
    #[expect(clippy::cast_precision_loss, reason = "a few platforms and workloads")]
    fn share(&self, analysis: &Analysis) -> f64 {
        let study = &analysis.study;
        let of = |part: usize, all: usize| part as f64 / all.max(1) as f64;
        let workloads = self
            .names(analysis)
            .map_or(1.0, |names| of(names.len(), study.workloads.len()));
        of(self.platforms.len(), study.platforms.len()) * workloads
    }

    /// The whole command; `None` where no option names what is measured, or a file says it.
    fn command(&self, analysis: &Analysis, blocks: u64) -> Option<String> {
        let mut study = analysis.study.clone();
        if study.template.is_some() {
            return None;
        }
        study
            .platforms
            .retain(|platform| self.platforms.contains(&platform.to_string()));
        study
            .workloads
            .retain(|workload| self.workloads.contains(&workload));
        study.protocol.blocks = u32::try_from(blocks).ok()?;
        study.protocol.stopping = Stopping::Fixed;
        again::in_new_order(&study)
    }

    /// The options that leave out the rest.
    fn options(&self, analysis: &Analysis) -> String {
        let study = &analysis.study;
        let mut options = String::new();
        if self.platforms.len() < study.platforms.len() {
            options += &format!("-p {} ", shell_word(&self.platforms.join(",")));
        }
        if let Some(names) = self.names(analysis) {
            options += &format!("-w {} ", shell_word(&names.join(",")));
        }
        options
    }
}

/// What would decide what is open, and how long that takes.
fn more(analysis: &Analysis, open: &[(&Comparison, Option<u64>)], of: usize, place: Where<'_>) -> Open {
    let more = open.iter().filter_map(|(_, more)| *more).max().unwrap_or(1);
    let names: Vec<String> = open.iter().map(|(c, _)| c.cell.to_string()).collect();
    let (mut what, mut rows) = (names.join(", "), String::new());
    if names.len() < of || what.chars().count() > MOST_LETTERS {
        rows = format!("These rows are: {what}");
        what = format!("{} of the {of} inconclusive rows", names.len());
    }
    if names.len() < of {
        rows += "; each of the others needs far more, or a quieter host";
    }
    let seconds = time(analysis, open, more);
    // What is estimated on a busy host is often too little.
    let is_busy = analysis
        .undisturbed
        .as_ref()
        .is_some_and(|of| 2 * of.disturbed > of.of);
    let or_more = if is_busy { " or more" } else { "" };
    let time = seconds.map(|seconds| format!(", in about {}{or_more}", about(seconds)));
    let words = format!("To decide {what}{}, ", time.unwrap_or_default());
    if goes_on(analysis, open) {
        return Open {
            words: words + "go on with",
            command: Some(going_on(analysis, more, seconds, place)),
            whole: None,
            rows,
        };
    }
    let chosen = Chosen::of(analysis, open);
    let blocks = to_run(analysis, open, more);
    let how = if place.again.is_some() {
        "run"
    } else {
        "rerun with"
    };
    Open {
        words: words + how,
        command: Some(place.again(&format!("{}--blocks {blocks}", chosen.options(analysis)))),
        whole: chosen.command(analysis, blocks),
        rows,
    }
}

/// How a file is gone on with, for so many blocks and seconds.
fn going_on(analysis: &Analysis, more: u64, seconds: Option<f64>, place: Where<'_>) -> String {
    let mut options = format!("--resume {}", place.file);
    let blocks = analysis.run.blocks as u64 + more;
    if blocks > u64::from(analysis.run.blocks_planned) {
        let look = LOOKS.into_iter().find(|look| u64::from(*look) >= blocks);
        options += &format!(" --blocks {}", look.unwrap_or(LOOKS[LOOKS.len() - 1]));
    }
    let longer = analysis.study.protocol.budget_seconds.zip(seconds);
    if let Some((_, seconds)) = longer.filter(|(budget, seconds)| seconds > budget) {
        options += &format!(" --budget {:.0}m", (seconds / 60.0).ceil());
    }
    place.resume.replace("{}", &options)
}

/// An estimate: no more digits than it is worth.
fn about(seconds: f64) -> String {
    if seconds < 600.0 {
        return show_seconds(seconds);
    }
    format!("{:.0} min", seconds / 60.0)
}
