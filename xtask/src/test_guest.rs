//! `test-guest`: tests tare as root and as an ordinary user on usual machines: the guests of `scripts/guest`, or this one.

use super::{stdout_of, tare_bin};
use anyhow::{Context, Result};
use serde_json::Value;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// What to run.
#[derive(clap::Args)]
pub struct Options {
    /// Machines, by their names in scripts/guest; 'here' is this one
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "bookworm,trixie",
        value_name = "LIST"
    )]
    suites: Vec<String>,
    /// Platforms [default: all that must run there]
    #[arg(short, long, value_delimiter = ',', value_parser = FOR_ROOT, value_name = "LIST")]
    platforms: Vec<String>,
    /// Who runs tare there
    #[arg(
        short,
        long,
        value_delimiter = ',',
        default_value = "root,user",
        value_parser = ["root", USER],
        value_name = "LIST"
    )]
    users: Vec<String>,
    /// Steps
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "check,run,resume,clean",
        value_parser = STEPS,
        value_name = "LIST"
    )]
    steps: Vec<String>,
    /// Options of 'tare check', such as '--boxes 10 --only quota,pinned'
    #[arg(long, allow_hyphen_values = true, default_value = "", value_name = "OPTIONS")]
    check: String,
    /// Puts what comes out into the table in this file, between the lines that mark its place
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

/// The lines between which the table stands in a file.
const MARKS: [&str; 2] = ["<!-- by make test-guest -->\n", "<!-- end -->\n"];

/// What the table tells of a platform besides the steps.
const HEAD: [&str; 4] = ["machine", "user", "platform", "doctor"];
/// The steps of `scripts/in-guest`, columns of the table.
const STEPS: [&str; 4] = ["check", "run", "resume", "clean"];
/// A cell of what was not run.
const NOT_RUN: &str = "–";

/// The machine that this program runs on, as a name of a machine.
const HERE: &str = "here";

/// What must be ready for root and for an ordinary user.
const FOR_ROOT: [&str; 8] = [
    "native",
    "docker",
    "podman",
    "lxc",
    "nspawn",
    "runc",
    "crun",
    "containerd",
];
/// The ordinary user of the guests.
const USER: &str = "user";
const FOR_USERS: &[&str] = &["native", "podman"];

/// A row of the table: machine, user and platform, what doctor says, a word for each step.
type Row = Vec<String>;

/// Runs all steps and prints the table. Any failure gives exit code 1.
pub fn run(options: &Options) -> Result<ExitCode> {
    let tare = tare_bin()?;
    let mut tested = Tested::default();
    for name in &options.suites {
        let machine = Machine::up(name, &tare)?;
        for user in machine.users(options)? {
            machine.test(&user, options, &mut tested)?;
        }
    }
    anyhow::ensure!(!tested.rows.is_empty(), "no such platform is tested as this user");
    let mut out = io::stdout().lock();
    out.write_all(table(&tested.rows).as_bytes())?;
    for failure in &tested.failures {
        writeln!(out, "{failure}")?;
    }
    Ok(ExitCode::from(u8::from(!tested.failures.is_empty())))
}

/// What came out so far.
#[derive(Default)]
struct Tested {
    rows: Vec<Row>,
    /// A line for each step that failed, with the reason.
    failures: Vec<String>,
}

/// A booted machine; a guest ends when dropped.
struct Machine {
    name: String,
    /// Where `tare` and `in-guest` are.
    path: String,
}

impl Machine {
    /// Boots it and copies tare and the steps into it.
    fn up(name: &str, tare: &Path) -> Result<Self> {
        let machine = Self {
            name: name.to_owned(),
            path: match tare.parent() {
                Some(folder) if name == HERE => format!("{}:scripts", folder.display()),
                _ => "/usr/local/bin".to_owned(),
            },
        };
        if name != HERE {
            machine.boot(tare)?;
        }
        Ok(machine)
    }

    fn boot(&self, tare: &Path) -> Result<()> {
        let name = &self.name;
        // Its progress is shown, not amid the table: making a disk takes minutes.
        let up = self.guest(&["up"]).stdout(io::stderr()).status()?;
        anyhow::ensure!(up.success(), "{name} does not boot: {up}");
        for (file, place) in [
            (tare, "/usr/local/bin/tare"),
            (Path::new("scripts/in-guest"), "/usr/local/bin/in-guest"),
            (Path::new("scripts/left-of"), "/usr/local/bin/left-of"),
        ] {
            let file = file.to_str().context("a path is not text")?;
            stdout_of(&mut self.guest(&["put", file, place]))?;
        }
        Ok(())
    }

