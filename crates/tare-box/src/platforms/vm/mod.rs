//! QEMU virtual machines: a Linux kernel whose initramfs holds the tare binary
//! as `/init`, and a virtio-serial port as link.

mod qmp;

use super::child::{ChildBox, Start};
use super::guest::{self, Guest};
use super::{
    Absent, BoxError, BoxSpec, HELLO_DEADLINE, MemoryView, Network, Options, Platform, QuotaView, RunningBox,
    limits_usable, version_of,
};
use crate::cgroup::{Limits, Meter};
use crate::link::{FdStream, Link};
use crate::net::Port;
use qmp::Qmp;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::fs;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tare_model::platform::Provisioning;
use tare_model::results::PlatformVersion;
use tare_model::size::{Cpus, InstanceType};

const QEMU: &str = "qemu-system-x86_64";

/// Name of the virtio-serial port.
pub(super) const PORT: &str = "tare";

/// Time that a KVM guest has to boot before KVM is judged not to work here. A
/// working one needs about a second; one nested in a hypervisor without nested
/// virtualisation never answers, though /dev/kvm opens.
const KVM_DEADLINE: Duration = Duration::from_secs(10);

/// How long the host's time stamp counter is watched to learn its frequency.
const TSC_WATCH: Duration = Duration::from_millis(30);

/// What was found out about KVM, kept in the state folder.
const PROBE_FILE: &str = "kvm-probe.json";
/// Beginning of the name of a probe's folder.
const PROBE_FOLDER: &str = "kvm-probe-";

/// Who executes the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Accelerator {
    Kvm,
    Tcg,
}

impl Accelerator {
    const ALL: [Self; 2] = [Self::Kvm, Self::Tcg];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }

    fn cpu(self) -> &'static str {
        match self {
            Self::Kvm => "host",
            Self::Tcg => "max",
        }
    }
}

/// Emulated machine types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    Microvm,
    Q35,
    Pc,
}

impl Machine {
    pub(super) const ALL: [Self; 3] = [Self::Microvm, Self::Q35, Self::Pc];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Microvm => "microvm",
            Self::Q35 => "q35",
            Self::Pc => "pc",
        }
    }

    /// The device that carries virtio-serial ports.
    fn serial_device(self) -> &'static str {
        match self {
            Self::Microvm => "virtio-serial-device",
            Self::Q35 | Self::Pc => "virtio-serial-pci",
        }
    }

    /// The device that is a network interface. Without the memory of a card from
    /// which a machine would boot.
    fn network_device(self) -> &'static str {
        match self {
            Self::Microvm => "virtio-net-device",
            Self::Q35 | Self::Pc => "virtio-net-pci,romfile=",
        }
    }

    /// Kernel modules for that device, and for what a guest that holds boxes needs.
    fn modules(self, holds_boxes: bool, network: Network) -> Vec<&'static str> {
        let bus = match self {
            Self::Microvm => "virtio_mmio",
            Self::Q35 | Self::Pc => "virtio_pci",
        };
        let mut modules = vec![bus, "virtio_console"];
        // Docker stacks the layers of its images by it.
        modules.extend(holds_boxes.then_some("overlay"));
        modules.extend((network == Network::Bridge).then_some("virtio_net"));
        modules
    }
}

/// The networks that a VM can have.
pub(super) const NETWORKS: [Network; 2] = [Network::None, Network::Bridge];

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
    wanted: Option<Accelerator>,
    cache: PathBuf,
    /// Chosen when first needed.
    accelerator: Option<(Accelerator, String)>,
    tsc_khz: OnceCell<u64>,
}

impl Vm {
    /// A VM of one of these machine types, the first if none is named.
    pub(super) fn open(
        mut options: Options,
        machines: &[Machine],
        networks: &[Network],
        cache: &Path,
    ) -> Result<Self, String> {
        let machine = options.choose("machine", machines, Machine::name)?;
        let machine = machine.unwrap_or(machines[0]);
        let wanted = options.choose("accel", &Accelerator::ALL, Accelerator::name)?;
        let network = options.network(networks)?;
        Ok(Self {
            machine,
            network,
            wanted,
            cache: cache.to_owned(),
            accelerator: None,
            tsc_khz: OnceCell::new(),
        })
    }

    /// Frequency of the host's time stamp counter, measured once.
    fn tsc_khz(&self) -> u64 {
        *self.tsc_khz.get_or_init(|| tare_sys::tsc_khz(TSC_WATCH))
    }

    pub(super) fn machine(&self) -> Machine {
        self.machine
    }

