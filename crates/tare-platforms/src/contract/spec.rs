//! What a box is to be.

use super::BoxImage;
use crate::agent_file;
use crate::architecture::Architecture;
use std::path::PathBuf;
use tare_host::build_id;
use tare_host::cgroup::{Limits, Weight};
use tare_model::platform::Provisioning;
use tare_model::size::InstanceType;

/// What a box is to be.
#[derive(Debug, Clone)]
pub struct BoxSpec {
    /// Unique name, with the run's id: `tare-RUN-N`.
    pub name: String,
    /// The run's name: `tare-RUN`.
    pub run: String,
    /// What it calls itself, where it has a host name of its own.
    pub hostname: String,
    /// CPUs and memory.
    pub instance: InstanceType,
    /// How the CPUs are granted.
    pub provisioning: Provisioning,
    /// CPUs of the host for a pinned box.
    pub pinned_set: Vec<u32>,
    /// CPUs of the host that a box with a quota may run on; empty: all.
    pub host_set: Vec<u32>,
    /// What it gets of the CPU beside all else on the host.
    pub weight: Weight,
    /// Folder of the run, for the box's files.
    pub scratch: PathBuf,
    /// The program that goes into it: the agent, or tare where it holds boxes.
    pub binary: PathBuf,
    /// What CPUs the program is for.
    pub architecture: Architecture,
    /// Whether boxes are to be made in it, which takes more rights than work does.
    pub holds_boxes: bool,
    /// The root filesystem that it gets; absent: it holds the binary alone, or on the host what
    /// the host has. A box that holds others has it beside its own root, for them.
    pub image: Option<BoxImage>,
}

impl BoxSpec {
    /// The host name of a box that no other box looks for.
    pub const HOSTNAME: &str = tare_box::places::HOSTNAME;

    /// The build ID with which the program in the box answers.
    pub fn build_id(&self) -> &'static str {
        if self.holds_boxes {
            build_id::own()
        } else {
            agent_file::build_id_for(self.architecture)
        }
    }

    /// The same with the agent for boxes of this architecture.
    #[must_use]
    pub fn on(mut self, architecture: Architecture) -> Self {
        self.architecture = architecture;
        // A platform without that agent is missing, and makes no box.
        if let Some(agent) = architecture
            .is_foreign()
            .then(|| agent_file::path_for(architecture))
        {
            self.binary = agent.unwrap_or_default();
        }
        self
    }

    /// The image that is to be the root of the box.
    pub(crate) fn root_image(&self) -> Option<&BoxImage> {
        self.image.as_ref().filter(|_| !self.holds_boxes)
    }

    /// The image that the box is to hold for those in it, whose root it is.
    pub(crate) fn held_image(&self) -> Option<&BoxImage> {
        self.image.as_ref().filter(|_| self.holds_boxes)
    }

    /// The CPUs of the host that the box may run on; empty: all.
    pub(crate) fn cpu_set(&self) -> &[u32] {
        match self.provisioning {
            Provisioning::Vanilla => &self.host_set,
            Provisioning::Pinned => &self.pinned_set,
        }
    }

    /// The limits in force for containers and processes.
    pub fn limits(&self) -> Limits {
        Limits {
            memory_bytes: Some(self.instance.memory_bytes),
            ..self.cpu_limits()
        }
    }

    /// The limits in force for a VMM's process: its memory is limited by the size of the VM.
    pub(crate) fn cpu_limits(&self) -> Limits {
        let quota = match self.provisioning {
            Provisioning::Vanilla => Some(self.instance.cpus),
            Provisioning::Pinned => None,
        };
        let set = self.cpu_set();
        Limits {
            quota,
            cpuset: (!set.is_empty()).then(|| set.to_vec()),
            weight: self.weight,
            memory_bytes: None,
            around: false,
        }
    }

    /// A box for tests of what drivers write.
    #[cfg(test)]
    pub(crate) fn example() -> Self {
        Self {
            name: "tare-0-1".to_owned(),
            run: "tare-0".to_owned(),
            hostname: Self::HOSTNAME.to_owned(),
            instance: InstanceType {
                cpus: tare_model::size::Cpus::from_milli(1500),
                memory_bytes: 512 << 20,
            },
            provisioning: Provisioning::Vanilla,
            pinned_set: Vec::new(),
            host_set: Vec::new(),
            weight: Weight::Usual,
            scratch: PathBuf::new(),
            binary: PathBuf::new(),
            architecture: Architecture::HERE,
            holds_boxes: false,
            image: None,
        }
    }
}
