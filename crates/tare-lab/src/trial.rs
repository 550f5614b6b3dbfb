//! One trial: a workload run once in a box, and what came of it.

use crate::against::{self, Known, Witness};
use crate::collect::{Collectors, Others, Seen, Stage};
use crate::faults::{bad_report, failure, without_result};
use crate::figures;
use crate::settle::Watch;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tare_box::link::{Answer, Link, LinkError};
use tare_box::platforms::ANSWER_DEADLINE;
use tare_model::finding::Finding;
use tare_model::protocol::{Bounds, CommandRequest, CommandTask, Reply, Request, Served, Task};
use tare_model::results::{Failure, HostReadings, Outcome, Success};
use tare_model::study::{Study, Workload};
use tare_model::time::nanoseconds;
use tare_model::workload::{Role, Run};

/// Most repetitions of a short command within a trial: all of them are told in one frame of
/// a MiB, with up to 215 bytes each.
const MAX_REPETITIONS: u32 = 2700;
/// Bytes of a kernel's report that are taken.
const MAX_REPORT: u64 = 8 << 20;
/// Bytes of standard error that are taken.
const MAX_STDERR: u64 = 4096;
/// The same where figures or checks are looked for in it.
const MAX_STDERR_READ: u64 = 1 << 20;
/// Quota periods below which a throttled trial is biased against one that is limited
/// otherwise (METHODOLOGY.md: 0.6 % of a trial of 10 s, that is 100 periods, still).
const MIN_PERIODS: u64 = 600;
/// Share of a trial's time for which it must have been throttled to count as such.
const THROTTLED_SHARE: f64 = 0.01;

/// What came of a trial.
pub(crate) struct Tried {
    pub outcome: Outcome,
    pub findings: Vec<Finding>,
    pub host: HostReadings,
    /// Between the readings of the box's counters.
    pub window: Duration,
    /// CPU time of others meanwhile.
    pub others: Others,
    /// Whether the box can still be used.
    pub box_lives: bool,
    /// Whether the user asked to stop meanwhile: the trial does not count.
    pub interrupted: bool,
}

/// Runs a workload once.
pub(crate) fn run(
    link: &mut Link,
    watch: &mut Watch,
    box_id: u32,
    study: &Study,
    workload: &Workload,
    padding_bytes: u32,
    pinned_set: &[u32],
) -> io::Result<Tried> {
    let request = request(study, workload, padding_bytes)?;
    let within = patience(study);
    let stage = Stage::new(box_id, Some(&mut *link), pinned_set);
    let collectors = Collectors::begin(watch, &mut [Some(stage)])?;
    let begun = Instant::now();
    let answer = link.request(&request, within);
    let wall = begun.elapsed();
    let stage = Stage::new(box_id, answer.is_ok().then_some(link), pinned_set);
    let seen = collectors.end(watch, &mut [Some(stage)])?;
    let Seen {
        mut host,
        mut findings,
        window,
        others,
    } = seen.into_iter().next().unwrap_or_default();
    host.wall_ns = nanoseconds(wall);
    let interrupted = matches!(answer, Err(LinkError::Interrupted));
    let box_lives = matches!(answer, Ok(_) | Err(LinkError::Refused { .. }));
    let outcome = match judge(answer, workload, padding_bytes) {
        Ok(success) => {
            findings.extend(doubts(&success, &host));
            Outcome::Ok(success)
        }
        Err(failure) => without_result(failure),
    };
    Ok(Tried {
        outcome,
        findings,
        host,
        window,
        others,
        box_lives,
        interrupted,
    })
}

impl Tried {
    /// Fails a trial by what came behind it; what had failed before is the reason that is told.
    pub(crate) fn fail(&mut self, failure: Failure) {
        if matches!(self.outcome, Outcome::Ok(_)) {
            self.outcome = Outcome::Failed(failure);
        }
        self.box_lives = false;
    }

    /// Fails a trial whose result does not fit what the host saw; its box is not trusted
    /// with another.
    pub(crate) fn hold_against(&mut self, known: Known) {
        let seen = Witness {
            readings: &self.host,
            window: self.window,
            others: self.others,
        };
        if let Outcome::Ok(success) = &self.outcome
            && let Err(failure) = against::piece(success, known, seen)
        {
            self.outcome = Outcome::Failed(failure);
            self.box_lives = false;
        }
    }
}

/// Bounds of a trial's processes.
pub(crate) fn bounds(study: &Study, workload: &Workload, padding_bytes: u32) -> Bounds {
    Bounds {
        timeout_ns: seconds(study.protocol.timeout_seconds),
        max_stdout_bytes: if workload.reports() || workload.is_read() {
            MAX_REPORT
        } else {
            0
        },
        max_stderr_bytes: if workload.is_read() {
            MAX_STDERR_READ
        } else {
            MAX_STDERR
        },
        padding_bytes,
    }
}

/// Time that an answer to a trial's request may take.
pub(crate) fn patience(study: &Study) -> Duration {
    timeout(study) + ANSWER_DEADLINE
}

/// What is timed, as the agent is told to start it; a client is told where its server is.
pub(crate) fn task(workload: &Workload, server: Option<SocketAddr>) -> io::Result<Task> {
    let unknown = || later(workload);
    let role = workload.timed().ok_or_else(unknown)?;
    match &role.run {
        Run::Kernel(run) => {
            let spec = run.spec.clone();
            Ok(match server {
                Some(server) => Task::Client { spec, server },
                None => Task::Kernel(spec),
            })
        }
        Run::Command(run) => Ok(Task::Command(CommandTask {
            argv: run.argv.clone(),
            env: role.env.clone(),
            cwd: role.cwd.clone(),
            user: role.user,
        })),
        Run::Later(_) => Err(unknown()),
    }
}

