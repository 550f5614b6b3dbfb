//! `test`: format, lints and all tests, with the time that each part and each test takes. All run
//! even if one fails.

use crate::libtest::{Counts, End, Line, Reader, Test};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Tests in the list of the slowest: a screen with the other tables.
const SLOWEST: usize = 20;
/// Lines of what failed tests printed that the summary repeats: its reader may have the end of a log only.
const SAID: usize = 200;

/// What to run.
#[derive(clap::Args)]
pub struct Options {
    /// Run only the tests that are marked as ignored
    #[arg(long)]
    ignored: bool,
    /// Parts that ran before, each with the second of 1970 at which it began
    #[arg(long, value_delimiter = ',', value_name = "NAME=SECOND")]
    begun: Vec<Begun>,
}

/// A part that ran before this program.
#[derive(Debug, Clone)]
struct Begun {
    name: String,
    at: Duration,
}

impl FromStr for Begun {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=');
        let read = |(name, at): (&str, &str)| {
            let at = Duration::from_secs(at.parse().ok()?);
            let name = name.to_owned();
            Some(Self { name, at })
        };
        parts
            .and_then(read)
            .ok_or_else(|| format!("'{text}' is not NAME=SECOND"))
    }
}

/// A test in the part that it belongs to.
struct Timed {
    part: String,
    test: Test,
}

/// What ran, how it ended and how long it took.
#[derive(Default)]
struct Report {
    parts: Vec<(String, Duration)>,
    tests: Vec<Timed>,
    /// Tests, and parts that failed as a whole.
    counts: Counts,
    /// Those that failed, by name.
    failed: Vec<String>,
    /// What the failed tests printed, a line each.
    said: Vec<String>,
    skipped: Vec<String>,
}

/// Runs everything and prints the tables.
pub fn run(options: &Options) -> Result<ExitCode> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let mut report = Report {
        parts: before(&options.begun, now),
        ..Report::default()
    };
    if !options.ignored {
        report.step("fmt", &["fmt", "--all", "--check"])?;
        report.step(
            "clippy",
            &[
                &["clippy", "--all-targets"],
                &BUILD[..],
                &["--", "-D", "warnings"],
            ]
            .concat(),
        )?;
    }
    let begun = Instant::now();
    let binaries = binaries()?;
    report.end("build of tests", begun);
    match binaries {
        Some(binaries) => report.run_all(&binaries, options.ignored)?,
        None => report.fail("build of tests".to_owned()),
    }
    io::stdout().lock().write_all(report.text().as_bytes())?;
    Ok(ExitCode::from(u8::from(report.counts.failed > 0)))
}

/// The program of tests that mostly wait for boxes.
const END_TO_END: &str = "tare it";

/// Nearly two tests per CPU at a time: with four on two CPUs boxes waited for over half a second at times,
/// which tare takes for a box that does not tell the truth.
fn threads() -> [String; 2] {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    ["--test-threads".to_owned(), (2 * cpus - 1).to_string()]
}

/// As 'make build' builds, so that nothing is compiled twice.
const BUILD: [&str; 5] = ["--workspace", "--locked", "--release", "--target", crate::TARGET];

/// How long each part took: until the next began, the last one until now.
fn before(parts: &[Begun], now: Duration) -> Vec<(String, Duration)> {
    let ends = parts.iter().skip(1).map(|next| next.at).chain([now]);
    let timed = parts.iter().zip(ends);
    timed
        .map(|(part, end)| (part.name.clone(), end.saturating_sub(part.at)))
        .collect()
}

impl Report {
    /// Runs cargo as a part.
    fn step(&mut self, part: &str, arguments: &[&str]) -> Result<()> {
        let begun = Instant::now();
        let status = cargo(arguments).status().context("start cargo")?;
        if !status.success() {
            self.fail(format!("cargo {}", arguments.join(" ")));
        }
        self.end(part, begun);
        Ok(())
    }

    /// Counts a part that failed as a whole.
    fn fail(&mut self, name: String) {
        self.counts.failed += 1;
        self.failed.push(name);
    }

    /// Adds the time of a part: a build may have been begun before.
    fn end(&mut self, part: &str, begun: Instant) {
        match self.parts.iter_mut().find(|(name, _)| name == part) {
            Some((_, took)) => *took += begun.elapsed(),
            None => self.parts.push((part.to_owned(), begun.elapsed())),
        }
    }

    fn run_all(&mut self, binaries: &[Binary], ignored: bool) -> Result<()> {
        binaries
            .iter()
            .try_for_each(|binary| self.run_binary(binary, ignored))
    }

