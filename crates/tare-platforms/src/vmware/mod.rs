//! VMware Workstation and Player, by `vmrun`. They start no kernel by
//! themselves: the machine boots from a CD's image with GRUB, the guest's kernel
//! and the initramfs on it. The link is a serial port.

mod image;
mod machine;
mod running;
mod vmx;

use super::contract::{Absent, BoxError, BoxSpec, MemoryView, Platform, QuotaView, RunningBox};
use super::directory::{BoxDirectory, canonical};
use super::guest::{self, Guest};
use super::options::Options;
use super::probe::{cgroups_usable, x86_only};
use super::sockets::Listener;
use machine::{DESCRIPTION, Machine, Product, VMRUN, holds_machines};
use running::VmwareBox;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tare_host::cgroup::{Cgroup, Layout};
use tare_model::results::PlatformVersion;

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
        x86_only("VMware Workstation")?;
        // It tells its version with its usage only, and as a failure.
        let usage = Command::new(VMRUN).stdin(Stdio::null()).output().map_err(|e| {
            Absent::new(
                format!("cannot run {VMRUN}: {e}"),
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
        let directory = BoxDirectory::make(spec)?;
        let folder = canonical(&directory.path)?;
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
            directory,
            cgroup,
            paused: false,
            hello_after: Duration::ZERO,
            gone: false,
        };
        made.start(spec.build_id(), &listener)?;
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
