//! What idle boxes cost, and how many a host could hold.

use crate::run::float;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::density::{Density, PlatformDensity, Start};
use tare_model::platform::PlatformPath;
use tare_stats::{Line, line, median};

/// Level of every interval.
const LEVEL: f64 = 0.95;

/// What is printed and stored of idle boxes: the readings, and what follows from them.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Estimated<'a> {
    /// The readings.
    #[serde(flatten)]
    pub measured: &'a Density,
    /// What follows, of each platform.
    pub estimates: Vec<Estimate>,
}

impl<'a> Estimated<'a> {
    /// The readings with what follows from them.
    pub fn of(measured: &'a Density) -> Self {
        Self {
            measured,
            estimates: estimates(measured),
        }
    }
}

/// What follows from the idle boxes of one platform.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Estimate {
    pub platform: PlatformPath,
    /// Idle boxes from which it follows.
    pub n: usize,
    /// Start-up after the caches were dropped.
    pub cold: Option<Latency>,
    /// Start-up right after another box.
    pub warm: Option<Latency>,
    /// Shut-down.
    pub removal: Option<Latency>,
    /// By the sums of proportional set sizes.
    pub by_pss: Option<PerBox>,
    /// By what the host could still give away.
    pub by_available: Option<PerBox>,
    /// Files per box, in bytes on the disk.
    pub disk_bytes: f64,
    /// By how much the two disagree, as a share of the larger.
    pub disagreement: Option<f64>,
}

/// A series of latencies, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Latency {
    pub n: usize,
    pub median: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
}

/// Memory of a further box, and the boxes that it leaves room for.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct PerBox {
    /// Bytes that a further box takes: the slope of the line.
    pub bytes: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Boxes until the memory that was available is gone; absent where the slope is not above 0.
    pub boxes: Option<f64>,
    /// As few as this, by the interval.
    pub boxes_low: Option<f64>,
    /// As many as this; absent where the interval reaches 0.
    pub boxes_high: Option<f64>,
}

/// What follows for every platform.
pub fn estimates(density: &Density) -> Vec<Estimate> {
    density.platforms.iter().map(estimate).collect()
}

fn estimate(measured: &PlatformDensity) -> Estimate {
    let boxes = &measured.boxes;
    let before = float(measured.available_bytes);
    let pss: Vec<f64> = boxes.iter().map(|b| float(b.pss_bytes)).collect();
    let taken: Vec<f64> = boxes.iter().map(|b| before - float(b.available_bytes)).collect();
    let last = boxes.last().map_or(before, |b| float(b.available_bytes));
    let by_pss = per_box(&pss, last);
    let by_available = per_box(&taken, last);
    let of = |cold| {
        latency(measured.starts.iter().filter(|s| s.cold == cold), |s| {
            s.hello_seconds
        })
    };
    Estimate {
        platform: measured.platform.clone(),
        n: boxes.len(),
        cold: of(true),
        warm: of(false),
        removal: latency(measured.starts.iter(), |s| s.removed_seconds),
        disagreement: by_pss
            .zip(by_available)
            .and_then(|(a, b)| apart(a.bytes, b.bytes)),
        by_pss,
        by_available,
        disk_bytes: float(measured.disk_bytes) / float(boxes.len().max(1) as u64),
    }
}

fn latency<'a>(starts: impl Iterator<Item = &'a Start>, of: fn(&Start) -> f64) -> Option<Latency> {
    let seconds: Vec<f64> = starts.map(of).collect();
    Some(Latency {
        n: seconds.len(),
        median: median(&seconds)?,
        least: seconds.iter().copied().fold(f64::INFINITY, f64::min),
        most: seconds.iter().copied().fold(0.0, f64::max),
    })
}

/// The line through what boxes took, and how many more fit into what is left.
fn per_box(taken: &[f64], left: f64) -> Option<PerBox> {
    let points: Vec<(f64, f64)> = (1..).map(float).zip(taken.iter().copied()).collect();
    let Line { slope, interval, .. } = line(&points, LEVEL)?;
    let made = float(points.len() as u64);
    let room = |bytes: f64| (bytes > 0.0).then(|| made + (left / bytes).floor());
    Some(PerBox {
        bytes: slope,
        low: interval.low,
        high: interval.high,
        boxes: room(slope),
        boxes_low: room(interval.high),
        boxes_high: room(interval.low),
    })
}

fn apart(a: f64, b: f64) -> Option<f64> {
    let larger = a.abs().max(b.abs());
    (larger > 0.0).then(|| (a - b).abs() / larger)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use tare_model::density::IdleBox;
    use tare_model::results::PlatformVersion;

    const MIB: u64 = 1 << 20;

    /// Boxes of 2 MiB by PSS and of `taken` MiB by what the host could give away.
    fn measured(taken: u64) -> PlatformDensity {
        let idle = |i: u64| IdleBox {
            hello_seconds: 0.1,
            processes: 1,
            pss_bytes: (5 + 2 * i) * MIB,
            available_bytes: (1000 - taken * i) * MIB,
        };
        PlatformDensity {
            platform: "native".parse().unwrap(),
            version: PlatformVersion::default(),
            starts: vec![Start {
                cold: false,
                hello_seconds: 0.5,
                removed_seconds: 0.25,
            }],
            no_cold: Some("not root".to_owned()),
            available_bytes: 1000 * MIB,
            boxes: (1..=10).map(idle).collect(),
            disk_bytes: 20 * MIB,
            stopped: None,
        }
    }

    #[test]
    fn boxes_are_those_made_and_those_that_fit_into_what_is_left() {
        let estimate = estimate(&measured(4));
        assert_eq!(estimate.by_available.unwrap().boxes, Some(10.0 + 960.0 / 4.0));
        assert_eq!(estimate.by_pss.unwrap().boxes, Some(10.0 + 960.0 / 2.0));
        assert_eq!((estimate.disagreement, estimate.cold), (Some(0.5), None));
    }

    #[test]
    fn where_memory_does_not_shrink_no_number_of_boxes_is_told() {
        let by = estimate(&measured(0)).by_available.unwrap();
        assert_eq!((by.boxes, by.boxes_high), (None, None));
    }
}
