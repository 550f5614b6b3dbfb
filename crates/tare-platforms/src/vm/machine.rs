//! Who executes a guest's instructions, and the machines that are emulated.

use super::super::architecture::Architecture;
use serde::{Deserialize, Serialize};
use tare_host::net::Network;

/// Who executes the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum Accelerator {
    Kvm,
    Tcg,
}

impl Accelerator {
    pub(super) const ALL: [Self; 2] = [Self::Kvm, Self::Tcg];

    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }

    /// QEMU's option, with the properties of the accelerator.
    pub(super) fn argument(self) -> String {
        match self {
            Self::Kvm => self.name().to_owned(),
            // The guest decides how much of its code is translated: without a bound, of a GiB,
            // one of 256 MiB was seen to take 1.6 GB of the host's memory.
            Self::Tcg => format!("{},tb-size={TRANSLATED_MIB}", self.name()),
        }
    }

    pub(super) fn cpu(self, architecture: Architecture) -> &'static str {
        match (self, architecture) {
            (Self::Kvm, _) => "host",
            (Self::Tcg, Architecture::X86) => "max",
            // Emulated as it is defined, pointer authentication takes half of the time.
            (Self::Tcg, Architecture::Arm) => "max,pauth-impdef=on",
        }
    }
}

/// MiB of translated code that an emulated guest may have: more than a kernel and what runs
/// on it need; what is over is translated again.
const TRANSLATED_MIB: u32 = 128;

/// Emulated machine types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Machine {
    Microvm,
    Q35,
    Pc,
    /// arm64's virtual board.
    Virt,
}

impl Machine {
    pub(in super::super) const ALL: [Self; 4] = [Self::Microvm, Self::Q35, Self::Pc, Self::Virt];

    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Microvm => "microvm",
            Self::Q35 => "q35",
            Self::Pc => "pc",
            Self::Virt => "virt",
        }
    }

    pub(in super::super) fn architecture(self) -> Architecture {
        match self {
            Self::Microvm | Self::Q35 | Self::Pc => Architecture::X86,
            Self::Virt => Architecture::Arm,
        }
    }

    /// QEMU's option.
    pub(super) fn argument(self) -> &'static str {
        match self {
            // GICv2, the usual one, supports at most 8 CPUs.
            Self::Virt => "virt,gic-version=max",
            _ => self.name(),
        }
    }

    /// The guest's console as its kernel calls it.
    pub(super) fn console(self) -> &'static str {
        match self {
            Self::Microvm | Self::Q35 | Self::Pc => "ttyS0",
            Self::Virt => "ttyAMA0",
        }
    }

    /// The device that carries virtio-serial ports.
    pub(super) fn serial_device(self) -> &'static str {
        match self {
            Self::Microvm => "virtio-serial-device",
            Self::Q35 | Self::Pc | Self::Virt => "virtio-serial-pci",
        }
    }

    /// The device that is a network interface. Without the memory of a card from
    /// which a machine would boot.
    pub(super) fn network_device(self) -> &'static str {
        match self {
            Self::Microvm => "virtio-net-device",
            Self::Q35 | Self::Pc | Self::Virt => "virtio-net-pci,romfile=",
        }
    }

    /// The device that is a disk.
    pub(super) fn disk_device(self) -> &'static str {
        match self {
            Self::Microvm => "virtio-blk-device",
            Self::Q35 | Self::Pc | Self::Virt => "virtio-blk-pci",
        }
    }

    /// Kernel modules for links and networks, and for what a guest that holds boxes needs.
    pub(super) fn modules(self, holds_boxes: bool, network: Network) -> Vec<&'static str> {
        let bus = match self {
            Self::Microvm => "virtio_mmio",
            Self::Q35 | Self::Pc | Self::Virt => "virtio_pci",
        };
        let mut modules = vec![bus, "virtio_console"];
        // Docker stacks the layers of its images by it.
        modules.extend(holds_boxes.then_some("overlay"));
        modules.extend((network == Network::Bridge).then_some("virtio_net"));
        modules
    }
}

/// The networks that a VM can have.
pub(in super::super) const NETWORKS: [Network; 2] = [Network::None, Network::Bridge];
