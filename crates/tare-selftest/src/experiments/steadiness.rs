//! The steadiness ratio on a host that drifts, and what else could have been used.

use crate::noise::{Noise, as_float, normal};
use crate::simulate::Experiment;
use crate::sums::{Total, add, count};
use crate::table::{Claim, Row, Scale};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use tare_stats::{LEVEL, Sample, median, sd, steadiness, welch};

const COVERAGE: &str = "Coverage of the 95 % interval of the steadiness ratio, in truth 1.5";
const WIDTH: &str = "Factor by which that interval reaches either way";
const DRIFT: &str = "Noise 3 times that of the baseline on a drifting host, 30 blocks: what is read";
const DROPPED: &str = "Beside it: Brown and Forsythe's test of equal noise, 30 blocks";

/// What the host does meanwhile, to both cells alike.
#[derive(Clone, Copy)]
enum Host {
    Quiet,
    /// A rise over the run, in standard deviations of the noise.
    Rises(f64),
    /// A random walk with steps of a fifth of the noise.
    Walks,
}

impl Host {
    fn over(self, rng: &mut ChaCha8Rng, blocks: usize) -> Vec<f64> {
        let mut place = 0.0;
        let mut next = |block: usize| {
            match self {
                Self::Quiet => {}
                Self::Rises(rise) => place = rise * as_float(block) / as_float(blocks),
                Self::Walks => place += 0.2 * normal(rng),
            }
            place
        };
        (0..blocks).map(&mut next).collect()
    }
}

/// Times of a cell and of its baseline whose noise is 2 %; the cell's is `ratio`
/// times that.
fn times(rng: &mut ChaCha8Rng, noise: Noise, host: Host, blocks: usize, ratio: f64) -> [Vec<f64>; 2] {
    let drift = host.over(rng, blocks);
    [ratio, 1.0].map(|factor| {
        let own = noise.series(rng, blocks);
        let log = own.iter().zip(&drift).map(|(own, drift)| factor * own + drift);
        log.map(|log| (0.02 * log).exp()).collect()
    })
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let mut cases: Vec<Box<dyn Experiment>> = Vec::new();
    for (noise, name) in [
        (Noise::Normal, "normal"),
        (Noise::HeavyTailed(5), "heavy tails (t5)"),
        (Noise::Exponential, "exponential"),
    ] {
        for (host, drift) in [
            (Host::Quiet, ""),
            (Host::Rises(3.0), ", host rises by 3 sd"),
            (Host::Walks, ", host walks"),
        ] {
            for blocks in [30, 60] {
                cases.push(Box::new(Jackknife {
                    noise,
                    host,
                    blocks,
                    name: format!("{name}{drift}, {blocks} blocks"),
                }));
            }
        }
    }
    cases.push(Box::new(Others));
    for (rise, plain) in [(3.0, 2.4), (7.0, 1.6)] {
        cases.push(Box::new(Read { rise, plain }));
    }
    cases
}

struct Jackknife {
    noise: Noise,
    host: Host,
    blocks: usize,
    name: String,
}

const TRUTH: f64 = 1.5;

impl Experiment for Jackknife {
    fn sums(&self) -> usize {
        3
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let [x, y] = times(rng, self.noise, self.host, self.blocks, TRUTH);
        let spread = steadiness(&x, &y, LEVEL).and_then(|found| found.spread);
        if let Some(spread) = spread {
            count(sums, 0, spread.interval.contains(TRUTH));
            add(sums, 1, (spread.interval.high / spread.interval.low).sqrt());
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let promise = Claim::promise(0.93, 0.97);
        let mut rows = vec![Row::new(
            COVERAGE,
            self.name.clone(),
            Scale::Share,
            Some(promise),
            total.share(0),
            total,
        )];
        if matches!((self.noise, self.host), (Noise::Normal, Host::Quiet)) {
            let claim = Claim::about(if self.blocks == 30 { 1.7 } else { 1.4 }, 0.1);
            let found = total.mean(1);
            rows.push(Row::new(
                WIDTH,
                self.name.clone(),
                Scale::Number,
                Some(claim),
                found,
                total,
            ));
        }
        rows
    }
}

/// What else an interval could be made of, under exponential noise.
struct Others;

impl Experiment for Others {
    fn share(&self) -> f64 {
        0.25
    }

