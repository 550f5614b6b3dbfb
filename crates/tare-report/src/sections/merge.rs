//! Files of one study from several hosts, put together.

use super::{columns, kind, kind_columns, reading};
use crate::chart::Picture;
use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::show::{date, host_name, margin, or_missing};
use crate::words::notices::some_of;
use crate::words::{answer, facts, fleet, notices, verdict};
use std::collections::{BTreeMap, BTreeSet};
use tare_analysis::VerdictCounts;
use tare_analysis::merge::{Merged, MergedComparison, MergedFile, OfHost};
use tare_model::size::counted;

/// Hosts, what they say together, what each says, how to read it.
pub fn merge(merged: &Merged) -> Document {
    let sections = [
        Section::new(format!("Cost of each platform{}, over all hosts", against(merged)))
            .about("The host is a random factor: the interval is for the mean over hosts like these, and the next host is one that was not measured.")
            .table(costs(&merged.comparisons)),
        Section::new(fleet::title(merged))
            .picture(Picture::hosts(merged))
            .table(by_host(merged)),
        Section::new("The files").table(if fleet::is_fleet(merged) {
            machines(&merged.files)
        } else {
            files(&merged.files)
        }),
        reading(CAVEATS.map(str::to_owned).into()),
    ];
    Document {
        whole: None,
        title: "Results over several hosts".to_owned(),
        subtitle: format!(
            "{} of {}, margin {}",
            counted(merged.files.len(), "file"),
            counted(merged.hosts, "host"),
            margin(merged.margin)
        ),
        answer: answer(merged),
        notices: told(merged),
        sections: sections.into_iter().filter_map(Section::unless_empty).collect(),
    }
}

/// ` against native`.
fn against(merged: &Merged) -> String {
    let first = merged.comparisons.first();
    first.map_or_else(String::new, |of| {
        format!(" against {}", of.baseline.kind.platform)
    })
}

/// What all hosts say together, and which of them are odd.
fn answer(merged: &Merged) -> Vec<String> {
    let words = merged.comparisons.iter().map(|of| of.verdict.word);
    let mut odd: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for of in &merged.comparisons {
        for host in of.hosts.iter().filter(|host| host.is_odd()) {
            odd.entry(host.host).or_default().push(of.cell.to_string());
        }
    }
    let told = odd.iter().map(|(host, cells)| {
        let file = merged.files.iter().find(|file| file.host == *host);
        let name = file.map_or("", |file| file.name.as_str());
        format!(
            "{} ({name}) is unlike the others: {}",
            host_name(*host),
            some_of(cells)
        )
    });
    let costs = answer::decided(&VerdictCounts::of(words), "cost");
    let more = odd.len().saturating_sub(fleet::MOST_SHOWN);
    let more = (more > 0).then(|| format!("{more} more hosts are unlike the others"));
    let told = told.take(fleet::MOST_SHOWN).chain(more);
    std::iter::once(costs).chain(told).collect()
}

const CAVEATS: [&str; 5] = [
    "Each host gives one estimate per comparison: the mean loss in logs over its blocks, with its error. Files of one host are averaged first.",
    "The variance between hosts is Paule and Mandel's. The interval is Hartung and Knapp's with a factor of at least 1 (t with hosts less 1 degrees of freedom), or Sidik and Jonkman's, which needs no weights, if that is wider. The interval of the next host accounts for every variance between hosts that the data allow (after Nagashima, Noma and Furukawa). If a few hosts agree within their errors, both are wider than necessary.",
    "Verdicts are on the mean over hosts, with Holm's correction over all comparisons; they need at least three hosts. The next host may be far from the mean, as its interval shows.",
    "A host is unlike the others if its cost does not lie where the others say that the next host does, at its own error, with Holm's correction over all hosts and comparisons. It needs three others.",
    "Hosts are identified by a digest of the system's identity, which copies of one virtual machine may share, or by their boot if a file has none.",
];

fn told(merged: &Merged) -> Vec<String> {
    let copies = (merged.copies > 0).then(|| {
        format!(
            "{} given more than once, counted once",
            counted(merged.copies, "file")
        )
    });
    let untold = merged
        .hosts_untold
        .then(|| "some files do not record their host: each counts as a separate host".to_owned());
    // What holds of several files is told once.
    let mut own: Vec<(String, Vec<String>)> = Vec::new();
    for file in &merged.files {
        for text in notices::all(&file.notices) {
            match own.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(file.name.clone()),
                None => own.push((text, vec![file.name.clone()])),
            }
        }
    }
    let own = own
        .into_iter()
        .map(|(text, names)| format!("{}: {text}", some_of(&names)));
    copies.into_iter().chain(untold).chain(own).collect()
}