    fn run_binary(&mut self, binary: &Binary, ignored: bool) -> Result<()> {
        writeln!(io::stdout().lock(), "\n{}:", binary.name)?;
        let mut command = clean(Command::new(&binary.program));
        command
            // Times are unstable in the harness, and a stable one prints them with this alone.
            .args(["-Z", "unstable-options", "--report-time", "--show-output"])
            .args(ignored.then_some("--ignored"))
            .args((binary.name == END_TO_END).then(threads).iter().flatten())
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_MANIFEST_DIR", &binary.package)
            .current_dir(&binary.package);
        self.run_harness(&binary.name, &mut command)
    }

    /// Runs a command that prints as a harness does.
    fn run_harness(&mut self, part: &str, command: &mut Command) -> Result<()> {
        let (begun, failed) = (Instant::now(), self.counts.failed);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {command:?}"))?;
        let mut output = BufReader::new(child.stdout.take().context("take a pipe")?);
        // What a test leaves running may keep the output open: the harness says itself that it ends.
        let last = |line: &Line| matches!(line, Line::Ended(_));
        let has_begun = self.read(part, &mut output, &mut io::stdout(), last)?;
        let status = child.wait()?;
        // Kept until here: the harness prints an empty line after its last one.
        drop(output);
        match (status.success(), has_begun) {
            // A program without a harness is one test.
            (true, false) => self.counts.passed += 1,
            (false, _) if self.counts.failed == failed => self.fail(format!("{part}: {status}")),
            _ => {}
        }
        self.end(part, begun);
        Ok(())
    }

    /// Shows and reads what a harness prints; whether it began.
    fn read(
        &mut self,
        part: &str,
        output: &mut impl BufRead,
        shown: &mut impl Write,
        last: impl Fn(&Line) -> bool,
    ) -> Result<bool> {
        let (mut reader, mut has_begun, mut bytes) = (Reader::new(), false, Vec::new());
        while output.read_until(b'\n', &mut bytes)? > 0 {
            let line = reader.read(String::from_utf8_lossy(&bytes).trim_end_matches('\n'));
            if line != Line::Repeated {
                shown.write_all(&bytes)?;
            }
            bytes.clear();
            let is_last = last(&line);
            has_begun |= line == Line::Begun;
            self.count(part, line);
            if is_last {
                break;
            }
        }
        Ok(has_begun)
    }

    fn count(&mut self, part: &str, line: Line) {
        match line {
            Line::Test(test) => {
                if test.end == End::Failed {
                    self.failed.push(format!("{part} {}", test.name));
                }
                let part = part.to_owned();
                self.tests.push(Timed { part, test });
            }
            Line::Said(line) => self.said.push(line),
            Line::Skipped { test, why } => self.skipped.push(format!("{part} {test}: {why}")),
            // Not by lines: what a test prints past the harness may stand before its line.
            Line::Ended(counts) => {
                self.counts.passed += counts.passed;
                self.counts.failed += counts.failed;
            }
            Line::Begun | Line::Repeated | Line::Other => {}
        }
    }

    /// The summary.
    fn text(&self) -> String {
        let Counts { passed, failed } = self.counts;
        let mut text = format!("\n{passed} passed, {failed} failed\n");
        text += &list("failed", &self.failed);
        text += &list("what they printed", &self.said[..self.said.len().min(SAID)]);
        text += &list("skipped", &self.skipped);
        let total = self.parts.iter().map(|(_, took)| *took).sum();
        let parts = self.parts.iter().map(|(name, took)| (name.clone(), *took));
        text += &table("parts", parts.chain([("all".to_owned(), total)]));
        text += &table("slowest tests", self.slowest());
        text
    }

    fn slowest(&self) -> impl Iterator<Item = (String, Duration)> {
        let timed = self.tests.iter().filter_map(|timed| {
            let took = Duration::try_from_secs_f64(timed.test.seconds?).ok()?;
            Some((format!("{} {}", timed.part, timed.test.name), took))
        });
        let mut timed: Vec<_> = timed.collect();
        timed.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
        timed.into_iter().take(SLOWEST)
    }
}