    fn sums(&self) -> usize {
        3
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let [x, y] = times(rng, Noise::Exponential, Host::Quiet, 30, TRUTH);
        let logs = |times: &[f64]| -> Vec<f64> { times.iter().map(|t| t.ln()).collect() };
        let (x, y) = (logs(&x), logs(&y));
        count(sums, 0, f_covers(&x, &y).unwrap_or(false));
        count(sums, 1, bootstrap_covers(&x, &y, rng));
        let [x, y] = times(rng, Noise::Normal, Host::Rises(7.0), 30, 1.0);
        count(sums, 2, brown_forsythe(&x, &y).unwrap_or(false));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |group, case: &str, claim, sum| {
            Row::new(group, case, Scale::Share, Some(claim), total.share(sum), total)
        };
        vec![
            row(
                COVERAGE,
                "beside it: F, exponential, 30 blocks",
                Claim::told(0.71),
                0,
            ),
            row(COVERAGE, "beside it: percentile bootstrap", Claim::told(0.81), 1),
            row(DROPPED, "equal noise, host rises by 7 sd", Claim::told(0.005), 2),
        ]
    }
}

/// Whether the F interval of the ratio of standard deviations holds the truth.
fn f_covers(x: &[f64], y: &[f64]) -> Option<bool> {
    let freedom = as_float(x.len()) - 1.0;
    let most = FisherSnedecor::new(freedom, freedom).ok()?.inverse_cdf(0.975);
    let f = (sd(x)? / sd(y)? / TRUTH).powi(2);
    Some((most.recip()..=most).contains(&f))
}

/// Whether the percentile bootstrap of ln(D_x / D_y) does; neighbours' differences
/// are drawn in pairs. The truth lies within where its share among resamples does.
fn bootstrap_covers(x: &[f64], y: &[f64], rng: &mut ChaCha8Rng) -> bool {
    const RESAMPLES: usize = 1000;
    let squares: Vec<(f64, f64)> = x
        .windows(2)
        .zip(y.windows(2))
        .map(|(x, y)| ((x[1] - x[0]).powi(2), (y[1] - y[0]).powi(2)))
        .collect();
    let mut below = 0;
    for _ in 0..RESAMPLES {
        let sums = squares.iter().fold((0.0, 0.0), |sums, _| {
            let (x, y) = squares[rng.random_range(0..squares.len())];
            (sums.0 + x, sums.1 + y)
        });
        below += usize::from(sums.0 < TRUTH * TRUTH * sums.1);
    }
    (0.025..=0.975).contains(&(as_float(below) / as_float(RESAMPLES)))
}

/// Whether distances from the median differ at 5 % (Brown and Forsythe 1974).
fn brown_forsythe(x: &[f64], y: &[f64]) -> Option<bool> {
    let distances = |values: &[f64]| -> Option<Vec<f64>> {
        let median = median(values)?;
        Some(values.iter().map(|value| (value - median).abs()).collect())
    };
    let sample = |values: &[f64]| Sample::of(&distances(values)?, 1.0);
    let found = welch(sample(x)?, sample(y)?, LEVEL)?;
    Some(!found.interval.contains(0.0))
}

/// What each figure reads where the noise is three times the baseline's.
struct Read {
    rise: f64,
    plain: f64,
}

impl Experiment for Read {
    fn share(&self) -> f64 {
        0.25
    }

    fn sums(&self) -> usize {
        4
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let [x, y] = times(rng, Noise::Normal, Host::Rises(self.rise), 30, 3.0);
        if let Some((over, under)) = sd(&x).zip(sd(&y)) {
            add(sums, 0, over / under);
        }
        if let Some(found) = steadiness(&x, &y, LEVEL) {
            add(sums, 2, found.ratio);
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let row = |what: &str, figure, sum| {
            let case = format!("host rises by {} sd: {what}", self.rise);
            let claim = Some(Claim::about(figure, 0.1));
            Row::new(DRIFT, case, Scale::Number, claim, total.mean(sum), total)
        };
        vec![
            row("ratio of sd (li2018)", self.plain, 0),
            row("steadiness ratio", 3.05, 2),
        ]
    }
}
