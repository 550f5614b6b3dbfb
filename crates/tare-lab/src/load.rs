//! What a client that loads a server told of a trial, and whether it can be believed.

use crate::failures::bad_report;
use tare_model::finding::{Finding, Reason};
use tare_model::gate::Slice;
use tare_model::load::{LEAST_ACHIEVED, LoadReport, LoadSpec};
use tare_model::metric::LatencyOf;
use tare_model::results::Failure;
use tare_model::size::{counted, show_seconds};
use tare_stats::Latencies;

/// Share of its CPU that a client may use at most. In an open loop a request that waits for the
/// client counts as one that waits for the server; in a closed loop the figure is the server's
/// as long as the client is not what all wait for.
const BUSIEST_OPEN: f64 = 0.8;
const BUSIEST_CLOSED: f64 = 0.95;

/// How the detail of an overload begins, and its advice.
const OVERLOAD: &str = "overload: ";
const REDUCE: &str = ": reduce the rate";

/// Requests of a trial, of the slices that count.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    latencies: Latencies,
    answered: f64,
    due: f64,
    wall_seconds: f64,
    due_seconds: f64,
    cpu_seconds: f64,
    reconnects: u64,
}

impl Loaded {
    /// What these slices told together.
    ///
    /// # Errors
    /// A failure where one tells of no load.
    #[expect(clippy::cast_precision_loss, reason = "requests and nanoseconds of one trial")]
    pub(crate) fn of(slices: &[Slice]) -> Result<Self, Failure> {
        let mut all = Self::default();
        for slice in slices {
            let told = slice.load.as_ref();
            let told = told.ok_or_else(|| bad_report("a slice without latencies".to_owned()))?;
            let latencies = Latencies::of_text(&told.latencies)
                .ok_or_else(|| bad_report("latencies that are not a histogram".to_owned()))?;
            all.latencies.add(&latencies);
            all.reconnects += told.reconnects;
            all.due += told.due as f64;
            all.due_seconds += told.due_ns as f64 / 1e9;
            all.answered += slice.parts.iter().map(|part| part.work).sum::<f64>();
            all.wall_seconds += slice.wall_ns() as f64 / 1e9;
            all.cpu_seconds += slice.cpu_ns() as f64 / 1e9;
        }
        Ok(all)
    }

    /// Whether these figures are those of the server, and of the load that was asked for.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn judge(&self, spec: &LoadSpec) -> Result<(), Failure> {
        let refused = |why: String| Err(Failure::new(Reason::Check, why));
        if spec.is_open() {
            let share = self.achieved();
            if share < LEAST_ACHIEVED {
                return refused(format!(
                    "{OVERLOAD}of {:.0} requests/s, {:.0} were answered ({:.1} %; at least {:.0} % are needed){REDUCE}",
                    self.due / self.due_seconds,
                    self.answered / self.wall_seconds,
                    100.0 * share,
                    100.0 * LEAST_ACHIEVED
                ));
            }
        }
        let busy = self.client_share();
        let (most, advice) = match spec.is_open() {
            true => (BUSIEST_OPEN, "reduce the rate"),
            false => (BUSIEST_CLOSED, "choose requests that cost the server more"),
        };
        if busy > most {
            return refused(format!(
                "the client used {:.0} % of its CPU (limit {:.0} %), so it may be the bottleneck: {advice}",
                100.0 * busy,
                100.0 * most
            ));
        }
        Ok(())
    }

    /// Share of the requests that were due that were answered in time.
    pub(crate) fn achieved(&self) -> f64 {
        self.answered / self.due * self.due_seconds / self.wall_seconds
    }

    /// Share of its CPU that the client used.
    fn client_share(&self) -> f64 {
        self.cpu_seconds / self.wall_seconds
    }

    /// Whether an open loop's client had time to spare.
    pub(crate) fn client_keeps_up(&self) -> bool {
        self.client_share() <= BUSIEST_OPEN
    }

    /// A figure of the latencies in seconds; `None` where too few lie beyond it.
    pub(crate) fn figure(&self, of: LatencyOf) -> Option<f64> {
        match of {
            LatencyOf::Mean => self.latencies.mean(),
            LatencyOf::Share(share) => self.latencies.percentile(share),
        }
    }

    /// Connections that were made again.
    pub(crate) const fn reconnects(&self) -> u64 {
        self.reconnects
    }

    /// The histogram as it is kept.
    pub(crate) fn text(&self) -> String {
        self.latencies.text()
    }
}

/// Why a slice counts for nothing in which none of the requests that were due was answered.
pub(crate) fn unanswered(slice: &Slice) -> Failure {
    let due = slice.load.as_ref().map_or(0, |load| load.due);
    Failure::new(
        Reason::Check,
        format!(
            "{OVERLOAD}none of {} was answered within {}{REDUCE}, or check the server",
            counted(due, "request"),
            show_seconds(slice.wall_ns() as f64 / 1e9)
        ),
    )
}

/// An overload with what else may be its cause: what the host did meanwhile, and `peak`, of which its
/// rate is a share, if it is the baseline's own, which answered that much before.
pub(crate) fn explained(mut failure: Failure, findings: &[Finding], peak: Option<f64>) -> Failure {
    if !failure.detail.starts_with(OVERLOAD) {
        return failure;
    }
    let is_noise = |finding: &&Finding| {
        matches!(
            finding,
            Finding::HostBusy { .. }
                | Finding::Disturbed { .. }
                | Finding::Stolen { .. }
                | Finding::SetBusy { .. }
                | Finding::SiblingBusy { .. }
        )
    };
    if let Some(noise) = findings.iter().find(is_noise) {
        let advice =
            format!(", while the host was busy ({noise}): repeat on a quiet host, or reduce the rate");
        failure.detail = failure.detail.replacen(REDUCE, &advice, 1);
    }
    if let Some(peak) = peak {
        failure.detail += &format!("; the peak of {peak:.0} requests/s no longer holds: run again");
    }
    failure
}

