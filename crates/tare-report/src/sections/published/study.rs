//! One study whole; one workload over all studies.

use super::{document, printed};
use crate::document::{Cell, Column, Document, Section, Table};
use std::collections::BTreeSet;
use tare_published::{Contradiction, Library, Protocol, Published, Row, Spread, WorkloadView};

type Fact = (String, String);

/// A study: what was run, how, the figures, and what is said of them.
pub fn study(library: &Library, study: &Published) -> Document {
    let mut sections = vec![Section::new("The study").facts(about(study))];
    let protocols = study.protocols.iter().flat_map(protocol).collect();
    sections.push(Section::new("How it was run").facts(protocols));
    sections.extend(study.tables.iter().map(table));
    let claims = |checkable: bool| {
        let claims = study.claims.iter().filter(move |c| c.checkable == checkable);
        claims.map(|c| c.text.clone()).collect()
    };
    let checked = format!(
        "Claims that follow from the tables (tare published check {})",
        study.study.id
    );
    sections.extend([
        Section::new(checked).list(claims(true)),
        Section::new("Claims that cannot be checked here").list(claims(false)),
        Section::new("Errata").list(study.errata.iter().map(|e| e.text.clone()).collect()),
        Section::new("Where studies differ").list(contradictions(library, &study.study.id)),
        Section::new("Definitions").facts(study.definitions.clone().into_iter().collect()),
    ]);
    let title = format!("{} ({})", study.study.title, study.study.year);
    document(
        title,
        sections.into_iter().filter_map(Section::unless_empty).collect(),
    )
}

/// What all studies say of a workload.
pub fn workload(view: &WorkloadView<'_>) -> Document {
    let differing = view
        .contradictions
        .iter()
        .map(|d| differing(d.study, d.contradiction));
    let mut sections = vec![Section::new("Where studies differ").list(differing.collect())];
    for part in &view.studies {
        let says = part.claims.iter().map(|claim| {
            let mark = if claim.checkable { "" } else { " (not checkable)" };
            format!("{}{mark}", claim.text)
        });
        sections.push(
            Section::new(part.id)
                .facts(part.protocols.iter().flat_map(|p| protocol(p)).collect())
                .list(says.collect()),
        );
        sections.extend(part.tables.iter().map(|printed| table(printed)));
    }
    let title = format!("{}: what the studies say", view.families.join(", "));
    document(
        title,
        sections.into_iter().filter_map(Section::unless_empty).collect(),
    )
}

fn about(published: &Published) -> Vec<Fact> {
    let about = &published.study;
    let mut facts: Vec<Fact> = Vec::new();
    let mut add = |name: &str, text: Option<&str>| {
        let text = text.filter(|text| !text.is_empty());
        facts.extend(text.map(|text| (name.to_owned(), text.to_owned())));
    };
    add("authors", Some(&about.authors));
    add("venue", Some(&about.venue));
    add("doi", about.doi.as_deref());
    add("host", Some(&about.host));
    add("baseline", Some(&about.baseline));
    add(
        "repetitions",
        about.repetitions.as_ref().map(ToString::to_string).as_deref(),
    );
    add("duration", about.duration.as_deref());
    for platform in &about.platforms {
        add("platform", Some(&platform_words(platform)));
    }
    for way in &about.provisioning {
        add("provisioning", Some(&format!("{}: {}", way.id, way.how)));
    }
    for (name, map) in [("limits", &about.limits), ("cluster", &about.cluster)] {
        let text: Vec<String> = map.iter().map(|(key, value)| format!("{key} {value}")).collect();
        add(name, Some(&text.join(", ")));
    }
    for size in &published.instance_types {
        add(
            "size",
            Some(&format!(
                "{}: {} CPUs, {} GB",
                size.name, size.cores, size.memory_gb
            )),
        );
    }
    add("method", about.methodology.as_deref());
    for question in &about.questions {
        add("question", Some(question));
    }
    add(
        "margin",
        about.margin_percent.map(|m| format!("{m} %")).as_deref(),
    );
    add(
        "taken from",
        Some(
            about
                .source_kind
                .as_deref()
                .unwrap_or("the study's text and tables"),
        ),
    );
    add("which is at", about.seen_in.as_deref());
    add("trust", about.trust.as_deref());
    add("left out", about.left_out.as_deref());
    facts
}

