//! Shows that an image is being made: a line that lives on a terminal, plain lines elsewhere.

use crate::out::{one_line, say};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tare_model::size::{show_memory, show_seconds};
use tare_study::images::Progress;

/// What is over sooner is not worth a line.
const FIRST: Duration = Duration::from_secs(2);
/// How often a plain line is printed.
const EVERY: Duration = Duration::from_secs(10);
/// How often the line of a terminal is redrawn by itself.
const TICK: Duration = Duration::from_millis(500);

/// Whoever watches: a thread, since most steps tell nothing before they end.
pub struct Watch {
    steps: Sender<Progress>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Begins to watch.
    pub fn begin() -> Self {
        let (steps, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut shown = Shown::new();
            loop {
                match told.recv_timeout(shown.until_next()) {
                    Ok(step) => shown.step(step),
                    Err(RecvTimeoutError::Timeout) => shown.show(),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            shown.end();
        });
        Self { steps, thread }
    }

    /// Tells what goes on.
    pub fn tell(&self, step: Progress) {
        // Without a watcher nothing is shown, and the image is made all the same.
        let _ = self.steps.send(step);
    }

    /// Ends the display.
    pub fn end(self) {
        drop(self.steps);
        let _ = self.thread.join();
    }
}

struct Shown {
    step: String,
    bytes: u64,
    begin: Instant,
    next: Instant,
    bar: Option<ProgressBar>,
}

impl Shown {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            step: String::new(),
            bytes: 0,
            begin: now,
            next: now + FIRST,
            bar: None,
        }
    }

    fn until_next(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    fn step(&mut self, step: Progress) {
        match step {
            Progress::Step(step) => (self.step, self.bytes) = (step, 0),
            Progress::Read(bytes) => self.bytes = bytes,
        }
        if self.until_next().is_zero() {
            self.show();
        }
    }

    fn show(&mut self) {
        let mut line = one_line(&self.step);
        if self.bytes > 0 {
            line += &format!(", {} read", show_memory(self.bytes));
        }
        line += &format!(", {}", show_seconds(self.begin.elapsed().as_secs_f64()));
        if !std::io::stderr().is_terminal() {
            self.next = Instant::now() + EVERY;
            return say(&line);
        }
        self.next = Instant::now() + TICK;
        let style =
            || ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = self
            .bar
            .get_or_insert_with(|| ProgressBar::new_spinner().with_style(style()));
        bar.set_message(line);
        bar.tick();
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
