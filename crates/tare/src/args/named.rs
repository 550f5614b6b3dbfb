//! Every command and option that messages, documents and snapshots name is one that tare has.

use super::Cli;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory};
use std::path::{Path, PathBuf};

/// Options of other programs that our messages and comments name.
const FOREIGN: [&str; 6] = [
    "adapter",
    "benchmark-json",
    "benchmark-save-data",
    "export-json",
    "input",
    "message-format",
];

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// The files below a folder whose names end so, with their texts.
pub(crate) fn texts(folder: &Path, ending: &str) -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(self::texts(&path, ending));
        } else if path.to_str().unwrap().ends_with(ending) {
            let text = std::fs::read_to_string(&path).unwrap();
            texts.push((path, text));
        }
    }
    texts
}

/// Code without its tests, each string in one line.
fn code() -> Vec<(PathBuf, String)> {
    let mut all = texts(&root().join("crates"), ".rs");
    let is_test = |path: &Path| {
        let path = path.to_str().unwrap();
        ["/tests/", "tests.rs", "args/named.rs"]
            .iter()
            .any(|part| path.contains(part))
    };
    all.retain(|(path, _)| !is_test(path));
    for (_, text) in &mut all {
        let own = text.split("#[cfg(test)]").next().unwrap_or_default();
        *text = joined(own);
    }
    all
}

/// Text in which lines that go on behind a backslash are one.
fn joined(text: &str) -> String {
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
}

fn documents() -> Vec<(PathBuf, String)> {
    let names = [
        "README",
        "METHODOLOGY",
        "BIAS",
        "SECURITY",
        "CONTRIBUTING",
        "ARCHITECTURE",
        "CHANGELOG",
    ];
    let above = names.map(|name| root().join(name).with_extension("md"));
    let above = above.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()));
    let all = above.into_iter().chain(texts(&root().join("docs"), ".md"));
    all.map(|(path, text)| (path, without_prose(&joined(&text))))
        .collect()
}

/// A document whose lines of prose begin with no command: only those of its examples do.
fn without_prose(text: &str) -> String {
    let mut is_example = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        is_example ^= line.starts_with("```");
        lines.push(if is_example {
            line.to_owned()
        } else {
            format!("| {line}")
        });
    }
    lines.join("\n")
}

/// What tests have seen printed, without what they typed.
fn snapshots() -> Vec<(PathBuf, String)> {
    let mut all = texts(&root().join("crates"), ".snap");
    for (_, text) in &mut all {
        let printed = text.lines().filter(|line| !line.trim_start().starts_with("$ "));
        *text = printed.collect::<Vec<_>>().join("\n");
    }
    all
}

/// The commands in a text: in quotation marks, and in lines of their own.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (mark, end) in [("'tare ", '\''), ("`tare ", '`')] {
        let quoted = text.split(mark).skip(1);
        found.extend(quoted.filter_map(|rest| rest.split([end, '\n']).next()));
    }
    let line = |line: &'_ str| {
        let line = line.trim_start();
        let line = line.strip_prefix("$ ").unwrap_or(line);
        line.strip_prefix("sudo ")
            .unwrap_or(line)
            .strip_prefix("tare ")
            .map(str::len)
    };
    found.extend(
        text.lines()
            .filter_map(|text| Some(&text[text.len() - line(text)?..])),
    );
    let is_command = |text: &&str| text.starts_with(|c: char| c.is_ascii_lowercase() || c == '-');
    found.into_iter().filter(is_command).map(str::to_owned).collect()
}

/// The words of a command: without comments, and with what stands for a value as a value.
fn words(command: &str) -> Option<Vec<String>> {
    let command = command.split(" #").next()?.split("\\n").next()?;
    let command = command.replace(['[', ']', '{', '}'], " ").replace("...", " ");
    let command = command
        .split([';', '|', '>', '(', '&'])
        .next()?
        .trim_end_matches([',', '.', ':']);
    shlex::split(command)
}

