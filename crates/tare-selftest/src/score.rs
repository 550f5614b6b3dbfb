//! What many campaigns say of the method: counts held against its promises.

use crate::campaign::{Campaign, Judged};
use crate::promise::{Count, Promise, RARE, Standing};
use schemars::JsonSchema;
use serde::Serialize;
use tare_stats::{LEVEL, Row, median, t_estimate};

/// Campaigns from which on what was promised has to be shown, and not only not to
/// be contradicted: a true 3.5 % passes a gate of 7 % in 93 of 100 such series.
const ENOUGH: u64 = 400;
/// By how much CPU time of all campaigns together may miss what was put in.
const CPU_SLACK: f64 = 0.001;
/// From how many margins on a difference is found in what share of the campaigns at least:
/// in 396 and in 380 of 400.
const FOUND: [(f64, f64); 2] = [(5.0, 0.975), (2.0, 0.928)];

/// A ratio of all campaigns together.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Pooled {
    /// The geometric mean of the ratios of all blocks.
    pub ratio: f64,
    /// Its 95 % interval, by the campaigns' means.
    pub interval: [f64; 2],
}

/// What the campaigns are held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// What the second arm costs over the first, as a ratio less 1: 0 for A/A.
    pub effect: f64,
    /// The margin as a ratio less 1.
    pub margin: f64,
}

/// What all campaigns say.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Score {
    pub campaigns: usize,
    /// Those that gave no verdict: too many pairs lost.
    pub void: usize,
    pub counts: Vec<Count>,
    /// Time of the second arm over that of the first; of slices the typical one.
    pub time: Option<Pooled>,
    /// Of slices, mean time likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Pooled>,
    /// CPU time likewise.
    pub cpu: Option<Pooled>,
    /// Whether CPU time shows what was put in; absent for A/A.
    pub cpu_standing: Option<Standing>,
    /// Median of the intervals' half-widths, in logs.
    pub half_width: Option<f64>,
    /// Time over CPU time, median over all blocks: over 1 where others used the arms' CPU.
    pub time_over_cpu: Option<f64>,
}

impl Score {
    /// Scores campaigns.
    pub fn of(campaigns: &[Campaign], truth: Truth) -> Self {
        let margin = truth.margin.ln_1p();
        let judged: Vec<Judged> = campaigns.iter().filter_map(|c| c.judge(margin)).collect();
        let mut counts = if truth.effect == 0.0 {
            against_itself(&judged)
        } else {
            injected(&judged, truth)
        };
        let batches: Vec<bool> = campaigns.iter().filter_map(Campaign::batches_differ).collect();
        if !batches.is_empty() {
            counts.push(Count::new(
                "two batches differ (Welch)",
                None,
                batches.into_iter(),
            ));
        }
        let widths: Vec<f64> = judged
            .iter()
            .map(|j| (j.inference.interval.high - j.inference.interval.low) / 2.0)
            .collect();
        Self {
            campaigns: campaigns.len(),
            void: campaigns.len() - judged.len(),
            counts,
            time: pooled(campaigns, Campaign::d, LEVEL),
            mean: pooled(campaigns, Campaign::d_mean, LEVEL),
            cpu: pooled(campaigns, Campaign::d_cpu, LEVEL),
            cpu_standing: (truth.effect != 0.0)
                .then(|| cpu_standing(campaigns, truth.effect))
                .flatten(),
            half_width: median(&widths),
            time_over_cpu: median(&times_over_cpu(campaigns)),
        }
    }

    /// Whether nothing is contradicted, all counts are shown where the campaigns are many,
    /// and at most 1 campaign in 10 is void: what fails is rarely random.
    pub fn passes(&self) -> bool {
        let few = (self.campaigns as u64) < ENOUGH;
        let fine = |standing| standing == Standing::Shown || (standing == Standing::Open && few);
        self.void * 10 <= self.campaigns
            && self.counts.iter().filter_map(|c| c.standing).all(fine)
            && self.cpu_standing != Some(Standing::Broken)
    }
}

fn differs(row: Row) -> bool {
    (2..=4).contains(&row.number())
}

fn against_itself(judged: &[Judged]) -> Vec<Count> {
    let at_most = |promised, bound| Some(Promise::AtMost { promised, bound });
    let rows = || judged.iter().map(|j| j.row);
    vec![
        Count::new(
            "interval excludes 1",
            at_most(0.06, 0.08),
            judged.iter().map(|j| !j.inference.interval.contains(0.0)),
        ),
        Count::new("slower or faster", at_most(0.05, 0.07), rows().map(differs)),
        Count::new("by more than the margin", None, rows().map(Row::beyond_margin)),
    ]
}

fn injected(judged: &[Judged], truth: Truth) -> Vec<Count> {
    let d = truth.effect.ln_1p();
    let rows = || judged.iter().map(|j| j.row);
    let is_margin = (truth.effect - truth.margin).abs() < 1e-9;
    let at_margin = is_margin.then_some(Promise::AtMost {
        promised: 0.05,
        bound: 0.07,
    });
    vec![
        Count::new(
            "interval covers the truth",
            Some(Promise::AtLeast {
                promised: 0.94,
                bound: 0.93,
            }),
            judged.iter().map(|j| j.inference.interval.contains(d)),
        ),
        Count::new(
            "slower by more than the margin",
            at_margin.or_else(|| to_be_found(truth)),
            rows().map(|row| row == Row::SlowerBeyond),
        ),
        Count::new("equal", at_margin, rows().map(|row| row == Row::Equal)),
    ]
}

