//! One cell of a group while it runs: its processes, which wait at their gates in its box,
//! and what their slices told.

use super::live::CellBoxes;
use super::{Stop, hooks};
use crate::failures;
use crate::load;
use crate::plausibility::Exchange;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tare_model::finding::Reason;
use tare_model::gate::{Order, Slice};
use tare_model::metric::Source;
use tare_model::protocol::{Bounds, Exited, Reply, Request};
use tare_model::results::Failure;
use tare_model::study::Workload;
use tare_model::time::nanoseconds;
use tare_model::workload::Role;
use tare_platforms::link::{Answer, LinkError};
use tare_study::addresses::Entry;
use tare_study::placement::Placement;
use tare_study::plan::PlannedTrial;

/// The number of the first process of an arm in its box.
pub(super) const FIRST: u16 = 1;

/// One cell of a group.
pub(super) struct Arm {
    pub planned: PlannedTrial,
    /// Whether it runs only as a baseline of others: its own trial is done elsewhere.
    pub is_shadow: bool,
    pub workload: Workload,
    pub padding_bytes: u32,
    pub patience: Duration,
    /// Whether its box is frozen between its slices.
    pub freezes: bool,
    pub pace: Pace,
    /// The numbers of its processes that wait at their gates.
    pub waiting: BTreeSet<u16>,
    pub servers: Servers,
    pub tally: Tally,
    /// Whether its box is stopped now.
    pub paused: bool,
    pub lost: Option<Lost>,
}

/// How much an arm does in its rounds.
pub(super) struct Pace {
    /// Wall time of a unit of work in nanoseconds, as the last slice had it.
    pub unit_ns: f64,
    /// What the last slice took to the box and back in nanoseconds, beside its work.
    pub gate_ns: f64,
    /// What it is told in each round.
    pub order: Order,
    /// How many processes are to take its rounds in turn.
    pub processes: u32,
    /// It takes part in every so many-th round.
    pub every: u32,
}

/// What the slices of an arm told.
#[derive(Default)]
pub(super) struct Tally {
    /// Timed units of all its slices, those before the first round among them.
    pub units: u64,
    pub slices: Vec<Slice>,
    pub places: Vec<u32>,
    /// Time of all its slices from request to reply by the host's clock, of those that do not
    /// count too.
    pub host_ns: u64,
    /// What was asked and told of each slice that counts.
    pub exchanges: Vec<Exchange>,
    /// CPU seconds that its box used in these, by the host's counters, where its workload has
    /// a figure of that and the host could tell each time.
    pub box_cpu_seconds: Option<f64>,
    /// Turns in which its box was let run; 0 of slices.
    pub turns: u32,
}

/// The servers that the processes of an arm talk to.
#[derive(Default)]
pub(super) struct Servers {
    pub serving: Vec<Serving>,
    /// What starting them took until they served.
    pub ready_seconds: f64,
    /// What they printed.
    pub words: Vec<Words>,
}

/// A server that serves.
pub(super) struct Serving {
    pub role: Role,
    /// Its number in its box.
    pub process: u16,
    /// Where it is.
    pub entry: Entry,
}

/// What a server printed.
pub(super) struct Words {
    pub name: String,
    pub said: Vec<u8>,
}

/// A slice that was done.
pub(super) struct Done {
    pub slice: Slice,
    /// Its time by both clocks.
    pub exchange: Exchange,
    /// CPU seconds of the box, of the timed units alone.
    pub box_cpu_seconds: Option<f64>,
}

/// Why a cell has no trial in its block.
#[derive(Debug, Clone)]
pub(super) struct Lost {
    pub failure: Failure,
    /// Whether its box can still be used.
    pub box_lives: bool,
}

impl Arm {
    pub fn lives(&self) -> bool {
        self.lost.is_none()
    }

    /// Where its processes are, and their time is taken.
    pub fn placement(&self) -> Placement {
        self.workload.timed().map_or(Placement::Cell, Placement::of)
    }

    /// The process whose turn it is in a round.
    pub fn process_of(&self, round: u32) -> u16 {
        FIRST + u16::try_from(round % self.pace.processes).unwrap_or(0)
    }

    /// Starts one of its processes, which then waits at its gate.
    pub fn start(&mut self, held: &mut CellBoxes, process: u16, bounds: Bounds) -> Result<(), Stop> {
        // The second one is started after slices of the first, behind which its box is stopped.
        if !self.resume(held) {
            return Ok(());
        }
        let Some(task) = self.task(held, process, bounds)? else {
            return Ok(());
        };
        let request = Request::Start {
            process,
            task,
            bounds,
        };
        let answer = held.link(&self.placement()).request(&request, self.patience);
        match self.judge(answer)? {
            Some(Reply::Started) => {
                self.waiting.insert(process);
            }
            None => {}
            Some(other) => self.lose_box(failures::bad_report(format!("{other:?}"))),
        }
        Ok(())
    }

