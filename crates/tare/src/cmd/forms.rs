//! Figures told in the form that is asked for.

use crate::args::forms::{CostFormArgs, FormArgs};
use crate::{files, out};
use anyhow::Context;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use tare_image::Digest;
use tare_lab::safe_file;
use tare_report::benchmarks::Cost;
use tare_report::document::{Document, Whole};
use tare_report::html::Data;
use tare_report::{benchmarks, html, json, markdown, tabular, text};

/// Refuses what cannot be written, before anything is worked out for it; `sources` are the files
/// that are read.
pub fn check(page: Option<&Path>, sources: &[&Path]) -> anyhow::Result<()> {
    if let Some(page) = page {
        sources
            .iter()
            .try_for_each(|source| files::refuse_same(page, source))?;
        files::PAGE.check(page)?;
    }
    Ok(())
}

/// Tells a document, or its figures as JSON; `sources` are the files that they are of.
pub fn tell(
    forms: &FormArgs,
    sources: &[&Path],
    document: &Document,
    figures: &impl Serialize,
) -> anyhow::Result<()> {
    write(forms, sources, document)?;
    if let Some(path) = &forms.html {
        out::say(&format!("page written to {}", out::path(path)));
    }
    if forms.json {
        out::print(&(json::render(figures)?))
    } else if forms.markdown {
        out::print(&markdown::render(document))
    } else if let Some(table) = &forms.csv {
        out::print(&tables(document, table)?)
    } else if forms.is_empty() {
        out::print(&text::render(document, options(forms)))
    } else {
        Ok(())
    }
}

/// As [`tell`], of a command whose text has its folded sections only with `--details`.
pub fn tell_briefly(
    forms: &FormArgs,
    source: &Path,
    mut document: Document,
    figures: &impl Serialize,
    (command, details): (&str, bool),
) -> anyhow::Result<()> {
    if forms.prints_other() {
        return tell(forms, &[source], &document, figures);
    }
    write(forms, &[source], &document)?;
    document
        .sections
        .retain(|section| details || !section.is_folded());
    out::print(&text::render(&document, options(forms)))?;
    if !details {
        let file = out::word(&source.display().to_string());
        out::say(&format!("Details: {} {command} {file} --details", out::program()));
    }
    Ok(())
}

/// As [`tell`], of a command that prints costs.
pub fn tell_costs(
    asked: &CostFormArgs,
    sources: &[&Path],
    document: &Document,
    figures: &impl Serialize,
    costs: &[Cost],
) -> anyhow::Result<()> {
    if !asked.prints_costs() {
        return tell(&asked.forms, sources, document, figures);
    }
    write(&asked.forms, sources, document)?;
    if costs.is_empty() {
        out::say("no cost to print: nothing was compared");
    }
    out::print(&if asked.bmf {
        benchmarks::bmf(costs)?
    } else {
        benchmarks::github(costs)?
    })
}

/// Writes the page and the pictures that are asked for.
pub fn write(forms: &FormArgs, sources: &[&Path], document: &Document) -> anyhow::Result<()> {
    if let Some(path) = &forms.html {
        let data: Vec<Data> = sources
            .iter()
            .filter_map(|source| data(source, beside(path, source)))
            .collect();
        files::PAGE.write(path, &html::render_with(document, &[], &data)?)?;
    }
    if let Some(folder) = &forms.svg {
        let written = pictures(document, folder)?;
        let shown = out::path(folder);
        out::say(&match &written[..] {
            [] => format!("nothing to draw: no picture written to {shown}"),
            names => format!("written to {shown}: {}", names.join(", ")),
        });
    }
    Ok(())
}

/// How the page with everything on a results file is written, in its folder: a page may be published, and the
/// folders of its host are nobody's business.
pub fn whole_page(file: &Path, page: Option<&Path>) -> Option<Whole> {
    let name = |path: &Path| Some(out::word(&path.file_name()?.to_string_lossy()));
    let (file, page) = (name(file)?, name(page?)?);
    Some(Whole::Command(format!(
        "tare report {file} --details --html {page}"
    )))
}

/// What a page says of a file that it is made from; nothing of what is no file, such as a pipe.
pub fn data(source: &Path, href: Option<String>) -> Option<Data> {
    let name = source.file_name()?.to_string_lossy().into_owned();
    if !source.is_file() {
        return None;
    }
    data_of(File::open(source).ok()?, name, href)
}

/// The same of a file that is open, from where it is read on.
pub fn data_of(file: File, name: String, href: Option<String>) -> Option<Data> {
    let (digest, bytes) = Digest::of_reader(file).ok()?;
    Some(Data {
        name,
        href,
        bytes,
        sha256: digest.hex().to_owned(),
    })
}

/// The address of a file that lies in the folder of the page: both can be moved together.
fn beside(page: &Path, source: &Path) -> Option<String> {
    let folder = |path: &Path| safe_file::folder_of(path).canonicalize().ok();
    let is_beside = folder(page).is_some() && folder(page) == folder(source);
    let name = source.file_name()?.to_str()?;
    is_beside.then(|| html::address(name))
}

/// Writes every picture, those of one kind by their number.
fn pictures(document: &Document, folder: &Path) -> anyhow::Result<Vec<String>> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make folder {}: give another with --svg", folder.display()))?;
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    let mut names = Vec::new();
    for picture in document.pictures() {
        let time = times.entry(picture.id()).or_insert(0);
        *time += 1;
        let name = match *time {
            1 => format!("{}.svg", picture.id()),
            n => format!("{}-{n}.svg", picture.id()),
        };
        files::PICTURE.write(&folder.join(&name), &picture.svg()?)?;
        names.push(name);
    }
    Ok(names)
}

fn tables(document: &Document, wanted: &str) -> anyhow::Result<String> {
    let names = tabular::names(document);
    let only = Some(wanted).filter(|name| !name.is_empty());
    if let Some(name) = only.filter(|name| !names.contains(name)) {
        anyhow::bail!(
            "there is no table '{}' here: choose one of {}",
            out::one_line(name),
            names.join(", ")
        );
    }
    Ok(tabular::render(document, only)?)
}

/// How to print on this terminal.
pub fn options(forms: &FormArgs) -> text::TextOptions {
    text::TextOptions {
        colour: out::colours() && !forms.plain,
        width: out::width(),
        ascii: out::ascii() || forms.plain,
        drawings: !forms.plain,
    }
}
