//! The CPU on which the controller and the agent of a box on the host's own
//! kernel wait for one another.
//!
//! A message between two CPUs wakes a sleeping one, which costs 20 to 100 us in
//! a virtual machine and some us on bare metal; a message on one CPU is a mere
//! change of process. Only the two that wait are bound to the control CPU: what they
//! start may use every CPU that it could use without them.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::OnceLock;

/// This process's control CPU.
static CONTROL_CPU: OnceLock<ControlCpu> = OnceLock::new();

struct ControlCpu {
    cpu: u32,
    waiting: CpuSet,
    free: CpuSet,
}

/// Binds the calling thread to this CPU, if it may run there: the thread that
/// talks over the link. Taken once in the life of a process.
pub fn take(cpu: u32) {
    let index = cpu as usize;
    let Ok(free) = sched_getaffinity(None) else {
        return;
    };
    if index >= CpuSet::MAX_CPU || !free.is_set(index) {
        return;
    }
    let mut waiting = CpuSet::new();
    waiting.set(index);
    if CONTROL_CPU.set(ControlCpu { cpu, waiting, free }).is_ok() {
        bind(|control_cpu| control_cpu.waiting);
    }
}

/// Number of the control CPU, if one was taken.
pub fn cpu() -> Option<u32> {
    CONTROL_CPU.get().map(|control_cpu| control_cpu.cpu)
}

/// Does something away from the control CPU: what it starts inherits no binding.
pub fn away<T>(act: impl FnOnce() -> T) -> T {
    bind(|control_cpu| control_cpu.free);
    let done = act();
    bind(|control_cpu| control_cpu.waiting);
    done
}

/// Does something on other CPUs than these, if there are any, and wherever it is before all
/// that share the CPU by weight: boxes have more of it than this thread. What it starts
/// inherits the CPUs.
pub fn clear_of<T>(cpus: impl IntoIterator<Item = u32>, act: impl FnOnce() -> T) -> T {
    let Some(control_cpu) = CONTROL_CPU.get() else {
        return act();
    };
    let mut clear = control_cpu.free;
    let indices = cpus.into_iter().map(|cpu| cpu as usize);
    indices
        .filter(|index| *index < CpuSet::MAX_CPU)
        .for_each(|index| clear.unset(index));
    bind(|control_cpu| {
        if clear.count() > 0 {
            clear
        } else {
            control_cpu.free
        }
    });
    // Refused to who is not root: the box then has more than its turn where both meet.
    let first = tare_sys::run_first(true).is_ok();
    let done = act();
    if first {
        let _ = tare_sys::run_first(false);
    }
    bind(|control_cpu| control_cpu.waiting);
    done
}

fn bind(cpus: impl FnOnce(&ControlCpu) -> CpuSet) {
    if let Some(control_cpu) = CONTROL_CPU.get() {
        // A binding that is refused costs time, nothing else.
        let _ = sched_setaffinity(None, &cpus(control_cpu));
    }
}
