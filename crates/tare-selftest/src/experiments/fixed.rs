//! How often the reported interval covers the truth, with a fixed number of blocks.

use crate::noise::Noise;
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tare_stats::{LEVEL, Looks, Question, infer, t_estimate};

const PROMISED: &str = "Coverage of the reported 95 % interval, blocks independent and not skewed";
const WEAK: &str = "Coverage of the reported 95 % interval where nothing is promised";

/// The interval of the mean of so many blocks' d.
struct Fixed {
    noise: Noise,
    name: &'static str,
    n: usize,
    /// Of Student's t alone.
    t: Option<Claim>,
    /// As it is reported: widened by autocorrelation, held against the bootstrap-t.
    reported: Claim,
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let promise = Claim::promise(0.94, 0.965);
    let told = Claim::told;
    let case = |noise, name, n, t, reported| {
        Box::new(Fixed {
            noise,
            name,
            n,
            t,
            reported,
        }) as Box<dyn Experiment>
    };
    let t = |share| Some(told(share));
    use Noise::{
        Autocorrelated, Bimodal, Exponential, HeavyTailed, LogNormal, Normal, Rising, Stalling, Uniform,
    };
    vec![
        case(Normal, "normal", 10, t(0.945), promise),
        case(Normal, "normal", 30, t(0.951), promise),
        case(Uniform, "uniform", 30, None, promise),
        case(Bimodal, "two states", 30, None, promise),
        case(HeavyTailed(5), "heavy tails (t5)", 10, None, promise),
        case(HeavyTailed(5), "heavy tails (t5)", 30, None, promise),
        case(HeavyTailed(3), "heavy tails (t3)", 10, t(0.967), promise),
        case(HeavyTailed(3), "heavy tails (t3)", 30, t(0.959), promise),
        case(Uniform, "uniform", 10, None, told(0.973)),
        case(Bimodal, "two states", 10, None, told(0.991)),
        case(Exponential, "exponential", 10, t(0.9), told(0.947)),
        case(Exponential, "exponential", 30, t(0.93), told(0.952)),
        case(LogNormal, "log-normal", 10, t(0.85), told(0.915)),
        case(LogNormal, "log-normal", 30, t(0.89), told(0.936)),
        case(Autocorrelated(0.4), "autocorrelated, 0.4", 10, None, told(0.87)),
        case(Autocorrelated(0.4), "autocorrelated, 0.4", 30, t(0.8), told(0.91)),
        case(Rising(2.0), "rising by 2 sd", 30, None, told(0.985)),
        case(Stalling(0.1), "1 run in 10 stalls", 10, None, told(0.647)),
        case(Stalling(0.1), "1 run in 10 stalls", 30, None, told(0.956)),
    ]
}

impl Experiment for Fixed {
    fn sums(&self) -> usize {
        3
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let d = self.noise.series(rng, self.n);
        let question = Question {
            looks: Looks::None,
            margin: None,
            check: Some(rng.next_u64()),
        };
        let t = t_estimate(&d, LEVEL, 1.0);
        let reported = infer(&d, question);
        count(sums, 0, t.is_some_and(|t| t.interval.contains(0.0)));
        count(sums, 1, reported.is_some_and(|r| r.interval.contains(0.0)));
        count(sums, 2, reported.is_some_and(|r| r.ends_moved));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let group = if self.reported.promised { PROMISED } else { WEAK };
        let row = |what: &str, claim, sum| {
            let case = format!("{}, {} blocks{what}", self.name, self.n);
            Row::new(group, case, Scale::Share, claim, total.share(sum), total)
        };
        let mut rows = vec![row("", Some(self.reported), 1), row(": t alone", self.t, 0)];
        if self.t.is_some() {
            rows.push(row(": ends moved", None, 2));
        }
        rows
    }
}
