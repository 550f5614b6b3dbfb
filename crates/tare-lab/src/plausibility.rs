//! What a box tells, held against the host's own clock and counts: a workload that gets at
//! the link of its agent can tell anything of its time, but it cannot make the host's clock
//! go back or its CPU time uncounted.
//!
//! It errs on the side of the box. An honest trial that fails here is worse than a lie of a
//! few per cent that passes, and the link is out of a workload's reach to begin with.

use crate::collect::Others;
use std::time::Duration;
use tare_model::finding::Reason;
use tare_model::results::{Failure, HostReadings, Success};
use tare_model::time::total;

/// Share of an exchange that may pass without being told of, and as much again where others use
/// all of the host.
const SHARE: f64 = 0.25;
/// Seconds that may pass so besides: a stall of the host that strikes between the two clocks is
/// seen by one of them alone.
const STALL: f64 = 0.1;
/// Seconds more where others use all of the host: whoever is to go on waits for a CPU. Beside
/// four compilers on two CPUs, a trial of 0.31 s was answered after 0.61.
const LOADED: f64 = 0.5;
/// Of so many slices most fit, whatever strikes some of them, within a share and this time: a
/// slice's way takes 2 ms to an emulated machine, less to all others.
const MANY: usize = 10;
const WAIT: f64 = 0.004;
/// Seconds more of each of them where others use a whole CPU, which may be the box's: the controller, the agent and
/// the kernel each wait for a turn on a CPU, which is up to 10 ms long. Beside boxes of another
/// run, most slices of some milliseconds were answered after two to four times as long.
const LOADED_EACH: f64 = 0.03;
/// Seconds by repetition of a command: what it left running is ended after it.
const EACH: f64 = 0.004;
/// Most of an exchange that may lie between the repetitions of a command.
const BETWEEN: f64 = 0.5;
/// Most of an exchange that all of this together may leave without being told of: else a
/// command of many short repetitions on a host that others use could tell of no time at all.
const UNTOLD: f64 = 0.75;

/// CPU time over the limit that a trial in one piece may have: counters are read a moment
/// before and after, and a quota is handed out in portions.
const OVER: f64 = 1.1;
/// In slices, whose boxes rest between them and save up quota.
const OVER_IN_SLICES: f64 = 1.25;
/// CPUs that an idle box may use: one that uses more than half of it is frozen between slices.
const IDLE: f64 = 0.04;
/// Quota periods whose time may be used up at once: one that is ending, one that begins.
const PERIODS_SECONDS: f64 = 0.2;
/// CPU seconds that are not argued about.
const FEW: f64 = 0.02;
/// CPU time that a box tells of over what the host counted, and the other way round.
const COUNTS: f64 = 1.5;
/// CPU seconds by which they may differ besides.
const COUNTS_SLACK: f64 = 0.1;
/// CPU seconds that a slice's way into the box and out of it may use, and where the box has a kernel of its own: gVisor uses 1 ms.
const WAY: f64 = 0.000_2;
const WAY_BY_OWN_KERNEL: f64 = 0.002;
/// What a way may take and use on a slow host, as a multiple of the time in which tare reads its conditions: 0.3 ms here, 6 ms on
/// an emulated one, where a way used 8 ms, and 12 ms beside a compiler, where it took 12 ms.
const WAY_IN_READINGS: f64 = 2.0;

/// A request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// From the one to the other by the host's clock.
    pub host_ns: u64,
    /// Time that the box tells its work took.
    pub timed_ns: u64,
    /// Time that it tells passed besides.
    pub untimed_ns: u64,
    /// Repetitions of a command; of a kernel 0, whose untimed part is its own affair.
    pub repetitions: u64,
}

impl Exchange {
    fn told_ns(&self) -> u64 {
        self.timed_ns.saturating_add(self.untimed_ns)
    }

    /// Whether what is told fits into what the host saw, and explains it.
    #[expect(clippy::cast_precision_loss, reason = "repetitions of one exchange")]
    fn fits(&self, slack: Slack) -> bool {
        let (host, told, timed) = (
            seconds([self.host_ns]),
            seconds([self.told_ns()]),
            seconds([self.timed_ns]),
        );
        let between = (EACH * self.repetitions as f64).min(BETWEEN * host);
        let untold = (slack.share * host + between).min(UNTOLD * host) + slack.seconds;
        let is_explained = self.repetitions == 0 || host <= timed + untold;
        let slack = slack.share * host + slack.seconds;
        told <= host + slack && host <= told + slack && is_explained
    }
}

