//! What boxes cost besides speed, and the proof of their limits.

use super::{cells, columns, kind, kind_columns, shown_word};
use crate::chart::Picture;
use crate::document::{Cell, Column, Depth, Section, Show, Table};
use crate::words::proofs::{self, Proof};
use tare_analysis::{Analysis, BoxFigures};
use tare_model::metric::Unit;

/// Start-up, removal and footprint; limits.
pub(super) fn sections(analysis: &Analysis) -> impl Iterator<Item = Section> {
    let made = Section::new("Start-up, removal and idle memory of boxes")
        .about("Start-up runs from the request for a box until it answers; shut-down from the request to remove it until nothing of it is left. Idle memory covers every process that exists because of the box, before any work, shared pages counted in full. Further boxes share some of it: 'tare density' measures many of each.")
        .picture(Picture::starts(analysis))
        .table(startup(&analysis.boxes))
        .table(footprint(&analysis.boxes));
    // Where all hold there is nothing to look at.
    let holds = analysis.boxes.iter().all(|of| of.proof.is_none() || of.proven());
    let depth = if holds { Depth::Folded } else { Depth::Shown };
    let limits = Section::new("Limits per kind of box: granted and measured").at(depth).about("Before use, tare measures the limits of a box: how many CPUs a busy loop gets, by the host's counters and by the box's clocks, and how much memory it can touch until the host refuses more.")
    .table(limits(&analysis.boxes));
    [made, limits].into_iter().filter_map(Section::unless_empty)
}

fn startup(boxes: &[BoxFigures]) -> Table {
    let own = [
        Column::number("n", "boxes made"),
        Column::number("start-up", "median"),
        Column::number("mean", ""),
        Column::number("sd", "standard deviation"),
        Column::number("min", ""),
    ];
    let seconds = |value| Cell::figure(value, Show::Unit(Unit::Second));
    let row = |figures: &BoxFigures| {
        let startup = &figures.startup;
        let own = [
            Cell::count(startup.n),
            seconds(startup.median),
            seconds(startup.mean),
            seconds(startup.sd),
            seconds(startup.min),
        ];
        cells(kind(&figures.kind), own)
    };
    Table::new("start-up", 0, columns(kind_columns(), own)).with(boxes.iter().map(row))
}

fn footprint(boxes: &[BoxFigures]) -> Table {
    let own = [
        Column::number("n", "boxes removed"),
        Column::number("shut-down", "median"),
        Column::machine("boxes measured", "idle boxes whose memory was measured"),
        Column::number("MiB memory", "of an idle box: median"),
        Column::number("least", "MiB"),
        Column::number("most", "MiB"),
        Column::number("processes", "of the first box, including VMM, shims and monitors"),
        Column::number("MiB disk", "files created only for the first box"),
    ];
    let row = |figures: &BoxFigures| {
        let (found, memory) = (figures.footprint.as_ref(), &figures.memory);
        // Where nothing was read the table has no such columns.
        let mebibytes =
            |bytes: Option<f64>| bytes.map_or(Cell::Blank, |bytes| Cell::Figure(bytes, Show::Mebibytes));
        let read = if memory.n == 0 {
            Cell::Blank
        } else {
            Cell::count(memory.n)
        };
        let own = [
            Cell::count(figures.shutdown.n),
            Cell::figure(figures.shutdown.median, Show::Unit(Unit::Second)),
            read,
            mebibytes(memory.median),
            mebibytes(memory.min),
            mebibytes(memory.max),
            found.map_or(Cell::Missing, |f| Cell::Count(f.processes.into())),
            Cell::mebibytes(found.map(|f| f.disk_bytes)),
        ];
        cells(kind(&figures.kind), own)
    };
    Table::new("footprint", 0, columns(kind_columns(), own)).with(boxes.iter().map(row))
}

fn limits(boxes: &[BoxFigures]) -> Table {
    let columns = vec![
        Column::name("kind of box"),
        Column::name("limits"),
        Column::number("CPUs", "granted"),
        Column::number("by host", "CPUs used, by the host's counters"),
        Column::number("by box", "CPUs used, by the box's clocks"),
        Column::number("MiB", "of memory granted"),
        Column::number("touched", "MiB that could be touched"),
        Column::number("refused", "MiB that could not"),
        Column::words("remarks"),
    ];
    let row = |proof: Proof| {
        let of = proof.readings.as_ref();
        let cores = |cores| Cell::figure(cores, Show::Decimals(2));
        let state = Cell::State(proof.state, shown_word(proof.proven));
        vec![
            proof.kind.into(),
            state,
            cores(of.map(|r| r.limit_cores)),
            cores(of.and_then(|r| r.host_cores)),
            cores(of.and_then(|r| r.box_cores)),
            Cell::mebibytes(of.map(|r| r.limit_bytes)),
            Cell::mebibytes(of.and_then(|r| r.touched_bytes)),
            Cell::mebibytes(of.and_then(|r| r.refused_bytes)),
            proof.remarks.into(),
        ]
    };
    Table::new("limits", 0, columns).with(boxes.iter().flat_map(proofs::of).map(row))
}
