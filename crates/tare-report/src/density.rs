//! What idle boxes cost, and how many a host could hold.

use crate::show::{MISSING, clean, or_missing, percent};
use serde::Serialize;
use std::fmt::Write as _;
use tare_model::density::{Density, PlatformDensity, Start};
use tare_model::platform::PlatformPath;
use tare_model::size::{counted, show_cpus, show_memory};
use tare_stats::{Line, line, median};

/// Two figures of the same memory that are further apart than this are told so.
const APART: f64 = 0.2;

/// Level of every interval.
const LEVEL: f64 = 0.95;

/// What follows from the idle boxes of one platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// The platform.
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    /// How many.
    pub n: usize,
    /// Median.
    pub median: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
}

/// Memory of a further box, and the boxes that it leaves room for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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

#[expect(clippy::cast_precision_loss, reason = "no memory has 2^52 bytes")]
fn float(bytes: u64) -> f64 {
    bytes as f64
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

/// The figures for a terminal.
pub fn text(density: &Density) -> String {
    let mut text = format!(
        "Idle boxes, each limited to {} by quota and {}, on a host with {}\n",
        show_cpus(density.limits.cpus),
        show_memory(density.limits.memory_bytes),
        show_memory(density.host.memory_bytes)
    );
    for (measured, estimate) in density.platforms.iter().zip(estimates(density)) {
        platform(&mut text, measured, &estimate);
    }
    text
}

fn platform(text: &mut String, measured: &PlatformDensity, estimate: &Estimate) {
    let _ = writeln!(
        text,
        "\n{}, n = {} ({})",
        clean(&estimate.platform.to_string()),
        estimate.n,
        clean(&measured.version.version)
    );
    let no_cold = measured.no_cold.as_deref().map(clean);
    let cold = estimate.cold.map(shown_latency);
    let cold = cold.or_else(|| no_cold.map(|why| format!("{MISSING} ({why})")));
    let rows = [
        ("start-up, cold", cold.unwrap_or_else(|| MISSING.to_owned())),
        ("start-up, warm", or_missing(estimate.warm, shown_latency)),
        ("shut-down", or_missing(estimate.removal, shown_latency)),
        ("a further box by PSS", or_missing(estimate.by_pss, shown_memory)),
        (
            "a further box by MemAvailable",
            or_missing(estimate.by_available, shown_memory),
        ),
        (
            "files of a box",
            format!("{} on the disk", size(estimate.disk_bytes)),
        ),
        (
            "boxes until memory is gone",
            or_missing(estimate.by_available, |by| shown_boxes(&by, "MemAvailable")),
        ),
        ("", or_missing(estimate.by_pss, |by| shown_boxes(&by, "PSS"))),
    ];
    for (name, value) in rows {
        let _ = writeln!(text, "  {name:30} {value}");
    }
    if let Some(why) = &measured.stopped {
        let _ = writeln!(
            text,
            "  ! no more than {}: {why}",
            counted(estimate.n as u64, "box")
        );
    }
    if let Some(apart) = estimate.disagreement.filter(|apart| *apart > APART) {
        let _ = writeln!(
            text,
            "  ! the two memory figures disagree by {}: memory of the kernel and of daemons\n    is in MemAvailable alone, and so is what others took or gave back meanwhile",
            percent(apart)
        );
    }
}

fn shown_latency(latency: Latency) -> String {
    let [median, least, most] = [latency.median, latency.least, latency.most].map(|s| s * 1e3);
    format!(
        "{median:.1} ms, median of {} ({least:.1} to {most:.1})",
        latency.n
    )
}

fn shown_memory(by: PerBox) -> String {
    format!(
        "{} (95 % interval {} to {})",
        size(by.bytes),
        size(by.low),
        size(by.high)
    )
}

fn size(bytes: f64) -> String {
    format!("{:.2} MiB", bytes / f64::from(1 << 20))
}

fn shown_boxes(by: &PerBox, figure: &str) -> String {
    if by.boxes.is_none() {
        return format!(
            "{MISSING} ({figure} did not shrink with the boxes: too few of them, or others gave memory back)"
        );
    }
    let whole = |boxes: Option<f64>| boxes.map_or_else(|| "no end".to_owned(), |boxes| format!("{boxes:.0}"));
    format!(
        "{} ({} to {}), extrapolated by {figure}",
        whole(by.boxes),
        whole(by.boxes_low),
        whole(by.boxes_high)
    )
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
        assert!(shown_boxes(&by, "MemAvailable").starts_with(MISSING));
    }

    #[test]
    fn a_disagreement_and_a_missing_cold_start_are_told() {
        let told = |taken| {
            let (measured, mut text) = (measured(taken), String::new());
            platform(&mut text, &measured, &estimate(&measured));
            text
        };
        assert!(told(4).contains("disagree by 50 %") && told(4).contains("— (not root)"));
        assert!(!told(2).contains("disagree"), "{}", told(2));
    }
}
