//! What holds for every file, with its figures.

use crate::show::margin;
use tare_analysis::change::Change;
use tare_analysis::foreign::ForeignAnalysis;
use tare_analysis::{Analysis, Comparison, FamilySize, MetricComparison};
use tare_model::size::counted;
use tare_model::study::{Stopping, Study};
use tare_stats::{LOOK_LEVEL, LOOK_P_FACTOR, STEADINESS_PAIRS};

/// Correlation of a pair below which pairing removed under a tenth of the variance
/// of d, which is that of both cells together times 1 - r where they vary alike.
const NIL: f64 = 0.1;

/// Of a results file: what its first figures mean.
pub(crate) fn of_results(analysis: &Analysis) -> Vec<String> {
    let (study, comparisons) = (&analysis.study, &analysis.comparisons);
    let mut caveats = [
        "A box is a container, a VM, or natively a group of processes with the same limits. The baseline is what costs are ratios to. A cell is one workload in one kind of box, a trial one measurement of it, a block one trial of every cell.",
        "Intervals and verdicts apply to this host, boot and build.",
        "A cost is what one typical run costs over what it costs on the baseline in the same block (paired ratio): 1.19, or 19 % slower, means that the same work takes 1.19 times as long, whether the metric is a time or a rate.",
    ]
    .map(str::to_owned)
    .to_vec();
    caveats.push(intervals(analysis));
    caveats.extend(slices(comparisons));
    caveats.extend(holm(study, &analysis.families));
    caveats.extend(stalls(comparisons));
    caveats
}

/// What further figures of a results file mean.
pub(crate) fn of_further_figures(analysis: &Analysis) -> Vec<String> {
    let comparisons = &analysis.comparisons;
    let mut caveats = [
        "A negative end of an interval in percent is on the other side of the word before it: 2 % faster (-1 to 5 %) ranges from 1 % slower to 5 % faster. After 'alike', negative is faster.",
        "The ratio of means (the overhead ratio) is what many runs cost in total; Loss and Op are li2018's, in shares of the baseline's mean. A negative Loss is a gain; Op is unsigned; variability overhead is the growth of the standard deviation, 0 if it shrinks.",
        "Losses below 1 % are marked as ignored, as in li2018: a display rule, not a test.",
        "Wilcoxon's p is shown but decides nothing.",
    ]
    .map(str::to_owned)
    .to_vec();
    caveats.extend(mean_and_cpu(comparisons));
    caveats.extend(steadiness(comparisons));
    caveats.extend(pairing(comparisons));
    caveats
}

/// What is behind every interval.
const CHECK: &str = "where a bootstrap-t end differs by over a quarter of the half-width, the wider end is used and flagged 'skewed'. They are per comparison, not simultaneous.";

fn intervals(analysis: &Analysis) -> String {
    let label = analysis.intervals;
    match analysis.study.protocol.stopping {
        Stopping::Fixed => format!("Intervals are {label} t intervals on log ratios within blocks; {CHECK}"),
        Stopping::Adaptive { .. } => format!(
            "Intervals of comparisons are {label}: {:.0} % t intervals of the last look on log ratios within blocks, and p values {LOOK_P_FACTOR} times that look's; {CHECK}",
            LOOK_LEVEL * 100.0
        ),
    }
}

/// Nothing to say where nothing was tested.
fn holm(study: &Study, families: &[FamilySize]) -> Option<String> {
    let tested: Vec<&FamilySize> = families.iter().filter(|size| size.tests > 0).collect();
    let within = match tested[..] {
        [] => return None,
        [one] => format!("over {} of primary metrics", counted(one.tests, "test")),
        _ => {
            let size = |size: &&FamilySize| format!("{} {}", size.tests, size.family);
            let sizes: Vec<String> = tested.iter().map(size).collect();
            format!(
                "over the tests of primary metrics, per family: {}",
                sizes.join(", ")
            )
        }
    };
    let margin = margin(study.protocol.margin);
    let cpu = match families.iter().map(|size| size.cpu_tests).sum::<usize>() {
        0 => String::new(),
        n if tested.len() == 1 => format!(
            " CPU costs of CPU-bound work are a separate family of {}.",
            counted(n, "test")
        ),
        n => format!(
            " CPU costs of CPU-bound work are separate families, of {} in total.",
            counted(n, "test")
        ),
    };
    Some(format!(
        "Differences are tested with Holm's correction {within}; each 'equal' (within {margin}) has its own error.{cpu}"
    ))
}

fn has_slices(comparisons: &[Comparison]) -> bool {
    let in_slices = |c: &Comparison| c.metrics.iter().any(|m| m.slices.is_some());
    comparisons.iter().any(in_slices)
}

