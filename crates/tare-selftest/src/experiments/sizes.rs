//! The fit of size effects: what it finds, and when it is voided.

use crate::noise::normal;
use crate::simulate::Experiment;
use crate::sums::{Found, Total, add, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{LEVEL, size_fit};

const GROUP: &str = "Fit of size effects r(c) = 1 + PTO + PSO/c, 20 blocks, sd 2 %";
const BLOCKS: usize = 20;
/// The level below which lack of fit voids it.
const VOID: f64 = 0.05;

/// A law, measured at some sizes.
struct Sizes {
    name: &'static str,
    cpus: &'static [f64],
    law: fn(f64) -> f64,
    /// PTO of the law.
    pto: f64,
    /// Claims about: coverage of PTO, void fits, mean PTO, correlation of PTO and PSO.
    claims: [Option<Claim>; 4],
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let told = |share| Some(Claim::told(share));
    vec![
        Box::new(Sizes {
            name: "PTO 5 %, PSO 30 %, 4 sizes",
            cpus: &[1.0, 2.0, 4.0, 8.0],
            law: |c| 1.05 + 0.3 / c,
            pto: 0.05,
            claims: [Some(Claim::promise(0.94, 0.965)), told(0.05), None, None],
        }),
        Box::new(Sizes {
            name: "the same, 3 sizes",
            cpus: &[1.0, 2.0, 4.0],
            law: |c| 1.05 + 0.3 / c,
            pto: 0.05,
            claims: [None, None, None, Some(Claim::about(-0.89, 0.02))],
        }),
        Box::new(Sizes {
            name: "no PTO, 1 + 0.65/sqrt(c)",
            cpus: &[1.0, 2.0, 4.0, 8.0],
            law: |c| 1.0 + 0.65 / c.sqrt(),
            pto: 0.0,
            claims: [None, None, Some(Claim::about(0.2, 0.05)), None],
        }),
    ]
}

impl Experiment for Sizes {
    fn share(&self) -> f64 {
        0.5
    }

    fn sums(&self) -> usize {
        7
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let mut block = || -> Vec<f64> {
            let size = |c: &f64| (self.law)(*c).ln() + 0.02 * normal(rng);
            self.cpus.iter().map(size).collect()
        };
        let blocks: Vec<Vec<f64>> = (0..BLOCKS).map(|_| block()).collect();
        let Some(fit) = size_fit(self.cpus, &blocks, LEVEL) else {
            return;
        };
        count(sums, 0, fit.pto.interval.contains(self.pto));
        count(sums, 1, fit.p_fits.is_some_and(|p| p < VOID));
        add(sums, 2, fit.pto.mean);
        add(sums, 4, fit.pso.mean);
        sums[6] += fit.pto.mean * fit.pso.mean;
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, scale, claim, found| {
            Row::new(
                GROUP,
                format!("{}: {what}", self.name),
                scale,
                claim,
                found,
                total,
            )
        };
        let rows = [
            row(
                "interval of PTO covers",
                Scale::Share,
                self.claims[0],
                total.share(0),
            ),
            row("fit is voided", Scale::Share, self.claims[1], total.share(1)),
            row("PTO found", Scale::Number, self.claims[2], total.mean(2)),
            row(
                "PTO with PSO correlated",
                Scale::Number,
                self.claims[3],
                correlation(total),
            ),
        ];
        // What is told of a law is what it is there to show.
        let shown = |row: &Row| row.claim.is_some() || (self.pto == 0.0 && row.case.ends_with("voided"));
        rows.into_iter().filter(shown).collect()
    }
}

/// The correlation of the two estimates over draws; its error by Fisher.
fn correlation(total: &Total) -> Found {
    let n = f64::from(total.draws);
    let mean = |sum: usize| total.sums[sum] / n;
    let spread = |sum: usize| (mean(sum + 1) - mean(sum).powi(2)).sqrt();
    let value = (mean(6) - mean(2) * mean(4)) / (spread(2) * spread(4));
    Found {
        value,
        error: (1.0 - value * value) / n.sqrt(),
    }
}
