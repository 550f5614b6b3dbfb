//! Work in slices: between two of them the process waits at its gate.
//!
//! An order comes as a line, so much work is done, and the answer goes out as a
//! line. Whoever orders keeps several processes waiting side by side and lets them
//! work in turn, which is how their costs are compared closer than the host is quiet.

use crate::clock;
use crate::error::KernelError;
use crate::report;
use std::io::{BufRead, Read, Write};
use tare_wire::gate::{LoadSlice, Order, Part, Slice};
use tare_wire::kernel::{Check, Disk, KernelReport, KernelSpec};
use tare_wire::metric::{Direction, Metric};

/// Far more than an order needs.
const LONGEST_LINE: u64 = 256;

/// No work in no time.
pub const NOTHING: Part = Part {
    work: 0.0,
    wall_ns: 0,
    cpu_ns: 0,
};

/// A kernel whose work can stop after any unit and go on from there.
pub trait Sliced {
    /// Does so many units of work. Adds work and time to each of `parts`, which are
    /// those of [`Kernel::parts`](tare_wire::kernel::Kernel::parts).
    ///
    /// # Errors
    /// [`KernelError`] if the work cannot be done.
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError>;

    /// The known answer of all the work done, timed or not.
    fn check(&mut self) -> Check;

    /// What lies between it and its files' disk; `None` of a kernel without files.
    fn disk(&self) -> Option<Disk> {
        None
    }

    /// A slice begins, with its lead-in: what is to be done now and then, and not timed.
    ///
    /// # Errors
    /// [`KernelError`] if it cannot be done.
    fn prepare(&mut self) -> Result<(), KernelError> {
        Ok(())
    }

    /// The lead-in is over: what comes now is timed.
    fn begin(&mut self) {}

    /// What a client tells of the requests since [`begin`](Self::begin); `None` of what loads no
    /// server.
    fn load(&mut self) -> Option<Box<LoadSlice>> {
        None
    }
}

/// What was done in all slices together.
pub struct Done {
    /// Work and time of each part.
    pub parts: Vec<Part>,
    /// Timed units of work.
    pub units: f64,
}

/// Carries out `work` and adds its time to `part`. The CPU clock, which costs a
/// system call, is read outside of the wall time.
pub fn timed<T>(part: &mut Part, cpu_ns: impl Fn() -> u64, work: impl FnOnce() -> T) -> T {
    let cpu_start_ns = cpu_ns();
    let start_ns = clock::now_ns();
    let done = work();
    let end_ns = clock::now_ns();
    part.cpu_ns += cpu_ns().saturating_sub(cpu_start_ns);
    part.wall_ns += end_ns - start_ns;
    done
}

/// Carries out `work`, which is so much of it, as the only part of a slice.
pub fn timed_alone<T>(parts: &mut [Part], amount: f64, work: impl FnOnce() -> T) -> T {
    let part = &mut parts[0];
    let done = timed(part, clock::process_cpu_ns, work);
    part.work += amount;
    done
}

/// Where orders come from and answers go to.
pub struct Gate<'a> {
    orders: &'a mut dyn BufRead,
    answers: &'a mut dyn Write,
    /// The line under way, in or out.
    line: Vec<u8>,
}

impl<'a> Gate<'a> {
    /// A gate before which nothing was said yet.
    pub fn new(orders: &'a mut dyn BufRead, answers: &'a mut dyn Write) -> Self {
        Self {
            orders,
            answers,
            line: Vec::new(),
        }
    }

    /// Says that `kernel`, whose slices have so many parts, is set up, and has it do what is
    /// ordered until there are no more orders.
    ///
    /// # Errors
    /// [`KernelError`] of an order that makes no sense, of lines that cannot be read
    /// or written, and of the work.
    pub fn serve(&mut self, n_parts: usize, kernel: &mut dyn Sliced) -> Result<Done, KernelError> {
        self.line.extend_from_slice(b"ready");
        self.send()?;
        let mut done = Done {
            parts: vec![NOTHING; n_parts],
            units: 0.0,
        };
        let mut slice = Slice {
            parts: done.parts.clone(),
            untimed_ns: 0,
            load: None,
        };
        while let Some(order) = self.next_order()? {
            carry_out(kernel, order, &mut slice)?;
            for (all, part) in done.parts.iter_mut().zip(&slice.parts) {
                add(all, part);
            }
            done.units += order.units as f64;
            self.answer(&slice)?;
        }
        Ok(done)
    }

