//! QEMU virtual machines: a Linux kernel whose initramfs holds the tare binary
//! as `/init`, and a virtio-serial port as link.

mod command;
mod kvm;
mod machine;
mod memory;
mod qmp;
mod running;

pub(super) use machine::{Accelerator, Machine, NETWORKS};
pub(super) use memory::has_huge_pages;

use super::agent_start::own_words;
use super::apart::can_be_had;
use super::architecture::Architecture;
use super::child::{ChildBox, Said, Start};
use super::contract::{
    Absent, BoxError, BoxSpec, Cleaned, GuestMemory, HELLO_DEADLINE, MemoryView, Platform, QuotaView,
    RunningBox, Storage, Support,
};
use super::directory::BoxDirectory;
use super::disk;
use super::guest::{self, Guest};
use super::options::Options;
use super::probe::{installed, limits_usable};
use crate::agent_file;
use crate::link::FdStream;
use command::{kernel_command_line, without_sandbox};
use qmp::Qmp;
use running::VmBox;
use std::cell::OnceCell;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tare_host::cgroup::Limits;
use tare_host::net::Network;
use tare_host::net::Port;
use tare_model::platform::Provisioning;
use tare_model::results::PlatformVersion;

/// The program that runs machines of an architecture.
const fn qemu(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86 => "qemu-system-x86_64",
        Architecture::Arm => "qemu-system-aarch64",
    }
}

/// How to get it.
const fn qemu_advice(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86 => "install QEMU (Debian: apt-get install qemu-system-x86)",
        Architecture::Arm => "install QEMU (Debian: apt-get install qemu-system-arm)",
    }
}

/// Name of the virtio-serial port.
pub(super) const PORT: &str = "tare";

/// How long the host's time stamp counter is watched to learn its frequency.
const TSC_WATCH: Duration = Duration::from_millis(30);

/// What a guest boots, and by whom it is executed.
pub(super) struct Parts {
    pub kernel: PathBuf,
    pub initramfs: PathBuf,
    pub command_line: String,
    pub accelerator: Accelerator,
}

pub(super) struct Vm {
    machine: Machine,
    network: Network,
    storage: Option<Storage>,
    memory: GuestMemory,
    wanted: Option<Accelerator>,
    cache: PathBuf,
    /// Chosen when first needed.
    accelerator: Option<(Accelerator, String)>,
    tsc_khz: OnceCell<Option<u64>>,
}

impl Vm {
    /// A VM of one of these machine types, the first if none is named.
    pub(super) fn open(
        mut options: Options,
        machines: &[Machine],
        networks: &[Network],
        cache: &Path,
    ) -> Result<Self, String> {
        let architecture = options.choose(Architecture::OPTION, &Architecture::ALL, Architecture::name)?;
        let architecture = architecture.unwrap_or(Architecture::HERE);
        let is_such = |machine: &&Machine| machine.architecture() == architecture;
        let machines: Vec<Machine> = machines.iter().filter(is_such).copied().collect();
        let machine = options.choose("machine", &machines, Machine::name)?;
        let machine = machine.or_else(|| machines.first().copied());
        let machine = machine.ok_or_else(|| format!("it makes no machines of {}", architecture.name()))?;
        let wanted = options.choose("accel", &Accelerator::ALL, Accelerator::name)?;
        if architecture.is_foreign() && wanted == Some(Accelerator::Kvm) {
            return Err(format!(
                "KVM runs this host's instructions, not those of {}: omit accel",
                architecture.name()
            ));
        }
        let storage = Storage::take_of_machine(&mut options)?;
        let memory = GuestMemory::take(&mut options)?;
        let network = options.network(networks)?;
        Ok(Self {
            machine,
            network,
            storage,
            memory,
            wanted,
            cache: cache.to_owned(),
            accelerator: None,
            tsc_khz: OnceCell::new(),
        })
    }

    /// Frequency of the host's time stamp counter, which is the guest's too where that has one; measured once.
    fn tsc_khz(&self) -> Option<u64> {
        if self.is_foreign() {
            return None;
        }
        *self.tsc_khz.get_or_init(|| tare_sys::tsc_khz(TSC_WATCH))
    }

    pub(super) fn machine(&self) -> Machine {
        self.machine
    }

    pub(super) fn backing(&self) -> GuestMemory {
        self.memory
    }

    /// What a guest boots; made once per run.
    pub(super) fn parts(&mut self, spec: &BoxSpec) -> Result<Parts, BoxError> {
        let (accelerator, _) = self.accelerator();
        self.parts_on(spec, accelerator)
    }

    fn parts_on(&self, spec: &BoxSpec, accelerator: Accelerator) -> Result<Parts, BoxError> {
        let guest = self.guest(&self.modules(spec.holds_boxes, spec.image.is_some()))?;
        let initramfs = guest.initramfs(&spec.scratch, &spec.binary)?;
        // Made here, where no start is timed; a box finds it.
        spec.image.as_ref().map(disk::base).transpose()?;
        Ok(Parts {
            kernel: guest.kernel,
            initramfs,
            command_line: kernel_command_line(
                (self.machine, accelerator),
                self.tsc_khz(),
                spec,
                self.storage,
            ),
            accelerator,
        })
    }

    /// The accelerator to use, and why.
    fn accelerator(&mut self) -> (Accelerator, String) {
        if let Some(known) = &self.accelerator {
            return known.clone();
        }
        let chosen = match self.wanted {
            _ if self.is_foreign() => (Accelerator::Tcg, "its CPU is not this host's".to_owned()),
            Some(accelerator) => (accelerator, "as asked".to_owned()),
            None => self.probe_kvm().map_or_else(
                |why| (Accelerator::Tcg, why),
                |()| (Accelerator::Kvm, "a guest booted on KVM".to_owned()),
            ),
        };
        self.accelerator = Some(chosen.clone());
        chosen
    }

