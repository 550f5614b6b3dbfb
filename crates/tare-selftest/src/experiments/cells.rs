//! The mean of one cell's own figures, which cannot be below 0.

use crate::noise::{Noise, normal, uniform};
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{LEVEL, amount_interval, t_estimate};

const GROUP: &str = "Coverage of the 95 % interval of the mean of a cell's figures";

/// What a cell's figures are like.
#[derive(Clone, Copy)]
enum Figures {
    /// Normal around 1, sd 0.2.
    Even,
    /// Exponential: waiting times.
    Exponential,
    /// Log-normal with sigma 1.
    LogNormal,
    /// One in two is 0, the others are exponential: bytes read from a disk.
    Noughts,
}

impl Figures {
    fn mean(self) -> f64 {
        match self {
            Self::Even | Self::Exponential => 1.0,
            Self::LogNormal => 0.5_f64.exp(),
            Self::Noughts => 0.5,
        }
    }

    fn drawn(self, rng: &mut ChaCha8Rng) -> f64 {
        let shaped = |noise: Noise, rng: &mut ChaCha8Rng| noise.series(rng, 1)[0];
        match self {
            Self::Even => 1.0 + 0.2 * normal(rng),
            Self::Exponential => 1.0 + shaped(Noise::Exponential, rng),
            Self::LogNormal => normal(rng).exp(),
            Self::Noughts if uniform(rng) < 0.5 => 0.0,
            Self::Noughts => 1.0 + shaped(Noise::Exponential, rng),
        }
    }
}

struct Mean {
    figures: Figures,
    name: &'static str,
    n: usize,
    /// As it is reported.
    reported: Claim,
    /// Of the t interval of the mean itself.
    t: Claim,
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let promise = Claim::promise(0.94, 0.965);
    let told = Claim::told;
    let case = |figures, name, n, reported, t| {
        Box::new(Mean {
            figures,
            name,
            n,
            reported,
            t,
        }) as Box<dyn Experiment>
    };
    use Figures::{Even, Exponential, LogNormal, Noughts};
    vec![
        case(Even, "normal, CV 20 %", 5, promise, told(0.95)),
        case(Even, "normal, CV 20 %", 10, promise, told(0.95)),
        case(Even, "normal, CV 20 %", 20, promise, told(0.95)),
        case(Exponential, "exponential", 5, told(0.935), told(0.887)),
        case(Exponential, "exponential", 10, told(0.932), told(0.903)),
        case(Exponential, "exponential", 20, told(0.936), told(0.921)),
        case(LogNormal, "log-normal", 5, told(0.886), told(0.82)),
        case(LogNormal, "log-normal", 10, told(0.89), told(0.844)),
        case(LogNormal, "log-normal", 20, told(0.898), told(0.869)),
        case(Noughts, "half of them 0", 5, told(0.911), told(0.802)),
        case(Noughts, "half of them 0", 10, told(0.925), told(0.846)),
        case(Noughts, "half of them 0", 20, told(0.935), told(0.891)),
    ]
}

impl Experiment for Mean {
    fn sums(&self) -> usize {
        3
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let values: Vec<f64> = (0..self.n).map(|_| self.figures.drawn(rng)).collect();
        let truth = self.figures.mean();
        let reported = amount_interval(&values, LEVEL);
        let t = t_estimate(&values, LEVEL, 1.0);
        count(sums, 0, reported.is_some_and(|i| i.contains(truth)));
        count(sums, 1, t.is_some_and(|t| t.interval.contains(truth)));
        count(sums, 2, t.is_some_and(|t| t.interval.low < 0.0));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, claim, sum| {
            let case = format!("{}, {} trials{what}", self.name, self.n);
            Row::new(GROUP, case, Scale::Share, claim, total.share(sum), total)
        };
        vec![
            row("", Some(self.reported), 0),
            row(": t of the mean itself", Some(self.t), 1),
            row(": which reaches below 0", None, 2),
        ]
    }
}