    /// As [`Self::serve`], of a built-in kernel, whose answer is checked in the end.
    ///
    /// # Errors
    /// As [`Self::serve`].
    pub fn serve_kernel(
        &mut self,
        spec: &KernelSpec,
        kernel: &mut dyn Sliced,
    ) -> Result<KernelReport, KernelError> {
        let done = self.serve(spec.kernel.parts().len(), kernel)?;
        let check = kernel.check();
        Ok(KernelReport {
            disk: kernel.disk().map(Box::new),
            ..report(spec, done, check)
        })
    }

    /// `None` when there are no more.
    fn next_order(&mut self) -> Result<Option<Order>, KernelError> {
        self.line.clear();
        let mut bounded = (&mut *self.orders).take(LONGEST_LINE);
        let read = bounded.read_until(b'\n', &mut self.line);
        read.map_err(|source| KernelError::System {
            what: "reading an order",
            source,
        })?;
        if self.line.is_empty() {
            return Ok(None);
        }
        let order = parse(&self.line).map_err(|reason| KernelError::Order {
            line: String::from_utf8_lossy(&self.line).trim_end().to_owned(),
            reason,
        })?;
        Ok(Some(order))
    }

    fn answer(&mut self, slice: &Slice) -> Result<(), KernelError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, slice).map_err(|e| unsent(e.into()))?;
        self.send()
    }

    /// Writes the line in one go.
    fn send(&mut self) -> Result<(), KernelError> {
        self.line.push(b'\n');
        let written = self.answers.write_all(&self.line);
        written.and_then(|()| self.answers.flush()).map_err(unsent)
    }
}

fn unsent(source: std::io::Error) -> KernelError {
    KernelError::System {
        what: "answering an order",
        source,
    }
}

/// The order in a line, or what is wrong with it.
fn parse(line: &[u8]) -> Result<Order, String> {
    let order: Order = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    if order.units == 0 {
        return Err("no unit is to be timed".to_owned());
    }
    Ok(order)
}

fn carry_out(kernel: &mut dyn Sliced, order: Order, slice: &mut Slice) -> Result<(), KernelError> {
    let begun_ns = clock::now_ns();
    kernel.prepare()?;
    if order.lead > 0 {
        kernel.work(order.lead, &mut slice.parts)?;
    }
    kernel.begin();
    slice.parts.fill(NOTHING);
    kernel.work(order.units, &mut slice.parts)?;
    slice.load = kernel.load();
    for part in &mut slice.parts {
        // A clock too coarse to see the work must not make a figure infinite.
        part.wall_ns = part.wall_ns.max(1);
    }
    slice.untimed_ns = (clock::now_ns() - begun_ns).saturating_sub(slice.wall_ns());
    Ok(())
}

fn add(sum: &mut Part, part: &Part) {
    sum.work += part.work;
    sum.wall_ns += part.wall_ns;
    sum.cpu_ns += part.cpu_ns;
}

/// The report of all slices together; no metrics if there was none.
fn report(spec: &KernelSpec, done: Done, check: Check) -> KernelReport {
    let wall_ns = done.parts.iter().map(|part| part.wall_ns).sum();
    let mut report = report::report(spec, [], [], clock::seconds(wall_ns), done.units, check);
    if done.units > 0.0 {
        let figure = |metric: Metric| (metric.name.clone(), figure(spec, &metric, &done.parts));
        report.metrics = spec.kernel.metrics().into_iter().map(figure).collect();
    }
    report
}

/// Work over time of a rate, time over work of a time. A metric that is of no part
/// is the CPU time of the work.
fn figure(spec: &KernelSpec, metric: &Metric, all: &[Part]) -> f64 {
    let part = spec.kernel.parts().iter().position(|name| *name == metric.name);
    let work = all[part.unwrap_or(0)].work;
    let ns = match part {
        Some(i) => all[i].wall_ns,
        None => all[0].cpu_ns.max(1),
    };
    match metric.direction {
        Direction::Higher => work / clock::seconds(ns),
        Direction::Lower => clock::seconds(ns) / work,
    }
}

#[cfg(test)]
mod tests;
