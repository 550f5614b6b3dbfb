//! How far a self-test is, and how long it will go on.

use crate::out;
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use tare_model::size::show_seconds;

/// How often a plain line is printed at most.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Steps of the bar.
const STEPS: u64 = 1000;

/// A bar with the time left on a terminal, plain lines elsewhere.
pub struct Eta {
    bar: Option<ProgressBar>,
    begun: Instant,
    last_line: Instant,
}

impl Eta {
    /// Begins to show.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(STEPS);
            bar.set_style(out::bar_style("{bar:24} {percent} %  {elapsed}  {msg}"));
            bar
        });
        Self {
            bar,
            begun: Instant::now(),
            last_line: Instant::now(),
        }
    }

    /// Shows that this share of what there was to do at first is done.
    pub fn show(&mut self, done: f64, what: &str) {
        let left = self.begun.elapsed().as_secs_f64() * (1.0 - done) / done.max(1e-9);
        let told = format!("{what}, about {} left", show_seconds(left));
        if let Some(bar) = &self.bar {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of 1,000"
            )]
            bar.set_position((done * 1000.0) as u64);
            bar.set_message(told);
        } else if self.last_line.elapsed() > LINE_EVERY {
            crate::out::say(&told);
            self.last_line = Instant::now();
        }
    }

    /// Ends the display.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
