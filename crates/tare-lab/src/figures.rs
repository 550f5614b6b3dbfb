//! What a process that ended makes of a trial: the checks of its workload, then one
//! figure per metric, each from where the metric says.

use crate::failures::{bad_report, ended_well};
use crate::load::{self, Loaded};
use crate::trial::{MAX_STDERR_READ, MAX_STDOUT_READ};
use std::collections::BTreeMap;
use tare_model::finding::Reason;
use tare_model::group::Series;
use tare_model::kernel::KernelReport;
use tare_model::metric::{Metric, Quantity, Source, Usage};
use tare_model::output::{Extractor, Said, Stream};
use tare_model::protocol::Exited;
use tare_model::results::{Failure, ProcessUsage, Success};
use tare_model::workload::{Check, Workload};
use tare_study::extract::{self, ExtractError, Output};

/// The figures of a trial in one piece, if what must hold for it to count does.
pub(crate) fn success(
    workload: &Workload,
    exited: Exited,
    stdout: &[u8],
    stderr: &[u8],
    padding_bytes: u32,
) -> Result<Success, Failure> {
    let output = Output { stdout, stderr };
    judged(workload, exited, output, padding_bytes).map_err(|failure| Failure {
        printed: workload.is_read().then(|| output.printed()),
        ..failure
    })
}

fn judged(
    workload: &Workload,
    exited: Exited,
    output: Output<'_>,
    padding_bytes: u32,
) -> Result<Success, Failure> {
    let Output { stdout, stderr } = output;
    if workload.checks.contains(&Check::ExitStatus) {
        ended_well(&exited, stderr)?;
    }
    if workload.is_read() {
        printed_whole(&exited)?;
    }
    workload
        .checks
        .iter()
        .try_for_each(|check| holds(check, output))?;
    let kernel = report(workload, stdout)?;
    if kernel.is_none() && exited.repetitions.is_empty() {
        return Err(bad_report("it reports no repetition".to_owned()));
    }
    let each = &exited.repetitions;
    let used = (ProcessUsage::total(each), each.len() as u64);
    let sample = |metric: &Metric| match &metric.from {
        Source::Output(from) => Some(printed(metric, from, output)),
        _ => used_or_reported(metric, &used, kernel.as_ref()),
    };
    Ok(Success {
        samples: workload
            .metrics
            .iter()
            .filter_map(sample)
            .collect::<Result<BTreeMap<_, _>, Failure>>()?,
        process: exited.usage,
        kernel,
        repetitions: Some(exited.repetitions).filter(|each| !each.is_empty()),
        padding_bytes,
        latencies: None,
        reconnects: None,
    })
}

/// Refuses output whose end nobody has seen.
fn printed_whole(exited: &Exited) -> Result<(), Failure> {
    let bounds = [
        (exited.stdout_lost_bytes, MAX_STDOUT_READ, Stream::Stdout),
        (exited.stderr_lost_bytes, MAX_STDERR_READ, Stream::Stderr),
    ];
    match bounds.into_iter().find(|(lost, ..)| *lost > 0) {
        None => Ok(()),
        Some((lost, most, stream)) => Err(no_figure(format!(
            "it printed {lost} B more than the {most} B that are read of {}",
            stream.name()
        ))),
    }
}

fn no_figure(detail: String) -> Failure {
    Failure::new(Reason::NoFigure, detail)
}

/// A figure, with the name of its metric.
type Sample = Result<(String, f64), Failure>;

/// What so many repetitions used together.
type Used = (ProcessUsage, u64);

/// A figure that a process reported, or what it used; `None` where nobody counted that.
fn used_or_reported(metric: &Metric, used: &Used, report: Option<&KernelReport>) -> Option<Sample> {
    match sample(metric, used, report) {
        Some(value) => Some(Ok((metric.name.clone(), value))),
        // What the box's kernel did not count is no fault of the process.
        None if matches!(metric.from, Source::Usage(_) | Source::Host | Source::Ready) => None,
        None => Some(Err(bad_report(format!("it has no {}", metric.name)))),
    }
}

