//! Costs over many results files.

use super::{columns, kind, kind_columns, reading};
use crate::chart::Picture;
use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::show::date;
use crate::words::{facts, notices};
use tare_analysis::trend::{Changed, Point, Series, Trend, TrendFile};
use tare_model::digits::digits;
use tare_model::size::counted;
use tare_stats::{CHANGE_LEVEL, FEWEST_AROUND_CHANGE, FEWEST_FOR_CHANGE};

/// Where costs changed, how they went, the files.
pub fn trend(trend: &Trend) -> Document {
    let sections = [
        Section::new("Where costs changed")
            .picture(Picture::trend(trend))
            .table(changes(trend))
            .list(unchanged(trend))
            .list(trend.drifting().map(|(series, r)| drifting(series, r)).collect()),
        Section::new("Newest and oldest cost").table(ends(trend)),
        Section::detail("Every run").table(points(trend)),
        Section::detail("The files").table(files(&trend.files)),
        reading(vec![
            format!("A change is reported if the runs before and after it differ more than in all but {} % of random orders (E-divisive, Matteson and James 2014), with at least {FEWEST_AROUND_CHANGE} runs on either side and {FEWEST_FOR_CHANGE} in total.", CHANGE_LEVEL * 100.0),
            "A difference that neighbouring runs explain, because each resembles the one before it, is a drift and not a change.".to_owned(),
            "Each series is judged separately: at most one in a hundred without a change shows one if its runs are independent, one in five if it drifts strongly.".to_owned(),
            "Only costs over the baseline of the same run are compared, for the same work and box size: anything that slows box and baseline equally is not a change.".to_owned(),
        ]),
    ];
    Document {
        whole: None,
        title: "Costs over time".to_owned(),
        subtitle: counted(trend.files.len(), "file"),
        answer: Vec::new(),
        notices: notices::all(&trend.notices)
            .into_iter()
            .chain(copies(trend))
            .collect(),
        sections: sections.into_iter().filter_map(Section::unless_empty).collect(),
    }
}

fn copies(trend: &Trend) -> Option<String> {
    let words = format!(
        "ignored: {} of runs that another file also has",
        counted(trend.copies, "file")
    );
    (trend.copies > 0).then_some(words)
}

fn unchanged(trend: &Trend) -> Vec<String> {
    let of = counted(trend.series.len(), "cost");
    let still = trend
        .series
        .iter()
        .filter(|s| s.changes.is_empty() && s.drift.is_none());
    let (told, short): (Vec<&Series>, Vec<&Series>) =
        still.partition(|s| s.points.len() >= FEWEST_FOR_CHANGE);
    let words = [
        (told.len(), format!("no change found in {} of {of}", told.len())),
        (
            short.len(),
            format!(
                "{} of {of} have fewer than {FEWEST_FOR_CHANGE} runs, too few to find a change",
                short.len(),
            ),
        ),
    ];
    words
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(_, words)| words)
        .collect()
}

fn drifting(series: &Series, correlation: f64) -> String {
    format!(
        "{} drifts: each run resembles the one before it (correlation {}), and no step stands out from that{}",
        series.cell,
        digits(correlation, 2),
        if series.changes.is_empty() {
            ""
        } else {
            " but those in the table"
        },
    )
}

fn with_workload<const N: usize>(own: [Column; N]) -> Vec<Column> {
    let keys = columns(kind_columns(), [Column::name("workload")]);
    keys.into_iter().chain(own).collect()
}

fn of<const N: usize>(series: &Series, own: [Cell; N]) -> Vec<Cell> {
    let keys = super::cells(kind(&series.cell.kind), [series.cell.workload.as_str().into()]);
    keys.into_iter().chain(own).collect()
}

fn changes(trend: &Trend) -> Table {
    let own = [
        Column::name("since"),
        Column::number("before", "cost since the change before"),
        Column::number("after", "cost until the next change"),
        Column::number("change", "after over before"),
        Column::number("p", "share of random orders that look as much like a change"),
        Column::words("file"),
    ];
    let mut table = Table::new("changes", 0, with_workload(own));
    for series in &trend.series {
        for change in &series.changes {
            table.push(of(series, changed(trend, series, change)));
        }
    }
    table
}

fn changed(trend: &Trend, series: &Series, change: &Changed) -> [Cell; 6] {
    let file = series.points.get(change.at).and_then(|p| trend.files.get(p.file));
    [
        file.map_or(Cell::Missing, |f| date(f.started_unix_ns).into()),
        Cell::Figure(change.before, Show::Ratio),
        Cell::Figure(change.after, Show::Ratio),
        Cell::Figure(change.ratio(), Show::Ratio),
        Cell::Figure(change.p, Show::P),
        file.map_or(Cell::Missing, |f| f.name.as_str().into()),
    ]
}

fn ends(trend: &Trend) -> Table {
    let own = [
        Column::number("runs", ""),
        Column::interval("oldest", "cost over the baseline"),
        Column::interval("newest", "cost over the baseline"),
    ];
    let cost = |point: Option<&Point>| Cell::interval(point.map(|p| p.cost), Show::Ratio);
    let row = |series: &Series| {
        let own = [
            Cell::count(series.points.len()),
            cost(series.points.first()),
            cost(series.points.last()),
        ];
        of(series, own)
    };
    Table::new("ends", 3, with_workload(own)).with(trend.series.iter().map(row))
}

fn points(trend: &Trend) -> Table {
    let own = [
        Column::name("started"),
        Column::number("n", "blocks"),
        Column::interval("cost", "over the baseline"),
        Column::words("file"),
    ];
    let mut table = Table::new("runs", 4, with_workload(own));
    for series in &trend.series {
        for point in &series.points {
            let file = &trend.files[point.file];
            let own = [
                date(file.started_unix_ns).into(),
                Cell::count(point.n),
                Cell::Interval(point.cost, Show::Ratio),
                file.name.as_str().into(),
            ];
            table.push(of(series, own));
        }
    }
    table
}

fn files(files: &[TrendFile]) -> Table {
    let columns = vec![
        Column::name("started"),
        Column::words("file"),
        Column::words("tare"),
    ];
    let row = |file: &TrendFile| {
        vec![
            date(file.started_unix_ns).into(),
            file.name.as_str().into(),
            facts::programs(&file.tare, &file.build, file.agent.as_deref()).into(),
        ]
    };
    Table::new("files", 0, columns).with(files.iter().map(row))
}
