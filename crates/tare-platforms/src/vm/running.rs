//! A running VM: its QEMU process, and what QEMU is told by its machine protocol.

use super::super::child::ChildBox;
use super::super::contract::{BoxError, RunningBox};
use super::super::guest;
use super::qmp::Qmp;
use crate::link::Link;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::net::IpAddr;
use std::time::Duration;
use tare_host::cgroup::Meter;

pub(super) struct VmBox {
    pub child: ChildBox,
    pub qmp: Qmp,
}

impl VmBox {
    /// Gives each vCPU a CPU of its own. The set alone, in which all of QEMU is held,
    /// would let two vCPUs share one.
    pub(super) fn pin_vcpus(&mut self, set: &[u32]) -> Result<(), BoxError> {
        for (thread, cpu) in self.qmp.vcpu_threads()?.into_iter().zip(set) {
            let mut only = CpuSet::new();
            only.set(*cpu as usize);
            sched_setaffinity(Pid::from_raw(thread), &only)
                .map_err(|e| BoxError::host(format!("pin a vCPU to CPU {cpu}"))(e.into()))?;
        }
        Ok(())
    }
}

impl RunningBox for VmBox {
    fn link(&mut self) -> &mut Link {
        self.child.link()
    }

    fn hello_after(&self) -> Duration {
        self.child.hello_after()
    }

    fn marks(&self) -> Vec<String> {
        self.child.marks()
    }

    fn meter(&self) -> Option<Meter> {
        self.child.meter()
    }

    fn address(&self) -> Option<IpAddr> {
        self.child.address()
    }

    fn host_address(&self) -> Option<IpAddr> {
        self.child.host_address()
    }

    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        self.child.host_allowed_cpus()
    }

    /// Stops the guest with its clocks, rather than the QEMU process.
    fn freeze(&mut self) -> Result<(), BoxError> {
        self.qmp.execute("stop").map(drop)
    }

    fn thaw(&mut self) -> Result<(), BoxError> {
        self.qmp.execute("cont")?;
        guest::set_clock(self)
    }

    fn resume(&mut self) -> Result<(), BoxError> {
        self.qmp.execute("cont").map(drop)
    }

    fn destroy(&mut self) -> Result<(), BoxError> {
        self.child.destroy()
    }
}