/// By how much the two clocks may differ on an exchange.
#[derive(Debug, Clone, Copy)]
struct Slack {
    share: f64,
    seconds: f64,
}

impl Slack {
    /// Of one exchange, or of few.
    fn of_one(seen: Witness<'_>) -> Self {
        Self {
            share: SHARE * (1.0 + seen.others.of_host),
            seconds: STALL + LOADED * seen.others.of_host + seconds(seen.readings.throttled_ns),
        }
    }

    /// Of each of many.
    #[expect(clippy::cast_precision_loss, reason = "a number of slices")]
    fn of_each(exchanges: usize, seen: Witness<'_>) -> Self {
        if exchanges < MANY {
            return Self::of_one(seen);
        }
        Self {
            share: SHARE * (1.0 + seen.others.of_a_cpu),
            seconds: WAIT.max(WAY_IN_READINGS * reading(seen))
                + LOADED_EACH * seen.others.of_a_cpu
                + seconds(seen.readings.throttled_ns) / exchanges as f64,
        }
    }
}

/// What is known of a box before it tells anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Whether its time can be held against the host's clock: not on a test bed or another host.
    pub keeps_time: bool,
    /// Whether its kernel is the host's, so that both count CPU time alike.
    pub shares_kernel: bool,
    /// CPUs granted.
    pub cpus: f64,
}

/// What the host saw of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Witness<'a> {
    pub readings: &'a HostReadings,
    /// Between the readings of its counters.
    pub window: Duration,
    /// CPU time of others meanwhile.
    pub others: Others,
}

/// Holds a trial in one piece against what the host saw.
///
/// # Errors
/// Where the two disagree, or the box used more CPU time than it was granted.
pub(crate) fn whole_trial(
    success: &Success,
    is_in_box: bool,
    known: Known,
    seen: Witness<'_>,
) -> Result<(), Failure> {
    if known.keeps_time {
        let exchange = exchange(success, seen.readings.wall_ns);
        time(&[exchange], Slack::of_one(seen))?;
    }
    let window = seen.window.as_secs_f64();
    over_limit(seen, known, OVER * known.cpus * window)?;
    let told_ns = if is_in_box { success.process.cpu_ns() } else { 0 };
    told_cpu(seen, known, told_ns)
}

/// Holds the slices of a trial against what the host saw; `busy` if its threads never wait.
///
/// # Errors
/// As [`piece`].
#[expect(clippy::cast_precision_loss, reason = "a number of slices")]
pub(crate) fn slices(
    exchanges: &[Exchange],
    (told_cpu_ns, busy): (u64, bool),
    known: Known,
    seen: Witness<'_>,
) -> Result<(), Failure> {
    if known.keeps_time {
        time(exchanges, Slack::of_each(exchanges.len(), seen))?;
    }
    let host = seconds(exchanges.iter().map(|e| e.host_ns));
    over_limit(seen, known, OVER_IN_SLICES * known.cpus * host)?;
    told_cpu(seen, known, told_cpu_ns)?;
    if busy {
        // A process that never waits cannot have used more CPU time than its slices lasted.
        let told = seconds(exchanges.iter().map(Exchange::told_ns));
        let way = if known.shares_kernel {
            WAY
        } else {
            WAY_BY_OWN_KERNEL
        };
        let ways = way.max(WAY_IN_READINGS * reading(seen)) * exchanges.len() as f64;
        let most = COUNTS * known.cpus * told + COUNTS_SLACK + ways + idle(seen);
        counted_beyond(seen, most, || {
            format!("of slices of {told:.3} s on {} CPUs", known.cpus)
        })?;
    }
    Ok(())
}

/// Holds a command in turns against what the host saw. Its time is the host's own.
///
/// # Errors
/// As [`piece`].
pub(crate) fn turns(
    (ran_ns, told_cpu_ns): (u64, u64),
    known: Known,
    seen: Witness<'_>,
) -> Result<(), Failure> {
    let ran = seconds([ran_ns]);
    over_limit(seen, known, OVER_IN_SLICES * known.cpus * ran)?;
    told_cpu(seen, known, told_cpu_ns)
}