    fn boot(
        &self,
        spec: &BoxSpec,
        accelerator: Accelerator,
        limits: Option<&Limits>,
        hello_within: Duration,
    ) -> Result<VmBox, BoxError> {
        // What is made once per run is no part of a box's start-up.
        let parts = self.parts_on(spec, accelerator)?;
        let requested = Instant::now();
        let directory = BoxDirectory::make(spec)?;
        let (link_ours, link_theirs) = UnixStream::pair().map_err(BoxError::host("make a socket pair"))?;
        let (qmp_ours, qmp_theirs) = UnixStream::pair().map_err(BoxError::host("make a socket pair"))?;
        let (said, console) = Said::by_machine()?;
        let mut command = self.command(spec, &parts, [link_theirs.into(), qmp_theirs.into()]);
        for (number, drive) in self.make_drives(spec, &directory.path)?.iter().enumerate() {
            self.add_drive(&mut command, number, drive);
        }
        let port = self.connect(spec, &mut command)?;
        let mut words = vec![parts.command_line];
        words.extend(own_words(spec, port.as_ref()));
        command.args(["-append", &words.join(" ")]);
        command.stdin(Stdio::null()).stdout(console);
        let start = Start {
            command,
            directory,
            limits,
            build_id: spec.build_id(),
            hello_within,
            requested,
        };
        let mut child = ChildBox::start(start, said, None, |_, _| FdStream::over_socket(link_ours.into()))?;
        port.into_iter().for_each(|port| child.use_port(port));
        Ok(VmBox {
            child,
            qmp: Qmp::new(qmp_ours),
        })
    }

    fn is_foreign(&self) -> bool {
        self.architecture().is_foreign()
    }

    /// What a guest with these modules boots.
    fn guest(&self, modules: &[&str]) -> Result<Guest, BoxError> {
        let architecture = self.architecture();
        Guest::find_for(architecture, &architecture.kernels(&self.cache), modules)
    }

    /// What must be here for a guest of its architecture.
    fn probe_guest(&self) -> Result<Guest, Absent> {
        let architecture = self.architecture();
        architecture.probe_agent()?;
        let advice = architecture.kernel_advice(&self.cache);
        self.guest(&self.modules(false, false))
            .map_err(|e| Absent::new(e.to_string(), advice))
    }

    /// Gives QEMU the end of a tap, if the VM is to have a network.
    fn connect(&self, spec: &BoxSpec, command: &mut Command) -> Result<Option<Port>, BoxError> {
        if self.network != Network::Bridge {
            return Ok(None);
        }
        let (port, tap) = Port::tap(&spec.name, &spec.run, true)?;
        let fd = tare_sys::inherit(command, tap);
        let mac = port.mac();
        let device = self.machine.network_device();
        command
            .args(["-netdev", &format!("tap,id=net,fd={fd}")])
            .args(["-device", &format!("{device},netdev=net,mac={mac}")]);
        Ok(Some(port))
    }
}

impl Platform for Vm {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        limits_usable()?;
        let architecture = self.architecture();
        let version = installed(qemu(architecture), qemu_advice(architecture))?;
        let guest = self.probe_guest()?;
        self.storage.map_or(Ok(()), Storage::probe)?;
        self.memory.probe()?;
        can_be_had(self.network)?;
        if self.wanted == Some(Accelerator::Kvm) {
            self.probe_kvm()
                .map_err(|why| Absent::new(why, "omit accel, or use accel=tcg, which emulates the VM"))?;
        }
        let (accelerator, why) = self.accelerator();
        let details = [
            ("accelerator", accelerator.name().to_owned()),
            ("accelerator-because", why),
            ("machine", self.machine.name().to_owned()),
            ("guest-kernel", guest.release),
        ];
        let foreign = self.is_foreign().then(|| {
            [
                ("architecture", architecture.name().to_owned()),
                ("agent", agent_file::build_id_for(architecture).to_owned()),
            ]
        });
        let details = details
            .into_iter()
            .chain(foreign.into_iter().flatten())
            .map(|(key, value)| (key.to_owned(), value))
            .chain(self.storage.into_iter().flat_map(Storage::details))
            .chain(self.memory.details())
            .chain(without_sandbox(architecture))
            .collect();
        Ok(PlatformVersion {
            version: version.split(" (").next().unwrap_or(&version).to_owned(),
            details,
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let (accelerator, _) = self.accelerator();
        let mut made = self.boot(spec, accelerator, Some(&spec.cpu_limits()), HELLO_DEADLINE)?;
        if spec.provisioning == Provisioning::Pinned {
            made.pin_vcpus(&spec.pinned_set)?;
        }
        guest::check_clock("vm", &mut made)?;
        Ok(Box::new(made))
    }

    fn clean(&mut self, _alive: &[String]) -> Result<Cleaned, BoxError> {
        Ok(Cleaned {
            removed: kvm::clean(&self.cache)?,
            left: Vec::new(),
        })
    }

    fn network(&self) -> Network {
        self.network
    }

    fn architecture(&self) -> Architecture {
        self.machine.architecture()
    }

    fn storage(&self) -> Option<Storage> {
        self.storage
    }

    fn memory(&self) -> Option<GuestMemory> {
        Some(self.memory)
    }

    fn supports_image(&self) -> Support {
        if self.is_foreign() {
            return Err("images hold programs for this host's CPUs: omit arch or the image");
        }
        disk::supports_image()
    }

    fn supports_held_image(&self) -> Support {
        disk::supports_base()
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
        match self.accelerator {
            Some((Accelerator::Kvm, _)) => (Duration::from_millis(1200), 1.2),
            _ => (Duration::from_millis(3300), 1.6),
        }
    }
}
