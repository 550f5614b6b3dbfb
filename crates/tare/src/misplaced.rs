//! Words that stand where a study or a subcommand is expected and are something else: a
//! command without its `--`, the rest of a list, a results file.

use crate::args::Cli;
use crate::out;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory};
use std::path::Path;
use tare_host::carry;
use tare_lab::safe_file;
use tare_model::kernel::Kernel;
use tare_model::suggest;
use tare_platforms::REGISTRY;
use tare_study::{study_file, workload_file};

/// What every results file begins with.
const RESULTS_START: &[u8] = br#"{"record":"header""#;

/// What is to be said instead of an error of the parser, which knows no command without
/// `--` and no list without commas.
pub fn instead_of(error: &clap::Error) -> Option<anyhow::Error> {
    let arguments = arguments();
    let advice = match error.kind() {
        // A misspelt option is one, whatever name stands before it; what follows a path is the
        // path's own.
        ErrorKind::UnknownArgument
            if error.get(ContextKind::SuggestedArg).is_none() || begins_with_path(&arguments) =>
        {
            option_first(&arguments).or_else(|| study(&arguments))
        }
        ErrorKind::InvalidSubcommand => subcommand(&arguments),
        // `native, docker` is two arguments, and the first ends with an empty name.
        ErrorKind::ValueValidation if is_empty_name(error) => list(&arguments),
        _ => None,
    };
    advice.map(anyhow::Error::msg)
}

fn is_empty_name(error: &clap::Error) -> bool {
    let value = error.get(ContextKind::InvalidValue);
    matches!(value, Some(ContextValue::String(value)) if value.is_empty())
}

/// What the word in the place of a study was meant to be, if not a study.
pub fn in_place_of_study() -> Option<anyhow::Error> {
    study(&arguments()).map(anyhow::Error::msg)
}

/// The error with the nearest subcommand: the parser finds none for words of three letters.
/// Its tip to put an unknown option behind `--` is left out: a command goes there.
pub fn with_nearest(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    let is_suggested = error.get(ContextKind::SuggestedSubcommand).is_some();
    if error.kind() == ErrorKind::InvalidSubcommand
        && !is_suggested
        && let Some(near) = nearest_subcommand(&arguments())
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(near));
    }
    error
}

fn arguments() -> Vec<String> {
    let arguments = std::env::args_os();
    arguments.map(|a| a.to_string_lossy().into_owned()).collect()
}

/// What the first word that is no subcommand was meant to be.
fn nearest_subcommand(arguments: &[String]) -> Option<String> {
    let tare = Cli::command();
    let mut command = &tare;
    for word in arguments.get(1..)? {
        if let Some(known) = command.find_subcommand(word) {
            command = known;
            continue;
        }
        let shown = command.get_subcommands().filter(|s| !s.is_hide_set());
        let names: Vec<&str> = shown.map(Command::get_name).collect();
        return suggest::nearest(word, &names).map(str::to_owned);
    }
    None
}

/// A program in the place of the subcommand.
fn subcommand(arguments: &[String]) -> Option<String> {
    let word = arguments.get(1)?;
    if word == "resume" {
        return Some(format!(
            "'resume' is not a subcommand but an option of run: tare run --resume {}",
            typed(&arguments[2..])
        ));
    }
    let is_program = nearest_subcommand(arguments).is_none() && carry::find_program(word).is_ok();
    is_program.then(|| {
        let words = &arguments[1..];
        format!(
            "'{word}' is not a subcommand; put a command to measure after --: tare run -- {}",
            typed(words)
        )
    })
}

/// An option of a subcommand, without the subcommand.
fn option_first(arguments: &[String]) -> Option<String> {
    let words = arguments.get(1..)?;
    let option = words.first()?.split('=').next()?;
    let tare = Cli::command();
    let shown = tare.get_subcommands().filter(|s| !s.is_hide_set());
    let owners: Vec<&str> = shown
        .filter(|subcommand| spellings(subcommand).any(|known| known == option))
        .map(Command::get_name)
        .collect();
    // Where several take it, a run is what most people mean.
    let owner = owners
        .iter()
        .find(|name| **name == "run")
        .or_else(|| owners.first())?;
    Some(format!(
        "{option} is an option of a subcommand; put it after one: tare {owner} {}",
        typed(words)
    ))
}