    /// Has one of its processes do a slice; `None` if it is lost by it.
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of one slice")]
    pub fn go(&mut self, held: &mut CellBoxes, process: u16, order: Order) -> Result<Option<Done>, Stop> {
        if !self.resume(held) {
            return Ok(None);
        }
        let request = Request::Go { process, order };
        let placement = self.placement();
        let before = self.box_cpu_ns(held);
        let begun = Instant::now();
        let answer = held.link(&placement).request(&request, self.patience);
        let host_ns = nanoseconds(begun.elapsed());
        let used = before.zip(self.box_cpu_ns(held));
        let slice = match self.judge(answer)? {
            Some(Reply::Slice(slice)) => self.accept(slice, order),
            Some(other) => {
                self.lose_box(failures::bad_report(format!("{other:?}")));
                None
            }
            None => None,
        };
        match &slice {
            Some(slice) => {
                self.tally.host_ns += host_ns;
                let worked_ns = slice.wall_ns().saturating_add(slice.untimed_ns);
                self.pace.gate_ns = host_ns.saturating_sub(worked_ns) as f64;
            }
            None => {
                self.waiting.remove(&process);
            }
        }
        self.rest(held);
        let of_command = self.workload.is_command();
        Ok(slice.map(|slice| Done {
            box_cpu_seconds: used
                .map(|(before, after)| seconds_of_units(after.saturating_sub(before), order)),
            exchange: Exchange {
                host_ns,
                timed_ns: slice.wall_ns(),
                untimed_ns: slice.untimed_ns,
                repetitions: if of_command { order.units } else { 0 },
            },
            slice,
        }))
    }

    /// Keeps a slice that counts, the so many-th of its round.
    pub fn keep(&mut self, done: Done, place: u32) {
        self.tally.slices.push(done.slice);
        self.tally.exchanges.push(done.exchange);
        self.tally.places.push(place);
        let used = self.tally.box_cpu_seconds.zip(done.box_cpu_seconds);
        self.tally.box_cpu_seconds = used.map(|(all, more)| all + more);
    }

    /// CPU time that its boxes have used, where its workload has a figure of that.
    fn box_cpu_ns(&self, held: &mut CellBoxes) -> Option<u64> {
        let counts = self.workload.metrics.iter().any(|m| m.from == Source::Host);
        if counts { held.cpu_ns() } else { None }
    }

    /// A slice that tells of work; one that does not condemns the process, and with it the box.
    #[expect(clippy::cast_precision_loss, reason = "units and nanoseconds of one slice")]
    fn accept(&mut self, slice: Slice, order: Order) -> Option<Slice> {
        let parts = self.workload.parts().len();
        if self.workload.is_open_loop() && slice.is_unanswered() {
            self.lose(load::unanswered(&slice));
            return None;
        }
        if !slice.is_sound() || slice.parts.len() != parts {
            let what = format!(
                "a slice with {} timed parts instead of {parts}: {slice:?}",
                slice.parts.len()
            );
            self.lose_box(failures::bad_report(what));
            return None;
        }
        if self.workload.is_command() && slice.parts[0].work != order.units as f64 {
            let what = format!("a slice of {} repetitions: {slice:?}", order.units);
            self.lose_box(failures::bad_report(what));
            return None;
        }
        self.tally.units += order.units;
        self.pace.unit_ns = slice.wall_ns() as f64 / order.units as f64;
        Some(slice)
    }

    /// Ends its processes: what is told of the end of each, with its standard output.
    pub fn stop(&mut self, held: &mut CellBoxes) -> Result<Vec<(Exited, Vec<u8>)>, Stop> {
        if self.freezes {
            self.wake(held)?;
        }
        let mut ended = Vec::new();
        for process in std::mem::take(&mut self.waiting) {
            if self.lost.as_ref().is_some_and(|lost| !lost.box_lives) {
                break;
            }
            let answer = held
                .link(&self.placement())
                .request(&Request::Stop { process }, self.patience);
            let stdout = answer.as_ref().map(|a| a.stdout.clone()).unwrap_or_default();
            ended.extend(self.end_of_command(answer)?.map(|exited| (exited, stdout)));
        }
        self.stop_servers(held)?;
        self.tear_down(held);
        Ok(ended)
    }

