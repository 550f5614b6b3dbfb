//! One campaign: a whole comparison of two arms, by itself.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use tare_stats::{
    LEVEL, Looks, PairedInference, Question, Row, Sample, decide, error_of_typical, infer_beside,
    least_noise, log_ratio, typical, understated_by, upper_quartile, welch,
};

/// Fewest pairs of a verdict.
pub const MIN_PAIRS: usize = 10;

/// The seed of a campaign, by a stream of its own: it does not hang on how many
/// came before.
pub fn seed(all: u64, campaign: u32) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(all);
    rng.set_stream(campaign.into());
    rng.next_u64()
}

/// What was measured in a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// Its number, from 0.
    pub campaign: u32,
    pub seed: u64,
    /// Start, nanoseconds since the epoch.
    pub started_unix_ns: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The blocks in which both arms have a figure.
    pub pairs: Vec<Pair>,
    /// Blocks in which one has none.
    pub lost: u32,
    /// Times of each arm, measured one after the other; absent if not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<[Vec<f64>; 2]>,
}

/// A block: the first arm, then the second, whichever ran first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Number of the block, from 0.
    pub block: u32,
    /// Times of the work in seconds; in slices, of a unit of it, as a mean of all rounds.
    pub time: [f64; 2],
    /// CPU time likewise.
    pub cpu: [f64; 2],
    /// In slices, the typical loss of the second arm over the rounds, in logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical: Option<f64>,
    /// And its squared error by the rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
}

impl Pair {
    /// A block in slices. `costs` are the times per unit of work in each round, those of
    /// the second arm of the same rounds as those of the first, `processes` which of their
    /// processes did each round; `time` and `cpu` are means.
    ///
    /// `None` where there is no round, or a figure is not positive and finite.
    pub fn of_rounds<T: Ord + Copy>(
        block: u32,
        costs: [&[f64]; 2],
        processes: &[T],
        time: [f64; 2],
        cpu: [f64; 2],
    ) -> Option<Self> {
        log_ratio(time[1], time[0])?;
        log_ratio(cpu[1], cpu[0])?;
        Some(Self {
            block,
            time,
            cpu,
            typical: Some(typical(costs[1], costs[0], processes)?),
            noise: error_of_typical(costs[1], costs[0], processes).map(|error| error.powi(2)),
        })
    }

    /// The loss that is judged: of slices the typical one.
    fn loss(&self) -> Option<f64> {
        self.typical.or_else(|| log_ratio(self.time[1], self.time[0]))
    }
}

/// What the method says of a campaign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Everything that is reported.
    pub inference: PairedInference,
    /// The row of the decision table.
    pub row: Row,
}

impl Campaign {
    /// The losses in logs: second arm over first, in the order of the blocks.
    pub fn d(&self) -> Vec<f64> {
        self.pairs.iter().filter_map(Pair::loss).collect()
    }

    /// The mean losses of the blocks that were run in slices, in logs.
    pub fn d_mean(&self) -> Vec<f64> {
        let sliced = self.pairs.iter().filter(|p| p.typical.is_some());
        sliced.filter_map(|p| log_ratio(p.time[1], p.time[0])).collect()
    }

    /// As [`Campaign::d`], of CPU time.
    pub fn d_cpu(&self) -> Vec<f64> {
        let logs = self.pairs.iter().map(|p| log_ratio(p.cpu[1], p.cpu[0]));
        logs.flatten().collect()
    }

    /// What a report would say, with a margin in logs; `None` where it would give
    /// no verdict: under 10 pairs, or over 1 in 10 lost.
    pub fn judge(&self, margin: f64) -> Option<Judged> {
        let d = self.d();
        let lost = self.lost as usize;
        if d.len() < MIN_PAIRS || 10 * lost > d.len() + lost {
            return None;
        }
        let question = Question {
            looks: Looks::None,
            margin: Some(margin),
            check: Some(self.seed),
        };
        let times = self.understated().unwrap_or(1.0);
        let noise = least_noise(self.pairs.iter().map(|pair| pair.noise));
        let inference = infer_beside(&d, noise, question)?.understated(times, question.margin);
        // One comparison is a family of one: Holm leaves its p as it is.
        let row = decide(inference.interval, inference.p_t?, margin);
        Some(Judged { inference, row })
    }

    /// By how many times a difference can be larger than its typical cost shows, where
    /// something else used the CPU of the first arm.
    fn understated(&self) -> Option<f64> {
        let sliced = self.pairs.iter().filter(|p| p.typical.is_some());
        let stretches: Vec<f64> = sliced.map(|p| p.time[0] / p.cpu[0]).collect();
        understated_by(upper_quartile(&stretches)?)
    }

