//! What idle boxes cost, and how many a host could hold.

use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::show::percent;
use crate::words::remarks::joined;
use tare_analysis::Estimate;
use tare_analysis::density::{self, Latency, PerBox, estimates};
use tare_model::density::{Density, PlatformDensity};
use tare_model::metric::Unit;
use tare_model::size::{counted, show_cpus, show_memory};

/// Two figures of the same memory that are further apart than this are told so.
const APART: f64 = 0.2;

/// Start-up, shut-down, memory and boxes, platform by platform.
pub fn density(measured: &Density) -> Document {
    let title = format!(
        "Idle boxes, each limited to {} by quota and {}, on a host with {}",
        show_cpus(measured.limits.cpus),
        show_memory(measured.limits.memory_bytes),
        show_memory(measured.host.memory_bytes)
    );
    Document {
        whole: None,
        title,
        subtitle: String::new(),
        answer: Vec::new(),
        notices: Vec::new(),
        sections: vec![Section::new("Cost of an idle box").table(table(measured))],
    }
}

fn table(measured: &Density) -> Table {
    const RANGE: &str = "median, shortest and longest";
    let columns = vec![
        Column::name("platform"),
        Column::number("n", "idle boxes"),
        Column::interval(
            "start-up, cold",
            "after dropping caches: median, shortest and longest",
        ),
        Column::interval(
            "start-up, warm",
            "right after another box: median, shortest and longest",
        ),
        Column::interval("shut-down", RANGE),
        Column::interval(
            "MiB by PSS",
            "memory of each additional box by summed proportional set sizes, with its 95 % interval",
        ),
        Column::interval(
            "MiB by MemAvailable",
            "the same by the host's available memory, which includes memory of the kernel and of daemons",
        ),
        Column::number("MiB on disk", "files of a box"),
        Column::interval("boxes by MemAvailable", "until memory is used up, extrapolated"),
        Column::interval("boxes by PSS", "the same"),
        Column::words("remarks"),
    ];
    let rows = measured.platforms.iter().zip(estimates(measured));
    Table::new("density", 0, columns).with(rows.map(|(platform, estimate)| row(platform, &estimate)))
}

fn row(measured: &PlatformDensity, estimate: &density::Estimate) -> Vec<Cell> {
    vec![
        estimate.platform.to_string().into(),
        Cell::count(estimate.n),
        latency(estimate.cold),
        latency(estimate.warm),
        latency(estimate.removal),
        memory(estimate.by_pss),
        memory(estimate.by_available),
        Cell::Figure(estimate.disk_bytes, Show::Mebibytes),
        boxes(estimate.by_available),
        boxes(estimate.by_pss),
        remarks(measured, estimate).into(),
    ]
}

fn latency(of: Option<Latency>) -> Cell {
    let range = of.map(|l| Estimate {
        value: l.median,
        low: l.least,
        high: l.most,
    });
    Cell::interval(range, Show::Briefly(Unit::Second))
}

fn memory(of: Option<PerBox>) -> Cell {
    let bytes = of.map(|by| Estimate {
        value: by.bytes,
        low: by.low,
        high: by.high,
    });
    Cell::interval(bytes, Show::Mebibytes)
}

/// As many boxes as fit; without an end where the interval of one reaches nought.
fn boxes(of: Option<PerBox>) -> Cell {
    let room = of.and_then(|by| {
        Some(Estimate {
            value: by.boxes?,
            low: by.boxes_low?,
            high: by.boxes_high.unwrap_or(f64::INFINITY),
        })
    });
    Cell::interval(room, Show::Decimals(0))
}

fn remarks(measured: &PlatformDensity, estimate: &density::Estimate) -> String {
    let no_cold = measured
        .no_cold
        .as_ref()
        .map(|why| format!("no cold start: {why}"));
    let stopped = measured
        .stopped
        .as_ref()
        .map(|why| format!("no more than {}: {why}", counted(estimate.n as u64, "box")));
    let apart = estimate.disagreement.filter(|apart| *apart > APART).map(|apart| {
        format!("the two memory figures disagree by {}: MemAvailable also counts what other processes took or freed meanwhile", percent(apart))
    });
    let grew = |by: Option<PerBox>| by.is_some_and(|by| by.boxes.is_none());
    let grew = (grew(estimate.by_available) || grew(estimate.by_pss)).then(|| {
        "available memory did not shrink with the boxes: too few boxes, or other processes freed memory"
            .to_owned()
    });
    let all = [
        Some(measured.version.version.clone()),
        no_cold,
        stopped,
        apart,
        grew,
    ];
    joined(all.into_iter().flatten().collect())
}