fn platform_words(platform: &tare_published::Platform) -> String {
    let parts = [
        &platform.abbreviation,
        &platform.version,
        &platform.image,
        &platform.storage,
        &platform.network,
        &platform.note,
    ];
    let parts = parts.into_iter().filter_map(Option::as_deref);
    let parts: Vec<&str> = std::iter::once(platform.kind.as_str()).chain(parts).collect();
    format!("{}: {}", platform.id, parts.join(", "))
}

fn protocol(protocol: &Protocol) -> Vec<Fact> {
    let version = protocol.version.as_ref().map(|v| format!(" {v}"));
    let name = format!("{}{}", protocol.workload, version.unwrap_or_default());
    let mut facts = vec![(name, protocol.settings.clone())];
    facts.extend(protocol.factors.iter().map(|(factor, levels)| {
        let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
        (factor.clone(), levels.join(", "))
    }));
    facts.extend(
        protocol
            .design
            .iter()
            .map(|design| ("design".to_owned(), design.clone())),
    );
    facts
}

/// Contradictions in which a study is either side.
fn contradictions(library: &Library, id: &str) -> Vec<String> {
    let all = library.studies.iter().flat_map(|s| {
        let concerned = move |c: &&Contradiction| s.study.id == id || c.with_study == id;
        s.contradictions
            .iter()
            .filter(concerned)
            .map(|c| differing(&s.study.id, c))
    });
    all.collect()
}

fn differing(study: &str, other: &Contradiction) -> String {
    format!("{study} and {}: {}", other.with_study, other.text)
}

/// A table of the study: platform, metric, levels, figures.
fn table(printed: &tare_published::Table) -> Section {
    let spread = match printed.spread {
        Spread::Runs => None,
        Spread::Population => Some("sd: over n, not n - 1"),
        Spread::Requests => Some("sd: over the requests of one run"),
    };
    let mut section = Section::new(format!(
        "{}, {} ({} is better)",
        printed.workload,
        printed.unit,
        printed.direction.name()
    ));
    for note in [printed.note.as_deref(), spread].into_iter().flatten() {
        section = section.about(note);
    }
    let places: Vec<String> = places(printed)
        .iter()
        .map(|place| format!("from {place}"))
        .collect();
    section.table(figures(printed)).list(places)
}

fn figures(of: &tare_published::Table) -> Table {
    let levels: BTreeSet<&String> = of.rows.iter().flat_map(|r| r.levels.keys()).collect();
    let figures: BTreeSet<&String> = of.rows.iter().flat_map(|r| r.figures.keys()).collect();
    // The mean first, the number of runs last; the others by name.
    let mut figures: Vec<&String> = figures.into_iter().collect();
    figures.sort_by_key(|name| match name.as_str() {
        "mean" => (0, *name),
        "n" => (2, *name),
        _ => (1, *name),
    });
    let dynamic = |column: Column, name: &&String| column.named((*name).clone());
    let mut columns: Vec<Column> = ["platform", "metric"].map(Column::name).into();
    columns.extend(levels.iter().map(|name| dynamic(Column::name(""), name)));
    columns.extend(figures.iter().map(|name| dynamic(Column::number("", ""), name)));
    columns.extend([Column::name("unit"), Column::words("runs")]);
    let row = |row: &Row| {
        let mut cells: Vec<Cell> = vec![row.platform.as_str().into(), row.metric.as_str().into()];
        cells.extend(
            levels
                .iter()
                .map(|name| row.levels.get(*name).map_or(Cell::Missing, |l| l.as_str().into())),
        );
        cells.extend(figures.iter().map(|name| super::printed(row.figure(name))));
        cells.push(row.unit.as_ref().map_or(Cell::Blank, |unit| unit.as_str().into()));
        cells.push(runs(&row.runs));
        cells
    };
    Table::new("published", 0, columns).with(of.rows.iter().map(row))
}

fn runs(runs: &[f64]) -> Cell {
    if runs.is_empty() {
        return Cell::Blank;
    }
    let runs: Vec<String> = runs.iter().map(|run| printed(Some(*run)).shown()).collect();
    format!("runs: {}", runs.join(", ")).into()
}

/// Where rows were seen, each place once.
fn places(table: &tare_published::Table) -> Vec<&str> {
    let rows = table.rows.iter().filter_map(|r| r.seen_in.as_deref());
    let mut seen: Vec<&str> = Vec::new();
    for place in table.source.as_deref().into_iter().chain(rows) {
        if !place.starts_with("same") && !seen.contains(&place) {
            seen.push(place);
        }
    }
    seen
}
