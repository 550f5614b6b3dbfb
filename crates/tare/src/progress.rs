//! Shows a run: on a terminal a bar with the time left and, beneath it, the costs as far as they are known; plain
//! lines elsewhere.

mod costs;

use crate::out::{self, one_line, say};
use costs::Costs;
use indicatif::ProgressBar;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};
use tare_lab::runner::Event;
use tare_model::looks::LookRecord;
use tare_model::measuring::Protocol;
use tare_model::results::{Outcome, ProofRecord, TrialRecord};
use tare_model::size::{counted, show_seconds};
use tare_study::shares::Noisy;

/// How often a plain line is printed at most.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// How often the bar is redrawn by itself: often enough for its clock, seldom
/// enough to leave the host quiet.
const TICK: Duration = Duration::from_secs(1);

/// Whoever watches a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Absent where no results file is written.
    costs: Option<Costs>,
    last_line: Option<Instant>,
    /// Failures that were told.
    told: BTreeSet<String>,
    /// Seconds that are left, and when that was told.
    left: (f64, Instant),
    /// Seconds that the plan told, until the first block has ended.
    planned: Option<f64>,
    begun: Instant,
    /// Whether a block has begun.
    has_begun: bool,
    /// Whether a time ends it, so that nobody knows how many trials there will be.
    is_timed: bool,
}

impl Progress {
    /// Begins to show a run of so many trials, which is expected to take so many seconds.
    pub fn new(total: u32, seconds: f64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(u64::from(total));
            bar.set_style(out::bar_style(
                "{bar:24} {pos}/{len} trials  {elapsed}  {msg}{prefix}",
            ));
            bar.enable_steady_tick(TICK);
            bar
        });
        Self {
            bar,
            costs: None,
            last_line: None,
            told: BTreeSet::new(),
            left: (seconds, Instant::now()),
            planned: Some(seconds),
            begun: Instant::now(),
            has_begun: false,
            is_timed: false,
        }
    }

    /// Shows the costs too, from the file that the run writes.
    pub fn with_costs(mut self, file: &Path) -> Self {
        self.costs = self.bar.as_ref().map(|_| Costs::of(file));
        self
    }

    /// Shows an event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::WarmingUp(seconds) => {
                self.line(&format!(
                    "warming up for {} (not recorded)",
                    show_seconds(*seconds)
                ));
            }
            Event::Looked(look) => self.looked(look),
            Event::Noisy(workloads) => workloads.iter().for_each(|of| self.line(&noisy(of))),
            Event::Block {
                block,
                blocks,
                remaining_seconds,
            } => {
                self.left = (*remaining_seconds, Instant::now());
                self.correct(*remaining_seconds);
                if *block > 0 {
                    self.show_costs();
                }
                self.is_timed = Protocol::is_timed(*blocks);
                let of = match self.is_timed {
                    true => String::new(),
                    false => format!(" of {blocks}"),
                };
                self.say(&format!("block {}{of}", block + 1));
            }
            Event::Launching(kind) => self.say(&format!("starting {kind}")),
            Event::Proving(kind) => self.say(&format!("checking the limits of {kind}")),
            Event::Proven(proof) => self.proven(proof),
            Event::Settling(_) => {}
            Event::Running(trial) => self.say(&trial.cell.to_string()),
            Event::SideBySide(trials) => {
                if let [first, ..] = trials {
                    let cells = counted(trials.len(), "cell");
                    self.say(&format!("{} side by side in {cells}", first.cell.workload));
                }
            }
            Event::LookingFor(trial) => self.line(&format!(
                "looking into the kernel for evidence of causes: {}",
                trial.cell.workload
            )),
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

    /// Tells a plan that was wrong, once it can be known: when the first block has ended.
    fn correct(&mut self, remaining: f64) {
        if !std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let planned = self.planned.take();
        let total = self.begun.elapsed().as_secs_f64() + remaining;
        if let Some(line) = planned.and_then(|planned| correction(planned, total)) {
            self.line(&line);
        }
    }

    /// The costs after the blocks that are complete.
    fn show_costs(&mut self) {
        if let (Some(bar), Some(known)) = (&self.bar, self.costs.as_mut().and_then(Costs::known)) {
            bar.set_prefix(format!("\n{known}"));
        }
    }

    /// What goes on now, with the time left. Where nobody watches a bar, a line at times.
    fn say(&mut self, text: &str) {
        let text = one_line(&format!("{text}, {}", self.time_left()));
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        } else if self.is_due() {
            say(&text);
        }
    }

    /// `about 4 min 20 s left`, as last told and counted down since.
    fn time_left(&self) -> String {
        let (seconds, told) = self.left;
        let left = (seconds - told.elapsed().as_secs_f64()).max(0.0);
        if left < 1.0 {
            return "a few seconds left".to_owned();
        }
        format!("about {} left", show_seconds(left))
    }

    /// Whether it is time for another line.
    fn is_due(&mut self) -> bool {
        let due = self.last_line.is_none_or(|at| at.elapsed() > LINE_EVERY);
        if due {
            self.last_line = Some(Instant::now());
        }
        due
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
                "{}: limits not proven, its cells are skipped: {}",
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
            "look after {} blocks: {} settled, {} go on",
            look.blocks,
            counted(look.settled.len(), "cell"),
            open.count()
        ));
    }

    fn trial(&mut self, record: &TrialRecord, done: u32, total: u32, remaining: f64) {
        match &record.outcome {
            Outcome::Failed(failure) => {
                // A box without a file fails in every block, and says the same each time.
                let told = format!("{}: {}: {}", record.cell, failure.reason, failure.detail);
                if self.told.insert(told.clone()) {
                    self.line(&told);
                }
            }
            Outcome::Skipped(failure) if record.block == 0 => {
                self.line(&format!(
                    "{}: {}: {}",
                    record.cell, failure.reason, failure.detail
                ));
            }
            Outcome::Ok(_) | Outcome::Skipped(_) => {}
        }
        self.left = (remaining, Instant::now());
        let left = self.time_left();
        if let Some(bar) = &self.bar {
            bar.set_length(u64::from(if self.is_timed { done } else { total }));
            bar.set_position(u64::from(done));
            bar.set_message(left);
        } else if self.is_due() || done == total {
            let left = if done == total {
                String::new()
            } else {
                format!(", {left}")
            };
            let trials = if self.is_timed {
                counted(done, "trial")
            } else {
                format!("{done} of {}", counted(total, "trial"))
            };
            say(&format!("{trials}{left}"));
        }
    }
}

/// `linpack varies much here: ...`.
fn noisy(of: &Noisy) -> String {
    format!(
        "{} varies much here: 10 blocks will leave at least ±{:.1} %, which may not tell a small difference in the time of this run; down to the margin it takes about {:.0} blocks, {} if it runs alone",
        of.workload,
        100.0 * of.half_width,
        of.blocks,
        show_seconds((of.blocks * of.block_seconds).round())
    )
}

/// What is told of a run that takes this much longer than was planned.
const WORTH_TELLING: f64 = 1.25;

fn correction(planned: f64, total: f64) -> Option<String> {
    (total > planned * WORTH_TELLING).then(|| {
        format!(
            "takes longer than planned, by its first block: about {} in all instead of {}",
            show_seconds(total.round()),
            show_seconds(planned.round())
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_corrected_if_the_first_block_takes_longer() {
        assert_eq!(correction(34.0, 40.0), None);
        let told = correction(34.0, 144.2).unwrap();
        assert_eq!(
            told,
            "takes longer than planned, by its first block: about 2 min 24 s in all instead of 34 s"
        );
    }
}
