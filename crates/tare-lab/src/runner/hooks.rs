//! What runs in a box before a trial of a command and behind it, untimed: its setup and its
//! teardown. Each is a request of its own, outside of what is read and held against the clock.

use super::live::{CellBoxes, supply};
use crate::failures;
use crate::trial;
use std::time::Duration;
use tare_model::protocol::Reply;
use tare_model::results::Failure;
use tare_model::study::Workload;
use tare_platforms::ANSWER_DEADLINE;
use tare_study::placement::Placement;

/// Makes a box ready for a trial: its files are there, and its setup ended well.
pub(super) fn make_ready(
    held: &mut CellBoxes,
    workload: &Workload,
    has_host_files: bool,
    timeout: Duration,
) -> Result<(), Failure> {
    supply(held, workload, has_host_files)?;
    let setup = workload.timed().map(|role| &role.setup);
    run(held, workload, "setup", setup, timeout)
}

/// Runs the teardown of a trial that is over.
pub(super) fn tear_down(held: &mut CellBoxes, workload: &Workload, timeout: Duration) -> Result<(), Failure> {
    let teardown = workload.timed().map(|role| &role.teardown);
    run(held, workload, "teardown", teardown, timeout)
}

fn run(
    held: &mut CellBoxes,
    workload: &Workload,
    which: &str,
    argv: Option<&Vec<String>>,
    timeout: Duration,
) -> Result<(), Failure> {
    let (Some(argv), Some(role)) = (argv.filter(|argv| !argv.is_empty()), workload.timed()) else {
        return Ok(());
    };
    let request = trial::hook(role, argv, timeout);
    let ended = match held
        .link(&Placement::of(role))
        .request(&request, timeout + ANSWER_DEADLINE)
    {
        Ok(answer) => match &answer.reply {
            Reply::Exited(exited) => failures::ended_well(exited, &answer.stderr),
            other => Err(failures::bad_report(format!("{other:?}"))),
        },
        Err(error) => Err(failures::failure(&error)),
    };
    ended.map_err(|failure| Failure {
        detail: format!(
            "its {which}, {}: {}{}",
            quoted(argv),
            failure.detail,
            shell_hint(argv)
        ),
        ..failure
    })
}

/// What to do where words look like a line for a shell, such as `rm x; ls`. Words with blanks were quoted.
fn shell_hint(argv: &[String]) -> &'static str {
    let of_shell = |word: &String| {
        !word.contains(char::is_whitespace)
            && (word.ends_with(';') || word.contains(['|', '>', '<', '&', '$', '*']))
    };
    if argv.iter().any(of_shell) {
        "; it runs without a shell: a line for a shell needs one, as in \"sh -c 'rm -f x; ls'\""
    } else {
        ""
    }
}

/// Words for people: one with blanks in it is seen to be one.
fn quoted(argv: &[String]) -> String {
    let quoted = argv.iter().map(|word| match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word.clone(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_for_a_shell_gets_the_hint() {
        let hint = |line: &[&str]| shell_hint(&line.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert!(hint(&["rm", "x;", "ls"]).contains("sh -c"));
        assert!(hint(&["rm", "/tmp/*"]).contains("sh -c"));
        for line in [
            &["rm", "x"][..],
            &["sh", "-c", "rm x; ls"],
            &["psql", "-c", "select 1;"],
        ] {
            assert_eq!(hint(line), "", "{line:?}");
        }
    }
}
