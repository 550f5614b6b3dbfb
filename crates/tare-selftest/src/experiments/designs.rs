//! What blocks are for: a host that drifts, measured in blocks and in batches.

use crate::noise::{Noise, normal};
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{LEVEL, Looks, Question, Sample, infer, welch};

const GROUP: &str = "False differences (95 %) between two equal cells on a host that drifts";
const BLOCKS: usize = 15;

/// Two cells that do the same, on one host.
struct Design {
    name: &'static str,
    /// Of the host, over all trials in their order.
    drift: Noise,
    batches: Claim,
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(Design {
            name: "quiet host",
            drift: Noise::Normal,
            batches: Claim::told(0.05),
        }),
        Box::new(Design {
            name: "slower by 1 sd in the end",
            drift: Noise::Rising(1.0),
            batches: Claim::told(0.257),
        }),
        Box::new(Design {
            name: "random walk",
            drift: Noise::Walking,
            batches: Claim::told(0.571),
        }),
    ]
}

impl Experiment for Design {
    fn sums(&self) -> usize {
        2
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let question = Question {
            looks: Looks::None,
            margin: None,
            check: None,
        };
        let host = self.drift.series(rng, 2 * BLOCKS);
        let d: Vec<f64> = host
            .chunks_exact(2)
            // Which of the two comes first is drawn.
            .map(|pair| (pair[1] - pair[0]) * normal(rng).signum())
            .collect();
        let paired = infer(&d, question);
        count(sums, 0, paired.is_some_and(|p| !p.interval.contains(0.0)));
        let host = self.drift.series(rng, 2 * BLOCKS);
        let (first, second) = host.split_at(BLOCKS);
        count(sums, 1, welch_differs(first, second).unwrap_or(false));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, claim, sum| {
            let case = format!("{}: {what}", self.name);
            Row::new(GROUP, case, Scale::Share, Some(claim), total.share(sum), total)
        };
        vec![
            row("15 random blocks", Claim::promise(0.03, 0.055), 0),
            row("two batches, Welch", self.batches, 1),
        ]
    }
}

/// What runs in batches, judged as if they were independent, would have said.
fn welch_differs(first: &[f64], second: &[f64]) -> Option<bool> {
    let found = welch(Sample::of(first, 1.0)?, Sample::of(second, 1.0)?, LEVEL)?;
    Some(!found.interval.contains(0.0))
}