    fn guest(&self, words: &[&str]) -> Command {
        let mut command = Command::new("scripts/guest");
        command.arg(&self.name).args(words);
        command
    }

    /// Who runs tare there: on this machine, whoever runs this.
    fn users(&self, options: &Options) -> Result<Vec<String>> {
        if self.name != HERE {
            return Ok(options.users.clone());
        }
        let is_root = std::fs::metadata("/proc/self")?.uid() == 0;
        Ok(vec![if is_root { "root" } else { USER }.to_owned()])
    }

    /// A line of shell, run there.
    fn shell(&self, user: &str, line: &str) -> Command {
        let line = format!("PATH='{}':$PATH {line}", self.path);
        if self.name == HERE {
            let mut command = Command::new("sh");
            command.args(["-c", &line]);
            return command;
        }
        self.guest(&[user, &line])
    }

    fn test(&self, user: &str, options: &Options, tested: &mut Tested) -> Result<()> {
        // Without a platform that is ready, doctor prints its findings and fails.
        let doctor = self.shell(user, "tare doctor --json").output()?;
        let found = String::from_utf8(doctor.stdout)?;
        let errors = String::from_utf8_lossy(&doctor.stderr);
        anyhow::ensure!(!found.is_empty(), "tare doctor failed: {errors}");
        let doctor = serde_json::from_str(&found)?;
        let expected = if user == USER { FOR_USERS } else { &FOR_ROOT };
        let named =
            |name: &&&str| options.platforms.is_empty() || options.platforms.iter().any(|p| p == **name);
        for platform in expected.iter().filter(named) {
            let row = self.row(user, platform, &doctor, options, &mut tested.failures)?;
            tested.rows.push(row);
            // After each: all of them take hours.
            if let Some(file) = &options.into {
                put_into(file, &tested.rows)?;
            }
        }
        Ok(())
    }

    fn row(
        &self,
        user: &str,
        platform: &str,
        doctor: &Value,
        options: &Options,
        failures: &mut Vec<String>,
    ) -> Result<Row> {
        let ready = version(doctor, platform);
        let mut row = vec![
            machine(doctor),
            user.to_owned(),
            format!("`{platform}`"),
            ready.clone().unwrap_or_else(|_| "not ready".to_owned()),
        ];
        if let Err(why) = &ready {
            failures.push(format!("{} {user} {platform}: {why}", self.name));
        }
        for step in STEPS {
            if ready.is_err() || !options.steps.iter().any(|named| named == step) {
                row.push(NOT_RUN.to_owned());
                continue;
            }
            let begun = Instant::now();
            let end = self.step(user, step, platform, &options.check)?;
            let told = end.as_ref().map_or(String::new(), |why| format!(": {why}"));
            let told = format!("{} {user} {platform} {step}{told}", self.name);
            writeln!(io::stderr().lock(), "{} s: {told}", begun.elapsed().as_secs())?;
            row.push(if end.is_some() { "FAILED" } else { "ok" }.to_owned());
            failures.extend(end.map(|_| told));
        }
        Ok(row)
    }

    /// The error of a step. An emulated kernel may crash by a fault of QEMU's: then the step is run in a new machine, once.
    fn step(&self, user: &str, step: &str, platform: &str, check: &str) -> Result<Option<String>> {
        let end = self.try_step(user, step, platform, check)?;
        if end.is_none() || self.shell("root", "true").status()?.success() {
            return Ok(end);
        }
        writeln!(io::stderr().lock(), "{} crashed; booting it again", self.name)?;
        self.boot(&tare_bin()?)?;
        self.try_step(user, step, platform, check)
    }

    /// The error of a step. A step that hangs is killed there.
    fn try_step(&self, user: &str, step: &str, platform: &str, check: &str) -> Result<Option<String>> {
        let line = format!("TARE_CHECK='{check}' timeout -k 60 1800 in-guest {step} '{platform}'");
        let output = self.shell(user, &line).output()?;
        let told = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        let status = || format!("{}: {told}{}", output.status, errors.trim());
        Ok((!output.status.success()).then(status))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if self.name != HERE {
            let _ = self.guest(&["down"]).status();
        }
    }
}

/// What doctor calls the machine that it runs on.
fn machine(doctor: &Value) -> String {
    let fact = |name: &str| doctor["host"][name].as_str().unwrap_or("unknown").to_owned();
    format!("{}, cgroup {}", fact("os"), fact("cgroup"))
}

