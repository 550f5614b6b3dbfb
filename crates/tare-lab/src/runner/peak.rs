//! The peak of a server, of which the rate of an open loop may be a share: what the baseline
//! answers in a closed loop of the same connections, or the part of that which `bounded` leaves.
//! It is found once, before the first trial that needs it, and is the same for all platforms from
//! then on.

use super::arm::{Arm, FIRST};
use super::bench::Bench;
use super::live::CellBoxes;
use super::pace::Paces;
use super::recorder::Ended;
use super::whole_trial::order_of;
use super::{Stop, bounded, pace};
use tare_model::finding::Reason;
use tare_model::peak::PeakRecord;
use tare_model::results::{Failure, Outcome, Record};
use tare_model::study::Study;
use tare_model::study::{BoxKind, Cell};
use tare_study::plan::PlannedTrial;

/// Length of a slice: long enough for a server to show its usual pace.
const SLICE_NS: f64 = 100e6;
/// Slices whose median is the peak: none of them is chosen for being high.
const SLICES: u32 = 11;

/// Finds the peaks that the rates of these trials are shares of. A trial whose peak cannot be
/// found fails.
pub(super) fn find_peaks(bench: &mut Bench<'_>, due: &mut Vec<PlannedTrial>) -> Result<(), Stop> {
    bench.find_out(due, find_peak)
}

fn find_peak(bench: &mut Bench<'_>, planned: &PlannedTrial) -> Result<Option<Ended>, Stop> {
    let baseline = baseline_of(bench.study, &planned.cell);
    let workload = bench.study.workload(&planned.cell);
    let load = workload.as_ref().and_then(|workload| workload.load());
    let bound = load.and_then(|load| load.bound);
    let asked = load.is_some_and(|load| load.of_peak.is_some());
    if !asked || bench.paces.peak_of(bench.study, &planned.cell).is_some() {
        return Ok(None);
    }
    let failed = |why: String| {
        let failure = Failure::new(Reason::CannotRun, why);
        Ok(Some(Ended::without_box(Outcome::Failed(failure))))
    };
    if !bench.live.contains_key(&baseline.kind) {
        return failed(format!(
            "its rate is a share of the peak of {}, whose box is not beside it: give a number of requests per \
             second, or let boxes stand side by side",
            baseline.kind
        ));
    }
    let on_baseline = PlannedTrial {
        cell: baseline.clone(),
        ..planned.clone()
    };
    let mut rates = Vec::new();
    let probed = bench.probe(&on_baseline, |arm, held, _| {
        rates = rates_of(arm, held)?;
        Ok(())
    })?;
    if let Err(ended) = probed {
        return Ok(Some(ended));
    }
    let mut found = PeakRecord {
        cell: baseline.clone(),
        rates,
        within: None,
    };
    if let (Some(bound), Some(answered)) = (bound, found.answered()) {
        match bounded::search_within(bench, bound, answered, &on_baseline)? {
            Ok(within) => found.within = Some(within),
            Err(ended) => return Ok(Some(ended)),
        }
    }
    let Some(peak) = found.peak() else {
        return failed(no_peak(&found));
    };
    bench.recorder.write(&Record::Peak(found))?;
    bench.paces.peaks.insert(baseline, peak);
    Ok(None)
}

impl Paces {
    /// The peak of which the rate of a cell is a share, once it is known: that of the same load
    /// as a closed loop, whatever share was asked for when it was found.
    pub fn peak_of(&self, study: &Study, cell: &Cell) -> Option<f64> {
        let baseline = baseline_of(study, cell);
        let closed = |cell: &Cell| Some(study.workload(cell)?.seeded(0, None).roles);
        let is_same = |found: &Cell| found.kind == baseline.kind && closed(found) == closed(&baseline);
        let mut peaks = self.peaks.iter();
        peaks.find_map(|(found, peak)| is_same(found).then_some(*peak))
    }
}

impl Paces {
    /// The peak of which the rate of a cell of the baseline is a share.
    pub fn own_peak(&self, study: &Study, cell: &Cell) -> Option<f64> {
        let workload = study.workload(cell)?;
        let is_own = cell.kind.platform == study.baseline && workload.load()?.of_peak.is_some();
        self.peak_of(study, cell).filter(|_| is_own)
    }
}

/// The cell of the baseline with the same workload and the same kind of box.
fn baseline_of(study: &Study, cell: &Cell) -> Cell {
    Cell {
        kind: BoxKind {
            platform: study.baseline.clone(),
            ..cell.kind.clone()
        },
        ..cell.clone()
    }
}

/// Why there is no peak.
fn no_peak(found: &PeakRecord) -> String {
    let kind = &found.cell.kind;
    match found
        .within
        .as_ref()
        .map(|within| (within.bound, within.tries.last()))
    {
        Some((bound, Some(last))) => format!(
            "found no peak of {kind}: even at {:.1} requests/s it fails the bound that {bound}: allow a longer latency, or a smaller percentile",
            last.rate
        ),
        _ => format!("no peak of {kind} was found"),
    }
}

/// Requests per second in each of some slices, behind those that tell how many make one; none if the
/// arm is lost.
fn rates_of(arm: &mut Arm, held: &mut CellBoxes) -> Result<Vec<f64>, Stop> {
    let mut rates = Vec::new();
    if let Some(order) = order_of(arm, held, SLICE_NS, SLICE_NS)? {
        for _ in 0..SLICES {
            let Some(done) = arm.go(held, FIRST, pace::order(order.units))? else {
                break;
            };
            rates.push(rate(&done.slice));
        }
    }
    Ok(rates)
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of one slice")]
fn rate(slice: &tare_model::gate::Slice) -> f64 {
    let answered: f64 = slice.parts.iter().map(|part| part.work).sum();
    answered / (slice.wall_ns() as f64 / 1e9)
}
