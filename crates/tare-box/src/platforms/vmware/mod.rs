//! VMware Workstation and Player, by `vmrun`. They start no kernel by
//! themselves: the machine boots from a CD's image with GRUB, the guest's kernel
//! and the initramfs on it. The link is a serial port.

mod image;
mod machine;
mod vmx;

use super::child::no_hello;
use super::guest::{self, Guest};
use super::sockets::{Listener, raw_terminal};
use super::{
    Absent, BoxError, BoxSpec, END_DEADLINE, HELLO_DEADLINE, MemoryView, Options, Platform, Premises,
    QuotaView, RunningBox, canonical, cgroups_usable,
};
use crate::cgroup::{Cgroup, Layout, Meter};
use crate::link::{FdStream, Link, LinkError};
use machine::{DESCRIPTION, Machine, PROCESS, Product, VMRUN, holds_machines};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tare_model::protocol::Request;
use tare_model::results::PlatformVersion;

/// What a serial port takes in at least: it hands sixteen bytes at a time to the
/// guest, and one that was emulated on a busy host took seven thousand a second.
const SERIAL_BYTES_PER_SECOND: u64 = 5000;

pub(super) struct Vmware {
    product: Product,
    /// The state folder, in which the sweep looks for machines of dead runs.
    state: PathBuf,
}

impl Vmware {
    pub(super) fn open(mut options: Options, state: &Path) -> Result<Self, String> {
        let product = options.choose("type", &Product::ALL, Product::name)?;
        options.none()?;
        Ok(Self {
            product: product.unwrap_or(Product::Workstation),
            state: state.to_owned(),
        })
    }
}

impl Platform for Vmware {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        // It tells its version with its usage only, and as a failure.
        let usage = Command::new(VMRUN).stdin(Stdio::null()).output().map_err(|e| {
            Absent::new(
                format!("no {VMRUN} that runs: {e}"),
                "install VMware Workstation or Player with VIX (from Broadcom)",
            )
        })?;
        image::can_make()?;
        let guest = Guest::probe(&[])?;
        let text = String::from_utf8_lossy(&usage.stdout).into_owned();
        let version = text.lines().map(str::trim).find(|line| line.contains("version"));
        Ok(PlatformVersion {
            version: version.unwrap_or("vmrun").to_owned(),
            details: [
                ("guest-kernel".to_owned(), guest.release),
                ("product".to_owned(), self.product.name().to_owned()),
            ]
            .into(),
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // What is made once per run is no part of a box's start-up.
        let guest = Guest::find(&[])?;
        let cd = canonical(&image::make(&guest, &spec.scratch, &spec.binary)?)?;
        let requested = Instant::now();
        let premises = spec.premises()?;
        let folder = canonical(&premises.folder)?;
        let listener = Listener::at(&folder.join(vmx::LINK))?;
        let path = folder.join(&spec.name).with_extension(DESCRIPTION);
        fs::write(&path, vmx::describe(spec, &folder, &cd)?)
            .map_err(BoxError::host("write the machine's description"))?;
        let cgroup = Cgroup::create(&Layout::detect()?, &spec.name, &spec.cpu_limits())?;
        let mut made = VmwareBox {
            machine: Machine {
                product: self.product,
                path,
            },
            link: None,
            premises,
            cgroup,
            paused: false,
            hello_after: Duration::ZERO,
            gone: false,
        };
        made.start(&listener)?;
        made.hello_after = requested.elapsed();
        guest::check_clock("vmware", &mut made)?;
        Ok(Box::new(made))
    }

    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        let folder = self.state.join(run);
        if !holds_machines(&folder) {
            return Ok(Vec::new());
        }
        let folder = canonical(&folder)?;
        let of_run = |path: &PathBuf| path.starts_with(&folder);
        self.product
            .running()?
            .into_iter()
            .filter(of_run)
            .map(|path| {
                let machine = Machine {
                    product: self.product,
                    path,
                };
                machine.vmrun("stop", &["hard"])?;
                Ok(format!("machine {}", machine.path.display()))
            })
            .collect()
    }

    fn quota_view(&self) -> QuotaView {
        QuotaView::HostOnly
    }

    fn cpus_inside(&self, set: &[u32]) -> Vec<u32> {
        (0..).take(set.len()).collect()
    }

    fn memory_view(&self) -> MemoryView {
        MemoryView::Ram
    }

    fn cost(&self) -> (Duration, f64) {
        (Duration::from_secs(12), 1.3)
    }
}

struct VmwareBox {
    machine: Machine,
    link: Option<Link>,
    premises: Premises,
    cgroup: Cgroup,
    paused: bool,
    hello_after: Duration,
    gone: bool,
}

impl VmwareBox {
    fn start(&mut self, listener: &Listener) -> Result<(), BoxError> {
        self.machine.vmrun("start", &["nogui"])?;
        if self.adopt()? == 0 {
            return Err(BoxError::Engine {
                engine: "vmware",
                message: format!("{VMRUN} started a machine, but no process {PROCESS} of it was found"),
            });
        }
        let mut link = self
            .connect(listener)
            .map_err(|e| LinkError::of_stream(e, "hello", HELLO_DEADLINE))
            .map(Link::new)
            .map_err(|source| no_hello(source, &self.premises.folder))?;
        link.hello(None, HELLO_DEADLINE)
            .map_err(|source| no_hello(source, &self.premises.folder))?;
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
        self.premises.clear()
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
        vec![self.premises.name.clone()]
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

    fn destroy(&mut self) -> Result<(), BoxError> {
        self.end()
    }
}

impl Drop for VmwareBox {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
