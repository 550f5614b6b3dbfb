//! The analysis as one self-contained page: no script, no network, light and dark.
//!
//! Every value passes through askama's escaping; no template marks one as safe.

mod effects;
mod hosts;
mod latencies;
mod scores;
mod sizes;
mod slices;
mod stops;
mod tables;

use crate::analysis::{Against, Analysis, Comparison, MetricComparison, Notice, Summary, Word};
use crate::chart::{Chart, chart};
use crate::facts::{self, Fact};
use crate::remarks;
use crate::show::{change_interval, clean, cost_change, date, or_missing};
use askama::Template;
use tables::Table;
use tare_model::size::counted;
use tare_model::study::Instance;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    subtitle: String,
    notices: &'a [Notice],
    glance: Glance,
    sentences: Vec<Sentence>,
    comparisons: Vec<Section>,
    stops: Option<stops::Stops>,
    latencies: Option<latencies::Latencies>,
    layers: Table,
    effects: Vec<effects::Effect>,
    hosts: Option<hosts::Hosts>,
    sizes: sizes::Sizes<'a>,
    slices: Table,
    beside: Table,
    scores: scores::Scores,
    cells: Table,
    startup: Table,
    footprint: Table,
    limits: Table,
    evidence: Vec<Facts>,
    caveats: &'a [String],
    schema: &'a str,
}

/// Kinds of box against workloads.
struct Glance {
    workloads: Vec<String>,
    rows: Vec<GlanceRow>,
}

struct GlanceRow {
    title: String,
    manner: String,
    cells: Vec<GlanceCell>,
}

struct GlanceCell {
    cost: String,
    interval: String,
    class: &'static str,
    verdict: String,
}

struct Sentence {
    lead: String,
    parts: Vec<String>,
}

/// One baseline: its chart and its table.
struct Section {
    title: String,
    about: String,
    chart: Option<Chart>,
    table: Table,
}

struct Facts {
    title: &'static str,
    facts: Vec<Fact>,
}

/// The page.
///
/// # Errors
/// None that an analysis can cause: the template writes to memory.
pub fn render(analysis: &Analysis) -> Result<String, askama::Error> {
    let template = analysis.study.template.as_ref();
    let page = Page {
        title: template.map_or("What does the box cost?", |t| &t.title),
        subtitle: subtitle(analysis),
        notices: &analysis.notices,
        glance: glance(analysis),
        sentences: sentences(analysis),
        comparisons: [Against::Native, Against::NativeSet]
            .into_iter()
            .filter_map(|against| section(analysis, against))
            .collect(),
        stops: stops::section(analysis),
        latencies: latencies::section(analysis),
        layers: tables::layers(analysis),
        effects: effects::sections(analysis),
        hosts: hosts::section(analysis),
        sizes: sizes::section(analysis),
        slices: slices::table(analysis),
        beside: tables::beside(analysis),
        scores: scores::section(analysis),
        cells: tables::cells(analysis),
        startup: tables::startup(analysis),
        footprint: tables::footprint(analysis),
        limits: tables::limits(analysis),
        evidence: evidence(analysis),
        caveats: &analysis.caveats,
        schema: analysis.schema,
    };
    Ok(printable(&page.render()?))
}

/// Control characters that came from the file, spelled out. The template's own
/// line ends stay; a line end within a value can do no harm in a page. No sign
/// for percent is torn from its number.
fn printable(page: &str) -> String {
    let lines = page.lines().map(|line| clean(line).replace(" %", "\u{a0}%"));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn subtitle(analysis: &Analysis) -> String {
    let study = &analysis.study;
    let platforms: Vec<String> = study.platforms.iter().map(ToString::to_string).collect();
    let sizes: Vec<String> = study.instances.iter().map(Instance::show).collect();
    let when = analysis.run.sessions.first().map(|s| date(s.started_unix_ns));
    format!(
        "{} · {} · {} of {} · {}",
        platforms.join(", "),
        sizes.join(", "),
        analysis.run.blocks,
        counted(analysis.run.blocks_planned, "block"),
        or_missing(when, |w| w)
    )
}

fn glance(analysis: &Analysis) -> Glance {
    let mut workloads: Vec<String> = Vec::new();
    for cell in &analysis.cells {
        if !workloads.contains(&cell.cell.workload) {
            workloads.push(cell.cell.workload.clone());
        }
    }
    let rows = analysis.summaries.iter().map(|summary| GlanceRow {
        title: summary.subject.clone(),
        manner: summary.manner.clone(),
        cells: workloads
            .iter()
            .map(|workload| {
                let found = analysis.comparisons.iter().find(|c| {
                    c.cell.kind == summary.kind
                        && c.against == summary.against
                        && c.cell.workload == *workload
                });
                glance_cell(found)
            })
            .collect(),
    });
    Glance {
        rows: rows.collect(),
        workloads,
    }
}

fn glance_cell(comparison: Option<&Comparison>) -> GlanceCell {
    let metric = comparison.and_then(Comparison::primary);
    let word = metric
        .and_then(|m| m.verdict.as_ref())
        .map_or(Word::None, |v| v.word);
    let n = metric.map_or(0, |m| m.n);
    GlanceCell {
        cost: or_missing(metric.and_then(MetricComparison::cost), cost_change),
        interval: or_missing(metric, |m| {
            remarks::interval_of(m, |e| {
                format!("{}, n = {n}", change_interval(e.value, e.low, e.high))
            })
        }),
        class: word.name(),
        verdict: word.to_string(),
    }
}

fn sentences(analysis: &Analysis) -> Vec<Sentence> {
    let sentence = |summary: &Summary| Sentence {
        lead: summary.lead(),
        parts: summary.parts(),
    };
    analysis.summaries.iter().map(sentence).collect()
}

fn section(analysis: &Analysis, against: Against) -> Option<Section> {
    let shown: Vec<&Comparison> = analysis
        .comparisons
        .iter()
        .filter(|c| c.against == against)
        .collect();
    let baseline = &analysis.study.baseline;
    let (title, about) = match against {
        Against::Native => (
            format!("Against {baseline}, same provisioning"),
            format!(
                "What the platform costs: each cell over {baseline} under the same mechanism of limiting."
            ),
        ),
        Against::NativeSet => (
            format!("Against {baseline}-set"),
            format!(
                "What buying the size costs: each vanilla cell over {baseline} with as many pinned CPUs and no quota. {baseline} vanilla itself is the price of the quota."
            ),
        ),
    };
    (!shown.is_empty()).then(|| Section {
        chart: chart(&title, &shown, analysis.study.protocol.margin),
        table: tables::headline(analysis, &shown),
        title,
        about: about + &looks(analysis),
    })
}

/// What the intervals of a study with looks are called.
fn looks(analysis: &Analysis) -> String {
    if analysis.study.protocol.stopping.is_fixed() {
        String::new()
    } else {
        format!(" Intervals: {}.", analysis.intervals)
    }
}

fn evidence(analysis: &Analysis) -> Vec<Facts> {
    let findings = analysis
        .findings
        .iter()
        .map(|f| (f.share(), f.meaning.to_owned()))
        .collect::<Vec<_>>();
    let sections = [
        ("Findings", findings),
        (
            "Every kind of box from inside",
            analysis.boxes.iter().map(facts::inside).collect(),
        ),
        (
            "Platforms",
            analysis.platforms.iter().map(facts::platform).collect(),
        ),
        ("Study", facts::study(analysis)),
        ("Run", facts::run(analysis)),
        ("Host", facts::host(analysis)),
    ];
    sections
        .into_iter()
        .map(|(title, facts)| Facts { title, facts })
        .collect()
}
