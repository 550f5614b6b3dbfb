//! Completions and the manual pages, from the same table as the help.

use crate::args::Cli;
use crate::out;
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tare", &mut script);
    out::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
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
        anyhow::anyhow!(
            "there is no manual page for '{name}': the subcommands are {}",
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