/// How the options of a subcommand are written.
fn spellings(subcommand: &Command) -> impl Iterator<Item = String> {
    subcommand.get_arguments().flat_map(|option| {
        let long = option.get_long().map(|long| format!("--{long}"));
        let short = option.get_short().map(|short| format!("-{short}"));
        long.into_iter().chain(short)
    })
}

/// The words from the one on that stands in the place of a study.
struct Words<'a> {
    /// What stands before them: subcommand and options.
    before: &'a [String],
    /// That word, and what follows.
    words: &'a [String],
    /// Values of `--platforms` and of `--workloads`.
    platforms: Vec<String>,
    workloads: Vec<String>,
}

/// Whether the path of a program stands in the place of a study.
fn begins_with_path(arguments: &[String]) -> bool {
    Words::of(arguments).is_some_and(|words| words.words[0].contains('/'))
}

fn study(arguments: &[String]) -> Option<String> {
    let words = Words::of(arguments)?;
    results_file(&words.words[0])
        .or_else(|| words.rest_of_list())
        .or_else(|| words.command())
}

/// The same of a list whose names are parted by blanks, too: the parser reads no further
/// than the comma at the end of an argument.
fn list(arguments: &[String]) -> Option<String> {
    let without_comma = |argument: &String| argument.trim_end_matches(',').to_owned();
    let arguments: Vec<String> = arguments.iter().map(without_comma).collect();
    Words::of(&arguments)?.rest_of_list()
}

impl<'a> Words<'a> {
    /// The words of these arguments, unless the first of them is a study.
    fn of(arguments: &'a [String]) -> Option<Self> {
        let tare = Cli::command().ignore_errors(true);
        // What is wrong is told by the caller; what could be read is enough here.
        let matches = tare.clone().try_get_matches_from(arguments).ok()?;
        let (name, found) = matches.subcommand()?;
        let study = one(found, "study")?;
        if Path::new(&study).extension().is_some_and(|end| end == "toml")
            || study_file::read(&study, false).is_ok()
        {
            return None;
        }
        let at = place(tare.find_subcommand(name)?, arguments, &study)?;
        Some(Self {
            before: &arguments[1..at],
            words: &arguments[at..],
            platforms: many(found, "platforms"),
            workloads: many(found, "workloads"),
        })
    }
}

/// A value of an argument that this subcommand may not have.
fn one(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.try_get_one::<String>(id).ok().flatten().cloned()
}

fn many(matches: &ArgMatches, id: &str) -> Vec<String> {
    let values = matches.try_get_many::<String>(id).ok().flatten();
    values.into_iter().flatten().cloned().collect()
}

/// Where a word stands that is no value of an option.
fn place(command: &Command, arguments: &[String], word: &str) -> Option<usize> {
    let takes_value = |argument: &str| {
        let mut options = command.get_arguments().filter(|a| a.get_action().takes_values());
        options.any(|option| {
            let long = option.get_long().map(|long| format!("--{long}"));
            let short = option.get_short().map(|short| format!("-{short}"));
            [long, short].iter().flatten().any(|name| name == argument)
        })
    };
    (2..arguments.len()).find(|at| arguments[*at] == word && !takes_value(&arguments[at - 1]))
}

fn results_file(path: &str) -> Option<String> {
    let start = safe_file::beginning(Path::new(path), RESULTS_START.len() as u64).ok()?;
    let typed = out::word(path);
    (start == RESULTS_START).then(|| {
        format!(
            "{path} is a results file, not a study: view it with 'tare report {typed}', or continue it with 'tare run --resume {typed}'"
        )
    })
}

