//! One document in every form.

use crate::common::*;
use tare_analysis::analyze;
use tare_model::results::Results;
use tare_report::document::{Document, Kind};
use tare_report::sections;
use tare_report::{html, markdown, tabular};

fn results() -> Results {
    default_study()
        .noise(0.01)
        .cost("docker", Pinned, "syscall", 1.25)
        .build()
}

fn document(results: &Results) -> Document {
    sections::report(&analyze(results), tare_report::text::Where::default())
}

/// The records of one table, its head first.
fn records(document: &Document, table: &str) -> Vec<Vec<String>> {
    let text = tabular::render(document, Some(table)).unwrap();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    reader
        .records()
        .map(|r| r.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

#[test]
fn a_table_as_csv_holds_each_end_of_an_interval_with_all_its_digits() {
    let results = results();
    let found = records(&document(&results), "costs");
    let column = |name: &str| found[0].iter().position(|head| head == name).unwrap();
    let row = found
        .iter()
        .find(|r| r[0] == "docker" && r[1] == "pinned" && r[column("workload")] == "syscall");
    let row = row.unwrap();
    let analysis = analyze(&results);
    let ratio = headline(&analysis).paired.as_ref().unwrap().ratio;
    let figure = |name: &str| row[column(name)].parse::<f64>().unwrap();
    assert_eq!(figure("paired_ratio").to_bits(), ratio.value.to_bits());
    assert_eq!(figure("paired_ratio_low").to_bits(), ratio.low.to_bits());
    assert_eq!(figure("paired_ratio_high").to_bits(), ratio.high.to_bits());
    assert_eq!(row[column("verdict")], "slower");
}

#[test]
fn op_and_steadiness_are_numbers_in_csv_with_all_their_digits() {
    let results = default_study()
        .blocks(40)
        .noise(0.01)
        .cost("docker", Pinned, "syscall", 1.25)
        .build();
    let found = records(&document(&results), "tests");
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    let row = found
        .iter()
        .find(|r| r[0] == "docker" && r[1] == "pinned" && r.contains(&"syscall".to_owned()));
    let column = |name: &str| &row.unwrap()[found[0].iter().position(|head| head == name).unwrap()];
    let bits = |name: &str| column(name).parse::<f64>().unwrap().to_bits();
    let steadiness = metric.steadiness.as_ref().unwrap();
    assert_eq!(bits("op"), metric.op.unwrap().value.to_bits());
    assert_eq!(bits("steadiness"), steadiness.value.to_bits());
    assert_eq!(bits("steadiness_low"), steadiness.low.unwrap().to_bits());
    assert_eq!(bits("steadiness_high"), steadiness.high.unwrap().to_bits());
    assert_eq!(
        column("steadiness_verdict"),
        &steadiness.verdict.unwrap().to_string()
    );
}

#[test]
fn columns_of_figures_hold_numbers_or_nothing_in_csv() {
    let sizes = sized(&[1, 2, 4, 8], |c| 1.03 + 0.2 / c);
    let documents = [
        document(&results()),
        sections::report(&analyze(&sizes), tare_report::text::Where::default()),
    ];
    let figures = [Kind::Number, Kind::Interval];
    for document in &documents {
        let tables = document.sections.iter().flat_map(|section| section.tables());
        for table in tables.filter(|table| !table.rows.is_empty()) {
            let found = records(document, table.id);
            let columns = table.columns.iter().filter(|c| figures.contains(&c.kind));
            let heads = columns.flat_map(|c| {
                let head = c
                    .head
                    .to_lowercase()
                    .replace(|ch: char| !ch.is_alphanumeric(), "_");
                ["", "_low", "_high"].map(|end| head.clone() + end)
            });
            let heads: Vec<String> = heads.collect();
            for (at, head) in found[0].iter().enumerate() {
                let mut fields = found[1..]
                    .iter()
                    .map(|row| &row[at])
                    .filter(|_| heads.contains(head));
                let odd = fields.find(|field| !field.is_empty() && field.parse::<f64>().is_err());
                assert_eq!(odd, None, "{} of {}", head, table.id);
            }
        }
    }
}

#[test]
fn what_stands_below_mib_is_in_mib() {
    let found = records(&document(&results()), "limits");
    let column = found[0].iter().position(|head| head == "mib").unwrap();
    assert!(found[1..].iter().all(|row| row[column] == "2048"), "{found:?}");
}

#[test]
fn of_many_comparisons_the_picture_along_time_has_those_that_vary_most() {
    let platforms = ["native", "docker", "lxc", "podman", "runc", "crun", "runsc"];
    let results = default_study().platforms(&platforms).build();
    let document = document(&results);
    let captions: Vec<&str> = document.pictures().map(|p| p.caption()).collect();
    assert!(captions.iter().any(|c| c.contains("These 24 of")), "{captions:?}");
}

#[test]
fn every_record_of_a_table_has_as_many_fields_as_its_head() {
    let document = document(&results());
    for name in tabular::names(&document) {
        let found = records(&document, name);
        assert!(found.len() > 1, "{name}");
        assert!(found.iter().all(|r| r.len() == found[0].len()), "{name}");
        let heads: std::collections::BTreeSet<&String> = found[0].iter().collect();
        assert_eq!(heads.len(), found[0].len(), "{name}: {:?}", found[0]);
    }
}

#[test]
fn all_tables_stand_behind_their_names() {
    let document = document(&results());
    let all = tabular::render(&document, None).unwrap();
    for name in tabular::names(&document) {
        assert!(all.contains(&format!("# {name}\n")), "{name}");
    }
    assert!(tabular::names(&document).contains(&"blocks"));
}

#[test]
fn every_row_of_every_table_has_a_cell_for_each_column() {
    for table in document(&results()).sections.iter().flat_map(|s| s.tables()) {
        for row in &table.rows {
            assert_eq!(row.cells.len(), table.columns.len(), "{}", table.id);
        }
    }
}

#[test]
fn what_a_spreadsheet_would_take_for_a_formula_is_text() {
    let mut results = results();
    results.header.study.template = None;
    for trial in trials_of(&mut results, "docker", Pinned) {
        trial.outcome = tare_model::results::Outcome::Skipped(failure(
            tare_model::finding::Reason::CannotRun,
            "=HYPERLINK(\"x\"),\r\n\u{1b}[2J",
        ));
    }
    let all = tabular::render(&document(&results), None).unwrap();
    assert!(!all.contains(['\u{1b}', '\r']));
    let mut fields = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(all.as_bytes());
    for record in fields.records() {
        assert!(record.unwrap().iter().all(|field| !field.starts_with(['=', '@'])));
    }
}

#[test]
fn markdown_has_a_row_for_every_comparison_and_nothing_of_a_file_is_markup() {
    let mut results = results();
    results.header.host.kernel = "<script>|`*_[x](y)\n# head".to_owned();
    let text = markdown::render(&document(&results));
    assert!(text.starts_with("# What does the box cost?\n"), "{text}");
    assert!(text.contains("**docker pinned**"), "{text}");
    assert!(
        text.contains("\\<script\\>\\|\\`\\*\\_\\[x\\](y)\\\\n\\# head"),
        "{text}"
    );
    let widths: Vec<usize> = text
        .lines()
        .filter(|l| l.starts_with("| of |"))
        .map(|l| l.matches(" | ").count())
        .collect();
    assert!(!widths.is_empty() && widths.iter().all(|w| *w > 1), "{widths:?}");
}

#[test]
fn every_picture_is_a_file_of_its_own_that_needs_nothing_else() {
    let document = document(&results());
    let ids: Vec<&str> = document.pictures().map(|p| p.id()).collect();
    for wanted in ["costs-shown", "heat-map", "scores", "start-up", "blocks"] {
        assert!(ids.contains(&wanted), "{wanted}: {ids:?}");
    }
    for picture in document.pictures() {
        let svg = picture.svg().unwrap();
        assert!(svg.starts_with("<svg xmlns="), "{svg}");
        for forbidden in ["<script", "href", "url(", "@import", "NaN", "inf"] {
            assert!(!svg.contains(forbidden), "{}: {forbidden}", picture.id());
        }
    }
}

#[test]
fn the_script_of_a_page_is_the_one_that_it_lets_run() {
    use base64::Engine;
    use sha2::Digest;
    let page = html::render(&document(&results())).unwrap();
    let script = page
        .split_once("<script>")
        .unwrap()
        .1
        .split_once("</script>")
        .unwrap()
        .0;
    let digest = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(script));
    assert!(
        page.contains(&format!("script-src 'sha256-{digest}'")),
        "{digest}"
    );
    assert_eq!(page.matches("<script").count(), 1);
}
