//! `docs/tutorial.md` runs as written, and prints what it says.

use crate::common::{self, Turn};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Stands for any text within a line, and as a line of its own for any lines.
const ANYTHING: &str = "...";
/// An interval of costs without its figures.
const INTERVAL: &str = "0 (0 to 0)";
/// Why a row of few blocks has no verdict.
const FEW: &str = "too few pairs";
const NO_VERDICT: &str = "no verdict";
/// What a command ends with whose exit code is not 0.
const EXIT_CODE: &str = "# exit code ";

/// What the tutorial has its reader do.
enum Step {
    Write { file: String, text: String },
    Run(Shown),
}

/// A command as it is shown.
#[derive(Default)]
struct Shown {
    command: String,
    prints: Vec<String>,
}

/// A folder for the reader, with tare on the search path.
struct Reader {
    folder: TempDir,
    /// Dropped after the folder.
    _turn: Turn,
}

impl Reader {
    fn new() -> Self {
        // Below /var/tmp: boxes run programs from it.
        let folder = tempfile::Builder::new()
            .prefix("tare-test-")
            .tempdir_in("/var/tmp");
        let reader = Self {
            folder: folder.unwrap(),
            _turn: Turn::take(),
        };
        fs::create_dir(reader.folder("bin")).unwrap();
        fs::create_dir(reader.folder("work")).unwrap();
        std::os::unix::fs::symlink(common::binary(), reader.folder("bin").join("tare")).unwrap();
        reader
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What a command line prints, errors among it as on a terminal, and its exit code.
    fn run(&self, line: &str) -> (String, i32) {
        let printed = self.folder("printed");
        let file = File::create(&printed).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(self.folder("work"))
            .env("PATH", format!("{}:{path}", self.folder("bin").display()))
            .env("TARE_STATE_DIR", self.folder("state"))
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file);
        let code = shell.status().unwrap().code().unwrap_or(-1);
        let text = fs::read(&printed).unwrap();
        (String::from_utf8_lossy(&text).into_owned(), code)
    }

    /// Runs what is shown and holds it against what came.
    fn follow(&self, shown: &Shown) {
        let (printed, code) = self.run(&shown.command);
        let what = format!("$ {}\nprinted:\n{printed}", shown.command);
        assert_eq!(code, expected_code(&shown.command), "exit code of {what}");
        let expected: Vec<String> = lines(shown.prints.iter().map(String::as_str));
        let came = lines(printed.lines());
        assert!(
            matches(&expected, &came),
            "the tutorial says otherwise (compared as {came:#?}):\n{}\n\n{what}",
            shown.prints.join("\n")
        );
    }
}

/// The exit code that a comment behind a command promises.
fn expected_code(command: &str) -> i32 {
    let told = command.split_once(EXIT_CODE).map(|(_, code)| code.trim());
    told.map_or(0, |code| code.parse().unwrap())
}

/// Lines as they are compared: without figures, empty ones and the width of columns.
fn lines<'a>(of: impl Iterator<Item = &'a str>) -> Vec<String> {
    of.map(words).filter(|line| !line.is_empty()).collect()
}

/// The words of a line parted by one blank, with 0 for every figure. What a busy host adds changes no word: costs too
/// unlike for an interval, and reasons beside that of too few pairs.
fn words(line: &str) -> String {
    let line = figures(line).replace("0 to 0 in blocks", INTERVAL);
    let reasons = line
        .split_once(INTERVAL)
        .filter(|(_, behind)| behind.contains(FEW) && behind.ends_with(NO_VERDICT));
    reasons.map_or_else(
        || line.clone(),
        |(name, _)| format!("{name}{INTERVAL} {FEW} {NO_VERDICT}"),
    )
}

fn figures(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out += &rest[..start];
        out.push('0');
        rest.drain(..start + figure(&rest[start..]));
    }
    out + &rest
}

/// The length of the figure at the beginning of a text; a mark behind it is no part of it.
fn figure(text: &str) -> usize {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')
        .unwrap_or(text.len());
    text[..end].trim_end_matches(['.', ',']).len()
}

/// Whether lines are as expected, where `...` stands for any.
fn matches(expected: &[String], came: &[String]) -> bool {
    match expected.split_first() {
        None => came.is_empty(),
        Some((first, rest)) if first == ANYTHING => (0..=came.len()).any(|n| matches(rest, &came[n..])),
        Some((first, rest)) => came
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && matches(rest, others)),
    }
}

