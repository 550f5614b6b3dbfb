//! Completions and the manual pages, from the same table as the help.

use crate::args::Cli;
use crate::out;
use clap::CommandFactory;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap_complete::Shell;
use std::process::ExitCode;
use tare_model::kernel::{Isa, Kernel};
use tare_model::size::INSTANCE_TYPES;
use tare_model::suggest;
use tare_platforms::conformance::CHECKS;
use tare_published::Library;
use tare_study::images;
use tare_study::study_file::SHIPPED;
use tare_study::workload_file;

/// Prints completions for a shell.
pub fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    out::print(&script(shell)?)?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> anyhow::Result<String> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_values()?, "tare", &mut script);
    let script = String::from_utf8(script)?;
    Ok(match shell {
        Shell::Bash => bash_lists(&script),
        Shell::Zsh => zsh_lists(&script),
        // The first name of a list is completed, and no further one.
        _ => script,
    })
}

/// The command line with the names that options and arguments take. The parser does not
/// know them: what is wrong is told where a study is judged, with more to say.
fn with_values() -> anyhow::Result<clap::Command> {
    let all = Cli::command();
    let shown: Vec<&clap::Command> = all.get_subcommands().filter(|s| !s.is_hide_set()).collect();
    let subcommands: Vec<&str> = shown.iter().map(|s| s.get_name()).collect();
    // Scripts offer hidden subcommands, too: they are left out here.
    let mut tare = clap::Command::new("tare")
        .version(tare_model::VERSION)
        .subcommands(shown.iter().copied().cloned());
    let library = Library::load()?;
    let published: Vec<&str> = library.studies.iter().map(|s| s.study.id.as_str()).collect();
    let platforms = tare_platforms::names();
    let kernels = Kernel::ALL.map(Kernel::name);
    let isa = [Isa::Baseline, Isa::V3, Isa::V4].map(|isa| isa.to_string());
    for study in ["plan", "run", "pilot"] {
        tare = tare.mut_subcommand(study, |command| {
            let command = takes(command, "study", SHIPPED.map(|(name, _)| name));
            let command = takes(command, "platforms", &platforms);
            let command = takes(command, "baseline", &platforms);
            let command = takes(
                command,
                "workloads",
                kernels.into_iter().chain(workload_file::names()),
            );
            let command = takes(command, "instance", INSTANCE_TYPES.map(|(name, ..)| name));
            let command = takes(command, "slices", ["auto", "off", "turns"]);
            takes(command, "isa", &isa)
        });
    }
    let tare = tare
        .mut_subcommand("check", |command| {
            let checks = CHECKS.iter().map(|check| check.name);
            takes(takes(command, "platforms", &platforms), "only", checks)
        })
        .mut_subcommand("tune", |command| {
            let command = takes(command, "study", SHIPPED.map(|(name, _)| name));
            takes(command, "platforms", &platforms)
        })
        .mut_subcommand("density", |command| takes(command, "platforms", &platforms))
        .mut_subcommand("kernel", |command| {
            takes(takes(command, "name", kernels), "isa", &isa)
        })
        .mut_subcommand("analyze", |command| {
            takes(command, "direction", ["higher", "lower"])
        })
        .mut_subcommand("compare", |command| takes(command, "published", &published))
        .mut_subcommand("published", |command| {
            let study = |command| takes(command, "study", &published);
            command
                .mut_subcommand("show", study)
                .mut_subcommand("check", study)
        })
        .mut_subcommand("workloads", |command| {
            let name = |command| takes(command, "name", workload_file::names());
            command.mut_subcommand("show", name).mut_subcommand("check", name)
        })
        .mut_subcommand("image", |command| {
            // Those of the store change, and a script outlives them.
            command
                .mut_subcommand("build", |command| takes(command, "name", images::names()))
                .mut_subcommand("show", |command| takes(command, "name", images::names()))
                .mut_subcommand("remove", |command| takes(command, "names", images::names()))
        })
        .mut_subcommand("man", |command| takes(command, "subcommand", &subcommands));
    Ok(tare)
}

/// The command, one of whose arguments takes these names.
fn takes<N: ToString>(
    command: clap::Command,
    argument: &'static str,
    names: impl IntoIterator<Item = N>,
) -> clap::Command {
    // The parser takes names that live for ever, and this process ends with the script.
    let names = names.into_iter().map(|name| &*name.to_string().leak());
    let names = names.map(PossibleValue::new);
    let names = PossibleValuesParser::new(names.collect::<Vec<_>>());
    command.mut_arg(argument, |argument| argument.value_parser(names))
}

/// In Bash what is completed of a list is what follows its last comma. Words without a
/// comma are completed as before.
fn bash_lists(script: &str) -> String {
    let whole = r#"" -- "${cur}"))"#;
    let last = r#"" -P "${cur%"${cur##*,}"}" -- "${cur##*,}"))"#;
    let line = |line: &str| {
        if line.trim_start().starts_with("COMPREPLY=($(compgen -W") {
            line.replace(whole, last) + "\n"
        } else {
            line.to_owned() + "\n"
        }
    };
    script.lines().map(line).collect()
}

