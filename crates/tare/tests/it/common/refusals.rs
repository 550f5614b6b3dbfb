//! Pages of command lines and of the messages that refuse them, for snapshots.

use super::{Tare, Words};

/// Command lines, each with its message.
pub struct Refusals<'a> {
    tare: &'a Tare,
    page: String,
}

impl<'a> Refusals<'a> {
    pub fn of(tare: &'a Tare) -> Self {
        Self {
            tare,
            page: String::new(),
        }
    }

    /// Runs a command line, which must end with exit code 2, and with a message alone.
    #[track_caller]
    pub fn add<W: Words + ?Sized>(&mut self, args: &W) {
        let line = args.words().into_iter().map(as_typed).collect::<Vec<_>>();
        let line = line.join(" ");
        let ended = self.tare.run(args);
        assert_eq!(ended.code, 2, "tare {line}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "tare {line}");
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        let folder = self.tare.path("").display().to_string();
        let message = ended.stderr.replace(folder.trim_end_matches('/'), "FOLDER");
        let message = of_any_host(message.trim_end());
        self.page.push_str(&format!("$ tare {line}\n{message}\n\n"));
    }

    /// Runs a study that must not leave a results file.
    #[track_caller]
    pub fn run(&mut self, more: &[&str]) {
        self.add(&[&["run", "-o", "out.jsonl"], more].concat());
        let left = self.tare.path("out.jsonl").exists();
        assert!(!left, "{more:?} left a results file");
    }

    pub fn page(self) -> String {
        self.page
    }
}

fn as_typed(word: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("{word:?}")
    }
}

/// A message with `N` for the CPUs or the memory of this host, and `M` for its memory beside its CPUs.
fn of_any_host(message: &str) -> String {
    const HOST: &str = "this host has ";
    const BOTH: &str = " that may be used and ";
    let Some((before, after)) = message.split_once(HOST) else {
        return message.to_owned();
    };
    let end = after.find(" that").or_else(|| after.find(':')).unwrap();
    let (size, rest) = after.split_at(end);
    let rest = match rest.strip_prefix(BOTH).and_then(|rest| rest.split_once(':')) {
        Some((_, rest)) => format!("{BOTH}M:{rest}"),
        None => rest.replace(&format!("at most {size}"), "at most N"),
    };
    format!("{before}{HOST}N{rest}")
}