impl Words<'_> {
    /// Names of platforms or workloads, which are parted by commas.
    fn rest_of_list(&self) -> Option<String> {
        let is_name = |word: &&String| !word.starts_with('-');
        let names: Vec<&str> = self
            .words
            .iter()
            .take_while(is_name)
            .flat_map(|word| word.split(','))
            .filter(|name| !name.is_empty())
            .collect();
        let all = |known: fn(&str) -> bool| !names.is_empty() && names.iter().all(|name| known(name));
        let (what, option, given) = if all(is_platform) {
            ("platforms", "-p", &self.platforms)
        } else if all(is_workload) {
            ("workloads", "-w", &self.workloads)
        } else {
            return None;
        };
        let given = given.iter().map(String::as_str).filter(|name| !name.is_empty());
        let list: Vec<&str> = given.chain(names.iter().copied()).collect();
        let list = out::word(&list.join(","));
        Some(match names[..] {
            [only] if list == only => {
                format!("'{only}' is one of the {what}, not a study: pass it with {option} {only}")
            }
            _ => format!("{what} are one list, joined with commas and without blanks: {option} {list}"),
        })
    }

    /// A command without its `--`.
    fn command(&self) -> Option<String> {
        let (program, more) = self.words.split_first()?;
        let near_study = || suggest::nearest(program, &study_file::SHIPPED.map(|(name, _)| name)).is_some();
        let is_command = carry::find_program(program).is_ok() || !(more.is_empty() || near_study());
        is_command.then(|| {
            let words: Vec<String> = self.words.iter().filter(|word| *word != "--").cloned().collect();
            format!(
                "'{program}' is not a study; put a command to measure after --: tare {} -- {}",
                typed(self.before),
                typed(&words)
            )
        })
    }
}

fn is_platform(name: &str) -> bool {
    let end = name.find(['?', ':', '/']).unwrap_or(name.len());
    REGISTRY.iter().any(|entry| entry.name == &name[..end])
}

fn is_workload(name: &str) -> bool {
    name.parse::<Kernel>().is_ok() || workload_file::names().contains(&name)
}

/// Arguments as they are typed.
fn typed(arguments: &[String]) -> String {
    let words: Vec<String> = arguments.iter().map(|argument| out::word(argument)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        study(&arguments).unwrap_or_default()
    }

    #[test]
    fn a_command_is_put_behind_its_dashes() {
        for (line, end) in [
            ("tare run sleep 1", ": tare run -- sleep 1"),
            ("tare run sleep", ": tare run -- sleep"),
            ("tare run -p sleep sleep 1", ": tare run -p sleep -- sleep 1"),
            ("tare run ls -l /tmp", ": tare run -- ls -l /tmp"),
            (
                "tare plan --blocks 3 sleep -- 1",
                ": tare plan --blocks 3 -- sleep 1",
            ),
            ("tare run no-such-program x", ": tare run -- no-such-program x"),
        ] {
            assert!(told(line).ends_with(end), "{line}: {}", told(line));
        }
    }

    #[test]
    fn to_resume_is_an_option_of_run() {
        let arguments = ["tare", "resume", "a b.jsonl"].map(str::to_owned);
        let told = subcommand(&arguments).unwrap_or_default();
        assert!(told.ends_with(": tare run --resume 'a b.jsonl'"), "{told}");
    }

    #[test]
    fn a_list_gets_its_commas() {
        for (line, end) in [
            ("tare run -p native docker", ": -p native,docker"),
            (
                "tare run -p native docker lxc --blocks 3",
                ": -p native,docker,lxc",
            ),
            ("tare run docker", " -p docker"),
            ("tare run -p native vm?accel=tcg", ": -p 'native,vm?accel=tcg'"),
            ("tare plan -w stream linpack", ": -w stream,linpack"),
        ] {
            assert!(told(line).ends_with(end), "{line}: {}", told(line));
        }
    }

    #[test]
    fn a_comma_with_a_blank_is_a_comma() {
        let arguments = ["tare", "run", "-p", "native,", "docker,", "lxc"].map(str::to_owned);
        let told = list(&arguments).unwrap_or_default();
        assert!(told.ends_with(": -p native,docker,lxc"), "{told}");
    }

    #[test]
    fn studies_and_what_is_misspelt_are_left_alone() {
        for line in [
            "tare run",
            "tare run quick",
            "tare run quik",
            "tare run nosuch.toml",
            "tare report sleep",
        ] {
            assert_eq!(told(line), "", "{line}");
        }
    }
}