/// What runs before a trial or behind it, as the same user in the same environment.
pub(crate) fn aside(role: &Role, argv: &[String], timeout: Duration) -> Request {
    Request::Command(CommandRequest {
        task: CommandTask {
            argv: argv.to_vec(),
            env: role.env.clone(),
            cwd: role.cwd.clone(),
            user: role.user,
        },
        bounds: Bounds {
            timeout_ns: nanoseconds(timeout),
            max_stdout_bytes: 0,
            max_stderr_bytes: MAX_STDERR,
            padding_bytes: 0,
        },
        min_wall_ns: 0,
        max_repetitions: 1,
    })
}

/// The most time that a workload's processes may take.
pub(crate) fn timeout(study: &Study) -> Duration {
    Duration::from_secs_f64(study.protocol.timeout_seconds)
}

/// A server, as the agent is told to start it.
pub(crate) fn server(workload: &Workload, role: &Role, at: SocketAddr) -> io::Result<Task> {
    match (&role.run, &role.ready) {
        (Run::Kernel(run), Some(ready)) => Ok(Task::Server {
            run: Served::Kernel {
                spec: run.spec.clone(),
                at,
            },
            ready: ready.clone(),
        }),
        _ => Err(later(workload)),
    }
}

fn later(workload: &Workload) -> io::Error {
    let name = &workload.name;
    io::Error::other(format!("workload '{name}' is of a later version of tare"))
}

fn seconds(seconds: f64) -> u64 {
    nanoseconds(Duration::from_secs_f64(seconds))
}

/// A command that is run once.
pub(crate) fn once(study: &Study, workload: &Workload, padding_bytes: u32) -> io::Result<Request> {
    Ok(match request(study, workload, padding_bytes)? {
        Request::Command(command) => Request::Command(CommandRequest {
            max_repetitions: 1,
            // Its time is that for which it was let run, which only the host knows.
            bounds: Bounds {
                timeout_ns: u64::MAX / 2,
                ..command.bounds
            },
            ..command
        }),
        other => other,
    })
}

/// A trial in one piece.
fn request(study: &Study, workload: &Workload, padding_bytes: u32) -> io::Result<Request> {
    let bounds = bounds(study, workload, padding_bytes);
    Ok(match task(workload, None)? {
        Task::Kernel(spec) => Request::Kernel { spec, bounds },
        Task::Client { .. } | Task::Server { .. } => return Err(later(workload)),
        Task::Command(task) => Request::Command(CommandRequest {
            task,
            bounds,
            min_wall_ns: seconds(study.protocol.trial_seconds),
            // What it prints is of one run.
            max_repetitions: if workload.is_read() { 1 } else { MAX_REPETITIONS },
        }),
    })
}

fn judge(
    answer: Result<Answer, LinkError>,
    workload: &Workload,
    padding_bytes: u32,
) -> Result<Success, Failure> {
    let answer = answer.map_err(|e| failure(&e))?;
    let Reply::Exited(exited) = answer.reply else {
        return Err(bad_report(format!("{:?}", answer.reply)));
    };
    figures::success(workload, exited, &answer.stdout, &answer.stderr, padding_bytes)
}

/// What gives reason to doubt a trial that ended well.
#[expect(clippy::cast_precision_loss, reason = "a share of some seconds")]
pub(crate) fn doubts(success: &Success, host: &HostReadings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let throttled = host.throttled_ns.unwrap_or(0) as f64 > THROTTLED_SHARE * host.wall_ns as f64;
    if let Some(periods) = host.periods
        && throttled
        && periods < MIN_PERIODS
    {
        findings.push(Finding::ShortForQuota { periods });
    }
    if let Some(faults) = success.process.major_faults.filter(|faults| *faults > 0) {
        findings.push(Finding::MajorFaults { faults });
    }
    if let Some(share) = success
        .kernel
        .as_ref()
        .map(|k| k.units_done)
        .filter(|done| *done < 1.0)
    {
        findings.push(Finding::PartialWork { share });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::frame::MAX_PAYLOAD;
    use tare_model::protocol::{ExitStatus, Exited};
    use tare_model::results::ProcessUsage;

    #[test]
    fn the_answer_to_a_trial_of_the_most_repetitions_fits_into_a_frame() {
        let most = u64::MAX;
        let used = ProcessUsage {
            wall_ns: most,
            user_ns: most,
            system_ns: most,
            max_rss_bytes: most,
            minor_faults: Some(most),
            major_faults: Some(most),
            voluntary_switches: Some(most),
            involuntary_switches: Some(most),
            read_bytes: Some(most),
            written_bytes: Some(most),
        };
        let reply = Reply::Exited(Exited {
            status: ExitStatus::Signal(i32::MIN),
            usage: used,
            repetitions: vec![used; MAX_REPETITIONS as usize],
            stdout_lost_bytes: most,
            stderr_lost_bytes: most,
        });
        let length = serde_json::to_vec(&reply).unwrap().len();
        assert!(length <= MAX_PAYLOAD, "{length} B");
        assert!(length > MAX_PAYLOAD * 9 / 10, "more would fit: {length} B");
    }
}
