//! What is not decided, and what would decide it.

use super::{Where, asked, course, is_emulated};
use crate::analysis::{Analysis, Comparison, Word};
use tare_model::size::show_seconds;

/// Nobody waits longer for one more decision, in seconds.
const LONGEST: f64 = 3600.0;
/// More blocks than this are not run either, where it is not known how long one takes.
const MOST_BLOCKS: u64 = 100;

/// Two lines at most.
pub(super) fn lines(analysis: &Analysis, place: Where<'_>) -> Vec<String> {
    let asked: Vec<&Comparison> = asked(analysis).filter(|c| !is_emulated(analysis, c)).collect();
    let open: Vec<(&Comparison, Option<u64>)> = asked
        .iter()
        .filter_map(|c| {
            let verdict = c.primary()?.verdict.as_ref()?;
            (verdict.word == Word::Inconclusive).then_some((*c, verdict.more_blocks))
        })
        .collect();
    let is_near = |more: &Option<u64>| more.is_some_and(|blocks| is_bearable(analysis, blocks));
    let (near, far): (Vec<_>, Vec<_>) = open.into_iter().partition(|(_, more)| is_near(more));
    let mut lines = Vec::new();
    if !near.is_empty() {
        lines.push(more(analysis, &near, place));
    }
    if !far.is_empty() {
        lines.push(format!(
            "{} of {} stay open: more blocks will not settle them here, a quieter host may",
            far.len(),
            asked.len()
        ));
    }
    lines
}

fn is_bearable(analysis: &Analysis, blocks: u64) -> bool {
    time(analysis, blocks).map_or(blocks <= MOST_BLOCKS, |seconds| seconds <= LONGEST)
}

/// How long so many blocks take, in seconds, by those that were run.
fn time(analysis: &Analysis, blocks: u64) -> Option<f64> {
    let run = analysis.run.blocks;
    let seconds = course::seconds(analysis).filter(|_| run > 0)?;
    #[expect(clippy::cast_precision_loss, reason = "for people: two digits are shown")]
    Some(seconds / run as f64 * blocks as f64)
}

/// What would decide what is open, and how long that takes. Blocks are added to a study by looks
/// alone: to one whose number was fixed beforehand they would be added after a look at its
/// result, which makes verdicts of chance.
fn more(analysis: &Analysis, open: &[(&Comparison, Option<u64>)], place: Where<'_>) -> String {
    let more = open.iter().filter_map(|(_, more)| *more).max().unwrap_or(1);
    let blocks = u64::from(analysis.run.blocks_planned) + more;
    let names: Vec<String> = open.iter().map(|(c, _)| name(c)).collect();
    let names = names.join(", ");
    if analysis.study.protocol.stopping.is_fixed() {
        let chosen = chosen(analysis, open);
        let time = time(analysis, blocks).map(|seconds| format!(" ({} or less)", show_seconds(seconds)));
        let time = time.unwrap_or_default();
        return format!("To settle {names}: the same run with {chosen}--blocks {blocks}{time}");
    }
    let file = place.file;
    format!("To settle {names}: tare run --resume {file} --blocks {blocks}")
}

/// The options that leave out what is settled.
fn chosen(analysis: &Analysis, open: &[(&Comparison, Option<u64>)]) -> String {
    let study = &analysis.study;
    let is_open = |of: &dyn Fn(&Comparison) -> bool| open.iter().any(|(c, _)| of(c));
    let platforms = study
        .platforms
        .iter()
        .filter(|platform| **platform == study.baseline || is_open(&|c| c.cell.kind.platform == **platform));
    let platforms: Vec<String> = platforms.map(ToString::to_string).collect();
    let workloads = study
        .workloads
        .iter()
        .filter(|w| is_open(&|c| c.cell.workload == w.name()));
    // A command is named by itself.
    let kernels = workloads.filter(|w| w.kernel().is_some());
    let kernels: Vec<&str> = kernels.map(|w| w.name()).collect();
    let mut options = format!("-p {} ", platforms.join(","));
    if !kernels.is_empty() {
        options += &format!("-w {} ", kernels.join(","));
    }
    options
}

fn name(comparison: &Comparison) -> String {
    format!("{} {}", comparison.cell.kind, comparison.cell.workload)
}
