//! What gaps consist of: the mechanisms of each platform with their shares.

use super::{causes, kind, kind_columns};
use crate::chart::Picture;
use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::words::{course, notices, why as words};
use tare_analysis::why::{Gap, Why};
use tare_analysis::{Analysis, Estimate, Evidence, InKernel};

/// The answer, what adds how much, what the kernel shows, and the cells by which that is told.
pub fn why(analysis: &Analysis, why: &Why) -> Document {
    let of_gap = |gap: &Gap| analysis.evidence_between(&gap.cell, &gap.baseline);
    let evidence: Vec<Evidence> = why.gaps.iter().filter_map(of_gap).collect();
    let mut sections = vec![shares(Section::new, &why.gaps)];
    sections.extend(causes::sections(&evidence));
    sections.extend(behind(&why.gaps));
    sections.push(Section::detail("How to read this").list(CAVEATS.map(str::to_owned).into()));
    Document {
        whole: None,
        title: "What does the cost consist of?".to_owned(),
        subtitle: format!(
            "{} · {}",
            course::ran(&analysis.study, &analysis.run),
            course::host(analysis)
        ),
        answer: words::answer(why),
        notices: notices::all(&analysis.notices),
        sections: sections.into_iter().filter_map(Section::unless_empty).collect(),
    }
}

/// The same in a report, of gaps whose options were switched.
pub(super) fn in_report(analysis: &Analysis) -> Vec<Section> {
    let designed: Vec<Gap> = analysis
        .gaps
        .iter()
        .filter(|gap| gap.has_options())
        .cloned()
        .collect();
    if designed.is_empty() {
        return Vec::new();
    }
    let how = designed.iter().map(words::sentence).collect();
    vec![shares(Section::detail, &designed).list(how)]
}

fn shares(section: fn(&'static str) -> Section, gaps: &[Gap]) -> Section {
    section("What adds how much")
        .about("What a mechanism adds is the mean over all orders of switching mechanisms on; what is left without any of them is the rest.")
        .picture(Picture::waterfall(gaps))
        .table(parts(gaps))
}

fn behind(gaps: &[Gap]) -> [Section; 2] {
    [
        Section::detail("Two together")
            .about("What two mechanisms add together beyond the sum of each.")
            .table(interactions(gaps)),
        Section::detail("Each cell")
            .about("The platform without some of its mechanisms, over the baseline, in the blocks that have all of these.")
            .table(cells(gaps)),
    ]
}

const CAVEATS: [&str; 5] = [
    "All is in percent of what the baseline costs, and adds up: mechanisms and rest are the gap. Intervals are 95 % by Student's t over blocks.",
    "A share is a part over the gap, with the interval of Fieller's theorem. There are none where the report has no verdict, or where the gap itself is not shown. Shares may be negative, and over 100 % where another mechanism makes up for them.",
    "The answer names mechanisms whose p value of adding nothing is under 5 % after Holm's correction for all mechanisms of the gap: a share whose interval just excludes 0 may be noise.",
    "In the kernel: what probes saw of functions and waits of this mechanism alone, in percent of the baseline's time, with two standard errors of its samples; waits have none. It agrees with what was measured within a fifth, or within what both leave open. It may see only a part: what a mechanism makes others do is not in it.",
    "With over three mechanisms not all combinations are measured: it is then supposed that no three of them act together.",
];

fn columns() -> Vec<Column> {
    let mut columns = vec![Column::name("workload")];
    columns.extend(kind_columns());
    columns.push(Column::name("against"));
    columns
}

fn names(gap: &Gap) -> Vec<Cell> {
    let mut row = vec![gap.cell.workload.as_str().into()];
    row.extend(kind(&gap.cell.kind));
    row.push(gap.baseline.kind.to_string().into());
    row
}

fn parts(gaps: &[Gap]) -> Table {
    let mut all = columns();
    all.extend([
        Column::name("part"),
        Column::name("switched off by"),
        Column::interval("adds", "in percent of the baseline's cost"),
        Column::interval("share", "of the gap"),
        Column::number("in the kernel", "in percent of the baseline's time"),
        Column::name("agreement"),
    ]);
    let mut table = Table::new("parts", 5, all);
    for gap in gaps {
        let row = |part: &str, off_by: &str, adds: Option<Estimate>, share: Option<Estimate>| {
            let mut row = names(gap);
            row.extend([
                part.into(),
                off_by.into(),
                Cell::interval(adds, Show::Percent),
                Cell::interval(share, Show::Percent),
            ]);
            row
        };
        for part in &gap.parts {
            let (adds, share) = (part.amount.map(|of| of.adds), part.amount.and_then(|of| of.share));
            let mut row = row(part.mechanism, &part.off_by.to_string(), adds, share);
            row.push(part.in_kernel.map_or(Cell::Blank, in_kernel));
            row.push(
                part.agreement
                    .map_or(Cell::Blank, |agreement| agreement.name().into()),
            );
            table.push(row);
        }
        let rest = (gap.rest.map(|of| of.adds), gap.rest.and_then(|of| of.share));
        for (part, (adds, share)) in [("rest", rest), ("all", (gap.gap, None))] {
            let mut row = row(part, "", adds, share);
            row.extend([Cell::Blank, Cell::Blank]);
            table.push(row);
        }
    }
    table
}

fn in_kernel(seen: InKernel) -> Cell {
    Cell::Worded(vec![seen.adds], words::in_kernel(seen))
}

fn interactions(gaps: &[Gap]) -> Table {
    let mut all = columns();
    all.extend([
        Column::name("one"),
        Column::name("other"),
        Column::interval("add together", "in percent of the baseline's cost"),
    ]);
    let mut table = Table::new("interactions", 5, all);
    for gap in gaps {
        for of in &gap.interactions {
            let [one, other] = of.mechanisms;
            let mut row = names(gap);
            row.extend([one.into(), other.into(), Cell::Interval(of.adds, Show::Percent)]);
            table.push(row);
        }
    }
    table
}

fn cells(gaps: &[Gap]) -> Table {
    let mut all = columns();
    all.extend([
        Column::name("cell"),
        Column::number("n", "blocks"),
        Column::interval("cost", "over the baseline's"),
    ]);
    let mut table = Table::new("cells", 5, all);
    for gap in gaps {
        for of in &gap.cells {
            let mut row = names(gap);
            row.extend([
                format!("{} {}", of.platform, of.provisioning).into(),
                Cell::count(gap.blocks),
                Cell::interval(of.gap.map(words::ratio_of), Show::Ratio),
            ]);
            table.push(row);
        }
    }
    table
}