    /// Whether Welch's test of the two batches says that they differ (p < 0.05).
    pub fn batches_differ(&self) -> Option<bool> {
        let [first, second] = self.batches.as_ref()?;
        let found = welch(Sample::of(first, 1.0)?, Sample::of(second, 1.0)?, LEVEL)?;
        Some(!found.interval.contains(0.0))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A campaign of 12 blocks whose second arm takes `ratio` times as long, give or
    /// take a pattern.
    pub(crate) fn campaign(number: u32, ratio: f64) -> Campaign {
        let pair = |block: u32| {
            let off = f64::from((block * 5 + number * 7) % 12) / 12.0 - 11.0 / 24.0;
            let time = [1.0, ratio * (1.0 + 0.01 * off)];
            Pair {
                block,
                time,
                cpu: time,
                typical: None,
                noise: None,
            }
        };
        Campaign {
            campaign: number,
            seed: number.into(),
            started_unix_ns: 0,
            seconds: 1.0,
            pairs: (0..12).map(pair).collect(),
            lost: 0,
            batches: Some([vec![1.0, 1.1, 0.9, 1.0], vec![2.0, 2.1, 1.9, 2.0]]),
        }
    }

    #[test]
    fn a_campaign_is_judged_as_a_report_judges() {
        let equal = campaign(0, 1.0).judge(0.01).expect("a verdict");
        assert_eq!(equal.row, Row::Equal);
        let slower = campaign(0, 1.05).judge(0.01).expect("a verdict");
        assert_eq!(slower.row, Row::SlowerBeyond);
        assert!(slower.inference.interval.contains(1.05_f64.ln()));
        assert_eq!(campaign(0, 1.0).batches_differ(), Some(true));
    }

    #[test]
    fn beside_others_on_its_cpu_the_interval_reaches_further() {
        let mut shared = campaign(0, 1.02);
        let of_slices = |pair: &mut Pair| {
            pair.typical = log_ratio(pair.time[1], pair.time[0]);
            pair.cpu = pair.time.map(|time| 0.5 * time);
        };
        shared.pairs.iter_mut().for_each(of_slices);
        let found = shared.judge(0.01).expect("a verdict").inference.interval;
        let alone = campaign(0, 1.02)
            .judge(0.01)
            .expect("a verdict")
            .inference
            .interval;
        let reach = (2.0 * alone.high.exp_m1()).ln_1p();
        assert_eq!((found.low, found.high), (alone.low, reach));
    }

    #[test]
    fn too_few_pairs_and_too_many_lost_give_no_verdict() {
        let mut few = campaign(0, 1.0);
        few.pairs.truncate(9);
        assert_eq!(few.judge(0.01), None);
        let mut lost = campaign(0, 1.0);
        lost.lost = 2;
        assert_eq!(lost.judge(0.01), None);
    }

    #[test]
    fn of_slices_the_typical_loss_is_judged_and_the_mean_told() {
        let costs = [&[1.0, 1.0, 2.0][..], &[1.0, 1.1, 2.2]];
        let pair = Pair::of_rounds(0, costs, &[0; 3], [1.0, 1.5], [1.0, 1.2]).expect("a pair");
        let sliced = Campaign {
            pairs: vec![pair],
            ..campaign(0, 1.0)
        };
        assert!((sliced.d()[0] - 1.1_f64.ln()).abs() < 1e-12);
        assert_eq!(sliced.d_mean(), [1.5_f64.ln()]);
        assert_eq!(sliced.d_cpu(), [1.2_f64.ln()]);
        assert!(campaign(0, 1.0).d_mean().is_empty());
    }

    #[test]
    fn what_cannot_be_compared_is_no_pair() {
        let one = [1.0, 1.0];
        assert_eq!(Pair::of_rounds::<u8>(0, [&[], &[]], &[], one, one), None);
        assert_eq!(Pair::of_rounds(0, [&one, &[1.0]], &[0; 2], one, one), None);
        assert_eq!(Pair::of_rounds(0, [&one, &one], &[0; 2], one, [0.0, 1.0]), None);
        assert_eq!(
            Pair::of_rounds(0, [&one, &one], &[0; 2], one, [1.0, f64::NAN]),
            None
        );
    }

    #[test]
    fn it_survives_json() {
        for typical in [None, Some(0.01)] {
            let mut campaign = campaign(3, 1.01);
            campaign.pairs[0].typical = typical;
            let json = serde_json::to_string(&campaign).expect("JSON");
            assert_eq!(
                serde_json::from_str::<Campaign>(&json).expect("a campaign"),
                campaign
            );
        }
    }

    #[test]
    fn a_line_from_before_there_were_slices_is_read() {
        let line = r#"{"campaign":0,"seed":1,"started_unix_ns":2,"seconds":3.0,"pairs":[{"block":0,"time":[0.5,1.0],"cpu":[0.5,1.0]}],"lost":9}"#;
        let read: Campaign = serde_json::from_str(line).expect("a campaign");
        assert_eq!(read.d(), [2.0_f64.ln()]);
        assert_eq!(serde_json::to_string(&read).expect("JSON"), line);
    }
}