/// Lines below a heading; nothing of none.
fn list(heading: &str, lines: &[String]) -> String {
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        if number == 0 {
            let _ = writeln!(text, "\n{heading}:");
        }
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// Names with their seconds below a heading; nothing of none.
fn table(heading: &str, rows: impl Iterator<Item = (String, Duration)>) -> String {
    let lines = rows.map(|(name, took)| format!("{:7.1} s  {name}", took.as_secs_f64()));
    list(heading, &lines.collect::<Vec<_>>())
}

/// A program of tests.
struct Binary {
    /// Such as `tare-model`, for its library, and `tare check`, for a file of its tests.
    name: String,
    /// The folder of its package, in which it runs, as with 'cargo test'.
    package: PathBuf,
    program: PathBuf,
}

/// Builds the tests; `None` if they cannot be built, which cargo explains.
fn binaries() -> Result<Option<Vec<Binary>>> {
    let mut cargo = cargo(&["test", "--no-run"]);
    let mut child = cargo
        .args(BUILD)
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped())
        .spawn()
        .context("start cargo")?;
    let mut told = String::new();
    child
        .stdout
        .take()
        .context("take a pipe")?
        .read_to_string(&mut told)?;
    if !child.wait()?.success() {
        return Ok(None);
    }
    let mut binaries = Vec::new();
    for line in told.lines() {
        binaries.extend(binary(&serde_json::from_str(line)?)?);
    }
    binaries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Some(binaries))
}

/// The program of tests that a message of cargo is about, if it is about one.
fn binary(message: &Value) -> Result<Option<Binary>> {
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let (true, Some(program)) = (is_test, message["executable"].as_str()) else {
        return Ok(None);
    };
    let manifest = message["manifest_path"].as_str().context("no manifest")?;
    let package = Path::new(manifest).parent().context("no folder")?;
    let folder = package.file_name().context("no name")?.to_string_lossy();
    let target = message["target"]["name"].as_str().context("no target")?;
    let name = match message["target"]["kind"][0].as_str() {
        Some("lib" | "proc-macro") => folder.into_owned(),
        Some("bin") => format!("{folder} bin {target}"),
        _ => format!("{folder} {target}"),
    };
    Ok(Some(Binary {
        name,
        package: package.to_owned(),
        program: program.into(),
    }))
}

fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = clean(Command::new(cargo));
    command.args(arguments);
    command
}

/// Without what 'cargo run' set for this program: the build script of ring is run again where it differs.
fn clean(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
        if text == "OUT_DIR" || of_package.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_summary_has_the_counts_the_failures_the_parts_and_the_slowest() {
        let begun = ["setup=100", "build=103"].map(|text| text.parse().unwrap());
        let mut report = Report {
            parts: before(&begun, Duration::from_secs(110)),
            ..Report::default()
        };
        let output = "running 3 tests\ntest quick ... ok <0.100s>\ntest slow ... FAILED <9.000s>\ntest x ... ignored, why\n\
                      \nsuccesses:\n\n---- quick stdout ----\nskipped: no engine\n\n\
                      failures:\n\n---- slow stdout ----\n3 is not 4\n\nfailures:\n    slow\n\n\
                      test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured\n";
        let mut shown = Vec::new();
        let has_begun = report.read("tare check", &mut output.as_bytes(), &mut shown, |_| false);
        assert!(has_begun.unwrap());
        assert_eq!(String::from_utf8(shown).unwrap(), output);
        report.fail("cargo fmt".to_owned());
        assert_eq!(
            report.text(),
            "\n1 passed, 2 failed\n\nfailed:\n  tare check slow\n  cargo fmt\n\
             \nwhat they printed:\n  3 is not 4\n  \n\nskipped:\n  tare check quick: no engine\n\
             \nparts:\n      3.0 s  setup\n      7.0 s  build\n     10.0 s  all\n\
             \nslowest tests:\n      9.0 s  tare check slow\n      0.1 s  tare check quick\n"
        );
    }

    /// To build them takes minutes, and tests beside the code show as much.
    #[test]
    fn comments_have_no_examples_since_none_is_run() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let mut folders = vec![crates];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let comments = text
                        .lines()
                        .filter_map(|line| line.trim_start().strip_prefix("//"));
                    let fences =
                        comments.filter_map(|line| line.strip_prefix(['/', '!'])?.strip_prefix(" ```"));
                    // Every second one ends what the one before begins.
                    let mut begins = fences.step_by(2);
                    assert!(begins.all(|language| language == "text"), "{}", path.display());
                }
            }
        }
    }

    #[test]
    fn programs_of_tests_are_found_in_the_messages_of_cargo() {
        let message = |kind: &str, name: &str| {
            let target = json!({ "kind": [kind], "name": name });
            json!({ "reason": "compiler-artifact", "manifest_path": "/w/crates/tare-model/Cargo.toml",
                    "profile": { "test": true }, "executable": "/t/x", "target": target })
        };
        let name = |message| binary(&message).unwrap().map(|binary| binary.name);
        assert_eq!(name(message("lib", "tare_model")).unwrap(), "tare-model");
        assert_eq!(name(message("test", "sizes")).unwrap(), "tare-model sizes");
        assert_eq!(name(message("bin", "tool")).unwrap(), "tare-model bin tool");
        let mut built = message("bin", "tool");
        built["profile"]["test"] = json!(false);
        assert!(name(built).is_none());
    }
}
