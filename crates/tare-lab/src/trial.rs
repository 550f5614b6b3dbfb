//! One trial: a workload run once in a box, and what came of it.

use crate::collect::{Collectors, Others, Stage, TrialReadings};
use crate::failures::{bad_report, failure, without_result};
use crate::figures;
use crate::plausibility::{self, Known, Witness};
use crate::settle::HostMonitor;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tare_model::finding::Finding;
use tare_model::protocol::{Bounds, CommandRequest, CommandTask, Exited, Reply, Request, Served, Task};
use tare_model::results::{Failure, HostReadings, Outcome, Printed, Success};
use tare_model::study::{Study, Workload};
use tare_model::time::nanoseconds;
use tare_model::workload::{CommandRun, Ready, Role, Run};
use tare_platforms::ANSWER_DEADLINE;
use tare_platforms::link::{Answer, Link, LinkError};
use tare_study::addresses::Book;
use tare_study::extract::Output;
use tare_study::placement::Placement;

/// Most repetitions of a short command within a trial: all of them are told in one frame of
/// a MiB, with up to 215 bytes each.
const MAX_REPETITIONS: u32 = 2700;
/// Bytes of standard output that are taken where it is read.
pub(crate) const MAX_STDOUT_READ: u64 = 8 << 20;
/// Bytes of standard error that are taken.
const MAX_STDERR: u64 = 4096;
/// The same where figures or checks are looked for in it.
pub(crate) const MAX_STDERR_READ: u64 = 1 << 20;
/// Quota periods below which a throttled trial is biased against one that is limited
/// otherwise (docs/trials.md: 0.6 % of a trial of 10 s, that is 100 periods, still).
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
    /// What its process printed, where that was read.
    pub printed: Option<Printed>,
}

/// The box of a trial.
pub(crate) struct TrialBox<'a> {
    pub id: u32,
    /// The way to its agent.
    pub link: &'a mut Link,
    /// That to the agent of another box, if what is timed runs there.
    pub elsewhere: Option<&'a mut Link>,
    /// The CPUs that the box may run on; empty: all.
    pub cpu_set: &'a [u32],
}

/// Runs a workload once, with its servers in the book.
pub(crate) fn run(
    site: TrialBox<'_>,
    monitor: &mut HostMonitor,
    study: &Study,
    workload: &Workload,
    book: &Book,
    padding_bytes: u32,
) -> io::Result<Tried> {
    let TrialBox {
        id,
        link,
        elsewhere,
        cpu_set,
    } = site;
    let request = request(study, workload, book, padding_bytes)?;
    let within = patience(study);
    let stage = Stage::new(id, Some(&mut *link), cpu_set);
    let collectors = Collectors::begin(monitor, &mut [Some(stage)])?;
    let begun = Instant::now();
    let answer = elsewhere.unwrap_or(&mut *link).request(&request, within);
    let wall = begun.elapsed();
    let stage = Stage::new(id, answer.is_ok().then_some(link), cpu_set);
    let seen = collectors.end(monitor, &mut [Some(stage)])?;
    let TrialReadings {
        mut host,
        mut findings,
        window,
        others,
    } = seen.into_iter().next().unwrap_or_default();
    host.wall_ns = nanoseconds(wall);
    let interrupted = matches!(answer, Err(LinkError::Interrupted));
    let box_lives = matches!(answer, Ok(_) | Err(LinkError::Refused { .. }));
    let printed = answer.as_ref().ok().filter(|_| workload.is_read()).map(printed);
    findings.extend(answer.as_ref().ok().and_then(work_left_behind));
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
        printed,
    })
}

fn work_left_behind(answer: &Answer) -> Option<Finding> {
    match &answer.reply {
        Reply::Exited(exited) => left_running(exited),
        _ => None,
    }
}

/// A launcher whose work goes on without it.
pub(crate) fn left_running(exited: &Exited) -> Option<Finding> {
    let processes = exited.left_running;
    (processes > 0).then_some(Finding::WorkLeftBehind { processes })
}

