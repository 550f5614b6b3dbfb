//! Standard output for results, standard error for talk.

use indicatif::ProgressStyle;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use tare_report::text;

/// A trial or a check failed.
pub const FAILED: u8 = 1;
/// Bad input, or nothing can run.
pub const BAD_INPUT: u8 = 2;
/// The user stopped it.
pub const INTERRUPTED: u8 = 130;

/// Prints to standard output. A reader that went away (`| head`) is no error.
///
/// # Errors
/// Any other failure to write.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(&e)),
        _ => Ok(()),
    }
}

fn unwritten(error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot write to standard output: {error}")
}

/// Says a line on standard error. That nobody listens any more (`| head`, a closed
/// terminal) must not end a measurement.
pub fn say(line: &str) {
    say_lines(&format!("{line}\n"));
}

/// Says lines that end with a line break.
pub fn say_lines(lines: &str) {
    let _ = io::stderr().lock().write_all(lines.as_bytes());
}

/// Prints a value as JSON.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&tare_report::json::render(value)?)
}

/// Tells an error in one line, with its causes.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    say(&format!("tare: {}", one_line(&with_causes(error))));
    ExitCode::from(BAD_INPUT)
}

/// Tells what is wrong with the arguments, or the help that was asked for. Only an
/// argument can bring a character that drives a terminal: then there are no colours.
pub fn usage(error: &clap::Error) -> ExitCode {
    let plain = error.to_string();
    if plain.lines().all(|line| text::clean(line) == line) {
        error.exit();
    }
    for line in plain.lines() {
        say(&text::clean(line));
    }
    ExitCode::from(BAD_INPUT)
}

/// The error and its causes, each once: many errors name theirs already.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |told, cause| {
        let cause = cause.to_string();
        if told.contains(&cause) {
            told
        } else {
            format!("{told}: {cause}")
        }
    })
}

/// Text in one line, every other control character and every mark that reorders or
/// hides text spelled out as in reports: no foreign text can drive a terminal.
pub fn one_line(text: &str) -> String {
    text::clean(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// A path as text in one line.
pub fn path(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// An argument as it is typed in a shell: in quotation marks where it needs them.
pub fn word(argument: &str) -> String {
    tare_model::shell::word(&one_line(argument))
}

/// This program as its user called it.
pub fn program() -> String {
    let called = std::env::args_os().next().unwrap_or_else(|| "tare".into());
    word(&called.to_string_lossy())
}

/// How a run is gone on with, with its options in the place of `{}`: whatever wraps this program, such as a private engine, is
/// to do so again.
pub fn resuming() -> String {
    std::env::var("TARE_RESUME").unwrap_or_else(|_| format!("{} run {{}}", program()))
}

/// The command that goes on with this file.
pub fn resume(file: &Path) -> String {
    resuming().replace("{}", &format!("--resume {}", word(&file.display().to_string())))
}

/// Text in lines as wide as the terminal, behind `first`; later lines begin at `indent`.
pub fn wrapped(first: &str, indent: usize, words: &str) -> String {
    text::wrapped(first, indent, &one_line(words), width())
}

/// Whether standard output shows colours.
pub fn colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Whether the user's locale has ASCII alone (locale(7)): the first of these that is set decides.
pub fn ascii() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let set = names.into_iter().filter_map(std::env::var_os);
    is_ascii(set.into_iter().find(|locale| !locale.is_empty()).as_deref())
}

/// The style of a progress bar, in what the terminal can show.
pub fn bar_style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    if ascii() {
        style.progress_chars("#-")
    } else {
        style
    }
}

fn is_ascii(locale: Option<&OsStr>) -> bool {
    let locale = locale.unwrap_or_default().to_string_lossy().to_lowercase();
    !(locale.contains("utf-8") || locale.contains("utf8"))
}

/// Columns of the terminal; 80 where there is none.
pub fn width() -> usize {
    let (_, columns) = console::Term::stdout().size_checked().unwrap_or((0, 80));
    usize::from(columns).max(40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_or_reorders_a_terminal_is_spelled_out() {
        assert_eq!(
            one_line("a\nb\u{202e}c\u{1b}[2J\u{200b}"),
            "a b\\u{202e}c\\u{1b}[2J\\u{200b}"
        );
    }

    #[test]
    fn a_locale_without_utf_8_has_ascii_alone() {
        for (locale, ascii) in [
            (None, true),
            (Some("C"), true),
            (Some("POSIX"), true),
            (Some("de_DE.ISO-8859-1"), true),
            (Some("C.UTF-8"), false),
            (Some("en_US.utf8"), false),
        ] {
            assert_eq!(is_ascii(locale.map(OsStr::new)), ascii, "{locale:?}");
        }
    }

    #[test]
    fn an_argument_is_shown_as_it_is_typed() {
        let shown = |argument: &str| word(argument);
        assert_eq!(shown("a/b.jsonl"), "a/b.jsonl");
        assert_eq!(shown("two words"), "'two words'");
        assert_eq!(shown("it's"), r"'it'\''s'");
        assert_eq!(shown(""), "''");
        assert_eq!(shown("a\u{1b}b"), r"'a\u{1b}b'");
    }

    #[test]
    fn words_hang_behind_their_name() {
        let text = wrapped("name", 6, &"word\u{202e} ".repeat(30));
        assert!(text.starts_with("name  word\\u{202e} word"), "{text}");
        assert!(text.lines().skip(1).all(|l| l.starts_with("      w")), "{text}");
    }
}