/// In Zsh a list is a sequence of the same names, and a study is a file, too.
fn zsh_lists(script: &str) -> String {
    let named = |line: &str, mark: &str| {
        let (before, names) = line.strip_suffix(")' \\")?.rsplit_once(mark)?;
        (!names.starts_with('(')).then(|| (before.to_owned(), names.to_owned()))
    };
    let line = |line: &str| {
        if let Some((before, names)) = named(line, ":LIST:(") {
            return format!("{before}:LIST:_sequence compadd - {names}' \\\n");
        }
        match named(line, ":(") {
            Some((before, names)) if names.starts_with(SHIPPED[0].0) => {
                format!("{before}:{{compadd - {names}; _files}}' \\\n")
            }
            _ => line.to_owned() + "\n",
        }
    };
    script.lines().map(line).collect()
}

/// Prints the manual page tare(1), or tare-SUBCOMMAND(1).
pub fn man(subcommand: Option<&str>) -> anyhow::Result<ExitCode> {
    out::print(&page(documented(subcommand)?)?)?;
    Ok(ExitCode::SUCCESS)
}

fn page(command: clap::Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    let source = concat!("tare ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).source(source).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}

/// The command that a page is about, under the name of its page. `help` has no
/// page: what it prints is in the pages.
fn documented(subcommand: Option<&str>) -> anyhow::Result<clap::Command> {
    let mut tare = Cli::command().disable_help_subcommand(true);
    tare.build();
    let Some(name) = subcommand else { return Ok(tare) };
    let shown = || tare.get_subcommands().filter(|s| !s.is_hide_set());
    let found = shown().find(|s| s.get_name() == name).cloned();
    found.ok_or_else(|| {
        let names: Vec<&str> = shown().map(clap::Command::get_name).collect();
        let near = suggest::nearest(name, &names).map(|near| format!("did you mean '{near}'? "));
        anyhow::anyhow!(
            "there is no manual page for '{name}': {}the subcommands are {}",
            near.unwrap_or_default(),
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page without the backslashes of its format.
    fn of(subcommand: Option<&str>) -> String {
        let page = documented(subcommand).and_then(page).expect("a page");
        page.replace('\\', "")
    }

    #[test]
    fn every_shell_completes_names() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell).expect("a script");
            for name in [
                "nspawn",
                "cloud-hypervisor",
                "linpack",
                "ruan2016",
                "pinned",
                "v4",
                "turns",
                "16xlarge",
                "felter2015",
            ] {
                assert!(script.contains(name), "{shell}: {name}");
            }
            assert!(
                !script.contains("fake") && !script.contains("run-hold"),
                "{shell}"
            );
        }
    }

    #[test]
    fn zsh_takes_a_list_as_a_sequence() {
        let of = |line: &str| zsh_lists(line);
        assert_eq!(
            of("'*-w+[Workloads]:LIST:(stream linpack)' \\"),
            "'*-w+[Workloads]:LIST:_sequence compadd - stream linpack' \\\n"
        );
        assert_eq!(
            of("'::study -- A study:(quick full)' \\"),
            "'::study -- A study:{compadd - quick full; _files}' \\\n"
        );
        assert_eq!(
            of("'--isa=[Set]:ISA:(v3 v4)' \\"),
            "'--isa=[Set]:ISA:(v3 v4)' \\\n"
        );
    }

    #[test]
    fn the_page_of_a_subcommand_has_its_name_and_its_options() {
        let run = of(Some("run"));
        for expected in [
            ".TH tare-run 1",
            "fBtare runfR",
            "--resume",
            "--blocks",
            "vanilla:",
        ] {
            assert!(run.contains(expected), "{expected}\n{run}");
        }
    }

    #[test]
    fn the_top_page_names_the_pages_that_exist_and_no_other() {
        let top = of(None);
        let named: Vec<&str> = top
            .lines()
            .filter_map(|line| line.strip_prefix("tare-")?.strip_suffix("(1)"))
            .collect();
        assert!(named.contains(&"run") && named.contains(&"man"), "{top}");
        for name in named {
            assert!(of(Some(name)).contains(&format!(".TH tare-{name} 1")), "{name}");
        }
    }

    #[test]
    fn what_is_hidden_has_no_page() {
        for hidden in [
            "agent",
            "run-act",
            "run-hold",
            "run-kernel",
            "run-proof",
            "help",
            "steam",
        ] {
            let error = documented(Some(hidden)).expect_err("no page").to_string();
            let (_, known) = error.split_once(" are ").expect("the names that there are");
            let known: Vec<&str> = known.split(", ").collect();
            assert!(known.contains(&"run") && known.contains(&"man"), "{error}");
            assert!(!known.contains(&hidden), "{error}");
            assert!(!of(None).contains(&format!("tare-{hidden}")));
        }
    }
}
