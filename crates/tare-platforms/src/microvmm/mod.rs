//! Firecracker and Cloud Hypervisor: VMMs with few devices, on KVM only. The
//! link is virtio-vsock, which both carry to a unix socket of the host.

mod vmlinux;

use super::agent_start::{AgentLink, AgentStart, QUIET};
use super::child::{ChildBox, Said, Start};
use super::contract::{
    Absent, BoxError, BoxSpec, HELLO_DEADLINE, MemoryView, Platform, QuotaView, RunningBox,
};
use super::directory::{BoxDirectory, canonical};
use super::guest::{self, Guest};
use super::probe::{cgroups_usable, installed};
use super::sockets::Listener;
use crate::link::FdStream;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tare_model::results::PlatformVersion;

/// Port of the host that the agent connects to.
const PORT: u32 = 1;

/// The guest's number; that of the host is 2, and lower ones are taken too.
const CID: u32 = 3;

/// Socket in the box's folder that stands for the guest's ports; a connection
/// from the guest to port N of the host goes to the socket of this name with `_N`.
/// It is told without its folder, which may hold any character.
const SOCKET: &str = "vsock";

/// A VMM and what is peculiar to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MicroVmm {
    Firecracker,
    CloudHypervisor,
}

impl MicroVmm {
    const fn program(self) -> &'static str {
        match self {
            Self::Firecracker => "firecracker",
            Self::CloudHypervisor => "cloud-hypervisor",
        }
    }

    /// Kernel modules for its devices.
    const fn modules(self) -> [&'static str; 2] {
        let bus = match self {
            Self::Firecracker => "virtio_mmio",
            Self::CloudHypervisor => "virtio_pci",
        };
        [bus, "vmw_vsock_virtio_transport"]
    }

    const fn fix(self) -> &'static str {
        match self {
            Self::Firecracker => {
                "install Firecracker 1.8 or newer (a release from github.com/firecracker-microvm/firecracker)"
            }
            Self::CloudHypervisor => {
                "install Cloud Hypervisor (a release from github.com/cloud-hypervisor/cloud-hypervisor)"
            }
        }
    }

    /// The guest kernel's command line; each word's reason is in `docs/drivers.md`.
    fn kernel_command_line(self) -> String {
        let (machine, power_off) = match self {
            Self::Firecracker => ("reboot=k panic=-1 pci=off", false),
            // A reset would start the guest anew.
            Self::CloudHypervisor => ("panic=0", true),
        };
        let agent = AgentStart {
            power_off,
            ..AgentStart::over(AgentLink::Vsock(PORT))
        };
        agent.command_line(&format!("console=ttyS0 {QUIET} {machine}"))
    }

    /// The VMM's command, run in the box's folder.
    fn command(self, spec: &BoxSpec, kernel: &Path, initramfs: &Path) -> Command {
        let mut command = Command::new(self.program());
        match self {
            Self::Firecracker => {
                command.args(["--no-api", "--id", &spec.name, "--config-file", "config.json"])
            }
            Self::CloudHypervisor => command
                .arg("--kernel")
                .arg(kernel)
                .arg("--initramfs")
                .arg(initramfs)
                .args(["--cmdline", &self.kernel_command_line()])
                .args(["--cpus", &format!("boot={}", spec.instance.cpus.whole())])
                .args(["--memory", &format!("size={}M", spec.instance.memory_bytes >> 20)])
                .args(["--vsock", &format!("cid={CID},socket={SOCKET}")])
                .args(["--serial", "file=console", "--console", "off"]),
        };
        command
    }

    /// Firecracker's configuration. Only text can be told in it.
    fn config(self, spec: &BoxSpec, kernel: &Path, initramfs: &Path) -> Value {
        json!({
            "boot-source": {
                "kernel_image_path": kernel.to_string_lossy(),
                "initrd_path": initramfs.to_string_lossy(),
                "boot_args": self.kernel_command_line(),
            },
            "drives": [],
            "machine-config": {
                "vcpu_count": spec.instance.cpus.whole(),
                "mem_size_mib": spec.instance.memory_bytes >> 20,
            },
            "vsock": { "guest_cid": CID, "uds_path": SOCKET },
        })
    }
}

