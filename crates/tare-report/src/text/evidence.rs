//! Reasons to believe the figures, or to doubt them.

use super::page::{Page, Style};
use crate::analysis::{Analysis, BoxFigures};
use crate::facts::{self, Fact};
use crate::show::or_missing;
use tare_model::metric::Unit;

pub(super) fn write(page: &mut Page, analysis: &Analysis) {
    startup(page, analysis);
    footprint(page, analysis);
    limits(page, analysis);
    page.heading("Every kind of box from inside");
    list(
        page,
        &analysis.boxes.iter().map(facts::inside).collect::<Vec<_>>(),
    );
    page.heading("Platforms");
    list(
        page,
        &analysis.platforms.iter().map(facts::platform).collect::<Vec<_>>(),
    );
    page.heading("Study");
    list(page, &facts::study(analysis));
    page.heading("Run");
    list(page, &facts::run(analysis));
    page.heading("Host");
    list(page, &facts::host(analysis));
    page.heading("How to read this");
    for caveat in &analysis.caveats {
        page.wrapped("  -", 4, Style::Plain, caveat);
    }
}

fn list(page: &mut Page, list: &[Fact]) {
    for (name, value) in list {
        page.wrapped(&format!("  {name}: "), 6, Style::Plain, value);
    }
}

fn startup(page: &mut Page, analysis: &Analysis) {
    page.heading("Start-up latency (from the request to the agent's hello)");
    let head = format!(
        "  {:<26}{:>5}  {:<12}{:<12}{:<12}{}",
        "kind of box", "n", "mean", "sd", "min", "median"
    );
    page.line(&[(Style::Dim, &head)]);
    for figures in &analysis.boxes {
        let name = page.name(&figures.kind.to_string(), 26);
        page.line(&[(Style::Plain, &startup_row(&name, figures))]);
    }
}

fn startup_row(name: &str, figures: &BoxFigures) -> String {
    let startup = &figures.startup;
    let show = |value| or_missing(value, |v| Unit::Second.show(v));
    format!(
        "  {name:<26}{:>5}  {:<12}{:<12}{:<12}{}",
        startup.n,
        show(startup.mean),
        show(startup.sd),
        show(startup.min),
        show(startup.median)
    )
}

fn footprint(page: &mut Page, analysis: &Analysis) {
    page.heading("What a box costs besides speed: its removal, and what an idle one occupies");
    let head = footprint_row("kind of box", &facts::FOOTPRINT.map(str::to_owned));
    page.line(&[(Style::Dim, &head)]);
    for figures in &analysis.boxes {
        let name = page.name(&figures.kind.to_string(), 26);
        page.line(&[(Style::Plain, &footprint_row(&name, &facts::footprint(figures)))]);
    }
}

fn footprint_row(name: &str, [n, seconds, processes, memory, disk]: &[String; 5]) -> String {
    format!("  {name:<26}{n:>5}  {seconds:<12}{processes:>9}{memory:>12}{disk:>10}")
}

fn limits(page: &mut Page, analysis: &Analysis) {
    page.heading("Limits of every kind of box: granted and measured");
    let head = limits_row("kind of box", "limits", &facts::READINGS.map(str::to_owned));
    page.line(&[(Style::Dim, &head)]);
    for proof in analysis.boxes.iter().flat_map(facts::proofs) {
        let name = page.name(&proof.kind, 17);
        let row = limits_row(&name, proof.state, &proof.readings);
        let style = if proof.proven { Style::Plain } else { Style::Red };
        page.line(&[(style, &row)]);
        if !proof.remarks.is_empty() {
            page.wrapped("", 6, style, &proof.remarks);
        }
    }
}

fn limits_row(kind: &str, state: &str, readings: &[String; 6]) -> String {
    let [cpus, host, inside, memory, touched, refused] = readings;
    format!("  {kind:<17}{state:<11}{cpus:>7}{host:>8}{inside:>8}{memory:>9}{touched:>9}{refused:>9}")
}
