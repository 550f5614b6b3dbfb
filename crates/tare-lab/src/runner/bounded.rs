//! The peak of a server within a bound of latencies: the greatest rate of an open loop at which so
//! many of the requests are answered within the bound, and at least 99 % of what is due is
//! answered in time. The search is by bisection, and goes by the median of several tries of each
//! rate: the greatest rate at which a single try went well would be that of the luckiest one.

use super::arm::{Arm, FIRST};
use super::bench::Bench;
use super::live::CellBoxes;
use super::recorder::Ended;
use super::{Event, Stop, pace};
use crate::load::Loaded;
use tare_model::finding::Reason;
use tare_model::load::{Bound, RateTry, WithinBound};
use tare_model::metric::LatencyOf;
use tare_study::plan::PlannedTrial;

/// Tries of each rate, whose median tells: each with a server and a client of its own.
const TRIES: u32 = 3;
/// How often the rate is halved until one keeps the bound.
const HALVINGS: u32 = 6;
/// How often the way to twice that rate is halved then: to 3 % of the rate.
const BISECTIONS: u32 = 5;
/// Requests of a try beyond the percentile: half as many again as it takes for it to be told.
const BEYOND: f64 = 15.0;
/// How long a try lasts.
const SHORTEST_SECONDS: f64 = 0.5;
const LONGEST_SECONDS: f64 = 10.0;
/// Part of a try that runs before it: a tenth.
const WARM_UP: u64 = 10;

/// Searches the greatest rate that keeps the bound, of at most what is answered in a closed
/// loop; or how a trial fails by that.
pub(super) fn search_within(
    bench: &mut Bench<'_>,
    bound: Bound,
    answered: f64,
    planned: &PlannedTrial,
) -> Result<Result<WithinBound, Ended>, Stop> {
    let mut within = WithinBound {
        bound,
        tries: Vec::new(),
    };
    let mut search = Search::from(answered);
    while let Some(rate) = search.next() {
        bench.recorder.observe(Event::Running(planned));
        for _ in 0..TRIES {
            let seed = u64::try_from(within.tries.len()).unwrap_or_default();
            match try_rate(bench, bound, (rate, seed), planned)? {
                Ok(tried) => within.tries.push(tried),
                Err(ended) => return Ok(Err(ended)),
            }
        }
        search.tell(within.keeps(rate));
    }
    Ok(Ok(within))
}

fn try_rate(
    bench: &mut Bench<'_>,
    bound: Bound,
    (rate, seed): (f64, u64),
    planned: &PlannedTrial,
) -> Result<Result<RateTry, Ended>, Stop> {
    // Where nothing can be told, nothing was kept.
    let mut tried = RateTry {
        rate,
        achieved: 0.0,
        latency_seconds: None,
    };
    let Some(mut arm) = bench.arm(planned.clone(), true) else {
        return Ok(Ok(tried));
    };
    arm.workload = arm.workload.at_rate(rate, seed);
    let probed = bench.probe_by(arm, |arm, held, _| {
        if let Some(loaded) = load_of(arm, held, units(bound, rate))? {
            let latency = loaded.figure(LatencyOf::Share(bound.share));
            tried.achieved = loaded.achieved();
            // The latency of a client that does not keep up is its own.
            tried.latency_seconds = latency.filter(|_| loaded.client_keeps_up());
        }
        Ok(())
    })?;
    Ok(probed.map(|_| tried))
}

/// What a client tells of so many requests; `None` if it was told nothing. That of all requests
/// none is answered is an answer, and no fault of the arm.
fn load_of(arm: &mut Arm, held: &mut CellBoxes, units: u64) -> Result<Option<Loaded>, Stop> {
    let mut last = None;
    for units in [(units / WARM_UP).max(1), units] {
        last = arm.go(held, FIRST, pace::order(units))?;
        if last.is_none() {
            break;
        }
    }
    let is_answer = |lost: &super::arm::Lost| lost.box_lives && lost.failure.reason == Reason::Check;
    if arm.lost.as_ref().is_some_and(is_answer) {
        arm.lost = None;
    }
    match last.map(|done| Loaded::of(&[done.slice])) {
        None => Ok(None),
        Some(Ok(loaded)) => Ok(Some(loaded)),
        Some(Err(failure)) => {
            arm.lose(failure);
            Ok(None)
        }
    }
}

/// Requests of a try: enough for the percentile, and not for ever.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; the cast saturates"
)]
fn units(bound: Bound, rate: f64) -> u64 {
    let needed = BEYOND / (1.0 - bound.share);
    let seconds = (needed / rate).clamp(SHORTEST_SECONDS, LONGEST_SECONDS);
    ((seconds * rate).round() as u64).max(1)
}

/// The rates that are tried, one after another.
struct Search {
    rate: f64,
    /// The greatest rate that kept the bound, and the smallest that did not.
    kept: Option<f64>,
    not_kept: Option<f64>,
    halvings: u32,
    bisections: u32,
}

impl Search {
    /// From the most that can be answered.
    const fn from(answered: f64) -> Self {
        Self {
            rate: answered,
            kept: None,
            not_kept: None,
            halvings: 0,
            bisections: 0,
        }
    }

    /// The next rate to be tried, until no more is to be found out.
    fn next(&mut self) -> Option<f64> {
        self.rate = match (self.kept, self.not_kept) {
            (None, None) => self.rate,
            // More than a closed loop answers is not to be had.
            (Some(_), None) => return None,
            (None, Some(not)) => {
                self.halvings += 1;
                (self.halvings <= HALVINGS).then_some(not / 2.0)?
            }
            (Some(kept), Some(not)) => {
                self.bisections += 1;
                (self.bisections <= BISECTIONS).then_some(f64::midpoint(kept, not))?
            }
        };
        Some(self.rate)
    }

    /// What was found of it.
    const fn tell(&mut self, kept: bool) {
        if kept {
            self.kept = Some(self.rate);
        } else {
            self.not_kept = Some(self.rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates that are tried of a server that keeps the bound up to this rate, and the last
    /// that kept it.
    fn searched(most: f64) -> (Vec<f64>, Option<f64>) {
        let mut search = Search::from(1000.0);
        let mut tried = Vec::new();
        while let Some(rate) = search.next() {
            tried.push(rate);
            search.tell(rate <= most);
        }
        (tried, search.kept)
    }

    #[test]
    fn what_a_closed_loop_answers_is_tried_first_and_never_exceeded() {
        assert_eq!(searched(5000.0), (vec![1000.0], Some(1000.0)));
    }

    #[test]
    fn the_greatest_rate_is_found_to_some_per_cent() {
        for most in [20.0, 33.0, 100.0, 517.0, 999.0] {
            let (tried, kept) = searched(most);
            let kept = kept.unwrap();
            assert!(kept <= most && kept > most / 1.04, "{most}: {kept}");
            assert!(tried.len() <= 12, "{tried:?}");
        }
    }

    #[test]
    fn a_server_that_is_never_quick_enough_is_given_up() {
        let (tried, kept) = searched(1.0);
        assert_eq!((tried.len(), kept), (7, None));
    }

    #[test]
    fn a_try_has_enough_requests_for_its_percentile_and_ends() {
        let bound = |share| Bound { share, seconds: 0.01 };
        assert_eq!(units(bound(0.99), 1000.0), 1500);
        assert_eq!(units(bound(0.9), 10_000.0), 5000);
        assert_eq!(units(bound(0.999), 100.0), 1000);
        assert_eq!(units(bound(1.0), 100.0), 1000);
        assert_eq!(units(bound(f64::NAN), 1.0), 1);
    }
}
