//! Shows a run: a bar with the time left on a terminal, plain lines elsewhere.

use crate::out::{one_line, say};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use tare_lab::runner::Event;
use tare_model::looks::LookRecord;
use tare_model::results::{Outcome, ProofRecord, TrialRecord};
use tare_model::size::{counted, show_seconds};

/// How often a plain line is printed at most.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// How often the bar is redrawn by itself: often enough for its clock, seldom
/// enough to leave the host quiet.
const TICK: Duration = Duration::from_secs(1);

/// Whoever watches a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Progress {
    /// Begins to show a run of so many trials.
    pub fn new(total: u32) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(u64::from(total));
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len} trials  {elapsed}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(TICK);
            bar
        });
        Self { bar, last_line: None }
    }

    /// Shows an event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::WarmingUp(seconds) => {
                self.line(&format!(
                    "warming up for {}, not recorded",
                    show_seconds(*seconds)
                ));
            }
            Event::Looked(look) => self.looked(look),
            Event::Block { block, blocks } => self.say(&format!("block {} of {blocks}", block + 1)),
            Event::Launching(kind) => self.say(&format!("starting {kind}")),
            Event::Proving(kind) => self.say(&format!("proving the limits of {kind}")),
            Event::Proven(proof) => self.proven(proof),
            Event::Settling(_) => {}
            Event::Running(trial) => self.say(&trial.cell.to_string()),
            Event::SideBySide(trials) => {
                if let [first, ..] = trials {
                    let cells = counted(trials.len(), "cell");
                    self.say(&format!("{} side by side in {cells}", first.cell.workload));
                }
            }
            Event::Trial {
                record,
                done,
                total,
                remaining_seconds,
            } => {
                self.trial(record, *done, *total, *remaining_seconds);
            }
        }
    }

    /// Ends the display.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(one_line(text));
        }
    }

    /// A line that stays.
    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(one_line(text)),
            None => say(&one_line(text)),
        }
    }

    fn proven(&self, proof: &ProofRecord) {
        if !proof.proven {
            self.line(&format!(
                "{}: limits not proven, its cells are refused: {}",
                proof.kind,
                proof.remarks.join("; ")
            ));
        }
    }

    fn looked(&self, look: &LookRecord) {
        let open = look
            .comparisons
            .iter()
            .filter(|c| !look.settled.contains(&c.cell));
        self.line(&format!(
            "look after {} blocks: {} settled, {} open",
            look.blocks,
            counted(look.settled.len(), "cell"),
            counted(open.count(), "comparison")
        ));
    }

    fn trial(&mut self, record: &TrialRecord, done: u32, total: u32, remaining: f64) {
        match &record.outcome {
            Outcome::Failed(failure) => {
                let again = if record.attempt == 0 {
                    " (to be repeated)"
                } else {
                    ""
                };
                self.line(&format!(
                    "{}: {}: {}{again}",
                    record.cell, failure.reason, failure.detail
                ));
            }
            Outcome::Skipped(failure) if record.block == 0 => {
                self.line(&format!(
                    "{}: {}: {}",
                    record.cell, failure.reason, failure.detail
                ));
            }
            Outcome::Ok(_) | Outcome::Skipped(_) => {}
        }
        let left = format!("about {} left", show_seconds(remaining));
        if let Some(bar) = &self.bar {
            bar.set_length(u64::from(total));
            bar.set_position(u64::from(done));
            bar.set_message(left);
        } else if self.last_line.is_none_or(|at| at.elapsed() > LINE_EVERY) || done == total {
            say(&format!("{done} of {}, {left}", counted(total, "trial")));
            self.last_line = Some(Instant::now());
        }
    }
}
