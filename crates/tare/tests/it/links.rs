//! Local links in Markdown files name an existing file, and their anchors a heading in it.

use std::fs;
use std::path::{Path, PathBuf};

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |folder| fs::read_dir(root.join(folder)).unwrap();
    let files = ["", "docs", "published", "studies"].into_iter().flat_map(read);
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    paths
}

/// The lines outside fenced code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").step_by(2).flat_map(str::lines)
}

/// Targets of inline links; code spans hold none.
fn links(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in prose(text) {
        let line: Vec<&str> = line.split('`').step_by(2).collect();
        for rest in line.concat().split("](").skip(1) {
            all.extend(rest.split_once(')').map(|(link, _)| link.to_owned()));
        }
    }
    all
}

/// GitHub's anchors of all headings: lower case, blanks as dashes, no punctuation; a second one is numbered.
fn anchors(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().replace(' ', "-");
        let mut anchor = heading.to_lowercase();
        anchor.retain(|c| c.is_alphanumeric() || "-_".contains(c));
        let again = (1..).map(|n| format!("{anchor}-{n}"));
        let mut names = std::iter::once(anchor.clone()).chain(again);
        all.extend(names.find(|name| !all.contains(name)));
    }
    all
}

/// Whether a link of a document leads somewhere.
fn holds(document: &Path, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => document.to_owned(),
        file => document.with_file_name(file),
    };
    let has = |text: String| anchors(&text).iter().any(|known| known == anchor);
    target.exists() && (anchor.is_empty() || fs::read_to_string(target).is_ok_and(has))
}

#[test]
fn local_links_lead_to_a_file_and_a_heading() {
    let mut broken = Vec::new();
    for document in documents() {
        let links = links(&fs::read_to_string(&document).unwrap());
        let local = links.iter().filter(|link| !link.contains(':'));
        let lost = local.filter(|link| !holds(&document, link));
        broken.extend(lost.map(|link| format!("{}: {link}", document.display())));
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

#[test]
fn anchors_follow_githubs_rule() {
    let text = "# `a --b` c\n## A, b\n## A b\n```\n# no\n```\n[a](b#c) `[d](e)` [`f`](g)";
    assert_eq!(anchors(text), ["a---b-c", "a-b", "a-b-1"]);
    assert_eq!(links(text), ["b#c", "g"]);
}