/// A figure that a command printed: a positive number that its unit can have.
fn printed(metric: &Metric, from: &Extractor, output: Output<'_>) -> Sample {
    let no_figure = |why: String| no_figure(format!("no {}: {why}", metric.name));
    let value = extract::figure(from, &metric.unit, output).map_err(|e| no_figure(e.to_string()))?;
    if value > 0.0 && metric.unit.is_plausible(value) {
        Ok((metric.name.clone(), value))
    } else {
        Err(no_figure(format!("it is {value}, and no such thing is measured")))
    }
}

/// Whether a check of what a process printed holds; others are held elsewhere.
fn holds(check: &Check, output: Output<'_>) -> Result<(), Failure> {
    let unreadable = |e: ExtractError| no_figure(format!("a check cannot run: {e}"));
    let broken = |what: String| Err(Failure::new(Reason::Check, what));
    let said_in = |said: &Said| extract::said_in(said, output).map_err(unreadable);
    match check {
        Check::Figure(bounded) => match extract::out_of_bounds(bounded, output).map_err(unreadable)? {
            Some(found) => broken(format!("{} is {found}, and {}", bounded.name, bounded.bounds())),
            None => Ok(()),
        },
        Check::Says(said) => match said_in(said)? {
            Some(_) => Ok(()),
            None => broken(format!("{} does not have '{}'", said.stream.name(), said.regex)),
        },
        Check::SaysNot(said) => match said_in(said)? {
            Some(stream) => broken(format!("{} has '{}'", stream.name(), said.regex)),
            None => Ok(()),
        },
        Check::ExitStatus | Check::KnownAnswer | Check::Later(_) => Ok(()),
    }
}

/// What a process reported, where its workload has it report: every figure a positive
/// number, and the answer the known one, where that must hold.
pub(crate) fn report(workload: &Workload, stdout: &[u8]) -> Result<Option<KernelReport>, Failure> {
    if !workload.reports() {
        return Ok(None);
    }
    if workload.load().is_some() {
        return load::report(stdout).map(|()| None);
    }
    let report: KernelReport = serde_json::from_slice(stdout).map_err(|e| bad_report(e.to_string()))?;
    let check = &report.check;
    if workload.checks.contains(&Check::KnownAnswer) && !check.passed() {
        return Err(Failure::new(
            Reason::WrongAnswer,
            format!(
                "{} is {:e}, at most {:e} is right",
                check.what, check.found, check.bound
            ),
        ));
    }
    let unsound = |(_, value): &(&String, &f64)| !(value.is_finite() && **value > 0.0);
    match report.metrics.iter().find(unsound) {
        Some((name, value)) => Err(bad_report(format!("{name} is {value}"))),
        None => Ok(Some(report)),
    }
}

/// One figure per metric of a trial in slices: what all slices took or did, by the parts
/// that they are timed by; of a command's `units` repetitions the means and the peak.
pub(crate) fn of_slices(
    workload: &Workload,
    parts: &BTreeMap<&str, Series>,
    (usage, box_cpu_seconds, ready_seconds): (&ProcessUsage, Option<f64>, f64),
    loaded: Option<&Loaded>,
    units: u64,
) -> BTreeMap<String, f64> {
    let all_work = || parts.values().map(Series::total_work).sum::<f64>();
    let figure = |metric: &Metric| match (parts.get(metric.name.as_str()), &metric.from) {
        (Some(part), _) => {
            let seconds = part.wall_seconds() / part.total_work();
            Some(match metric.quantity {
                Quantity::Rate => seconds.recip(),
                Quantity::Time | Quantity::Amount => seconds,
            })
        }
        (None, Source::Usage(of)) => used_each(*of, usage, units),
        (None, Source::Latency(of)) => loaded.and_then(|loaded| loaded.figure(*of)),
        (None, Source::Ready) => Some(ready_seconds),
        (None, Source::Host) => box_cpu_seconds.map(|seconds| seconds / all_work()),
        // A figure that a process reports beside its timed parts: CPU time per unit of work.
        (None, Source::Report | Source::Output(_) | Source::Later(_)) => {
            let costs = parts.values().map(|part| part.cpu_seconds() / part.total_work());
            Some(costs.sum())
        }
    };
    let metrics = workload.metrics.iter();
    metrics
        .filter_map(|metric| Some((metric.name.clone(), figure(metric)?)))
        .collect()
}