    /// Runs the teardown of its workload, if its box is there.
    pub fn tear_down(&mut self, held: &mut CellBoxes) {
        if self.lost.as_ref().is_none_or(|lost| lost.box_lives)
            && let Err(failure) = hooks::tear_down(held, &self.workload, self.patience)
        {
            self.lose_box(failure);
        }
    }

    /// Stops its box after a slice, if it uses much CPU while it waits.
    pub fn rest(&mut self, held: &mut CellBoxes) {
        if self.freezes && self.lives() {
            self.pause(held);
        }
    }

    /// Stops its box.
    pub fn pause(&mut self, held: &mut CellBoxes) {
        match held.pause() {
            Ok(()) => self.paused = true,
            Err(e) => self.lose_box(failures::bad_report(e.to_string())),
        }
    }

    /// Lets its box go on if it is stopped; false if that failed.
    pub fn resume(&mut self, held: &mut CellBoxes) -> bool {
        if std::mem::take(&mut self.paused)
            && let Err(e) = held.resume()
        {
            self.lose_box(failures::bad_report(e.to_string()));
        }
        self.lives()
    }

    /// Lets a box that was stopped now and then go on for good, with its clock set right:
    /// a machine's stood still meanwhile.
    pub fn wake(&mut self, held: &mut CellBoxes) -> Result<(), Stop> {
        if !self.resume(held) {
            return Ok(());
        }
        let unix_ns = tare_host::host::unix_ns();
        let answer = held
            .link(&Placement::Cell)
            .request(&Request::SetClock { unix_ns }, self.patience);
        self.reply(answer).map(drop)
    }

    /// What is told of processes that were to end; one that did not end well is lost.
    pub fn end_of_command(&mut self, answer: Result<Answer, LinkError>) -> Result<Option<Exited>, Stop> {
        let stderr = answer.as_ref().map(|a| a.stderr.clone()).unwrap_or_default();
        let Some(reply) = self.reply(answer)? else {
            return Ok(None);
        };
        let Reply::Exited(exited) = reply else {
            self.lose_box(failures::bad_report(format!("{reply:?}")));
            return Ok(None);
        };
        match failures::ended_well(&exited, &stderr) {
            Ok(()) => Ok(Some(exited)),
            Err(failure) => {
                self.lose(failure);
                Ok(None)
            }
        }
    }

    /// The reply of a process that is to go on; one that ended instead is lost.
    pub fn judge(&mut self, answer: Result<Answer, LinkError>) -> Result<Option<Reply>, Stop> {
        let stderr = answer.as_ref().map(|a| a.stderr.clone()).unwrap_or_default();
        let reply = self.reply(answer)?;
        if let Some(Reply::Exited(exited)) = &reply {
            let failure = failures::ended_well(exited, &stderr).err();
            self.lose(
                failure.unwrap_or_else(|| Failure::new(Reason::ExitStatus, "ended early, with status 0")),
            );
            return Ok(None);
        }
        Ok(reply)
    }

    pub fn reply(&mut self, answer: Result<Answer, LinkError>) -> Result<Option<Reply>, Stop> {
        match answer {
            Ok(answer) => Ok(Some(answer.reply)),
            Err(LinkError::Interrupted) => Err(Stop::Interrupted),
            Err(error) => {
                // The agent refused: it answers still, but the process may be there.
                let box_lives = matches!(error, LinkError::Refused { .. });
                self.note_loss(failures::failure(&error), box_lives);
                Ok(None)
            }
        }
    }

    /// One of its processes failed.
    pub fn lose(&mut self, failure: Failure) {
        self.note_loss(failure, true);
    }

    /// Its box can no longer be trusted either.
    pub fn lose_box(&mut self, failure: Failure) {
        self.note_loss(failure, false);
    }

    /// What failed first is the reason: another process may only suffer from it.
    fn note_loss(&mut self, failure: Failure, box_lives: bool) {
        self.lost = Some(match self.lost.take() {
            Some(lost) => Lost {
                box_lives: box_lives && lost.box_lives,
                ..lost
            },
            None => Lost { failure, box_lives },
        });
    }
}

/// The share of the timed units in what a slice used, which has untimed ones too, in seconds.
#[expect(clippy::cast_precision_loss, reason = "units and nanoseconds of one slice")]
fn seconds_of_units(used_ns: u64, order: Order) -> f64 {
    let timed = order.units as f64 / (order.units + order.lead) as f64;
    used_ns as f64 / 1e9 * timed
}