/// How often a difference of at least twice the margin is to be found beyond it. On a
/// noisy host a few campaigns may find none, which contradicts nothing: nothing is promised.
fn to_be_found(truth: Truth) -> Option<Promise> {
    let margins = truth.effect / truth.margin + 1e-9;
    let (_, bound) = FOUND.into_iter().find(|(least, _)| margins >= *least)?;
    Some(Promise::AtLeast { promised: 0.0, bound })
}

/// The mean over campaigns of each one's mean, with its interval.
fn pooled(campaigns: &[Campaign], d: fn(&Campaign) -> Vec<f64>, level: f64) -> Option<Pooled> {
    let means: Vec<f64> = campaigns.iter().filter_map(|c| tare_stats::mean(&d(c))).collect();
    let estimate = t_estimate(&means, level, 1.0)?;
    Some(Pooled {
        ratio: estimate.mean.exp(),
        interval: [estimate.interval.low.exp(), estimate.interval.high.exp()],
    })
}

/// Time of both arms over their CPU time, of every block.
fn times_over_cpu(campaigns: &[Campaign]) -> Vec<f64> {
    let pairs = campaigns.iter().flat_map(|campaign| &campaign.pairs);
    let sum = |arms: [f64; 2]| arms[0] + arms[1];
    pairs.map(|pair| sum(pair.time) / sum(pair.cpu)).collect()
}

/// Whether CPU time shows what was put in to a tenth of a percent.
fn cpu_standing(campaigns: &[Campaign], effect: f64) -> Option<Standing> {
    let off = |pooled: Pooled| pooled.interval.map(|end| end / (1.0 + effect) - 1.0);
    let [low, high] = off(pooled(campaigns, Campaign::d_cpu, LEVEL)?);
    let [least, most] = off(pooled(campaigns, Campaign::d_cpu, 1.0 - RARE)?);
    Some(if least > CPU_SLACK || most < -CPU_SLACK {
        Standing::Broken
    } else if low >= -CPU_SLACK && high <= CPU_SLACK {
        Standing::Shown
    } else {
        Standing::Open
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::tests::campaign;

    fn score(n: u32, ratio: f64, effect: f64) -> Score {
        let campaigns: Vec<Campaign> = (0..n).map(|i| campaign(i, ratio)).collect();
        Score::of(&campaigns, Truth { effect, margin: 0.01 })
    }

    #[test]
    fn a_platform_that_equals_itself_passes() {
        let score = score(50, 1.0, 0.0);
        assert!(score.passes(), "{score:?}");
        assert_eq!(score.counts[1].standing, Some(Standing::Shown));
        assert_eq!((score.campaigns, score.void), (50, 0));
        assert_eq!(score.time_over_cpu, Some(1.0));
    }

    #[test]
    fn a_few_campaigns_show_nothing_and_break_nothing() {
        let score = score(5, 1.0, 0.0);
        assert_eq!(score.counts[1].standing, Some(Standing::Open));
        assert!(score.passes());
    }

    #[test]
    fn false_differences_break_the_promise() {
        let score = score(10, 1.05, 0.0);
        assert_eq!(score.counts[1].count, 10);
        assert_eq!(score.counts[1].standing, Some(Standing::Broken));
        assert!(!score.passes());
    }

    #[test]
    fn what_was_put_in_is_found_and_seen_in_cpu_time() {
        let found = score(400, 1.05, 0.05);
        assert!(found.passes(), "{found:?}");
        assert_eq!(found.cpu_standing, Some(Standing::Shown));
        assert_eq!(found.counts[1].count, 400);
        let missing = score(20, 1.03, 0.05);
        assert_eq!(missing.cpu_standing, Some(Standing::Broken));
        assert_eq!(missing.counts[0].standing, Some(Standing::Broken));
        assert!(!missing.passes());
    }

    #[test]
    fn from_twice_the_margin_on_it_is_asked_how_often_a_difference_is_found() {
        let asked = |effect| score(5, 1.0 + effect, effect).counts[1].promise;
        assert_eq!(asked(0.015), None);
        for (effect, least) in [(0.02, 380), (0.05, 396)] {
            let promise = asked(effect).expect("a promise");
            assert_eq!(promise.standing(least, 400), Standing::Shown, "{effect}");
            assert_eq!(promise.standing(least - 1, 400), Standing::Open, "{effect}");
        }
        assert!(score(400, 1.02, 0.02).passes());
    }

    #[test]
    fn void_campaigns_do_not_lower_the_bar() {
        let mut campaigns: Vec<Campaign> = (0..400).map(|i| campaign(i, 1.0)).collect();
        let voided = |campaigns: &mut [Campaign], n: usize| {
            campaigns[..n].iter_mut().for_each(|c| c.pairs.truncate(5));
        };
        let truth = Truth {
            effect: 0.0,
            margin: 0.01,
        };
        voided(&mut campaigns, 1);
        let mut score = Score::of(&campaigns, truth);
        assert!(score.void == 1 && score.passes(), "{score:?}");
        score.counts[0].standing = Some(Standing::Open);
        assert!(!score.passes(), "many campaigns that show nothing");
        voided(&mut campaigns, 41);
        assert!(!Score::of(&campaigns, truth).passes());
    }

    #[test]
    fn at_the_margin_neither_answer_may_be_frequent() {
        let score = score(20, 1.01, 0.01);
        assert!(score.counts[1].promise.is_some() && score.counts[2].promise.is_some());
    }

    #[test]
    fn without_campaigns_there_are_no_figures() {
        let score = score(0, 1.0, 0.05);
        assert_eq!(
            (score.time, score.mean, score.cpu_standing, score.half_width),
            (None, None, None, None)
        );
        assert_eq!(score.time_over_cpu, None);
    }
}