fn costs(comparisons: &[MergedComparison]) -> Table {
    let own = [
        Column::name("workload"),
        Column::name("metric"),
        Column::number("hosts", ""),
        Column::interval("cost", "mean over hosts, with its 95 % interval"),
        Column::name("verdict"),
        Column::interval(
            "next host",
            "95 % interval of the cost on a host that was not measured",
        ),
        Column::number("between", "standard deviation between hosts"),
        Column::number("p", "of no difference"),
        Column::number("Holm", "p with Holm's correction"),
        Column::words("remarks"),
    ];
    let row = |of: &MergedComparison| {
        let own = [
            of.cell.workload.as_str().into(),
            of.metric.name.as_str().into(),
            Cell::count(of.hosts.len()),
            Cell::interval(of.cost, Show::Ratio),
            Cell::Verdict(of.verdict.word),
            Cell::interval(of.next, Show::Ratio),
            Cell::figure(of.between.map(f64::exp_m1), Show::Percent),
            Cell::figure(of.p, Show::P),
            Cell::figure(of.p_holm, Show::P),
            verdict::of_hosts(&of.verdict).into(),
        ];
        super::cells(kind(&of.cell.kind), own)
    };
    Table::new("costs", 3, columns(kind_columns(), own)).with(comparisons.iter().map(row))
}

fn by_host(merged: &Merged) -> Table {
    let own = [
        Column::name("workload"),
        Column::name("metric"),
        Column::name("host"),
        Column::number("n", "blocks"),
        Column::interval("cost", "on this host, with its 95 % interval"),
        Column::words("remarks"),
    ];
    let mut table = Table::new("hosts", 5, columns(kind_columns(), own));
    for of in &merged.comparisons {
        for (host, remark) in fleet::shown(of) {
            table.push(of_host(of, host, remark));
        }
    }
    table
}

fn of_host(of: &MergedComparison, host: &OfHost, remark: String) -> Vec<Cell> {
    let own = [
        of.cell.workload.as_str().into(),
        of.metric.name.as_str().into(),
        host_name(host.host).into(),
        Cell::count(host.n),
        Cell::interval(host.cost, Show::Ratio),
        remark.into(),
    ];
    super::cells(kind(&of.cell.kind), own)
}

fn files(files: &[MergedFile]) -> Table {
    let columns = vec![
        Column::name("host"),
        Column::name("started"),
        Column::number("blocks", ""),
        Column::words("file"),
        Column::words("machine"),
        Column::words("tare"),
    ];
    let row = |file: &MergedFile| {
        let started = or_missing(file.run.sessions.first(), |s| date(s.started_unix_ns));
        vec![
            host_name(file.host).into(),
            started.into(),
            Cell::count(file.run.blocks),
            file.name.as_str().into(),
            file.machine.as_str().into(),
            facts::programs(&file.tare, &file.build, file.agent.as_deref()).into(),
        ]
    };
    Table::new("files", 0, columns).with(files.iter().map(row))
}

/// The files of many hosts, by machine and program.
fn machines(files: &[MergedFile]) -> Table {
    let columns = vec![
        Column::number("hosts", ""),
        Column::number("files", ""),
        Column::number("blocks", "in all files"),
        Column::words("machine"),
        Column::words("tare"),
    ];
    let mut kinds: BTreeMap<(&str, String), Vec<&MergedFile>> = BTreeMap::new();
    for file in files {
        let program = facts::programs(&file.tare, &file.build, file.agent.as_deref());
        kinds.entry((&file.machine, program)).or_default().push(file);
    }
    let row = |((machine, program), files): ((&str, String), Vec<&MergedFile>)| {
        let hosts: BTreeSet<usize> = files.iter().map(|file| file.host).collect();
        vec![
            Cell::count(hosts.len()),
            Cell::count(files.len()),
            Cell::count(files.iter().map(|file| file.run.blocks).sum()),
            machine.into(),
            program.into(),
        ]
    };
    Table::new("machines", 0, columns).with(kinds.into_iter().map(row))
}
