//! What a person sees: the answer after a run, wherever it is printed.

use crate::common::{self, Tare, ended};
use std::process::{Command, Stdio};

/// A study with something to compare.
fn measured() -> Tare {
    let tare = Tare::new();
    let study = "run -p fake,fake?cost=1.5 --cpus 1 -w syscall --no-settle --blocks 10 --seed 1";
    let answer = tare.ok(&format!("{study} -o r.jsonl --html r.html"));
    assert!(answer.stdout.contains("cost (fake = 1)"), "{}", answer.stdout);
    let last: Vec<&str> = answer.stdout.lines().rev().take(2).collect();
    assert_eq!(last[0], "Page: r.html");
    assert!(last[1].ends_with("tare report r.jsonl --details"), "{}", last[1]);
    tare
}

/// The report with a locale as the only one that is set.
fn report(tare: &Tare, variable: &str, locale: &str) -> String {
    let mut command = tare.command(&["report", "r.jsonl"]);
    for other in ["LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(other);
    }
    let done = ended(command.env(variable, locale).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    done.stdout
}

#[test]
fn a_locale_without_utf_8_gets_ascii_and_nothing_is_wider_than_a_terminal() {
    let tare = measured();
    let records = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let (head, model) = ("\"cpu_model\":\"", "Prozessor — neu");
    assert!(records.contains(head), "{records}");
    std::fs::write(
        tare.path("r.jsonl"),
        records.replacen(head, &format!("{head}{model} "), 1),
    )
    .unwrap();
    for (variable, locale, ascii) in [
        ("LANG", "C", true),
        ("LC_ALL", "POSIX", true),
        ("LC_CTYPE", "C.UTF-8", false),
        ("LANG", "en_US.utf8", false),
    ] {
        let text = report(&tare, variable, locale);
        assert_eq!(text.is_ascii(), ascii, "{variable}={locale}\n{text}");
        // A command to be copied stays in one line, with the program as it was called.
        let fits = |line: &str| line.chars().count() <= 80 || line.ends_with(" report r.jsonl --details");
        assert!(text.lines().all(fits), "{text}");
        assert!(!text.contains('\u{1b}'), "colours in a pipe: {text}");
    }
}

#[test]
fn details_hold_what_the_answer_leaves_out() {
    let tare = measured();
    let answer = tare.ok("report r.jsonl").stdout;
    let details = tare.ok("report r.jsonl --details").stdout;
    assert!(answer.lines().count() <= 30, "{answer}");
    for section in ["Absolute figures", "More figures", "How to read this"] {
        assert!(
            details.contains(section) && !answer.contains(section),
            "{section}"
        );
    }
    tare.refused("report r.jsonl --details --json", &["--details", "--json"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let tare = measured();
    for more in ["", "--details", "--json"] {
        let script = format!(
            "set -o pipefail; {} report r.jsonl {more} | head -n 1",
            common::binary().display()
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(tare.path("."));
        let done = ended(shell.stdin(Stdio::null()).output().unwrap());
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{more}");
        assert_eq!(done.stdout.lines().count(), 1);
    }
}

#[test]
fn the_time_left_counts_no_limit_check_that_an_earlier_run_made() {
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    let told = |output: &str| {
        let line = format!(
            "run -p native -w syscall --cpus 1 --provisioning pinned --blocks 1 --trial-time 50ms --no-settle -o {output}"
        );
        let said = tare.ok(&line).stderr;
        let first = said.lines().find_map(|line| line.strip_prefix("block 1 of 1, "));
        first.unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let (checked, again) = (told("a.jsonl"), told("b.jsonl"));
    // The plan has 3 s for a check.
    assert!(checked.starts_with("about 3."), "{checked}");
    // One with a finding, as on a busy host, is not kept.
    let is_kept = tare.records_of("b.jsonl", "proof")[0]["rests_on"].is_object();
    let expected = if is_kept { "a few seconds left" } else { "about 3." };
    assert!(again.starts_with(expected), "{again}");
}

/// What a terminal of 30 lines and 90 columns was sent by a command.
fn on_a_terminal(tare: &Tare, arguments: &str) -> String {
    let program = tare.command(&[]).get_program().to_string_lossy().into_owned();
    let line = format!("stty rows 30 cols 90; exec {program} {arguments}");
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(tare.path("."));
    for (name, value) in tare.command(&[]).get_envs() {
        script.env(name, value.unwrap_or_default());
    }
    let done = ended(
        script
            .env("TERM", "xterm")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .unwrap(),
    );
    assert_eq!(done.code, 0, "{done:?}");
    done.stdout
}

#[test]
fn a_terminal_shows_the_costs_as_far_as_they_are_known() {
    let tare = Tare::new();
    let study = "run -p fake,fake?cost=1.5 --cpus 1 -w syscall --no-settle --blocks 4 --seed 1";
    let sent = on_a_terminal(&tare, &format!("{study} -o r.jsonl"));
    // The report at the end has the costs once; whatever is before it was shown beneath the bar.
    let heads = sent.matches("cost (fake = 1)").count();
    assert!(heads > 1, "{sent}");
    assert!(sent.contains("(one block)"), "{sent}");
    let quiet = on_a_terminal(&tare, &format!("{study} -o q.jsonl --quiet"));
    assert_eq!(quiet.matches("cost (fake = 1)").count(), 1, "{quiet}");
    assert!(!quiet.contains("baseline fake"), "no plan: {quiet}");
    let piped = tare.ok(&format!("{study} -o p.jsonl --quiet"));
    assert_eq!(piped.stderr, "");
}

/// It would be stopped when it read from there, as what is in the background is.
#[test]
fn a_command_has_no_terminal_natively_either() {
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    let script = "if (: </dev/tty) 2>/dev/null; then echo tty: 2; else echo tty: 1; fi";
    std::fs::write(tare.path("tty.sh"), script).unwrap();
    on_a_terminal(
        &tare,
        "run -p native --provisioning pinned --cpus 1 --blocks 1 --no-settle --quiet --metric 'tty=tty: (.)' --unit 1 --lower -o r.jsonl -- sh tty.sh",
    );
    let trial = &tare.records_of("r.jsonl", "trial")[0];
    assert_eq!(trial["outcome"]["ok"]["samples"]["tty"], 1.0, "{trial}");
}

#[test]
fn plain_text_has_neither_colours_nor_drawings() {
    let tare = measured();
    let sent = on_a_terminal(&tare, "report r.jsonl");
    let plain = on_a_terminal(&tare, "report r.jsonl --plain");
    assert!(sent.contains('\u{1b}') && sent.contains('●'), "{sent}");
    assert!(plain.is_ascii() && !plain.contains('\u{1b}'), "{plain}");
    assert!(plain.contains("slower") && !plain.contains("-o-"), "{plain}");
    tare.refused("report r.jsonl --plain --json", &["--plain", "--json"]);
}
