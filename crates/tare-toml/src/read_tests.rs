use super::*;
use crate::source::Kind;
use crate::spanned::Spanned;
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;

const KIND: Kind = Kind {
    name: "example file",
    manual: "docs/examples.md",
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    about: String,
    year: Option<u16>,
    share: Option<f64>,
    command: Spanned<Command>,
    #[serde(default, rename = "role")]
    roles: Vec<Spanned<Role>>,
    #[serde(default)]
    parameters: BTreeMap<String, Level>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    argv: Vec<String>,
    #[serde(default)]
    alone: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Role {
    place: Where,
    ready: Option<Ready>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    port: u16,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Where {
    Tested,
    Outside,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "text or a number is needed here")]
enum Level {
    Number(f64),
    Text(String),
}

const WHOLE: &str = r#"about = "an example"
year = 2000
share = 1
[command]
argv = ["a", "b"]
alone = true
[[role]]
place = "outside"
ready = { port = 80 }
[parameters]
n = 1.5
m = "few"
"#;

fn of(text: &str) -> Result<Example, String> {
    read(&Source::of_text(&KIND, "e.toml", text)).map_err(|e| e.to_string())
}

#[test]
fn a_text_is_read_into_a_type_with_places() {
    let read = of(WHOLE).unwrap();
    assert_eq!(
        (read.about.as_str(), read.year, read.share),
        ("an example", Some(2000), Some(1.0))
    );
    let command = read.command.get_ref();
    assert_eq!(
        (&command.argv[..], command.alone),
        (&["a".into(), "b".into()][..], true)
    );
    assert!(WHOLE[read.command.span()].starts_with("[command]"));
    let role = read.roles[0].get_ref();
    assert_eq!(role.place, Where::Outside);
    assert_eq!(role.ready.as_ref().map(|ready| ready.port), Some(80));
    assert_eq!(read.parameters["n"], Level::Number(1.5));
    assert_eq!(read.parameters["m"], Level::Text("few".to_owned()));
}

#[test]
fn what_does_not_fit_is_told_in_words_of_files() {
    for (from, to, told) in [
        (
            "about =",
            "abuot =",
            "1:1: unknown key 'abuot' in an example file: did you mean 'about'?",
        ),
        (
            "argv =",
            "words =",
            "5:1: unknown key 'words' in [command]: the keys are argv, alone",
        ),
        (
            "place =",
            "palce =",
            "8:1: unknown key 'palce' in [[role]]: did you mean 'place'?",
        ),
        (
            "port =",
            "prot =",
            "9:11: unknown key 'prot' in [role.ready]: did you mean 'port'?",
        ),
        (
            "about = \"an example\"\n",
            "",
            "1:1: 'about' is missing in an example file: add about = ...",
        ),
        (
            "argv = [\"a\", \"b\"]\n",
            "",
            "4:1: 'argv' is missing in [command]: add argv = ...",
        ),
        (
            "port = 80",
            "",
            "9:9: 'port' is missing in [role.ready]: add port = ...",
        ),
        (
            "\"an example\"",
            "7",
            "1:9: 'about' is 7 (a whole number), where text is needed: put it in quotes, about = \"7\"",
        ),
        (
            "2000",
            "\"mm\"",
            "2:8: 'year' is \"mm\" (text), where a whole number is needed",
        ),
        (
            "2000",
            "20.5",
            "2:8: 'year' is 20.5 (a number), where a whole number is needed",
        ),
        (
            "2000",
            "-1",
            "2:8: 'year' is -1 (a whole number), where a whole number from 0 to 65535 is needed",
        ),
        (
            "share = 1",
            "share = true",
            "3:9: 'share' is true (true or false), where a number is needed",
        ),
        (
            "share = 1",
            "share = 1e999",
            "3:9: 1e999 is out of range: give a smaller number",
        ),
        (
            "\"b\"",
            "2026-01-01",
            "5:14: 'argv' is 2026-01-01 (a date or time), where text is needed",
        ),
        (
            "[\"a\", \"b\"]",
            "\"a b\"",
            "5:8: 'argv' is \"a b\" (text), where a list is needed",
        ),
        (
            "alone = true",
            "alone = 1",
            "6:9: 'alone' is 1 (a whole number), where true or false is needed",
        ),
        (
            "[command]",
            "command = 3\n[parameters.c]",
            "4:11: 'command' is 3 (a whole number), where a table is needed",
        ),
        (
            "\"outside\"",
            "\"outsied\"",
            "8:9: 'place' cannot be 'outsied': did you mean 'outside'?",
        ),
        (
            "\"outside\"",
            "\"far\"",
            "8:9: 'place' cannot be 'far': the choices are tested, outside",
        ),
        (
            "\"outside\"",
            "[1]",
            "8:9: 'place' is [1] (a list), where text is needed",
        ),
        (
            "[[role]]",
            "[role]",
            "7:1: 'role' is a table, where a list is needed: write [[role]], with two brackets",
        ),
        ("1.5", "[]", "11:5: text or a number is needed here"),
        ("1.5", "1979-05-27", "11:5: text or a number is needed here"),
    ] {
        let text = WHOLE.replacen(from, to, 1);
        assert_ne!(text, WHOLE, "{from}");
        assert_eq!(of(&text).unwrap_err(), format!("e.toml:{told}"), "{to}");
    }
}

#[test]
fn what_is_no_toml_is_told_with_the_page_that_helps() {
    for (text, begin) in [
        ("about = ", "e.toml:1:"),
        (
            "about = \"a\"\nabout = \"b\"",
            "e.toml:2:1: no TOML at 'about': duplicate key; ",
        ),
        ("[command", "e.toml:1:"),
        ("about 1", "e.toml:1:"),
    ] {
        let told = of(text).unwrap_err();
        assert!(told.starts_with(begin) && told.contains("no TOML"), "{told}");
        assert!(
            told.ends_with("; docs/examples.md shows how an example file is written"),
            "{told}"
        );
        assert!(!told.contains('`'), "{told}");
    }
}

#[test]
fn what_lies_deep_in_itself_is_refused() {
    let deep = "lists or tables are nested too deeply";
    let keys = vec!["a"; 79].join(".");
    let nested = format!(
        "{keys} = {}1{}",
        format!("{{ {keys} = ").repeat(3),
        " }".repeat(3)
    );
    for text in [format!("about = {}", "[".repeat(100_000)), nested] {
        let told = of(&text).unwrap_err();
        assert!(told.contains(deep), "{told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_bytes_make_a_reader_panic(bytes: Vec<u8>, at in 0..WHOLE.len(), cut in 0..20_usize) {
        let noise = String::from_utf8_lossy(&bytes);
        let rest = &WHOLE[(at + cut).min(WHOLE.len())..];
        for text in [noise.to_string(), WHOLE[..at].to_owned(), format!("{}{noise}{rest}", &WHOLE[..at])] {
            if let Err(told) = of(&text) {
                prop_assert!(told.starts_with("e.toml:"), "{}", told);
            }
        }
    }
}