impl Platform for MicroVmm {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let version = installed(self.program(), self.fix())?;
        let guest = Guest::probe(&self.modules())?;
        vmlinux::can_unpack(&guest.kernel)?;
        if let Err(e) = fs::OpenOptions::new().read(true).write(true).open("/dev/kvm") {
            return Err(Absent::new(
                format!("/dev/kvm cannot be used: {e}"),
                "use a host with hardware virtualization, with kvm_intel or kvm_amd loaded on x86",
            ));
        }
        Ok(PlatformVersion {
            version,
            details: [("guest-kernel".to_owned(), guest.release)].into(),
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // What is made once per run is no part of a box's start-up.
        let guest = Guest::find(&self.modules())?;
        let initramfs = canonical(&guest.initramfs(&spec.scratch, &spec.binary)?)?;
        let kernel = canonical(&vmlinux::unpack(&guest, &spec.scratch)?)?;
        let requested = Instant::now();
        let directory = BoxDirectory::make(spec)?;
        let folder = &directory.path;
        let listener = Listener::at(&folder.join(format!("{SOCKET}_{PORT}")))?;
        let config = self.config(spec, &kernel, &initramfs).to_string();
        fs::write(folder.join("config.json"), config)
            .map_err(BoxError::host("write the machine's configuration"))?;
        let mut command = self.command(spec, &kernel, &initramfs);
        command.current_dir(folder).stdin(Stdio::null());
        let said = match self {
            // Its standard output is the guest's serial port.
            Self::Firecracker => {
                let (said, console) = Said::by_machine()?;
                command.stdout(console);
                said
            }
            Self::CloudHypervisor => {
                command.stdout(Stdio::null());
                Said::by_engine()?
            }
        };
        let limits = spec.cpu_limits();
        let start = Start {
            command,
            directory,
            limits: Some(&limits),
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::start(start, said, None, |child, _| {
            let lives = || matches!(child.try_wait(), Ok(None));
            let stream = listener.accept(Instant::now() + HELLO_DEADLINE, lives)?;
            FdStream::over_socket(stream.into())
        })?;
        guest::check_clock(self.program(), &mut made)?;
        Ok(Box::new(made))
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
        (Duration::from_millis(1000), 1.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [MicroVmm; 2] = [MicroVmm::Firecracker, MicroVmm::CloudHypervisor];

    fn words(command: &Command) -> Vec<String> {
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_configuration_has_the_size_of_its_box() {
        let config = MicroVmm::Firecracker.config(
            &BoxSpec::example(),
            Path::new("/s/vmlinux"),
            Path::new("/s/initramfs"),
        );
        assert_eq!(
            config["machine-config"],
            json!({ "vcpu_count": 2, "mem_size_mib": 512 })
        );
        assert_eq!(config["vsock"], json!({ "guest_cid": 3, "uds_path": "vsock" }));
        assert_eq!(config["boot-source"]["kernel_image_path"], "/s/vmlinux");
    }

    #[test]
    fn a_command_line_has_the_size_of_its_box() {
        let command =
            MicroVmm::CloudHypervisor.command(&BoxSpec::example(), Path::new("/k"), Path::new("/i"));
        let words = words(&command);
        for pair in [
            ["--cpus", "boot=2"],
            ["--memory", "size=512M"],
            ["--vsock", "cid=3,socket=vsock"],
        ] {
            assert!(words.windows(2).any(|two| two == pair), "{pair:?} in {words:?}");
        }
    }

    #[test]
    fn hostile_paths_stay_one_word() {
        let hostile = Path::new("/s/a b,socket=\"x\n/vmlinux");
        let command = MicroVmm::CloudHypervisor.command(&BoxSpec::example(), hostile, Path::new("/i"));
        assert!(words(&command).contains(&hostile.to_string_lossy().into_owned()));
        let config = MicroVmm::Firecracker.config(&BoxSpec::example(), hostile, Path::new("/i"));
        let read: Value = serde_json::from_str(&config.to_string()).unwrap();
        assert_eq!(
            read["boot-source"]["kernel_image_path"],
            hostile.to_str().unwrap()
        );
    }

    #[test]
    fn the_agent_of_a_vmm_that_restarts_on_a_reset_powers_off() {
        let [firecracker, cloud_hypervisor] = BOTH.map(MicroVmm::kernel_command_line);
        assert!(!firecracker.contains("--power-off") && firecracker.contains("reboot=k"));
        assert!(cloud_hypervisor.ends_with("-- agent --init --power-off --vsock 1"));
    }
}