fn printed(answer: &Answer) -> Printed {
    let output = Output {
        stdout: &answer.stdout,
        stderr: &answer.stderr,
    };
    output.printed()
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
    /// with another. CPU time of what ran in another box was not counted there.
    pub(crate) fn check_plausibility(&mut self, known: Known, timed: &Placement) {
        let seen = Witness {
            readings: &self.host,
            window: self.window,
            others: self.others,
        };
        if let Outcome::Ok(success) = &self.outcome
            && let Err(failure) = plausibility::whole_trial(success, *timed == Placement::Cell, known, seen)
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
            MAX_STDOUT_READ
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

/// What is timed, as the agent is told to start it; a client is told where its servers are.
pub(crate) fn task(workload: &Workload, book: &Book) -> io::Result<Task> {
    let unknown = || later(workload);
    let role = workload.timed().ok_or_else(unknown)?;
    match &role.run {
        Run::Kernel(run) => {
            let spec = run.spec.clone();
            Ok(match book.first(&Placement::of(role)) {
                Some(server) => Task::Client { spec, server },
                None => Task::Kernel(spec),
            })
        }
        Run::Command(run) => Ok(Task::Command(command(role, run, None, book))),
        Run::Load(spec) => Ok(Task::Load {
            spec: spec.clone(),
            server: book
                .seen(&spec.server, &Placement::of(role))
                .pop()
                .ok_or_else(unknown)?,
        }),
        Run::Later(_) => Err(unknown()),
    }
}

/// What runs before a trial or behind it, as the same user in the same environment.
pub(crate) fn hook(role: &Role, argv: &[String], timeout: Duration) -> Request {
    Request::Command(CommandRequest {
        task: as_role(role, argv.to_vec()),
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

/// A server that listens at this address, as the agent is told to start it beside those that
/// serve already.
pub(crate) fn server(workload: &Workload, role: &Role, at: SocketAddr, book: &Book) -> io::Result<Task> {
    let (run, ready) = match (&role.run, &role.ready) {
        (Run::Kernel(run), Some(ready)) => {
            let spec = run.spec.clone();
            (Served::Kernel { spec, at }, ready)
        }
        (Run::Command(run), Some(ready)) => (Served::Command(command(role, run, Some(at), book)), ready),
        _ => return Err(later(workload)),
    };
    let fill = |words: &[String]| book.filled(words, role, Some(at));
    let ready = match ready {
        Ready::Tcp(port) => {
            let port = fill(std::slice::from_ref(port)).concat();
            Ready::Tcp(match at {
                SocketAddr::V4(at) => format!("{}:{port}", at.ip()),
                SocketAddr::V6(at) => format!("[{}]:{port}", at.ip()),
            })
        }
        Ready::Command(argv) => Ready::Command(fill(argv)),
        Ready::Line(_) | Ready::Later(_) => ready.clone(),
    };
    Ok(Task::Server { run, ready })
}

/// A command with the addresses of the servers in it; `own` is that of the command itself.
fn command(role: &Role, run: &CommandRun, own: Option<SocketAddr>, book: &Book) -> CommandTask {
    CommandTask {
        env: book.environment(role, own),
        ..as_role(role, book.filled(&run.argv, role, own))
    }
}

/// A command as a role runs it.
fn as_role(role: &Role, argv: Vec<String>) -> CommandTask {
    CommandTask {
        argv,
        env: role.env.clone(),
        cwd: role.cwd.clone(),
        user: role.user,
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
    Ok(match request(study, workload, &Book::default(), padding_bytes)? {
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
fn request(study: &Study, workload: &Workload, book: &Book, padding_bytes: u32) -> io::Result<Request> {
    let bounds = bounds(study, workload, padding_bytes);
    Ok(match task(workload, book)? {
        Task::Kernel(spec) => Request::Kernel { spec, bounds },
        Task::Client { .. } | Task::Load { .. } | Task::Server { .. } => return Err(later(workload)),
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

/// What gives reason to doubt a trial that succeeded.
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
            left_running: 0,
        });
        let length = serde_json::to_vec(&reply).unwrap().len();
        assert!(length <= MAX_PAYLOAD, "{length} B");
        assert!(length > MAX_PAYLOAD * 9 / 10, "more would fit: {length} B");
    }
}
