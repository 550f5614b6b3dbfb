//! Several hosts as one: how often the interval of their mean covers, whether a host not yet seen
//! lies where it is said to, how often a verdict is false, and how often a host is named that is like the others.
//!
//! Each host knows its own error from its blocks alone, and hosts differ in their noise.

use super::margin;
use crate::noise::{normal, uniform};
use crate::simulate::Experiment;
use crate::sums::{Total, count};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{
    AcrossHosts, HostEstimate, Interval, LEVEL, Looks, Question, across_hosts, decide, holm, infer, p_alike,
};

const MEAN: &str = "Several hosts, 10 blocks each: coverage of the 95 % interval of their mean";
const NEXT: &str = "Several hosts: how often a host not yet seen lies in its 95 % interval";
const BEYOND: &str = "Several hosts whose true mean is the margin: by more than the margin";
const EQUAL: &str = "Several hosts whose true mean is the margin: `equal`";
const DIFFERENT: &str = "Several hosts without an effect on their mean: `slower` or `faster`";

const UNLIKE: &str = "Several hosts that differ by chance: one is named unlike the others";

/// Blocks of each host.
const BLOCKS: usize = 10;
/// The least noise of a block, and how many times that the largest. In between, in logs, is 1 %,
/// by which the error of a host is 0.32 %.
const NOISE: (f64, f64) = (0.005, 4.0);

/// The standard deviation between hosts, and what that is called.
type Between = (f64, &'static str);
const ALIKE: Between = (0.0, "alike");
const LITTLE: Between = (0.0015, "apart by half their error");
const MUCH: Between = (0.01, "apart by 3 times their error");

/// So many hosts, which differ by so much.
struct Hosts {
    hosts: usize,
    between: Between,
    /// About the interval of the mean, and about the next host.
    claims: [Claim; 2],
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let case = |between, hosts, mean, next| {
        Box::new(Hosts {
            hosts,
            between,
            claims: [mean, next],
        }) as Box<dyn Experiment>
    };
    let promise = Claim::promise(0.93, 0.97);
    // Few hosts that agree cover more than that: their errors are never taken for smaller than
    // they are said to be, but for larger where the hosts happen to lie apart.
    let told = Claim::told;
    vec![
        case(ALIKE, 3, told(0.999), told(1.0)),
        case(ALIKE, 5, told(0.99), told(0.997)),
        case(ALIKE, 10, promise, told(0.992)),
        case(ALIKE, 20, promise, told(0.993)),
        case(ALIKE, 50, promise, told(0.995)),
        case(LITTLE, 3, told(0.998), told(0.997)),
        case(LITTLE, 5, told(0.98), told(0.975)),
        case(LITTLE, 10, promise, promise),
        case(LITTLE, 20, promise, promise),
        case(LITTLE, 50, promise, promise),
        case(MUCH, 3, promise, promise),
        case(MUCH, 5, promise, promise),
        case(MUCH, 10, promise, promise),
        case(MUCH, 20, promise, promise),
        case(MUCH, 50, promise, promise),
    ]
}

impl Hosts {
    /// What each host says where the mean over all hosts that might have been chosen is the margin.
    fn estimates(&self, rng: &mut ChaCha8Rng) -> Vec<HostEstimate> {
        let mut host = || {
            let own = margin() + self.between.0 * normal(rng);
            let noise = NOISE.0 * NOISE.1.powf(uniform(rng));
            let d: Vec<f64> = (0..BLOCKS).map(|_| own + noise * normal(rng)).collect();
            let question = Question {
                looks: Looks::None,
                margin: None,
                check: None,
            };
            HostEstimate::of(&infer(&d, question)?)
        };
        (0..self.hosts).filter_map(|_| host()).collect()
    }
}

/// The same hosts where all cost less by the margin.
fn without_effect(found: AcrossHosts) -> AcrossHosts {
    AcrossHosts {
        mean: found.mean - margin(),
        interval: Interval {
            low: found.interval.low - margin(),
            high: found.interval.high - margin(),
        },
        ..found
    }
}

fn names_one(estimates: &[HostEstimate]) -> bool {
    let hosts: Vec<(HostEstimate, usize)> = estimates.iter().map(|host| (*host, BLOCKS)).collect();
    holm(&p_alike(&hosts)).into_iter().flatten().any(|p| p <= 0.05)
}

fn row_of(found: AcrossHosts) -> Option<tare_stats::Row> {
    Some(decide(found.interval, found.p_zero()?, margin()))
}

impl Experiment for Hosts {
    fn share(&self) -> f64 {
        0.15
    }

    fn sums(&self) -> usize {
        6
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let estimates = self.estimates(rng);
        let next = margin() + self.between.0 * normal(rng);
        let Some(found) = across_hosts(&estimates, LEVEL) else {
            return;
        };
        count(sums, 0, found.interval.contains(margin()));
        count(sums, 1, found.next.contains(next));
        let row = row_of(found);
        count(sums, 2, row.is_some_and(tare_stats::Row::beyond_margin));
        count(sums, 3, row.is_some_and(|row| row == tare_stats::Row::Equal));
        let row = row_of(without_effect(found));
        count(sums, 4, row.is_some_and(|row| (2..=4).contains(&row.number())));
        count(sums, 5, names_one(&estimates));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let [mean, next] = self.claims;
        // A false verdict at the margin lies to one side of the interval.
        let [side, both] = [0.03, 0.05].map(|most| Claim::promise(0.0, most));
        let row = |(sum, (group, claim))| {
            let case = format!("{} hosts, {}", self.hosts, self.between.1);
            Row::new(group, case, Scale::Share, Some(claim), total.share(sum), total)
        };
        let rows = [
            (MEAN, mean),
            (NEXT, next),
            (BEYOND, side),
            (EQUAL, side),
            (DIFFERENT, both),
            (UNLIKE, both),
        ];
        rows.into_iter().enumerate().map(row).collect()
    }
}