/// What each of so many repetitions used; the peak of memory of all. Absent where the box's
/// kernel did not count it.
#[expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds of hours and bytes of terabytes fit into 53 bits"
)]
fn used_each(of: Usage, usage: &ProcessUsage, units: u64) -> Option<f64> {
    let mean = |total: u64| total as f64 / units.max(1) as f64;
    let seconds = |total_ns: u64| Some(mean(total_ns) / 1e9);
    match of {
        Usage::Wall => seconds(usage.wall_ns),
        Usage::User => seconds(usage.user_ns),
        Usage::System => seconds(usage.system_ns),
        Usage::PeakMemory => peak(usage),
        Usage::Faults => usage.faults().map(mean),
        Usage::Switches => usage.switches().map(mean),
        Usage::Read => usage.read_bytes.map(mean),
        Usage::Written => usage.written_bytes.map(mean),
    }
}

/// The peak of memory, absent where the kernel counted none: it counts in steps, and a small
/// program may end before the first.
#[expect(clippy::cast_precision_loss, reason = "bytes of terabytes fit into 53 bits")]
fn peak(usage: &ProcessUsage) -> Option<f64> {
    (usage.max_rss_bytes > 0).then_some(usage.max_rss_bytes as f64)
}

fn sample(metric: &Metric, (all, repetitions): &Used, report: Option<&KernelReport>) -> Option<f64> {
    match &metric.from {
        Source::Report => report?.metrics.get(&metric.name).copied(),
        Source::Usage(usage) => used_each(*usage, all, *repetitions),
        Source::Output(_) | Source::Latency(_) | Source::Host | Source::Ready | Source::Later(_) => None,
    }
}