/// What a client reported at its end.
///
/// # Errors
/// A failure of a report that cannot be read, and of answers that were not as they should be.
pub(crate) fn report(stdout: &[u8]) -> Result<(), Failure> {
    let report: LoadReport = serde_json::from_slice(stdout).map_err(|e| bad_report(e.to_string()))?;
    if report.check.passed() {
        return Ok(());
    }
    Err(Failure::new(
        Reason::WrongAnswer,
        format!(
            "{:.0} of {} answers were not as they should be; the first: {}",
            report.check.found,
            report.requests,
            report.first_wrong.as_deref().unwrap_or("it reported nothing")
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::gate::{LoadSlice, Part};
    use tare_model::load::Asked;

    fn spec(rate: Option<f64>) -> LoadSpec {
        LoadSpec {
            rate,
            ..LoadSpec::one_by_one("web", Asked::Http("/".to_owned()))
        }
    }

    /// A slice of so many requests, of which so many were answered.
    fn slice(due: u64, answered: f64, (due_ms, wall_ms, cpu_ms): (u64, u64, u64)) -> Slice {
        let mut latencies = Latencies::default();
        (0..due).for_each(|_| latencies.record(100_000));
        Slice {
            parts: vec![Part {
                work: answered,
                wall_ns: wall_ms * 1_000_000,
                cpu_ns: cpu_ms * 1_000_000,
            }],
            untimed_ns: 0,
            load: Some(Box::new(LoadSlice {
                latencies: latencies.quick_text(),
                due,
                due_ns: due_ms * 1_000_000,
                reconnects: 2,
            })),
        }
    }

    fn judged(spec: &LoadSpec, slices: &[Slice]) -> Result<(), String> {
        Loaded::of(slices)
            .unwrap()
            .judge(spec)
            .map_err(|failure| failure.detail)
    }

    #[test]
    fn latencies_are_those_of_all_slices() {
        let loaded = Loaded::of(&[slice(600, 600.0, (0, 50, 10)), slice(500, 500.0, (0, 50, 10))]).unwrap();
        let near = |of| (loaded.figure(of).unwrap() / 100e-6 - 1.0).abs() < 0.01;
        assert!(near(LatencyOf::Mean) && near(LatencyOf::Share(0.99)));
        assert_eq!(loaded.figure(LatencyOf::Share(0.999)), None);
        assert_eq!(Latencies::of_text(&loaded.text()).unwrap().count(), 1100);
        assert_eq!(loaded.reconnects(), 4);
    }

    #[test]
    fn twenty_of_twenty_overloads_are_told() {
        for more in 1..=20 {
            // What comes in a second is answered in so much more.
            let slices = [slice(1000, 1000.0, (1000, 1000 + 15 * more, 100))];
            let told = judged(&spec(Some(1000.0)), &slices).unwrap_err();
            assert!(told.starts_with("overload: of 1000 requests/s, "), "{told}");
        }
        let given_up = [slice(1000, 900.0, (1000, 1000, 100))];
        assert!(
            judged(&spec(Some(1000.0)), &given_up)
                .unwrap_err()
                .contains("(90.0 %")
        );
        let in_time = [slice(1000, 1000.0, (1000, 1005, 100))];
        assert_eq!(judged(&spec(Some(1000.0)), &in_time), Ok(()));
    }

    #[test]
    fn an_overload_of_a_busy_host_is_blamed_on_the_host() {
        let overload = || unanswered(&slice(3, 0.0, (1000, 2000, 1)));
        assert_eq!(explained(overload(), &[], None), overload());
        let busy = [Finding::Disturbed { load: 0.5 }];
        assert_eq!(
            explained(overload(), &busy, Some(1234.5)).detail,
            "overload: none of 3 requests was answered within 2.0 s, while the host was busy (others used 50.0 % of the \
             host's CPUs during the trial): repeat on a quiet host, or reduce the rate, or check the server; the peak \
             of 1234 requests/s no longer holds: run again"
        );
        let other = bad_report("no figure".to_owned());
        assert_eq!(explained(other.clone(), &busy, Some(1.0)), other);
    }

    #[test]
    fn a_slice_without_an_answer_is_an_overload() {
        let failure = unanswered(&slice(3, 0.0, (1000, 2000, 1)));
        assert_eq!(failure.reason, Reason::Check);
        assert_eq!(
            failure.detail,
            "overload: none of 3 requests was answered within 2.0 s: reduce the rate, or check the server"
        );
    }

    #[test]
    fn a_client_that_is_itself_busy_is_not_believed() {
        for (rate, most) in [(None, 950), (Some(1000.0), 800)] {
            let used = |ms| [slice(1000, 1000.0, (1000, 1000, ms))];
            let told = judged(&spec(rate), &used(most + 10)).unwrap_err();
            assert!(told.starts_with("the client used "), "{told}");
            assert_eq!(judged(&spec(rate), &used(most - 10)), Ok(()));
        }
    }

    #[test]
    fn slices_without_a_histogram_are_bad_reports() {
        let without = Slice {
            load: None,
            ..slice(1, 1.0, (0, 1, 0))
        };
        assert_eq!(Loaded::of(&[without]).unwrap_err().reason, Reason::BadReport);
        let mut broken = slice(1, 1.0, (0, 1, 0));
        if let Some(told) = &mut broken.load {
            told.latencies = "not a histogram".to_owned();
        }
        assert_eq!(Loaded::of(&[broken]).unwrap_err().reason, Reason::BadReport);
    }
}
