//! Trials for which there was not enough memory: whom the kernel killed is their reason, by what
//! it counted, before the trial's clocks ran and after they stopped.

use super::arm::{Arm, Lost};
use super::live::{CellBoxes, Counted, LiveBox, LiveBoxes};
use crate::trial::Tried;
use tare_host::cgroup::MemoryEvents;
use tare_host::oom::KernelLog;
use tare_model::finding::Reason;
use tare_model::protocol::{Reply, Request};
use tare_model::results::{Failure, Outcome};
use tare_model::size::{counted, show_memory};
use tare_platforms::ANSWER_DEADLINE;

/// Names of killed processes that are told.
const MOST_NAMES: usize = 3;

/// Which memory was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    /// What the box may have.
    Limit,
    /// The host's, or what a cgroup around the box may have.
    Around,
    /// That of a box with a kernel of its own.
    Machine,
    /// The box is gone, and with it who could tell.
    Unknown,
}

/// Processes that a kernel killed during a trial.
#[derive(Debug)]
struct Killed {
    number: u64,
    /// The names of those that its log names.
    names: Vec<String>,
    full: Full,
    memory_bytes: u64,
    /// The role that has the box for itself; of no other.
    role: Option<String>,
}

impl LiveBox {
    /// Notes what is counted of its memory, before a trial.
    fn count_memory(&mut self) {
        self.counted = Some(Counted {
            host: self.memory_events(),
            inside: self.killed_inside(),
            log: KernelLog::from_now(),
        });
    }

    fn memory_events(&self) -> Option<MemoryEvents> {
        self.meter.as_ref()?.memory().events()
    }

    /// Processes that the kernel of the box killed, if it has one of its own.
    fn killed_inside(&mut self) -> Option<u64> {
        if !self.has_own_kernel {
            return None;
        }
        let answer = self.running.link().request(&Request::Counters, ANSWER_DEADLINE);
        match answer.ok()?.reply {
            Reply::Counters(counters) => counters.oom_kills,
            _ => None,
        }
    }

    /// Whom a kernel killed since it was noted what was counted, in a trial that failed by this, if
    /// by anything. Told once.
    fn killed(&mut self, failure: Option<&Failure>) -> Option<Killed> {
        let Counted { host, inside, log } = self.counted.take()?;
        let answers = failure.is_none_or(|failure| failure.reason != Reason::LinkLost);
        self.killed_by_host(host, log, failure.is_some())
            .or_else(|| self.killed_by_own(inside.filter(|_| answers)?, failure.is_some()))
    }

    /// The host's log is read where a trial failed too: an engine may have removed the cgroup of a box
    /// of which the first process was killed.
    fn killed_by_host(
        &self,
        before: Option<MemoryEvents>,
        log: Option<KernelLog>,
        failed: bool,
    ) -> Option<Killed> {
        let memory = self.meter.as_ref()?.memory();
        let counts = before.zip(memory.events());
        let killed = counts.map_or(0, |(first, last)| last.killed.saturating_sub(first.killed));
        let log = log.filter(|_| failed || killed > 0);
        let names = log
            .zip(memory.name())
            .map_or_else(Vec::new, |(log, name)| log.killed_in(name, killed));
        let number = killed.max(names.len() as u64);
        (number > 0).then(|| Killed {
            number,
            names,
            full: match counts.map(|(first, last)| memory.was_full(first, last)) {
                Some(true) => Full::Limit,
                Some(false) => Full::Around,
                None => Full::Unknown,
            },
            memory_bytes: self.memory_bytes,
            role: None,
        })
    }

    fn killed_by_own(&mut self, before: u64, failed: bool) -> Option<Killed> {
        let mut number = self.killed_inside()?.checked_sub(before).filter(|n| *n > 0)?;
        let answer = self.running.link().request(&Request::Killed, ANSWER_DEADLINE);
        let mut processes = match answer.map(|answer| answer.reply) {
            Ok(Reply::Killed { processes }) => processes,
            _ => Vec::new(),
        };
        // What it killed before is in its log too.
        let earlier = processes
            .len()
            .saturating_sub(usize::try_from(number).unwrap_or(usize::MAX));
        processes.drain(..earlier);
        // A machine has no limit but its memory: what goes well although processes reach limits that
        // it sets itself, such as a run of tare's, wanted that.
        if !failed && !self.is_nested {
            let all = processes.len();
            processes.retain(|process| !process.by_limit);
            number = number.saturating_sub((all - processes.len()) as u64);
        }
        (number > 0).then(|| Killed {
            number,
            names: processes.into_iter().map(|process| process.name).collect(),
            full: Full::Machine,
            memory_bytes: self.memory_bytes,
            role: None,
        })
    }
}

impl CellBoxes {
    /// Notes what is counted of the memory of its boxes, before a trial.
    pub(super) fn count_memory(&mut self) {
        self.of_its_kind().for_each(|(_, boxed)| boxed.count_memory());
    }

    /// Whom a kernel killed in the first of its boxes in which one did.
    fn killed(&mut self, failure: Option<&Failure>) -> Option<Killed> {
        self.of_its_kind().find_map(|(role, boxed)| {
            let killed = boxed.killed(failure)?;
            let role = role.map(str::to_owned);
            Some(Killed { role, ..killed })
        })
    }

