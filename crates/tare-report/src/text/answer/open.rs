//! What is not decided, and what would decide it.

use super::{Where, asked, course, is_emulated};
use crate::analysis::{Analysis, Comparison, Word};
use tare_model::size::show_seconds;

/// Nobody waits longer for one more decision, in seconds.
const LONGEST: f64 = 3600.0;
/// More blocks than this are not run either, where it is not known how long one takes.
const MOST_BLOCKS: u64 = 100;

/// More of them are counted rather than named.
const MOST_NAMES: usize = 3;

/// Two sentences at most.
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
        lines.push(more(analysis, &near, asked.len(), place));
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
fn more(analysis: &Analysis, open: &[(&Comparison, Option<u64>)], of: usize, place: Where<'_>) -> String {
    let more = open.iter().filter_map(|(_, more)| *more).max().unwrap_or(1);
    let blocks = u64::from(analysis.run.blocks_planned) + more;
    let names: Vec<String> = open.iter().map(|(c, _)| name(c)).collect();
    let what = if names.len() > MOST_NAMES {
        format!("{} of {of}", names.len())
    } else {
        names.join(", ")
    };
    if analysis.study.protocol.stopping.is_fixed() {
        let chosen = chosen(analysis, open);
        let time = time(analysis, blocks).map(|seconds| format!(" ({} or less)", show_seconds(seconds)));
        let time = time.unwrap_or_default();
        return format!("To settle {what}: the same run with {chosen}--blocks {blocks}{time}");
    }
    let file = place.file;
    format!("To settle {what}: tare run --resume {file} --blocks {blocks}")
}

/// The options that leave out what is settled, where that is more than a little.
fn chosen(analysis: &Analysis, open: &[(&Comparison, Option<u64>)]) -> String {
    let study = &analysis.study;
    let is_open = |of: &dyn Fn(&Comparison) -> bool| open.iter().any(|(c, _)| of(c));
    let platforms = study
        .platforms
        .iter()
        .filter(|platform| **platform == study.baseline || is_open(&|c| c.cell.kind.platform == **platform));
    let platforms: Vec<String> = platforms.map(ToString::to_string).collect();
    // A command is named by itself.
    let kernels = || study.workloads.iter().filter(|w| w.kernel().is_some());
    let wanted = kernels().filter(|w| is_open(&|c| c.cell.workload == w.name()));
    let wanted: Vec<&str> = wanted.map(|w| w.name()).collect();
    let mut options = String::new();
    if platforms.len() < study.platforms.len() {
        options += &format!("-p {} ", platforms.join(","));
    }
    if !wanted.is_empty() && wanted.len() < kernels().count() {
        options += &format!("-w {} ", wanted.join(","));
    }
    options
}

fn name(comparison: &Comparison) -> String {
    format!("{} {}", comparison.cell.kind, comparison.cell.workload)
}
