//! A transient domain of libvirt's, by `virsh`: the same guest as `vm`, made,
//! limited and stopped by libvirt.

mod domain;
mod process;
mod virsh;

use super::architecture::Architecture;
use super::child::{ChildBox, Said, Start};
use super::contract::{
    Absent, BoxError, BoxSpec, Cleaned, END_DEADLINE, HELLO_DEADLINE, MemoryView, Platform, QuotaView,
    RunningBox, Storage, Support,
};
use super::directory::BoxDirectory;
use super::guest;
use super::options::Options;
use super::probe::installed;
use super::vm::{Machine, Parts, Vm};
use crate::link::Link;
use process::{is_qemu, qemu_of};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tare_host::cgroup::{Cgroup, Layout, Meter, allowed_cpus};
use tare_host::net::Network;
use tare_model::results::PlatformVersion;
use virsh::{SYSTEM, URI, VIRSH, connect, execute, fails, uri, virsh};

/// Where libvirt keeps a log for each domain that it ever had.
const LOGS: &str = "/var/log/libvirt/qemu";
/// The cgroup of a domain's own threads, within that of the domain.
const EMULATOR: &str = "emulator";

pub(super) struct Libvirt {
    /// The guest, and whether it can have KVM.
    vm: Vm,
}

impl Libvirt {
    pub(super) fn open(options: Options, cache: &Path) -> Result<Self, String> {
        let machines = [Machine::Q35, Machine::Pc, Machine::Virt];
        let vm = Vm::open(options, &machines, &[Network::None], cache)?;
        Ok(Self { vm })
    }

    fn boot(&self, spec: &BoxSpec, parts: &Parts) -> Result<LibvirtBox, BoxError> {
        let requested = Instant::now();
        let directory = BoxDirectory::make(spec)?;
        // Only once the folder is ours: until then a domain of this name belongs to another box.
        self.start(spec, parts, directory, requested).inspect_err(|_| {
            let _ = end(&spec.name);
        })
    }