    /// Fails a trial in one piece during which somebody was killed.
    pub(super) fn judge_memory(&mut self, tried: &mut Tried) {
        let before = match &tried.outcome {
            Outcome::Ok(_) => None,
            Outcome::Failed(failure) | Outcome::Skipped(failure) => Some(failure),
        };
        if let Some(killed) = self.killed(before) {
            tried.outcome = Outcome::Failed(killed.failure(before));
        }
    }

    /// The failure of what is done before a trial, or of somebody who was killed meanwhile.
    pub(super) fn judge_failure(&mut self, failure: Failure) -> Failure {
        match self.killed(Some(&failure)) {
            Some(killed) => killed.failure(Some(&failure)),
            None => failure,
        }
    }
}

impl Arm {
    /// Loses it if somebody was killed in its box, which is then the reason of whatever else failed.
    pub(super) fn judge_memory(&mut self, held: &mut CellBoxes) {
        let before = self.lost.as_ref().map(|lost| &lost.failure);
        if let Some(killed) = held.killed(before) {
            self.lost = Some(Lost {
                failure: killed.failure(before),
                box_lives: self.lost.as_ref().is_none_or(|lost| lost.box_lives),
            });
        }
    }
}

/// Loses the arms in whose boxes somebody was killed.
pub(super) fn judge(arms: &mut [Arm], present: &mut LiveBoxes) {
    for arm in arms {
        if let Some(held) = present.get_mut(&arm.planned.cell.kind) {
            arm.judge_memory(held);
        }
    }
}

impl Killed {
    /// Why a trial failed, with what else was told of that.
    fn failure(&self, before: Option<&Failure>) -> Failure {
        let memory = show_memory(self.memory_bytes);
        let who = self.who();
        let what = match self.full {
            Full::Limit => format!("the box's limit of {memory} was reached and the kernel killed {who}"),
            Full::Around => format!(
                "the kernel killed {who} since memory was short around the box, whose limit of {memory} was not reached"
            ),
            Full::Machine => format!("the {memory} of the box were full and its kernel killed {who}"),
            Full::Unknown => format!("the kernel killed {who} in this box of {memory}"),
        };
        let then = match before {
            Some(failure) => format!("; then: {}", failure.detail),
            None => "; what was timed ended with status 0".to_owned(),
        };
        let place = self.role.iter().map(|role| format!("in the box of {role}: "));
        let what = place.collect::<String>() + &what;
        Failure {
            printed: before.and_then(|failure| failure.printed.clone()),
            ..Failure::new(Reason::OutOfMemory, what + &then)
        }
    }

    /// `ffmpeg (3 processes), sh and 2 processes more`.
    fn who(&self) -> String {
        let mut named: Vec<(&str, u64)> = Vec::new();
        for name in &self.names {
            match named.iter_mut().find(|(known, _)| known == name) {
                Some((_, number)) => *number += 1,
                None => named.push((name, 1)),
            }
        }
        named.truncate(MOST_NAMES);
        let told: u64 = named.iter().map(|(_, number)| number).sum();
        let mut parts: Vec<String> = named
            .into_iter()
            .map(|(name, number)| match number {
                1 => name.to_owned(),
                _ => format!("{name} ({})", counted(number, "process")),
            })
            .collect();
        match (parts.is_empty(), self.number.saturating_sub(told)) {
            (_, 0) => {}
            (true, rest) => parts.push(counted(rest, "process")),
            (false, rest) => parts.push(format!("{} more", counted(rest, "process"))),
        }
        let last = parts.pop().unwrap_or_default();
        match parts.is_empty() {
            true => last,
            false => format!("{} and {last}", parts.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn killed(number: u64, names: &[&str], full: Full) -> Killed {
        Killed {
            number,
            names: names.iter().map(ToString::to_string).collect(),
            full,
            memory_bytes: 1 << 30,
            role: None,
        }
    }

    #[test]
    fn those_who_were_killed_are_named_as_far_as_the_log_names_them() {
        let who = |number, names: &[&str]| killed(number, names, Full::Limit).who();
        assert_eq!(who(1, &["tail"]), "tail");
        assert_eq!(who(1, &[]), "1 process");
        assert_eq!(who(3, &["ffmpeg"; 3]), "ffmpeg (3 processes)");
        assert_eq!(
            who(30, &["ffmpeg"; 10]),
            "ffmpeg (10 processes) and 20 processes more"
        );
        assert_eq!(who(4, &["a", "b", "a"]), "a (2 processes), b and 1 process more");
        assert_eq!(who(4, &["a", "b", "c", "d"]), "a, b, c and 1 process more");
    }

    #[test]
    fn what_was_full_is_told_with_what_came_of_it() {
        let of = |full, before: Option<&Failure>| killed(1, &["tail"], full).failure(before).detail;
        let told = Failure::new(Reason::ExitStatus, "exit status 1: Killed");
        assert_eq!(
            of(Full::Limit, Some(&told)),
            "the box's limit of 1 GiB was reached and the kernel killed tail; then: exit status 1: Killed"
        );
        assert_eq!(
            of(Full::Machine, None),
            "the 1 GiB of the box were full and its kernel killed tail; what was timed ended with status 0"
        );
        assert!(of(Full::Around, None).contains("was not reached"));
        assert!(!of(Full::Unknown, None).contains("limit"));
    }
}