/// Whether a line is as expected, where `...` stands for any text or none.
fn line_matches(expected: &str, line: &str) -> bool {
    let Some((first, rest)) = expected.split_once(ANYTHING) else {
        return expected.trim_start() == line.trim_start();
    };
    let Some(behind) = line.strip_prefix(first.trim_end()) else {
        return false;
    };
    let mut ends = behind.char_indices().map(|(at, _)| at).chain([behind.len()]);
    ends.any(|at| line_matches(rest, &behind[at..]))
}

/// The steps of a tutorial, in order: blocks of commands, and files whose name stands in the line before.
fn steps(tutorial: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut before = "";
    let mut rest = tutorial.lines();
    while let Some(line) = rest.next() {
        match line.strip_prefix("```") {
            Some(kind) => {
                let block: Vec<&str> = rest.by_ref().take_while(|line| *line != "```").collect();
                steps.extend(steps_of(kind, &block, before));
            }
            None if line.is_empty() => {}
            None => before = line,
        }
    }
    steps
}

/// The steps of one fenced block of a kind; a `text` is there to be read.
fn steps_of(kind: &str, block: &[&str], before: &str) -> Vec<Step> {
    match kind {
        "console" => commands(block).into_iter().map(Step::Run).collect(),
        "text" => Vec::new(),
        _ => vec![Step::Write {
            file: file_named(before),
            text: block.join("\n") + "\n",
        }],
    }
}

/// The last word in backquotes of the line before a file.
fn file_named(line: &str) -> String {
    let name = line.rsplit('`').nth(1);
    name.unwrap_or_else(|| panic!("no file is named in: {line}"))
        .to_owned()
}

/// The commands of a block, each with the lines beneath it. A line that ends with a backslash goes on.
fn commands(block: &[&str]) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut goes_on = false;
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            all.push(Shown {
                command: command.to_owned(),
                ..Shown::default()
            });
        } else {
            let last = all.last_mut().expect("a command above what it prints");
            match line.strip_prefix("> ").filter(|_| goes_on) {
                Some(more) => last.command += &format!("\n{more}"),
                None => last.prints.push((*line).to_owned()),
            }
        }
        goes_on = line.ends_with('\\');
    }
    all
}

#[test]
fn the_tutorial_runs_as_written() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md");
    let tutorial = fs::read_to_string(path).unwrap();
    let steps = steps(&tutorial);
    assert!(steps.iter().filter(|s| matches!(s, Step::Run(_))).count() > 10);
    if !["native", "runc"].into_iter().all(common::ready) {
        return;
    }
    let reader = Reader::new();
    for step in &steps {
        match step {
            Step::Write { file, text } => fs::write(reader.folder("work").join(file), text).unwrap(),
            Step::Run(shown) => reader.follow(shown),
        }
    }
}

#[test]
fn other_words_are_told_and_other_figures_are_not() {
    let same = |expected: &str, came: &str| matches(&lines(expected.lines()), &lines(came.lines()));
    assert!(same("runc  1.02 (0.9 to 1,100)", "runc 12 (1 to 2)\n\n"));
    assert!(!same("3 files", "3 file"));
    assert!(!same("took 3.", "took 3"));
    assert!(same("a\n...\nz", "a\nz") && same("a\n...\nz", "a\nb\nc\nz"));
    assert!(!same("a\n...\nz", "a\nb") && !same("a", "a\nb") && !same("a\nb", "a"));
    assert!(same(
        "runc 1.0 (1 to 2) too few pairs no verdict",
        "runc 1 (1 to 1) carry-over, too few pairs no verdict"
    ));
    assert!(!same(
        "runc 1.0 (1 to 2) too few pairs no verdict",
        "runc 1 (1 to 1) carry-over no verdict"
    ));
    assert!(same("runc ... equal", "runc 1.0 ── equal") && same("runc ... equal", "runc equal"));
    assert!(!same("runc ... equal", "runc 1.0 ── equal?"));
}

#[test]
fn commands_go_on_behind_a_backslash_and_files_are_named_before_them() {
    let text = "As `a.toml`:\n\n```toml\nx = 1\n```\n```console\n$ one \\\n>   two # exit code 3\nsaid\n$ three\n```";
    let steps = steps(text);
    let [Step::Write { file, text }, Step::Run(one), Step::Run(three)] = &steps[..] else {
        panic!("{} steps", steps.len());
    };
    assert_eq!((file.as_str(), text.as_str()), ("a.toml", "x = 1\n"));
    assert_eq!(one.command, "one \\\n  two # exit code 3");
    assert_eq!((expected_code(&one.command), one.prints.len()), (3, 1));
    assert_eq!((expected_code(&three.command), three.prints.len()), (0, 0));
}
