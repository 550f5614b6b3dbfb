//! `test-guest`: tests tare as root and as an ordinary user on usual machines, the guests of `scripts/guest`.

use super::{stdout_of, tare_bin, test_all};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// What to run.
#[derive(clap::Args)]
pub struct Options {
    /// Machines, by their names in scripts/guest
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "bookworm,trixie",
        value_name = "LIST"
    )]
    suites: Vec<String>,
    /// Platforms [default: all that can run there]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST")]
    platforms: Vec<String>,
    /// Who runs tare there
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "root,user",
        value_name = "LIST"
    )]
    users: Vec<String>,
    /// Steps
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "check,run,resume,clean",
        value_name = "LIST"
    )]
    steps: Vec<String>,
    /// Puts the table into this file, between the lines that mark its place
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

/// The lines between which the table stands in a file.
const MARKS: [&str; 2] = ["<!-- by make test-guest -->\n", "<!-- end -->\n"];

/// How each step ended on one platform of a machine: the error, if it failed.
struct Row {
    suite: String,
    user: String,
    platform: String,
    ends: Vec<Option<String>>,
}

/// Runs all steps and prints the table. Any failure gives exit code 1.
pub fn run(options: &Options) -> Result<ExitCode> {
    let tare = tare_bin()?;
    let mut rows = Vec::new();
    for suite in &options.suites {
        let guest = Guest::up(suite, &tare)?;
        for user in &options.users {
            rows.extend(guest.rows(user, options)?);
        }
    }
    let table = table(&options.steps, &rows);
    io::stdout().lock().write_all(table.as_bytes())?;
    let failed = failures(&options.steps, &rows);
    io::stdout().lock().write_all(failed.as_bytes())?;
    if let Some(file) = &options.into {
        let text = std::fs::read_to_string(file)?;
        let text =
            put_into(&text, &table).with_context(|| format!("{} has no place for it", file.display()))?;
        std::fs::write(file, text)?;
    }
    Ok(ExitCode::from(u8::from(!failed.is_empty())))
}

/// A booted machine; powered off when dropped.
struct Guest {
    suite: String,
}

impl Guest {
    /// Boots it and copies tare and the steps into it.
    fn up(suite: &str, tare: &Path) -> Result<Self> {
        let guest = Self {
            suite: suite.to_owned(),
        };
        // Its progress is shown, not amid the table: making a disk takes minutes.
        let up = guest.command(&["up"]).stdout(io::stderr()).status()?;
        anyhow::ensure!(up.success(), "{suite} does not boot: {up}");
        for (file, place) in [
            (tare, "/usr/local/bin/tare"),
            (Path::new("scripts/in-guest"), "/usr/local/bin/in-guest"),
        ] {
            let file = file.to_str().context("a path is not text")?;
            stdout_of(&mut guest.command(&["put", file, place]))?;
        }
        Ok(guest)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("scripts/guest");
        command.arg(&self.suite).args(words);
        command
    }

    fn rows(&self, user: &str, options: &Options) -> Result<Vec<Row>> {
        // Without a platform that is ready, doctor prints its findings and fails.
        let doctor = self.command(&[user, "tare doctor --json"]).output()?;
        let found = String::from_utf8(doctor.stdout)?;
        let errors = String::from_utf8_lossy(&doctor.stderr);
        anyhow::ensure!(!found.is_empty(), "tare doctor failed: {errors}");
        let mut platforms = test_all::ready(&found)?;
        platforms.retain(|name| options.platforms.is_empty() || options.platforms.contains(name));
        platforms
            .into_iter()
            .map(|platform| self.row(user, platform, &options.steps))
            .collect()
    }

    fn row(&self, user: &str, platform: String, steps: &[String]) -> Result<Row> {
        let mut ends = Vec::new();
        for step in steps {
            let begun = Instant::now();
            let end = self.step(user, step, &platform)?;
            let told = end.as_ref().map_or(String::new(), |why| format!(": {why}"));
            let seconds = begun.elapsed().as_secs();
            writeln!(
                io::stderr().lock(),
                "{} {user} {platform} {step}: {seconds} s{told}",
                self.suite
            )?;
            ends.push(end);
        }
        Ok(Row {
            suite: self.suite.clone(),
            user: user.to_owned(),
            platform,
            ends,
        })
    }

    /// The error of a step. A step that hangs is killed in the guest.
    fn step(&self, user: &str, step: &str, platform: &str) -> Result<Option<String>> {
        let line = format!("timeout -k 60 1800 in-guest {step} '{platform}'");
        let output = self.command(&[user, &line]).output()?;
        let told = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        let status = || format!("{}: {told}{}", output.status, errors.trim());
        Ok((!output.status.success()).then(status))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // The script kills a guest that does not power off.
        let _ = self.command(&["down"]).status();
    }
}

/// A row per platform of each machine, as Markdown.
fn table(steps: &[String], rows: &[Row]) -> String {
    let mut text = format!("| machine | user | platform | doctor | {} |\n", steps.join(" | "));
    text += &format!("|---|---|---|---|{}\n", "---|".repeat(steps.len()));
    for row in rows {
        let words: Vec<&str> = row
            .ends
            .iter()
            .map(|end| end.as_ref().map_or("ok", |_| "FAILED"))
            .collect();
        let words = words.join(" | ");
        let _ = writeln!(
            text,
            "| {} | {} | `{}` | ready | {words} |",
            row.suite, row.user, row.platform
        );
    }
    text
}

/// A line per failed step, with the reason.
fn failures(steps: &[String], rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        for (step, why) in steps.iter().zip(&row.ends) {
            if let Some(why) = why {
                let _ = writeln!(text, "{} {} {} {step}: {why}", row.suite, row.user, row.platform);
            }
        }
    }
    text
}

/// The text with the table between the marks.
fn put_into(text: &str, table: &str) -> Option<String> {
    let [begin, end] = MARKS;
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}{table}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_replaces_the_old_one_and_failures_have_reasons() {
        let steps = ["check", "run"].map(str::to_owned);
        let row = |platform: &str, ends: Vec<Option<String>>| Row {
            suite: "trixie".to_owned(),
            user: "root".to_owned(),
            platform: platform.to_owned(),
            ends,
        };
        let rows = [
            row("native", vec![None, None]),
            row("lxc", vec![Some("it hung".to_owned()), None]),
        ];
        let table = table(&steps, &rows);
        assert_eq!(
            table,
            "| machine | user | platform | doctor | check | run |\n\
             |---|---|---|---|---|---|\n\
             | trixie | root | `native` | ready | ok | ok |\n\
             | trixie | root | `lxc` | ready | FAILED | ok |\n"
        );
        assert_eq!(failures(&steps, &rows), "trixie root lxc check: it hung\n");
        let text = format!("a\n{}old\n{}b\n", MARKS[0], MARKS[1]);
        let put = put_into(&text, &table).unwrap();
        assert_eq!(put, format!("a\n{}{table}{}b\n", MARKS[0], MARKS[1]));
        assert_eq!(put_into(&put, &table).unwrap(), put);
        assert!(put_into("no place", &table).is_none());
    }
}
