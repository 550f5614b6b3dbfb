//! One study whole; one workload over all studies.

use super::super::{Library, Protocol, Published, WorkloadView};
use super::{INDENT, bullets, labelled, table};
use crate::text::TextOptions;
use crate::text::page::{Page, Style};

/// A study: what was run, how, the figures, and what is said of them.
pub fn study(library: &Library, study: &Published, options: TextOptions) -> String {
    let mut page = Page::new(options);
    about(&mut page, study);
    for (i, protocol) in study.protocols.iter().enumerate() {
        if i == 0 {
            page.heading("How it was run");
        }
        write_protocol(&mut page, protocol);
    }
    for printed in &study.tables {
        page.blank();
        table::write(&mut page, printed);
    }
    let claims = |checkable: bool| {
        let claims = study.claims.iter().filter(move |c| c.checkable == checkable);
        claims.map(|c| c.text.as_str())
    };
    let checked = format!(
        "Claims that follow from the tables (tare published check {})",
        study.study.id
    );
    bullets(&mut page, &checked, claims(true));
    bullets(&mut page, "Claims that cannot be checked here", claims(false));
    bullets(&mut page, "Errata", study.errata.iter().map(|e| e.text.as_str()));
    let differing = contradictions(library, &study.study.id);
    bullets(
        &mut page,
        "Where studies differ",
        differing.iter().map(String::as_str),
    );
    let definitions = study.definitions.iter();
    let definitions: Vec<String> = definitions
        .map(|(name, what)| format!("{name}: {what}"))
        .collect();
    bullets(&mut page, "Definitions", definitions.iter().map(String::as_str));
    page.finish()
}

fn about(page: &mut Page, published: &Published) {
    let about = &published.study;
    page.wrapped("", 0, Style::Bold, &format!("{} ({})", about.title, about.year));
    labelled(page, "authors", Some(&about.authors));
    labelled(page, "venue", Some(&about.venue));
    labelled(page, "doi", about.doi.as_deref());
    labelled(page, "host", Some(&about.host));
    labelled(page, "baseline", Some(&about.baseline));
    let repetitions = about.repetitions.as_ref().map(ToString::to_string);
    labelled(page, "repetitions", repetitions.as_deref());
    labelled(page, "duration", about.duration.as_deref());
    for platform in &about.platforms {
        let parts = [&platform.abbreviation, &platform.version, &platform.image];
        let parts = parts
            .into_iter()
            .chain([&platform.storage, &platform.network, &platform.note]);
        let parts = std::iter::once(platform.kind.as_str()).chain(parts.filter_map(Option::as_deref));
        let text = format!("{}: {}", platform.id, parts.collect::<Vec<_>>().join(", "));
        labelled(page, "platform", Some(&text));
    }
    for way in &about.provisioning {
        labelled(page, "provisioning", Some(&format!("{}: {}", way.id, way.how)));
    }
    for (label, map) in [("limits", &about.limits), ("cluster", &about.cluster)] {
        let text: Vec<String> = map.iter().map(|(key, value)| format!("{key} {value}")).collect();
        labelled(
            page,
            label,
            Some(text.join(", ").as_str()).filter(|t| !t.is_empty()),
        );
    }
    for size in &published.instance_types {
        let text = format!("{}: {} CPUs, {} GB", size.name, size.cores, size.memory_gb);
        labelled(page, "size", Some(&text));
    }
    labelled(page, "method", about.methodology.as_deref());
    about
        .questions
        .iter()
        .for_each(|q| labelled(page, "question", Some(q)));
    let margin = about.margin_percent.map(|m| format!("{m} %"));
    labelled(page, "margin", margin.as_deref());
    let kind = about
        .source_kind
        .as_deref()
        .unwrap_or("the study's text and tables");
    labelled(page, "taken from", Some(kind));
    labelled(page, "which is at", about.seen_in.as_deref());
    labelled(page, "trust", about.trust.as_deref());
    labelled(page, "left out", about.left_out.as_deref());
}

fn write_protocol(page: &mut Page, protocol: &Protocol) {
    let version = protocol.version.as_ref().map(|v| format!(" {v}"));
    let name = format!("{}{}", protocol.workload, version.unwrap_or_default());
    page.wrapped("  -", 4, Style::Plain, &format!("{name}: {}", protocol.settings));
    for (factor, levels) in &protocol.factors {
        let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
        page.wrapped(
            "",
            INDENT,
            Style::Plain,
            &format!("{factor}: {}", levels.join(", ")),
        );
    }
    if let Some(design) = &protocol.design {
        page.wrapped("", INDENT, Style::Plain, design);
    }
}

/// Contradictions in which a study is either side.
fn contradictions(library: &Library, id: &str) -> Vec<String> {
    let all = library.studies.iter().flat_map(|s| {
        let text = move |c: &super::super::Contradiction| {
            let concerned = s.study.id == id || c.with_study == id;
            concerned.then(|| format!("{} against {}: {}", s.study.id, c.with_study, c.text))
        };
        s.contradictions.iter().filter_map(text)
    });
    all.collect()
}

/// What all studies say of a workload.
pub fn workload(view: &WorkloadView<'_>, options: TextOptions) -> String {
    let mut page = Page::new(options);
    let differing: Vec<String> = view
        .contradictions
        .iter()
        .map(|d| {
            let other = &d.contradiction;
            format!("{} against {}: {}", d.study, other.with_study, other.text)
        })
        .collect();
    let title = format!("{}: what the studies say", view.families.join(", "));
    page.wrapped("", 0, Style::Bold, &title);
    bullets(
        &mut page,
        "Where studies differ",
        differing.iter().map(String::as_str),
    );
    for part in &view.studies {
        page.heading(part.id);
        part.protocols.iter().for_each(|p| write_protocol(&mut page, p));
        for printed in &part.tables {
            table::write(&mut page, printed);
        }
        for claim in &part.claims {
            let mark = if claim.checkable { "" } else { " (not checkable)" };
            page.wrapped("  says", 7, Style::Plain, &format!("{}{mark}", claim.text));
        }
    }
    page.finish()
}