    fn start(
        &self,
        spec: &BoxSpec,
        parts: &Parts,
        directory: BoxDirectory,
        requested: Instant,
    ) -> Result<LibvirtBox, BoxError> {
        let folder = directory.path.clone();
        let drives = self.vm.make_drives(spec, &folder)?;
        fs::write(
            folder.join("domain.xml"),
            domain::describe(
                spec,
                parts,
                (self.vm.machine(), self.vm.backing()),
                &folder,
                &drives,
            ),
        )
        .map_err(BoxError::host("write the domain's description"))?;
        let mut command = virsh();
        command
            .current_dir(&folder)
            // virsh keeps a history of what it was told.
            .env("XDG_CACHE_HOME", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let start = Start {
            command,
            directory,
            limits: None,
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut child = ChildBox::start(start, Said::by_engine()?, None, |session, said| {
            connect(session, &folder, || said.last(&folder))
        })?;
        let qemu =
            qemu_of(&spec.name).ok_or_else(|| fails(format!("{}: its QEMU is not found", spec.name)))?;
        child.use_cgroup(Cgroup::of_process(&Layout::detect()?, qemu)?.whole(EMULATOR));
        Ok(LibvirtBox {
            child,
            name: spec.name.clone(),
            qemu,
            gone: false,
        })
    }
}

/// Ends a domain and removes what libvirt would keep of it.
fn end(name: &str) -> Result<(), BoxError> {
    let qemu = qemu_of(name);
    // Refused where it has ended by itself: whether it has, its process tells.
    let refused = execute(&["destroy", name]).err();
    let deadline = Instant::now() + END_DEADLINE;
    while qemu.is_some_and(|pid| is_qemu(pid, name)) {
        if Instant::now() > deadline {
            return Err(refused.unwrap_or_else(|| fails(format!("domain {name} does not end"))));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let log = Path::new(LOGS).join(format!("{name}.log"));
    match fs::remove_file(&log) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(BoxError::host(format!("remove {}", log.display()))(e))
        }
        _ => Ok(()),
    }
}

impl Platform for Libvirt {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        let absent = |e: &dyn std::fmt::Display, fix: &str| Absent::new(e.to_string(), fix);
        let install = "install it (Debian: apt-get install libvirt-clients libvirt-daemon-system)";
        installed(VIRSH, install)?;
        let uri = uri();
        if !uri.starts_with("qemu:///") {
            let reason = format!("{URI} names '{uri}', which is not QEMU on this host");
            return Err(Absent::new(reason, format!("unset it, or set it to {SYSTEM}")));
        }
        let start = "set LIBVIRT_DEFAULT_URI to the connection of its daemon, or start that: sudo systemctl start libvirtd";
        let told = execute(&["version"]).map_err(|e| absent(&e, start))?;
        let library = told.lines().find_map(|line| line.strip_prefix("Using API:"));
        let mut version = self.vm.probe()?;
        version.details.insert(
            "libvirt".to_owned(),
            library.unwrap_or("unknown").trim().to_owned(),
        );
        Ok(version)
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // What is made once per run is no part of a box's start-up.
        let parts = self.vm.parts(spec)?;
        let mut made = self.boot(spec, &parts)?;
        guest::check_clock("libvirt", &mut made)?;
        Ok(Box::new(made))
    }

    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        let mut removed = Vec::new();
        // A daemon that does not answer has no domain of ours: they ended with the run's sessions.
        let names = execute(&["list", "--all", "--name"]).unwrap_or_default();
        for name in names.lines().filter(|name| is_of(name, run)) {
            end(name)?;
            removed.push(format!("domain {name}"));
        }
        for entry in fs::read_dir(LOGS).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| is_of(name, run)) {
                let log = entry.path();
                fs::remove_file(&log).map_err(BoxError::host(format!("remove {}", log.display())))?;
            }
        }
        Ok(removed)
    }

    fn clean(&mut self, alive: &[String]) -> Result<Cleaned, BoxError> {
        self.vm.clean(alive)
    }

    fn supports_weight(&self) -> Support {
        Err("all domains share one cgroup of libvirt")
    }

    fn is_in_own_cgroup(&self) -> bool {
        false
    }

    fn architecture(&self) -> Architecture {
        self.vm.architecture()
    }

    fn storage(&self) -> Option<Storage> {
        self.vm.storage()
    }

    fn supports_image(&self) -> Support {
        self.vm.supports_image()
    }

    fn supports_held_image(&self) -> Support {
        self.vm.supports_held_image()
    }

    fn quota_view(&self) -> QuotaView {
        self.vm.quota_view()
    }

    fn memory_view(&self) -> MemoryView {
        self.vm.memory_view()
    }

    fn cpus_inside(&self, set: &[u32]) -> Vec<u32> {
        self.vm.cpus_inside(set)
    }

    fn cost(&self) -> (Duration, f64) {
        let (launch, stretch) = self.vm.cost();
        (launch + Duration::from_millis(1000), stretch)
    }
}

/// Whether this is the name of a box of the run's, or of its log.
fn is_of(name: &str, run: &str) -> bool {
    name.strip_prefix(run).is_some_and(|rest| rest.starts_with('-'))
}

struct LibvirtBox {
    child: ChildBox,
    name: String,
    qemu: u32,
    gone: bool,
}

impl RunningBox for LibvirtBox {
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

    /// By process: libvirt puts its threads into cgroups of their own.
    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        allowed_cpus(&[self.qemu])
    }

    fn freeze(&mut self) -> Result<(), BoxError> {
        execute(&["suspend", &self.name]).map(drop)
    }

    fn thaw(&mut self) -> Result<(), BoxError> {
        execute(&["resume", &self.name])?;
        guest::set_clock(self)
    }

    fn resume(&mut self) -> Result<(), BoxError> {
        execute(&["resume", &self.name]).map(drop)
    }

    fn destroy(&mut self) -> Result<(), BoxError> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        end(&self.name)?;
        self.child.destroy()
    }
}

impl Drop for LibvirtBox {
    fn drop(&mut self) {
        let _ = self.destroy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_boxes_of_the_run_are_its_own() {
        assert!(is_of("tare-00c0ffee-1", "tare-00c0ffee") && is_of("tare-00c0ffee-1.log", "tare-00c0ffee"));
        for foreign in ["tare-00c0ffee", "tare-00c0ffeed-1", "my-tare-00c0ffee-1", "web"] {
            assert!(!is_of(foreign, "tare-00c0ffee"), "{foreign}");
        }
    }
}