#[cfg(test)]
mod outputs;
#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::catalogue;
    use tare_model::group::WorkDone;
    use tare_model::kernel::{Isa, Kernel, KernelSpec};
    use tare_model::protocol::ExitStatus;
    use tare_model::topology::Topology;
    use tare_model::workload::{CommandRun, KernelRun, Run};

    fn exited(code: i32, walls: &[u64]) -> Exited {
        let usage = |wall_ns| ProcessUsage {
            wall_ns,
            user_ns: wall_ns / 2,
            max_rss_bytes: 4096,
            minor_faults: Some(4),
            written_bytes: Some(512),
            voluntary_switches: None,
            major_faults: Some(1),
            ..ProcessUsage::NONE
        };
        Exited {
            status: ExitStatus::Code(code),
            usage: usage(walls.iter().sum()),
            repetitions: walls.iter().copied().map(usage).collect(),
            stdout_lost_bytes: 0,
            stderr_lost_bytes: 0,
            left_running: 0,
        }
    }

    fn command() -> Workload {
        let argv = vec!["/bin/true".to_owned()];
        catalogue::command(catalogue::main(Run::Command(CommandRun { argv })))
    }

    fn integer() -> (Workload, KernelReport) {
        reporting(Kernel::Integer)
    }

    fn reporting(kernel: Kernel) -> (Workload, KernelReport) {
        let spec = KernelSpec {
            kernel,
            isa: Isa::Baseline,
            threads: 1,
            size: 10,
            seconds: 0.1,
        };
        let report = KernelReport {
            spec: spec.clone(),
            metrics: BTreeMap::from([("time".to_owned(), 2.0), ("cpu".to_owned(), 1.5)]),
            raw_seconds: BTreeMap::new(),
            work_per_stretch: BTreeMap::new(),
            wall_seconds: 2.0,
            units_done: 1.0,
            check: tare_model::kernel::Check {
                what: "the sum".to_owned(),
                found: 0.0,
                bound: 0.0,
            },
            disk: None,
        };
        let run = KernelRun {
            ends: Topology::Loopback,
            fixed_threads: false,
            spec,
        };
        (catalogue::kernel(run), report)
    }

    fn judged(report: &KernelReport) -> Result<Success, Failure> {
        let stdout = serde_json::to_vec(report).unwrap();
        success(&integer().0, exited(0, &[]), &stdout, b"", 0)
    }

    #[test]
    fn a_command_yields_the_means_of_its_repetitions_and_the_peak_of_memory() {
        let success = success(&command(), exited(0, &[1_000_000, 3_000_000]), b"", b"", 7).unwrap();
        let names: Vec<&str> = success.samples.keys().map(String::as_str).collect();
        // Which kind of switch was not counted, so no sum of both is.
        let counted = ["page-faults", "peak-memory", "storage-read", "storage-written"];
        assert_eq!(names[..4], counted);
        assert_eq!(names[4..], ["system", "user", "wall"]);
        assert_eq!((success.samples["wall"], success.samples["user"]), (0.002, 0.001));
        assert_eq!(success.samples["peak-memory"], 4096.0);
        assert_eq!(success.samples["page-faults"], 5.0);
        assert_eq!(success.samples["storage-written"], 512.0);
        assert_eq!(success.repetitions.map(|each| each.len()), Some(2));
    }

    #[test]
    fn a_peak_of_memory_that_the_kernel_did_not_count_is_absent() {
        let mut ended = exited(0, &[1_000_000]);
        ended.usage.max_rss_bytes = 0;
        ended.repetitions[0].max_rss_bytes = 0;
        let in_slices = of_slices(&command(), &BTreeMap::new(), (&ended.usage, None, 0.0), None, 1);
        let in_one_piece = success(&command(), ended, b"", b"", 0).unwrap().samples;
        for figures in [in_slices, in_one_piece] {
            let names: Vec<&str> = figures.keys().map(String::as_str).collect();
            assert!(
                names.contains(&"user") && !names.contains(&"peak-memory"),
                "{names:?}"
            );
        }
    }

    #[test]
    fn a_command_that_was_never_run_took_no_time_that_counts() {
        let failure = success(&command(), exited(0, &[]), b"", b"", 0).unwrap_err();
        assert_eq!(failure.reason, Reason::BadReport);
    }

    #[test]
    fn a_kernel_yields_what_it_reports() {
        let success = judged(&integer().1).unwrap();
        assert_eq!((success.samples["time"], success.samples["cpu"]), (2.0, 1.5));
        assert!(success.kernel.is_some() && success.repetitions.is_none());
    }

    #[test]
    fn in_slices_a_timed_part_is_work_over_time_or_time_over_work_and_the_rest_is_what_was_used() {
        let series = Series {
            work: WorkDone::Same(4.0),
            wall_ns: vec![1_000_000_000, 3_000_000_000],
            cpu_ns: vec![1_000_000_000, 1_000_000_000],
        };
        let usage = exited(0, &[8_000_000_000]).usage;
        let figures = |workload: &Workload, part| {
            of_slices(
                workload,
                &BTreeMap::from([(part, series.clone())]),
                (&usage, None, 0.0),
                None,
                4,
            )
        };
        let integer = figures(&integer().0, "time");
        assert_eq!((integer["time"], integer["cpu"]), (0.5, 0.25));
        let command = figures(&command(), "wall");
        assert_eq!((command["wall"], command["user"]), (0.5, 1.0));
        assert_eq!((command["system"], command["peak-memory"]), (0.0, 4096.0));
        let (rated, _) = reporting(Kernel::Linpack);
        assert_eq!(figures(&rated, "rate")["rate"], 2.0);
    }

    #[test]
    fn what_must_hold_and_does_not_is_the_reason_of_failure() {
        let reason = |result: Result<Success, Failure>| result.unwrap_err().reason;
        let ended = success(&command(), exited(3, &[1]), b"", b"", 0);
        assert_eq!(reason(ended), Reason::ExitStatus);
        let (workload, mut report) = integer();
        assert_eq!(
            reason(success(&workload, exited(0, &[]), b"{", b"", 0)),
            Reason::BadReport
        );
        report.check.found = 1.0;
        assert_eq!(reason(judged(&report)), Reason::WrongAnswer);
        let (_, mut report) = integer();
        report.metrics.remove("cpu");
        assert_eq!(reason(judged(&report)), Reason::BadReport);
        report.metrics.insert("cpu".to_owned(), 0.0);
        assert_eq!(reason(judged(&report)), Reason::BadReport);
    }
}
