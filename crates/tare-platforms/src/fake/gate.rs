//! Scripted processes that work in slices, in no time at all.

use super::{Answer, Fail, FakeAgent, Phase, exited, factor};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::time::Duration;
use tare_model::gate::{Order, Part, Slice};
use tare_model::kernel::{Kernel, KernelSpec};
use tare_model::protocol::{ErrorCode, ExitStatus, Reply, Task};

/// Slices that count as the first ones.
const FIRST: u64 = 3;

/// Nanoseconds that a unit of work takes without options.
const UNIT_NS: f64 = 1000.0;

/// A scripted process at its gate.
pub(super) struct Process {
    task: Task,
    /// Cost of each timed part over that of a `fake` without options or noise.
    costs: Vec<f64>,
    slices: u64,
    wall_ns: u64,
}

impl FakeAgent {
    pub(super) fn start(&mut self, number: u16, task: &Task) -> Option<Answer> {
        std::thread::sleep(Duration::from_millis(self.script.ms));
        if self.processes.contains_key(&number) {
            return Some(refused("a process of this number is under way"));
        }
        if let Some(answer) = self.fail_in(Phase::Start)? {
            return Some(answer);
        }
        let parts = match task {
            Task::Kernel(spec) => spec.kernel.parts().len(),
            Task::Command(_) => 1,
            Task::Client { .. } | Task::Load { .. } | Task::Server { .. } => {
                return Some(refused("a fake has no network"));
            }
        };
        let process = Process {
            task: task.clone(),
            costs: (0..parts).map(|_| self.script.cost * self.noise()).collect(),
            slices: 0,
            wall_ns: 0,
        };
        self.processes.insert(number, process);
        Some((Vec::new(), Reply::Started))
    }

    pub(super) fn go(&mut self, number: u16, order: Order) -> Option<Answer> {
        let Some(mut process) = self.processes.remove(&number) else {
            return Some(nobody());
        };
        process.slices += 1;
        let phase = if process.slices <= FIRST {
            Phase::First
        } else {
            Phase::Slice
        };
        if let Some(answer) = self.fail_in(phase)? {
            return Some(answer);
        }
        let mut slice = process.slice(
            order,
            self.script.stall,
            &mut self.stretches,
            self.script.stretch_sd,
        );
        self.script.really_take(slice.wall_ns());
        if self.script.at == phase && self.script.fails(Fail::Number) {
            slice.parts[0].work = 0.0;
        }
        self.processes.insert(number, process);
        Some((Vec::new(), Reply::Slice(slice)))
    }

    pub(super) fn stop(&mut self, number: u16) -> Option<Answer> {
        let Some(process) = self.processes.remove(&number) else {
            return Some(nobody());
        };
        if let Some(answer) = self.fail_in(Phase::Stop)? {
            return Some(answer);
        }
        let stdout = match &process.task {
            Task::Kernel(spec) => self.report(spec, BTreeMap::new(), Vec::new()),
            _ => Vec::new(),
        };
        let ended = exited(ExitStatus::Code(0), process.wall_ns, Vec::new());
        Some((stdout, Reply::Exited(ended)))
    }

    /// What comes instead of an answer if this is a phase that fails; `None` for silence.
    fn fail_in(&mut self, phase: Phase) -> Option<Option<Answer>> {
        if self.script.at != phase {
            return Some(None);
        }
        self.script.breaks()?;
        self.is_late = self.script.fails(Fail::Late);
        if self.script.fails(Fail::Flood) {
            return Some(Some(super::flood()));
        }
        let ended = self.script.ends();
        Some(ended.map(|status| (Vec::new(), Reply::Exited(exited(status, 0, Vec::new())))))
    }
}

impl Process {
    fn slice(&mut self, order: Order, stall: u64, noise: &mut ChaCha8Rng, sd: f64) -> Slice {
        // The first one, and every so many-th after it.
        let stalls = stall > 0 && (self.slices - 1).is_multiple_of(stall);
        let unit_ns = self.unit_ns() * if stalls { 5.0 } else { 1.0 };
        let work = self.work(order);
        let mut part = |cost: &f64| {
            #[expect(clippy::cast_precision_loss, reason = "units of some milliseconds")]
            let ns = order.units as f64 * unit_ns * cost * factor(noise, sd);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the cast saturates"
            )]
            let wall_ns = ns.max(1.0) as u64;
            Part {
                work,
                wall_ns,
                cpu_ns: wall_ns,
            }
        };
        let parts: Vec<Part> = self.costs.iter().map(&mut part).collect();
        self.wall_ns += parts.iter().map(|part| part.wall_ns).sum::<u64>();
        Slice {
            parts,
            untimed_ns: 0,
            load: None,
        }
    }

    /// The work of a slice: as many operations as units, or a thousand bytes or flops each.
    #[expect(clippy::cast_precision_loss, reason = "units of some milliseconds")]
    fn work(&self, order: Order) -> f64 {
        let each = match self.kernel() {
            Some(spec) if matches!(spec.kernel, Kernel::Stream | Kernel::Linpack) => 1000.0,
            _ => 1.0,
        };
        order.units as f64 * each
    }

    /// A unit of `integer` is the more the more iterations it has, a command takes 1 ms.
    #[expect(clippy::cast_precision_loss, reason = "no kernel has 2^52 iterations")]
    fn unit_ns(&self) -> f64 {
        match (&self.task, self.kernel()) {
            (Task::Command(_), _) => 1000.0 * UNIT_NS,
            (_, Some(spec)) if spec.kernel == Kernel::Integer => spec.size as f64,
            _ => UNIT_NS,
        }
    }

    fn kernel(&self) -> Option<&KernelSpec> {
        match &self.task {
            Task::Kernel(spec) => Some(spec),
            _ => None,
        }
    }
}

fn nobody() -> Answer {
    refused("no such process is under way")
}

fn refused(why: &str) -> Answer {
    let reply = Reply::Error {
        code: ErrorCode::BadRequest,
        message: why.to_owned(),
    };
    (Vec::new(), reply)
}
