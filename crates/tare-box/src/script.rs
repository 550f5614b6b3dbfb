//! The first line of a script, which names its interpreter.

use std::path::Path;

/// Bytes of it that Linux reads (`BINPRM_BUF_SIZE`).
pub const LONGEST_LINE: u64 = 256;

const BLANKS: [char; 2] = [' ', '\t'];

/// The first line of a script, split as Linux does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptLine {
    /// As it is written: nothing, a relative path, or one with a carriage return among them.
    pub interpreter: String,
    argument: String,
}

impl ScriptLine {
    /// That of a file which begins so; `None` if it is no script.
    pub fn of(head: &[u8]) -> Option<Self> {
        let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        let line = String::from_utf8_lossy(line);
        let line = line.trim_matches(BLANKS);
        let (interpreter, argument) = line.split_once(BLANKS).unwrap_or((line, ""));
        Some(Self {
            interpreter: interpreter.to_owned(),
            argument: argument.trim_start_matches(BLANKS).to_owned(),
        })
    }

    /// Why it starts nothing, on whatever host.
    pub fn fault(&self) -> Option<&'static str> {
        const RETURN: &str =
            "its first line ends with a carriage return: save it with line ends of Unix, as by 'dos2unix'";
        if self.interpreter.trim_end_matches('\r').is_empty() {
            return Some("its first line names no interpreter: write '#!/bin/sh'");
        }
        // perl and ruby pass over one behind their options; env and shells do not.
        let is_strict = self.is_env() || self.interpreter.ends_with("sh");
        let has_return = self.interpreter.ends_with('\r') || (is_strict && self.argument.ends_with('\r'));
        has_return.then_some(RETURN)
    }

    /// The program that env(1) is to start, by its name or path.
    pub fn started_by_env(&self) -> Option<&str> {
        if !self.is_env() {
            return None;
        }
        let split = ["-S", "-vS", "--split-string="];
        let split = split.iter().find_map(|option| self.argument.strip_prefix(option));
        let Some(words) = split else {
            return (!self.argument.starts_with('-')).then_some(&*self.argument);
        };
        let mut words = words.split_whitespace();
        words.find(|word| !word.starts_with('-') && !word.contains('='))
    }

    fn is_env(&self) -> bool {
        Path::new(&self.interpreter)
            .file_name()
            .is_some_and(|name| name == "env")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> ScriptLine {
        ScriptLine::of(format!("#!{text}\nexit\n").as_bytes()).unwrap()
    }

    #[test]
    fn a_line_that_starts_nothing_is_told_by_what_is_wrong_with_it() {
        for (text, told) in [
            ("", Some("names no interpreter")),
            ("\r", Some("names no interpreter")),
            ("/bin/sh\r", Some("a carriage return")),
            ("/bin/sh -e\r", Some("a carriage return")),
            ("/usr/bin/env python3\r", Some("a carriage return")),
            ("/usr/bin/perl -w\r", None),
            (" /bin/sh -e ", None),
        ] {
            let fault = line(text).fault();
            let is_told = fault.zip(told).is_some_and(|(fault, told)| fault.contains(told));
            assert!(
                is_told || fault.is_none() && told.is_none(),
                "{text:?}: {fault:?}"
            );
        }
        assert_eq!(ScriptLine::of(b"echo\n#!/bin/sh\n"), None);
    }

    #[test]
    fn env_starts_the_first_word_that_is_neither_option_nor_variable() {
        for (text, started) in [
            ("/usr/bin/env sh", Some("sh")),
            ("/usr/bin/env -S sh -e", Some("sh")),
            ("/usr/bin/env -SA=1 python3 -u", Some("python3")),
            ("/usr/bin/env -vS -i /bin/sh -e", Some("/bin/sh")),
            ("/usr/bin/env -i", None),
            ("/bin/sh env", None),
        ] {
            assert_eq!(line(text).started_by_env(), started, "{text}");
        }
    }
}