/// What the typical cost of slices is, where there are any.
fn slices(comparisons: &[Comparison]) -> Option<String> {
    has_slices(comparisons).then(|| {
        "Cells in slices ran side by side with their baseline: each round gave every cell one slice. Their cost is the typical one: per block, the median over its rounds of the cost of a unit of work over the baseline's in the same round, which rare stalls do not affect; for two processes with at least 20 rounds each, the mean of their medians.".to_owned()
    })
}

/// What else slices tell.
fn mean_and_cpu(comparisons: &[Comparison]) -> Option<String> {
    has_slices(comparisons).then(|| {
        "The mean cost of slices is all time over all work, including stalls; the CPU cost uses CPU time; the stall share is the share of time in slices of over twice the usual cost, minus the baseline's. All intervals are over blocks.".to_owned()
    })
}

fn steadiness(comparisons: &[Comparison]) -> Option<String> {
    let metrics = || comparisons.iter().flat_map(|c| &c.metrics);
    let any = metrics().any(|m| m.steadiness.is_some());
    let judged = metrics().any(|m| m.n >= STEADINESS_PAIRS);
    let interval = if judged {
        "the interval is a jackknife interval, and the verdicts are a separate Holm family"
    } else {
        "under 30 pairs it has no interval and no verdict"
    };
    any.then(|| {
        format!(
            "Steadiness is the noise between successive blocks over the baseline's, without slow drift; over 1 is less steady; {interval}."
        )
    })
}

/// Where the two cells of a pair do not move together over the blocks.
fn pairing(comparisons: &[Comparison]) -> Option<String> {
    let primary = comparisons.iter().filter_map(Comparison::primary);
    // Rounds pair what the samples of trials do not.
    let known: Vec<f64> = primary
        .filter(|m| m.slices.is_none())
        .filter_map(|m: &MetricComparison| m.pair_correlation)
        .collect();
    let nil = known.iter().filter(|r| **r < NIL).count();
    let of = counted(known.len(), "comparison");
    (nil > 0).then(|| {
        format!(
            "In {nil} of {of} the correlation of the pair over blocks (r) is under {NIL}: there pairing gained nothing, because the host drifts within blocks or not at all."
        )
    })
}

fn stalls(comparisons: &[Comparison]) -> Option<String> {
    let pairs = comparisons.iter().filter_map(Comparison::primary).map(|m| m.n);
    rare_stalls(pairs)
}

/// A stall in fewer than 3/n of the trials has a fair chance not to occur at all.
fn rare_stalls(pairs: impl Iterator<Item = usize>) -> Option<String> {
    let n = pairs.filter(|n| *n >= 6).min()?;
    Some(format!(
        "Stalls rarer than 1 run in {} would not show (n = {n}).",
        n / 3
    ))
}

/// Of foreign data.
pub(crate) fn of_foreign(analysis: &ForeignAnalysis) -> Vec<String> {
    let mut caveats = vec![
        "tare does not know how these data were measured: intervals and verdicts are valid if each block has one trial of both cells, close together in time and in random order, and if the blocks are independent.".to_owned(),
        "A paired ratio is what one typical run costs over what it costs on the baseline in the same block: 1.19 means that the same work takes 1.19 times as long, whether the metric is a time or a rate. 'slower' means worse.".to_owned(),
        format!("Intervals are 95 % t intervals on log ratios within blocks; {CHECK}"),
        "A block in which one of the two cells has no value is a lost pair; with over 1 in 10 lost there is no verdict, as failures are rarely random.".to_owned(),
    ];
    if analysis.family > 0 {
        caveats.push(format!(
            "Differences are tested with Holm's correction over {}, one per comparison; each 'equal' (within {}) has its own error. Wilcoxon's p is shown but decides nothing.",
            counted(analysis.family, "test"),
            margin(analysis.margin)
        ));
    }
    caveats.extend(rare_stalls(analysis.comparisons.iter().map(|c| c.figures.n)));
    caveats
}

/// Of two files.
pub(crate) fn of_change(change: &Change) -> Vec<String> {
    let typical = change.overheads.iter().any(|o| o.typical).then_some(TYPICAL);
    CHANGES.into_iter().chain(typical).map(str::to_owned).collect()
}

/// What holds whatever the files hold.
const CHANGES: [&str; 4] = [
    "A change of 1.02 means that the box costs 1.02 times what it cost before, against its baseline in the same blocks. Intervals use Welch's t on d, the loss in logs within blocks: blocks of the two runs are not paired.",
    "Anything that slows box and baseline equally does not change the overhead; it only shows in the raw figures.",
    "Raw figures are confounded: they include everything else that differed between the runs (load, temperature, frequency, memory layout since boot), which no interval shows. They get no verdict.",
    "With one run each, the change includes chance effects of one boot or one build. Repeat both runs, with reboots between, before you rely on a small change.",
];

/// What holds where both runs worked in slices.
const TYPICAL: &str = "If both runs used slices, their typical costs are compared: per block, the median over rounds, or the mean of the medians of two processes, which rare stalls do not affect.";
