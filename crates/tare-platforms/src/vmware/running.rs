//! A running machine, over its serial port.

use super::super::child::{last_words, no_hello};
use super::super::contract::{BoxError, END_DEADLINE, HELLO_DEADLINE, RunningBox};
use super::super::directory::BoxDirectory;
use super::super::guest;
use super::super::sockets::{Listener, raw_terminal};
use super::machine::{Machine, PROCESS, VMRUN};
use crate::link::{FdStream, Link, LinkError};
use std::time::{Duration, Instant};
use tare_host::cgroup::{Cgroup, Meter};
use tare_model::protocol::Request;

/// What a serial port takes in at least: it hands sixteen bytes at a time to the
/// guest, and one that was emulated on a busy host took seven thousand a second.
const SERIAL_BYTES_PER_SECOND: u64 = 5000;

/// A machine with its agent.
pub(super) struct VmwareBox {
    pub machine: Machine,
    pub link: Option<Link>,
    pub directory: BoxDirectory,
    pub cgroup: Cgroup,
    pub paused: bool,
    pub hello_after: Duration,
    pub gone: bool,
}

impl VmwareBox {
    pub fn start(&mut self, build_id: &'static str, listener: &Listener) -> Result<(), BoxError> {
        self.machine.vmrun("start", &["nogui"])?;
        if self.adopt()? == 0 {
            return Err(BoxError::Engine {
                engine: "vmware",
                message: format!("{VMRUN} started a machine, but its process {PROCESS} was not found"),
            });
        }
        let mut link = self
            .connect(listener)
            .map_err(|e| LinkError::of_stream(e, "hello", HELLO_DEADLINE))
            .map(Link::new)
            .map_err(|source| no_hello(source, last_words(&self.directory.path)))?;
        link.hello(build_id, None, HELLO_DEADLINE)
            .map_err(|source| no_hello(source, last_words(&self.directory.path)))?;
        self.link = Some(link);
        Ok(())
    }

    /// Takes the machine's processes into the box's cgroup; tells how many there are.
    fn adopt(&self) -> Result<usize, BoxError> {
        let processes = self.machine.processes();
        processes.iter().try_for_each(|pid| self.cgroup.adopt(*pid))?;
        Ok(processes.len())
    }

    fn connect(&self, listener: &Listener) -> std::io::Result<FdStream> {
        let lives = || !self.machine.processes().is_empty();
        let stream = listener.accept(Instant::now() + HELLO_DEADLINE, lives)?;
        raw_terminal(stream)
    }

    fn end(&mut self) -> Result<(), BoxError> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        // A paused machine does not see the end of its link.
        let _ = self.set_paused(false);
        let deadline = Instant::now() + self.take_leave();
        while !self.machine.processes().is_empty() {
            if Instant::now() > deadline {
                let _ = self.machine.vmrun("stop", &["hard"]);
                // What is still there is killed with the cgroup.
                let _ = self.adopt();
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.directory.clear()
    }

    /// Tells the agent to end, and for how long to wait for that: a serial port
    /// does not tell it that its other end is gone.
    fn take_leave(&mut self) -> Duration {
        let Some(mut link) = self.link.take() else {
            return Duration::ZERO;
        };
        // An agent that does not answer is not waited for in vain: its machine is stopped.
        let _ = link.request(&Request::Quit, END_DEADLINE);
        END_DEADLINE
    }

    fn set_paused(&mut self, paused: bool) -> Result<(), BoxError> {
        if self.paused != paused {
            self.machine
                .vmrun(if paused { "pause" } else { "unpause" }, &[])?;
            self.paused = paused;
        }
        Ok(())
    }
}

impl RunningBox for VmwareBox {
    fn link(&mut self) -> &mut Link {
        self.link
            .as_mut()
            .expect("a box has its link from launch to destroy")
    }

    fn hello_after(&self) -> Duration {
        self.hello_after
    }

    fn marks(&self) -> Vec<String> {
        vec![self.directory.name.clone()]
    }

    fn meter(&self) -> Option<Meter> {
        self.cgroup.meter().ok()
    }

    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        self.cgroup.allowed_cpus()
    }

    fn carry(&mut self, path: &str, mode: u32, content: &[u8], within: Duration) -> Result<(), BoxError> {
        let within = within + Duration::from_secs(content.len() as u64 / SERIAL_BYTES_PER_SECOND);
        Ok(self.link().write_file(path, mode, content, within)?)
    }

    /// Stops the guest with its clocks.
    fn freeze(&mut self) -> Result<(), BoxError> {
        self.set_paused(true)
    }

    fn thaw(&mut self) -> Result<(), BoxError> {
        self.set_paused(false)?;
        guest::set_clock(self)
    }

    fn resume(&mut self) -> Result<(), BoxError> {
        self.set_paused(false)
    }

    fn destroy(&mut self) -> Result<(), BoxError> {
        self.end()
    }
}

impl Drop for VmwareBox {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
