//! The costs as far as they are known, beneath the bar of a run.

use crate::out;
use console::Term;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tare_analysis::analyze;
use tare_model::results::Results;
use tare_report::text::{TextOptions, so_far};

/// Of the time of a run at most this share goes into showing its costs. Nothing is measured meanwhile: they are
/// worked out between blocks.
const SHARE: u32 = 100;
/// Lines of the terminal that are left to the bar and what was there before.
const OTHER_LINES: usize = 4;

/// Reads the results file of a run after each block.
pub struct Costs {
    file: PathBuf,
    began: Instant,
    spent: Duration,
}

impl Costs {
    /// Of the run that writes this file.
    pub fn of(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            began: Instant::now(),
            spent: Duration::ZERO,
        }
    }

    /// What is known now, in as many lines as there is room for; `None` where it is not time to look, or the
    /// file cannot be read: the report at the end will tell.
    pub fn known(&mut self) -> Option<String> {
        if self.spent * SHARE > self.began.elapsed() {
            return None;
        }
        let begun = Instant::now();
        let screen = Term::stderr();
        let (lines, columns) = screen.size_checked()?;
        let options = TextOptions {
            colour: console::colors_enabled_stderr(),
            width: usize::from(columns),
            ascii: out::ascii(),
            drawings: true,
        };
        let results = Results::read(&self.file).ok()?;
        let told = so_far(&analyze(&results), options);
        self.spent += begun.elapsed();
        Some(fitted(&told, usize::from(lines).saturating_sub(OTHER_LINES)))
    }
}

/// As many lines as fit, the last telling of the others.
fn fitted(told: &str, room: usize) -> String {
    let lines: Vec<&str> = told.trim_matches('\n').lines().collect();
    if lines.len() <= room {
        return lines.join("\n");
    }
    let shown = room.saturating_sub(1);
    let more = format!("... and {} more lines; see 'tare watch'", lines.len() - shown);
    let all = lines[..shown].iter().copied().chain([more.as_str()]);
    all.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn what_does_not_fit_is_counted() {
        assert_eq!(fitted("\na\nb\n", 2), "a\nb");
        assert_eq!(
            fitted("a\nb\nc\nd\n", 3),
            "a\nb\n... and 2 more lines; see 'tare watch'"
        );
        assert_eq!(fitted("a\nb\n", 0), "... and 2 more lines; see 'tare watch'");
    }
}
