//! What one run costs and what many runs cost: where the two ratios part.

use crate::noise::{normal, uniform};
use crate::simulate::Experiment;
use crate::sums::{Total, add};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{LEVEL, log_ratio, mean, ratio_of_means};

const GROUP: &str = "Ratio of means over paired ratio, times of 300 pairs that differ in spread alone";
const PAIRS: usize = 300;

/// A cell whose times spread while its baseline's do not.
enum Spread {
    /// Log-normal, of this coefficient of variation.
    Cv(f64),
    /// 1 run in 20 takes ten times as long.
    Stalls,
}

struct Means {
    name: &'static str,
    spread: Spread,
    claims: [Option<Claim>; 2],
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let case = |name, spread, claims| Box::new(Means { name, spread, claims }) as Box<dyn Experiment>;
    let about = |figure, slack| Some(Claim::about(figure, slack));
    vec![
        case("CV 5 %", Spread::Cv(0.05), [None, about(1.00125, 0.0005)]),
        case("CV 20 %", Spread::Cv(0.2), [None, about(1.02, 0.001)]),
        case(
            "1 run in 20 ten times as long",
            Spread::Stalls,
            [about(1.12, 0.01), about(1.45 / 1.122, 0.02)],
        ),
    ]
}

impl Experiment for Means {
    fn share(&self) -> f64 {
        0.1
    }

    fn sums(&self) -> usize {
        4
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let mut time = || match self.spread {
            Spread::Cv(cv) => ((1.0 + cv * cv).ln().sqrt() * normal(rng)).exp(),
            Spread::Stalls if uniform(rng) < 0.05 => 10.0,
            Spread::Stalls => 1.0,
        };
        let x: Vec<f64> = (0..PAIRS).map(|_| time()).collect();
        let y = [1.0; PAIRS];
        let d: Vec<f64> = x.iter().zip(y).filter_map(|(x, y)| log_ratio(*x, y)).collect();
        if let Some((paired, means)) = mean(&d).zip(ratio_of_means(&x, &y, LEVEL, 1.0)) {
            add(sums, 0, paired.exp());
            add(sums, 2, means.ratio / paired.exp());
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, claim, sum| {
            let case = format!("{}{what}", self.name);
            Row::new(GROUP, case, Scale::Number, claim, total.mean(sum), total)
        };
        vec![
            row(": paired ratio", self.claims[0], 0),
            row(": means over it", self.claims[1], 2),
        ]
    }
}
