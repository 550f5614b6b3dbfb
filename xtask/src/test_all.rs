//! `test-all`: every workload that comes with tare, once on every platform that can run here, and
//! how each ended.

use super::{stdout_of, tare_bin};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;
use tare_model::results::{Outcome, Results};
use tare_model::template::Missing;

/// What to run.
#[derive(clap::Args)]
pub struct Options {
    /// Platforms [default: all that can run here]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST")]
    platforms: Vec<String>,
}

/// The study that has every workload, and how it is run here: each once, one after another. An
/// emulated machine takes minutes for what computes.
const STUDY: [&str; 9] = [
    "run",
    "full",
    "--small",
    "--blocks=1",
    "--slices=off",
    "--no-settle",
    "--trial-time=100ms",
    "--timeout=20m",
    "--fresh=block",
];

/// What is put behind the name of a platform: some workloads have a server in the box or outside of
/// it, and need a network that both share. The first that the platform can have is taken.
const NETWORKS: [&str; 3] = ["?network=bridge", "?network=host", ""];

/// How a workload ended on a platform.
enum End {
    Well,
    Failed(String),
    Skipped(String),
    LeftOut(String),
}

impl End {
    const fn word(&self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Failed(_) => "FAILED",
            Self::Skipped(_) => "cannot run",
            Self::LeftOut(_) => "left out",
        }
    }

    fn why(&self) -> Option<&str> {
        match self {
            Self::Well => None,
            Self::Failed(why) | Self::Skipped(why) | Self::LeftOut(why) => Some(why),
        }
    }
}

/// How each workload ended on a platform; or why the run itself did not end.
type Column = Result<BTreeMap<String, End>, String>;

/// Runs all and prints the table; what failed is told by the exit code.
pub fn run(options: &Options) -> Result<ExitCode> {
    let tare = tare_bin()?;
    let platforms = if options.platforms.is_empty() {
        that_can_run(&tare)?
    } else {
        options.platforms.clone()
    };
    let folder = tempfile::tempdir()?;
    let mut columns = Vec::new();
    for platform in platforms {
        let begun = Instant::now();
        let column = column(&tare, &platform, folder.path())?;
        let seconds = begun.elapsed().as_secs();
        writeln!(io::stderr().lock(), "{platform}: {seconds} s")?;
        columns.push((platform, column));
    }
    io::stdout().lock().write_all(table(&columns).as_bytes())?;
    let failed = |column: &Column| match column {
        Ok(ends) => ends.values().any(|end| matches!(end, End::Failed(_))),
        Err(_) => true,
    };
    let any = columns.iter().any(|(_, column)| failed(column));
    Ok(ExitCode::from(u8::from(any)))
}

/// The platforms that can run on this host, by `tare doctor`.
fn that_can_run(tare: &Path) -> Result<Vec<String>> {
    ready(&stdout_of(Command::new(tare).args(["doctor", "--json"]))?)
}

/// The platforms that are ready by what `tare doctor --json` told.
fn ready(told: &str) -> Result<Vec<String>> {
    let told: serde_json::Value = serde_json::from_str(told)?;
    let platforms = told["platforms"]
        .as_array()
        .context("doctor tells no platforms")?;
    let ready = platforms.iter().filter(|platform| !platform["ready"].is_null());
    let names = ready.filter_map(|platform| platform["name"].as_str());
    Ok(names.map(str::to_owned).collect())
}

fn column(tare: &Path, platform: &str, folder: &Path) -> Result<Column> {
    let path = folder.join(format!("{platform}.jsonl").replace('/', "-"));
    let mut refused = String::new();
    for network in NETWORKS {
        let mut command = Command::new(tare);
        command
            .args(STUDY)
            .args(["-p", &format!("{platform}{network}"), "-o"])
            .arg(&path);
        let output = command
            .output()
            .with_context(|| format!("cannot run {command:?}"))?;
        // A trial that failed ends the run with another status, and its file is whole.
        if path.exists() {
            return Ok(Ok(ends(&Results::read(&path)?)));
        }
        let told = String::from_utf8_lossy(&output.stderr);
        told.lines()
            .last()
            .unwrap_or("it said nothing")
            .clone_into(&mut refused);
    }
    Ok(Err(refused))
}

fn ends(results: &Results) -> BTreeMap<String, End> {
    let study = &results.header.study;
    let left_out = study.template.iter().flat_map(|template| &template.left_out);
    let workloads = left_out.filter(|item| item.what == Missing::Workload);
    let mut ends: BTreeMap<String, End> = workloads
        .map(|item| (item.name.clone(), End::LeftOut(item.why.clone())))
        .collect();
    // What is not among the trials was not begun: a box whose limits were not proven.
    for workload in &study.workloads {
        let none = "no trial was made: the limits of its box were not proven".to_owned();
        ends.insert(workload.name.clone(), End::Failed(none));
    }
    for trial in results.trials() {
        let why = |failure: &tare_model::results::Failure| format!("{}: {}", failure.reason, failure.detail);
        let end = match &trial.outcome {
            Outcome::Ok(_) => End::Well,
            Outcome::Failed(failure) => End::Failed(why(failure)),
            Outcome::Skipped(failure) => End::Skipped(why(failure)),
        };
        ends.insert(trial.cell.workload.clone(), end);
    }
    ends
}

/// Workloads by platforms, and below it why what did not end well did not.
fn table(columns: &[(String, Column)]) -> String {
    let ran = || {
        columns
            .iter()
            .filter_map(|(name, column)| Some((name, column.as_ref().ok()?)))
    };
    let mut workloads: Vec<&String> = ran().flat_map(|(_, ends)| ends.keys()).collect();
    workloads.sort();
    workloads.dedup();
    let width = workloads.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}", "");
    for (platform, _) in columns {
        let _ = write!(text, "  {platform:<10}");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    for workload in workloads {
        let _ = write!(text, "{workload:width$}");
        for (_, column) in columns {
            let word = match column {
                Ok(ends) => ends.get(workload).map_or("", End::word),
                Err(_) => "no run",
            };
            let _ = write!(text, "  {word:<10}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    for (platform, column) in columns {
        match column {
            Ok(ends) => {
                for (workload, end) in ends {
                    let told = end.why().map(|why| format!("{platform} {workload}: {why}\n"));
                    text += &told.unwrap_or_default();
                }
            }
            Err(why) => text += &format!("{platform}: {why}\n"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_tells_how_each_ended_and_why() {
        let ends = |list: Vec<(&str, End)>| {
            Ok(list
                .into_iter()
                .map(|(name, end)| (name.to_owned(), end))
                .collect())
        };
        let columns = [
            (
                "native".to_owned(),
                ends(vec![
                    ("fio", End::Well),
                    ("spawn", End::Failed("it died".to_owned())),
                ]),
            ),
            (
                "vm".to_owned(),
                ends(vec![
                    ("fio", End::LeftOut("no fio".to_owned())),
                    ("spawn", End::Skipped("no".to_owned())),
                ]),
            ),
            ("docker".to_owned(), Err("no engine".to_owned())),
        ];
        assert_eq!(
            table(&columns),
            "       native      vm          docker\n\
             fio    well        left out    no run\n\
             spawn  FAILED      cannot run  no run\n\
             native spawn: it died\n\
             vm fio: no fio\n\
             vm spawn: no\n\
             docker: no engine\n"
        );
    }
}