/// The one exchange of a trial in one piece.
fn exchange(success: &Success, host_ns: u64) -> Exchange {
    let all_ns = success.process.wall_ns;
    let (timed_ns, repetitions) = match (&success.repetitions, &success.kernel) {
        (Some(each), _) => {
            let walls = each.iter().map(|repetition| repetition.wall_ns);
            (total(walls), each.len() as u64)
        }
        // What it set up before the clock ran is in the time of its process alone.
        (None, Some(report)) => (nanoseconds(report.wall_seconds), 0),
        (None, None) => (all_ns, 0),
    };
    Exchange {
        host_ns,
        timed_ns,
        untimed_ns: all_ns.saturating_sub(timed_ns),
        repetitions,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates; no number is 0"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Fails where most exchanges do not fit.
fn time(exchanges: &[Exchange], slack: Slack) -> Result<(), Failure> {
    let misfits = exchanges.iter().filter(|exchange| !exchange.fits(slack));
    if 2 * misfits.count() <= exchanges.len() {
        return Ok(());
    }
    let all = |of: fn(&Exchange) -> u64| seconds(exchanges.iter().map(of));
    Err(disagrees(format!(
        "the box reports {:.6} s of work and {:.6} s of other time, in {:.6} s by the host's clock",
        all(|e| e.timed_ns),
        all(|e| e.untimed_ns),
        all(|e| e.host_ns)
    )))
}

/// CPU time beyond what the box was granted in `granted` CPU seconds, with all that may be
/// said for it.
fn over_limit(seen: Witness<'_>, known: Known, granted: f64) -> Result<(), Failure> {
    let most = granted + PERIODS_SECONDS * known.cpus + FEW + idle(seen);
    match counted(seen) {
        Some(used) if used > most => Err(Failure::new(
            Reason::OverLimit,
            format!(
                "the host counted {used:.3} s of CPU time, where {} CPUs for this long are {granted:.3} s",
                known.cpus
            ),
        )),
        _ => Ok(()),
    }
}

/// CPU time that is told of and that nobody gave.
fn told_cpu(seen: Witness<'_>, known: Known, told_ns: u64) -> Result<(), Failure> {
    let told = seconds([told_ns]);
    match counted(seen) {
        Some(used) if known.shares_kernel && told > COUNTS * used + COUNTS_SLACK => Err(disagrees(format!(
            "the box reports {told:.3} s of CPU time, but the host counted {used:.3} s"
        ))),
        _ => Ok(()),
    }
}

fn counted_beyond(seen: Witness<'_>, most: f64, told: impl Fn() -> String) -> Result<(), Failure> {
    match counted(seen) {
        Some(used) if used > most => Err(disagrees(format!(
            "the box reports {}, but the host counted {used:.3} s of CPU time",
            told()
        ))),
        _ => Ok(()),
    }
}

/// CPU time that the host counted; `None` where it cannot.
fn counted(seen: Witness<'_>) -> Option<f64> {
    Some(seconds([seen.readings.cpu_ns?]))
}

/// Seconds in which the host's conditions were read; 0 where they were not.
fn reading(seen: Witness<'_>) -> f64 {
    seconds([seen.readings.conditions.reading_ns])
}

/// CPU time that a box may use while it only waits.
fn idle(seen: Witness<'_>) -> f64 {
    IDLE * seen.window.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of hours fit into 53 bits")]
fn seconds(all_ns: impl IntoIterator<Item = u64>) -> f64 {
    all_ns.into_iter().map(|ns| ns as f64 / 1e9).sum()
}

fn disagrees(detail: String) -> Failure {
    Failure::new(Reason::Disagrees, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use tare_model::results::ProcessUsage;

    const BOX: Known = Known {
        keeps_time: true,
        shares_kernel: true,
        cpus: 1.0,
    };

    const fn ms(ms: u64) -> u64 {
        ms * 1_000_000
    }

    fn counted(window_ms: u64, cpu_ms: u64) -> (HostReadings, Duration) {
        let readings = HostReadings {
            wall_ns: ms(window_ms),
            cpu_ns: Some(ms(cpu_ms)),
            ..HostReadings::default()
        };
        (readings, Duration::from_millis(window_ms))
    }

    /// A command whose repetitions are told to have taken so many nanoseconds each.
    fn command(walls_ns: &[u64], all_ns: u64) -> Success {
        let used = |wall_ns| ProcessUsage {
            wall_ns,
            ..ProcessUsage::default()
        };
        Success {
            samples: BTreeMap::new(),
            process: used(all_ns),
            kernel: None,
            repetitions: Some(walls_ns.iter().copied().map(used).collect()),
            padding_bytes: 0,
            latencies: None,
            reconnects: None,
        }
    }

    fn held(success: &Success, (readings, window): &(HostReadings, Duration)) -> Result<(), Reason> {
        let seen = Witness {
            readings,
            window: *window,
            others: Others::default(),
        };
        whole_trial(success, true, BOX, seen).map_err(|failure| failure.reason)
    }

    fn slice(host_ms: u64, timed_ms: u64, untimed_ms: u64) -> Exchange {
        Exchange {
            host_ns: ms(host_ms),
            timed_ns: ms(timed_ms),
            untimed_ns: ms(untimed_ms),
            repetitions: 1,
        }
    }

    /// What of slices is told of CPU time, with a kernel that never waits.
    fn busy(each: &[Exchange], cpu_ms: u64, known: Known, seen: &(HostReadings, Duration)) -> Option<Reason> {
        let witness = Witness {
            readings: &seen.0,
            window: seen.1,
            others: Others::default(),
        };
        slices(each, (ms(cpu_ms), true), known, witness)
            .err()
            .map(|failure| failure.reason)
    }

    #[test]
    fn a_forged_figure_does_not_pass() {
        let seen = counted(301, 290);
        assert_eq!(held(&command(&[7_000], 7_000), &seen), Err(Reason::Disagrees));
        // Nor with the rest of the time told as that between repetitions, however many.
        for n in [1, 300, 10_000] {
            let forged = command(&vec![7_000; n], ms(2000));
            let seen = counted(2001, 1000);
            assert_eq!(held(&forged, &seen), Err(Reason::Disagrees), "{n}");
        }
        assert_eq!(held(&command(&[ms(900)], ms(900)), &seen), Err(Reason::Disagrees));
        assert_eq!(
            held(&command(&[u64::MAX], u64::MAX), &seen),
            Err(Reason::Disagrees)
        );
        assert_eq!(held(&command(&[ms(295)], ms(296)), &seen), Ok(()));
    }

    #[test]
    fn what_a_quota_and_daemons_take_between_repetitions_is_explained() {
        // Half a CPU: throttled for half of the time, between repetitions too.
        let (mut readings, window) = counted(1000, 500);
        let daemons = command(&vec![ms(4); 50], ms(995));
        assert_eq!(
            held(&daemons, &(readings.clone(), window)),
            Err(Reason::Disagrees)
        );
        readings.throttled_ns = Some(ms(500));
        assert_eq!(held(&daemons, &(readings, window)), Ok(()));
        // Short ones with as much to be ended behind each.
        assert_eq!(
            held(&command(&vec![ms(1); 250], ms(500)), &counted(502, 300)),
            Ok(())
        );
    }

    #[test]
    fn more_cpu_time_than_was_granted_is_a_failure() {
        assert_eq!(held(&command(&[ms(990)], ms(990)), &counted(1000, 1_250)), Ok(()));
        let lifted = held(&command(&[ms(990)], ms(990)), &counted(1000, 1_900));
        assert_eq!(lifted, Err(Reason::OverLimit));
        // Turns and slices count the time in which the box was let work, not that of others.
        let (readings, window) = counted(10_000, 1_980);
        let seen = Witness {
            readings: &readings,
            window,
            others: Others::default(),
        };
        let reason = |held: Result<(), Failure>| held.map_err(|failure| failure.reason);
        assert_eq!(
            reason(turns((ms(1000), ms(990)), BOX, seen)),
            Err(Reason::OverLimit)
        );
        assert_eq!(reason(turns((ms(2000), ms(1980)), BOX, seen)), Ok(()));
        let sliced = vec![slice(10, 9, 0); 100];
        let seen = (readings, window);
        assert_eq!(busy(&sliced, 900, BOX, &seen), Some(Reason::OverLimit));
    }

    #[test]
    fn cpu_time_that_nobody_gave_is_not_believed_where_both_count_alike() {
        let sliced = vec![slice(10, 9, 0); 100];
        let seen = counted(1000, 300);
        assert_eq!(busy(&sliced, 900, BOX, &seen), Some(Reason::Disagrees));
        // A machine counts the time in which it waits for a CPU of the host.
        let machine = Known {
            shares_kernel: false,
            ..BOX
        };
        assert_eq!(busy(&sliced, 900, machine, &seen), None);
    }

    #[test]
    fn slices_of_work_that_never_waits_are_no_shorter_than_its_cpu_time() {
        let made_up = Known {
            keeps_time: false,
            ..BOX
        };
        let sliced = vec![slice(10, 1, 0); 100];
        let seen = counted(1000, 950);
        assert_eq!(busy(&sliced, 100, made_up, &seen), Some(Reason::Disagrees));
        assert_eq!(busy(&vec![slice(10, 9, 0); 100], 900, made_up, &seen), None);
        // As in an emulated machine, where the ways took longer than the slices.
        let sliced = vec![slice(22, 10, 0); 35];
        let (mut readings, window) = counted(778, 944);
        readings.conditions.reading_ns = 300_000;
        let quick = (readings.clone(), window);
        assert_eq!(busy(&sliced, 354, made_up, &quick), Some(Reason::Disagrees));
        readings.conditions.reading_ns = 6_400_000;
        assert_eq!(busy(&sliced, 354, made_up, &(readings, window)), None);
    }

    #[test]
    fn one_stall_between_the_two_clocks_is_no_lie() {
        let mut sliced = vec![slice(10, 8, 1); 50];
        sliced[7].host_ns = ms(5_000);
        let seen = counted(6_000, 450);
        assert_eq!(busy(&sliced, 400, BOX, &seen), None);
        for exchange in &mut sliced {
            exchange.host_ns += ms(40);
        }
        assert_eq!(busy(&sliced, 400, BOX, &seen), Some(Reason::Disagrees));
    }

    #[test]
    fn the_ways_of_a_slow_host_are_slow() {
        let sliced = vec![slice(22, 10, 0); 22];
        let (mut readings, window) = counted(490, 600);
        readings.conditions.reading_ns = 300_000;
        let quick = (readings.clone(), window);
        assert_eq!(busy(&sliced, 220, BOX, &quick), Some(Reason::Disagrees));
        readings.conditions.reading_ns = 12_000_000;
        assert_eq!(busy(&sliced, 220, BOX, &(readings, window)), None);
    }

    #[test]
    fn who_waits_for_a_cpu_beside_others_tells_the_truth() {
        let (readings, window) = counted(611, 290);
        let seen = |others| Witness {
            readings: &readings,
            window,
            others: Others {
                of_host: others,
                of_a_cpu: 1.0,
            },
        };
        let late = [slice(611, 286, 26)];
        let held = |exchange, others| time(exchange, Slack::of_one(seen(others)));
        assert!(held(&late, 0.9).is_ok() && held(&late, 0.0).is_err());
        // Three seconds in many repetitions that took no time at all are no truth anywhere.
        let mut forged = [slice(3_000, 6, 2_990)];
        forged[0].repetitions = 1_000;
        assert!(held(&forged, 1.0).is_err());
        let forged = [slice(4_000, 1, 0)];
        assert!(held(&forged, 0.9).is_err());
    }

    #[test]
    fn slices_that_wait_for_a_cpu_beside_others_tell_the_truth() {
        let readings = HostReadings::default();
        let held = |host_ms, of_a_cpu| {
            let seen = Witness {
                readings: &readings,
                window: Duration::ZERO,
                others: Others {
                    of_host: of_a_cpu / 64.0,
                    of_a_cpu,
                },
            };
            let slices = vec![slice(host_ms, 8, 1); 50];
            time(&slices, Slack::of_each(slices.len(), seen))
        };
        assert!(held(36, 1.0).is_ok() && held(36, 0.0).is_err());
        // Nobody waits ten times as long as a slice in most of them.
        assert!(held(90, 1.0).is_err());
    }

    #[test]
    fn a_test_bed_takes_no_time_and_a_host_without_counts_tells_nothing() {
        let seen = (HostReadings::default(), Duration::ZERO);
        let made_up = Known {
            keeps_time: false,
            ..BOX
        };
        assert_eq!(busy(&[slice(0, 10, 0)], 10, made_up, &seen), None);
    }

    proptest! {
        /// Whatever is told, there is an answer; and the truth always passes.
        #[test]
        fn the_truth_passes_and_nothing_panics(
            told in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), 0u64..1 << 40), 0..60),
            walls in proptest::collection::vec(1u64..50_000_000, 1..60),
            way_ns in 0u64..4_000_000,
        ) {
            let forged: Vec<Exchange> = told
                .iter()
                .map(|(host_ns, timed_ns, untimed_ns, repetitions)| Exchange {
                    host_ns: *host_ns,
                    timed_ns: *timed_ns,
                    untimed_ns: *untimed_ns,
                    repetitions: *repetitions,
                })
                .collect();
            let readings = HostReadings::default();
            let seen = Witness {
                readings: &readings,
                window: Duration::ZERO,
                others: Others::default(),
            };
            let _ = time(&forged, Slack::of_each(forged.len(), seen));
            let honest: Vec<Exchange> = walls
                .iter()
                .map(|wall| Exchange {
                    host_ns: wall + wall / 10 + way_ns,
                    timed_ns: *wall,
                    untimed_ns: wall / 10,
                    repetitions: 1,
                })
                .collect();
            prop_assert!(time(&honest, Slack::of_each(honest.len(), seen)).is_ok());
        }
    }
}