/// What is wrong with a command, if anything.
fn fault(command: &str) -> Option<String> {
    let words = words(command)?;
    if let Err(error) = Cli::command().try_get_matches_from(["tare".to_owned()].iter().chain(&words)) {
        let is_short = matches!(
            error.kind(),
            ErrorKind::DisplayHelp
                | ErrorKind::DisplayVersion
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                | ErrorKind::MissingSubcommand
                | ErrorKind::MissingRequiredArgument
                | ErrorKind::InvalidValue
                | ErrorKind::ValueValidation
        );
        if !is_short && words != ["help", "COMMAND"] {
            return Some(error.to_string());
        }
    }
    unknown_option(&Cli::command(), &words)
}

/// An option that the command does not have: a wrong value before it hides it from the parser.
fn unknown_option(tare: &Command, words: &[String]) -> Option<String> {
    let mut command = tare.clone();
    command.build();
    let mut command = &command;
    for word in words.iter().take_while(|word| *word != "--") {
        if let Some(next) = command.find_subcommand(word) {
            command = next;
        }
        let option = word.split('=').next().unwrap_or_default();
        if option.starts_with("--") && !has(command, &option[2..]) {
            return Some(format!("{} has no {option}", command.get_name()));
        }
    }
    None
}

fn has(command: &Command, option: &str) -> bool {
    let mut names = command.get_arguments().filter_map(|argument| argument.get_long());
    names.any(|name| name == option)
}

#[track_caller]
fn check(texts: Vec<(PathBuf, String)>, fewest: usize) {
    let mut checked = 0;
    let mut faults = Vec::new();
    for (path, text) in texts {
        for command in commands(&text) {
            checked += 1;
            faults.extend(fault(&command).map(|why| format!("{}: tare {command}: {why}", path.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked >= fewest, "only {checked} commands were found");
}

#[test]
fn commands_in_messages_and_comments() {
    check(code(), 100);
}

#[test]
fn commands_in_documents() {
    check(documents(), 150);
}

#[test]
fn commands_in_what_is_printed() {
    check(snapshots(), 30);
}

#[test]
fn a_command_that_there_is_not_is_found() {
    for wrong in [
        "frobnicate",
        "run --colour",
        "report r.jsonl --detail",
        "image buld x",
        "run -p PLATFORM --nosuch",
    ] {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
    for right in [
        "compare",
        "run -p PLATFORM",
        "selftest coverage [--draws 20000]",
        "analyze FILE...",
        "run -- ls --all",
    ] {
        assert_eq!(fault(right), None, "{right}");
    }
    let text = "see 'tare doctor' or `tare run`\n  $ tare clean # all\n    sudo tare man run\ntare is good";
    assert_eq!(
        commands(text),
        ["doctor", "run", "clean # all", "man run", "is good"]
    );
}

/// The options in strings of messages, which are of some command.
#[test]
fn options_in_messages() {
    let mut tare = Cli::command();
    tare.build();
    let known = |option: &str| FOREIGN.contains(&option) || anywhere(&tare, option);
    // The other crates name options of engines and of the agent.
    let crates = [
        "tare",
        "tare-report",
        "tare-analysis",
        "tare-lab",
        "tare-study",
        "tare-selftest",
    ];
    let is_ours = |path: &Path| {
        crates
            .iter()
            .any(|name| path.starts_with(root().join("crates").join(name).join("src")))
    };
    let mut unknown = Vec::new();
    for (path, text) in code().into_iter().filter(|(path, _)| is_ours(path)) {
        // Comments on whole files have arrows.
        let lines = text.lines().filter(|line| !line.starts_with("//!"));
        for rest in lines.flat_map(|line| line.split("--").skip(1)) {
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-');
            let option = rest[..end.unwrap_or(rest.len())].trim_end_matches('-');
            if !option.is_empty() && !known(option) {
                unknown.push(format!("{}: --{option}", path.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

fn anywhere(command: &Command, option: &str) -> bool {
    has(command, option) || command.get_subcommands().any(|inner| anywhere(inner, option))
}