    /// What a guest boots; made once per run.
    pub(super) fn parts(&mut self, spec: &BoxSpec) -> Result<Parts, BoxError> {
        let (accelerator, _) = self.accelerator();
        self.parts_on(spec, accelerator)
    }

    fn parts_on(&self, spec: &BoxSpec, accelerator: Accelerator) -> Result<Parts, BoxError> {
        let guest = Guest::find(&self.machine.modules(spec.holds_boxes, self.network))?;
        let initramfs = guest.initramfs(&spec.scratch, &spec.binary)?;
        Ok(Parts {
            kernel: guest.kernel,
            initramfs,
            command_line: kernel_command_line(accelerator, self.tsc_khz(), spec.holds_boxes),
            accelerator,
        })
    }

    /// The accelerator to use, and why.
    fn accelerator(&mut self) -> (Accelerator, String) {
        if let Some(known) = &self.accelerator {
            return known.clone();
        }
        let chosen = match self.wanted {
            Some(accelerator) => (accelerator, "as asked".to_owned()),
            None => self.probe_kvm().map_or_else(
                |why| (Accelerator::Tcg, why),
                |()| (Accelerator::Kvm, "a guest booted on KVM".to_owned()),
            ),
        };
        self.accelerator = Some(chosen.clone());
        chosen
    }

