use super::*;
use crate::{Agreement, CheckedStudy, check, tally};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

fn library() -> Library {
    Library::load().unwrap()
}

fn checked() -> Vec<CheckedStudy> {
    library().studies.iter().map(check).collect()
}

#[test]
fn every_file_of_the_folder_is_compiled_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../published");
    let names = std::fs::read_dir(folder).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let is_toml = path.extension().is_some_and(|e| e == "toml");
        is_toml.then(|| path.file_stem().unwrap().to_string_lossy().into_owned())
    });
    let mut known: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    known.insert("mapping".to_owned());
    assert_eq!(names.collect::<BTreeSet<_>>(), known);
}

#[test]
fn nothing_ships_that_rests_on_the_account_of_others() {
    for (name, text) in FILES {
        for word in ["secondary", "file id", "via the note", "tech-tree"] {
            assert!(!text.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn every_claim_is_reproduced_to_the_digits_shown() {
    let checked = checked();
    for study in &checked {
        for figure in study.claims.iter().flat_map(|c| &c.figures) {
            assert!(figure.reproduced, "{}: {figure:?}", study.id);
        }
    }
    let tally = tally(&checked);
    assert_eq!((tally.checkable, tally.reproduced), (40, 40));
    assert_eq!((tally.figures, tally.figures_reproduced), (79, 79));
    assert_eq!((tally.not_checkable, tally.errata), (28, 32));
}

#[test]
fn three_claims_differ_from_the_words_of_their_study() {
    let checked = checked();
    let tally = tally(&checked);
    assert_eq!((tally.with_number, tally.agree, tally.differ), (14, 11, 3));
    let mut differing = Vec::new();
    for study in &checked {
        for figure in study.claims.iter().flat_map(|c| &c.figures) {
            let said = figure.said.as_ref();
            if let Some(Agreement::Differs { cut, .. }) = said.map(|s| s.agreement) {
                differing.push((study.id.as_str(), figure.of.as_str(), cut));
            }
        }
    }
    assert_eq!(
        differing,
        [
            ("conaboy2021", "docker, a loss", false),
            ("ghatrehsamani2020", "8xlarge", true),
            ("kuenzer2021", "nginx over linux-vm-qemu", true),
        ]
    );
}

#[test]
fn there_are_as_many_studies_and_figures_as_the_documents_say() {
    let library = library();
    assert_eq!(library.studies.len(), 15);
    let figures: usize = library.studies.iter().map(Published::figures).sum();
    assert_eq!(figures, 1518);
    let contradictions: usize = library.studies.iter().map(|s| s.contradictions.len()).sum();
    assert_eq!(contradictions, 12);
}

const SMALL: &str = r#"
[study]
id = "small"
title = "t"
authors = "a"
venue = "v"
year = 2000
baseline = "native"
host = "h"
platforms = [{ id = "native", kind = "k" }]
[[table]]
workload = "stream"
unit = "MB/s"
direction = "higher"
columns = ["platform", "metric", "mean"]
rows = [["native", "copy", 1.0]]
[[claim]]
checkable = true
text = "c"
[[claim.figure]]
of = "native"
formula = "value"
table = "stream"
at = { platform = "native" }
expect = "1.0"
"#;

fn small(text: &str) -> Result<Library, LibraryError> {
    Library::read(
        &[("small", text)],
        "families = { memory = { stream = [\"stream\"] } }\nworkload = []\nplatforms = {}",
    )
}

#[test]
fn a_file_is_read_strictly() {
    assert!(small(SMALL).is_ok());
    for (from, to, words) in [
        (
            "host =",
            "hots =",
            "9:1: unknown key 'hots' in [study]: did you mean 'host'?",
        ),
        (
            "unit =",
            "unti =",
            "13:1: unknown key 'unti' in [[table]]: did you mean 'unit'?",
        ),
        (
            "formula = \"value\"",
            "formula = \"guess\"",
            "22:11: 'formula' cannot be 'guess': the choices are value, ",
        ),
        ("\"higher\"", "\"up\"", "14:13: 'direction' cannot be 'up'"),
        ("\"mean\"]", "\"maen\"]", "either a column 'platform' or"),
        (
            "\"metric\", \"mean\"",
            "\"mean\", \"mean\"",
            "'mean' occurs twice",
        ),
        ("\"copy\", 1.0]", "\"copy\"]", "2 cells for 3 columns"),
        (
            "\"copy\", 1.0]",
            "\"copy\", \"x\"]",
            "a value that is not a number",
        ),
        ("\"copy\", 1.0]", "\"copy\", nan]", "a value that is not a number"),
        ("\"copy\", 1.0]", "\"copy\", inf]", "a value that is not a number"),
        ("\"native\", \"copy\"", "3, \"copy\"", "a value of the wrong kind"),
        ("expect = \"1.0\"", "expect = \"1e9\"", "not a printed number"),
        ("checkable = true", "checkable = false", "if and only if"),
        ("formula = \"value\"", "formula = \"quotient\"", "needs 'against'"),
        ("workload = \"stream\"", "workload = \"steam\"", "no family"),
        ("id = \"small\"", "id = \"smal\"", "its id is 'smal'"),
        (
            "year = 2000",
            "year = -1",
            "7:8: 'year' is -1 (a whole number), where a whole number from 0 to 65535 is needed",
        ),
        (
            "[study]",
            "[study",
            "2:7: no TOML: unclosed table, expected ']'; published/README.md",
        ),
    ] {
        let broken = SMALL.replacen(from, to, 1);
        let why = small(&broken).unwrap_err().to_string();
        assert!(why.contains(words), "{to}: {why}");
        assert!(why.starts_with("published/small.toml:"), "{why}");
    }
}

#[test]
fn a_claim_that_does_not_follow_is_told_with_its_reason() {
    for (from, to, reproduced, words) in [
        ("expect = \"1.0\"", "expect = \"1.1\"", false, None),
        (
            "table = \"stream\"",
            "table = \"fio\"",
            false,
            Some("there is no table of workload 'fio'"),
        ),
        (
            "{ platform = \"native\" }",
            "{ platform = \"vm\" }",
            false,
            Some("no row"),
        ),
        (
            "[[\"native\", \"copy\", 1.0]",
            "[[\"native\", \"copy\", 1.0], [\"native\", \"add\", 1.0]",
            false,
            Some("several rows"),
        ),
        (
            "of = \"native\"",
            "of = \"native\"\ncolumn = \"sd\"",
            false,
            Some("no figure in column 'sd'"),
        ),
        ("value\"", "value\"", true, None),
    ] {
        let library = small(&SMALL.replacen(from, to, 1)).unwrap();
        let checked = check(&library.studies[0]);
        let figure = &checked.claims[0].figures[0];
        assert_eq!(figure.reproduced, reproduced, "{to}");
        assert_eq!(figure.obstacle.as_deref(), words, "{to}");
        assert_eq!(
            tally(std::slice::from_ref(&checked)).reproduced,
            usize::from(reproduced)
        );
    }
}

#[test]
fn an_unknown_study_is_told_with_the_nearest() {
    let library = library();
    for (asked, nearest) in [
        ("li2019", "did you mean 'li2018'?"),
        ("FELTER", "did you mean 'felter2015'?"),
        ("conaboy", "did you mean 'conaboy2021'?"),
        ("xyz", "no study 'xyz': the studies are agache2020"),
        ("", "no study '': the studies are"),
    ] {
        let why = library.study(asked).unwrap_err().to_string();
        assert!(why.contains(nearest), "{asked}: {why}");
    }
    assert!(library.study(&"x".repeat(100_000)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn no_text_makes_a_reader_panic(text in ".{0,300}", at in 0..SMALL.len()) {
        let _ = small(&text);
        let _ = small(&SMALL[..at]);
        let _ = small(&format!("{}{text}{}", &SMALL[..at], &SMALL[at..]));
        let _ = nearest(&text, &["li2018", "felter2015"]);
    }
}