/// The version of a platform, or why it is not ready.
fn version(doctor: &Value, platform: &str) -> Result<String, String> {
    let mut known = doctor["platforms"].as_array().into_iter().flatten();
    let told = known
        .find(|told| told["name"] == platform)
        .ok_or("tare does not know it")?;
    match told["ready"]["version"].as_str() {
        Some(version) => Ok(version.to_owned()),
        None => Err(told["missing"].to_string()),
    }
}

/// The rows as Markdown.
fn table(rows: &[Row]) -> String {
    let columns = [&HEAD[..], &STEPS[..]].concat();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = line(&columns.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let rule = format!("|{}\n", "---|".repeat(columns.len()));
    let rows: String = rows.iter().map(|row| line(row)).collect();
    head + &rule + &rows
}

/// Puts the rows into the table of a file: what was run anew replaces what is there.
fn put_into(file: &Path, rows: &[Row]) -> Result<()> {
    let text = std::fs::read_to_string(file)?;
    let text =
        merged(&text, rows).with_context(|| format!("{} has no place for the table", file.display()))?;
    Ok(std::fs::write(file, text)?)
}

/// The text with a table of its own rows and these, by machine, user and platform.
fn merged(text: &str, rows: &[Row]) -> Option<String> {
    let [begin, end] = MARKS;
    let (before, rest) = text.split_once(begin)?;
    let (old, after) = rest.split_once(end)?;
    let mut all: Vec<Row> = old.lines().skip(2).map(cells).collect();
    for row in rows {
        match all.iter_mut().find(|old| old.get(..3) == row.get(..3)) {
            Some(old) => renew(old, row),
            None => all.push(row.clone()),
        }
    }
    Some(format!("{before}{begin}{}{end}{after}", table(&all)))
}

fn cells(line: &str) -> Row {
    let line = line.trim_matches(['|', ' ']);
    line.split(" | ").map(str::to_owned).collect()
}

/// What an earlier version did says nothing of this one.
fn renew(old: &mut Row, row: &Row) {
    if old.get(3) != row.get(3) {
        old.clone_from(row);
    }
    for (old, new) in old.iter_mut().zip(row).filter(|(_, new)| *new != NOT_RUN) {
        old.clone_from(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_run_anew_replaces_its_cells_of_the_table() {
        let row = |platform: &str, words: [&str; 5]| -> Row {
            let head = ["Debian 13", "root", platform];
            head.iter().chain(&words).map(|word| (*word).to_owned()).collect()
        };
        let rows = [
            row("`native`", ["6.12", "ok", "ok", "ok", "ok"]),
            row("`lxc`", ["6.0.4", "FAILED", "ok", "ok", "ok"]),
        ];
        let empty = format!("a\n{}{}{}b\n", MARKS[0], table(&[]), MARKS[1]);
        let text = merged(&empty, &rows).unwrap();
        assert_eq!(
            text,
            "a\n<!-- by make test-guest -->\n\
             | machine | user | platform | doctor | check | run | resume | clean |\n\
             |---|---|---|---|---|---|---|---|\n\
             | Debian 13 | root | `native` | 6.12 | ok | ok | ok | ok |\n\
             | Debian 13 | root | `lxc` | 6.0.4 | FAILED | ok | ok | ok |\n\
             <!-- end -->\nb\n"
        );
        let again = row("`lxc`", ["6.0.4", "ok", NOT_RUN, NOT_RUN, "FAILED"]);
        let text = merged(&text, &[again]).unwrap();
        assert!(
            text.contains("| `lxc` | 6.0.4 | ok | ok | ok | FAILED |\n<!-- end"),
            "{text}"
        );
        let newer = row("`lxc`", ["6.0.5", "ok", NOT_RUN, NOT_RUN, NOT_RUN]);
        let text = merged(&text, &[newer]).unwrap();
        assert!(
            text.contains("| `lxc` | 6.0.5 | ok | – | – | – |\n<!-- end"),
            "{text}"
        );
        assert!(merged("no place", &rows).is_none());
    }

    #[test]
    fn doctor_tells_the_machine_and_what_is_ready_there() {
        let doctor = serde_json::json!({
            "host": {"os": "Debian GNU/Linux 13", "cgroup": "v2"},
            "platforms": [
                {"name": "runc", "ready": {"version": "1.1.15"}, "missing": null},
                {"name": "lxc", "ready": null, "missing": "no lxc-start"},
            ],
        });
        assert_eq!(machine(&doctor), "Debian GNU/Linux 13, cgroup v2");
        assert_eq!(version(&doctor, "runc"), Ok("1.1.15".to_owned()));
        assert_eq!(version(&doctor, "lxc"), Err("\"no lxc-start\"".to_owned()));
        assert!(version(&doctor, "pod").is_err());
    }
}