    /// Whether a guest boots on KVM here, by trying; remembered until the next boot of the host.
    fn probe_kvm(&self) -> Result<(), String> {
        if let Err(e) = fs::OpenOptions::new().read(true).write(true).open("/dev/kvm") {
            return Err(format!("/dev/kvm cannot be used: {e}"));
        }
        let file = self.cache.join(PROBE_FILE);
        let now = KvmProbe::now();
        let known = fs::read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<KvmProbe>(&bytes).ok());
        if let Some(known) = known.filter(|k| k.boot_id == now.boot_id && k.qemu == now.qemu) {
            return known.failure.map_or(Ok(()), Err);
        }
        let failure = self.boot_on_kvm().err();
        let probe = KvmProbe {
            failure: failure.clone(),
            ..now
        };
        // Only a cache: where it cannot be written, the next run probes again.
        let _ = serde_json::to_vec(&probe).map(|json| fs::write(&file, json));
        failure.map_or(Ok(()), Err)
    }

    fn boot_on_kvm(&self) -> Result<(), String> {
        fs::create_dir_all(&self.cache).map_err(|e| e.to_string())?;
        let scratch = tempfile::Builder::new()
            .prefix(PROBE_FOLDER)
            .tempdir_in(&self.cache)
            .map_err(|e| e.to_string())?;
        let spec = BoxSpec {
            name: format!("tare-probe{}", std::process::id()),
            run: "tare-probe".to_owned(),
            instance: InstanceType {
                cpus: Cpus::from_milli(1000),
                memory_bytes: 256 << 20,
            },
            provisioning: Provisioning::Vanilla,
            pinned_set: Vec::new(),
            scratch: scratch.path().to_owned(),
            binary: std::env::current_exe().map_err(|e| e.to_string())?,
            holds_boxes: false,
        };
        let bare = Self {
            machine: self.machine,
            network: Network::None,
            wanted: None,
            cache: self.cache.clone(),
            accelerator: None,
            tsc_khz: OnceCell::new(),
        };
        let booted = bare.boot(&spec, Accelerator::Kvm, None, KVM_DEADLINE);
        match booted.map(|mut vm| vm.destroy()) {
            Ok(_) => Ok(()),
            Err(e) => Err(format!("/dev/kvm is there, but a guest did not boot on it: {e}")),
        }
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
        let premises = spec.premises()?;
        let (link_ours, link_theirs) = UnixStream::pair().map_err(BoxError::host("make a socket pair"))?;
        let (qmp_ours, qmp_theirs) = UnixStream::pair().map_err(BoxError::host("make a socket pair"))?;
        let mut command = self.command(spec, &parts, &premises.folder);
        let port = self.connect(spec, &mut command)?;
        command.args(["-append", &with_address(&parts.command_line, port.as_ref())]);
        // The sockets go in as standard input and output, whose numbers QEMU is told.
        command
            .stdin(OwnedFd::from(link_theirs))
            .stdout(OwnedFd::from(qmp_theirs));
        let start = Start {
            command,
            premises,
            limits,
            hello_within,
            requested,
        };
        let mut child = ChildBox::start(start, None, |_| FdStream::over_socket(link_ours.into()))?;
        port.into_iter().for_each(|port| child.use_port(port));
        Ok(VmBox {
            child,
            qmp: Qmp::new(qmp_ours),
        })
    }

    fn command(&self, spec: &BoxSpec, parts: &Parts, folder: &Path) -> Command {
        let mut command = Command::new(QEMU);
        command
            .args([
                "-name",
                &spec.name,
                "-M",
                self.machine.name(),
                "-accel",
                parts.accelerator.name(),
            ])
            .args(["-cpu", parts.accelerator.cpu()])
            .args(["-smp", &spec.instance.cpus.whole().to_string()])
            .args(["-m", &format!("{}M", spec.instance.memory_bytes >> 20)])
            .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"])
            .arg("-serial")
            .arg(format!("file:{}", folder.join("console").display()))
            .args([
                "-chardev",
                "socket,id=link,fd=0",
                "-device",
                self.machine.serial_device(),
            ])
            .args(["-device", &format!("virtserialport,chardev=link,name={PORT}")])
            .args([
                "-chardev",
                "socket,id=qmp,fd=1",
                "-mon",
                "chardev=qmp,mode=control",
            ])
            .arg("-kernel")
            .arg(&parts.kernel)
            .arg("-initrd")
            .arg(&parts.initramfs);
        command
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

/// The command line of a guest's kernel with the address that its agent is to set.
fn with_address(command_line: &str, port: Option<&Port>) -> String {
    let address = port.map(|port| format!(" --address {}", port.address()));
    format!("{command_line}{}", address.unwrap_or_default())
}

/// Quiet, since an emulated console is slow; without the self-tests of the
/// kernel's ciphers, a fifth of an emulated boot.
///
/// Under TCG the guest's time stamp counter is the host's, and its frequency is
/// told: a guest that measures it against the emulated timer fails when the host
/// disturbs it, and then waits for ever for a tick. `tsc=reliable`, since the
/// kernel would else fall back to a clock that throttling slows down. `nokaslr`,
/// since moving itself takes an emulated kernel half a second, and where it lies
/// matters to nothing that is emulated.
fn kernel_command_line(accelerator: Accelerator, tsc_khz: u64, holds_boxes: bool) -> String {
    let clock = match accelerator {
        Accelerator::Tcg => format!("tsc=reliable tsc_early_khz={tsc_khz} nokaslr "),
        Accelerator::Kvm => String::new(),
    };
    let root = if holds_boxes { " --new-root" } else { "" };
    format!(
        "{clock}console=ttyS0 quiet loglevel=3 cryptomgr.notests reboot=t panic=-1 rdinit=/tare -- agent --init{root} --port {PORT}"
    )
}

impl Platform for Vm {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        limits_usable()?;
        let version = version_of(QEMU, "--version").ok_or_else(|| {
            Absent::new(
                format!("no {QEMU} on PATH"),
                "install QEMU (Debian: apt-get install qemu-system-x86)",
            )
        })?;
        let guest = Guest::probe(&self.machine.modules(false, self.network))?;
        let (accelerator, why) = self.accelerator();
        let details = [
            ("accelerator", accelerator.name().to_owned()),
            ("accelerator-because", why),
            ("machine", self.machine.name().to_owned()),
            ("guest-kernel", guest.release),
        ];
        let details = details
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
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

    fn clean(&mut self) -> Result<Vec<String>, BoxError> {
        let mut removed = Vec::new();
        for entry in fs::read_dir(&self.cache).into_iter().flatten().flatten() {
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let gone = match name.as_str() {
                PROBE_FILE => fs::remove_file(&path),
                // Left by a probe that was killed.
                _ if name.starts_with(PROBE_FOLDER) => fs::remove_dir_all(&path),
                _ => continue,
            };
            gone.map_err(BoxError::host(format!("remove {}", path.display())))?;
            removed.push(format!("{}", path.display()));
        }
        Ok(removed)
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

/// What was found out about KVM, and for which boot and QEMU it holds.
#[derive(Serialize, Deserialize)]
struct KvmProbe {
    boot_id: Option<String>,
    qemu: Option<String>,
    failure: Option<String>,
}

impl KvmProbe {
    fn now() -> Self {
        Self {
            boot_id: crate::host::facts().boot_id,
            qemu: version_of(QEMU, "--version"),
            failure: None,
        }
    }
}

struct VmBox {
    child: ChildBox,
    qmp: Qmp,
}

impl VmBox {
    /// Gives each vCPU a CPU of its own. The set alone, in which all of QEMU is held,
    /// would let two vCPUs share one.
    fn pin_vcpus(&mut self, set: &[u32]) -> Result<(), BoxError> {
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

    fn destroy(&mut self) -> Result<(), BoxError> {
        self.child.destroy()
    }
}
