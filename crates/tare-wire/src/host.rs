//! Facts of a machine, as a results file keeps them.

use crate::brief::shorten;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts of the host that a stranger needs to repeat a run. Any may be missing.
/// The host's name, its users and its environment are not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct HostFacts {
    /// What tells this host from others: a digest of the identity of its system, from which that
    /// cannot be found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The CPU's instructions: `x86_64`, `aarch64`.
    pub architecture: Option<String>,
    /// Model name of the CPU.
    pub cpu_model: Option<String>,
    /// CPUs (hardware threads) online.
    pub cpus: u32,
    /// Cores online.
    pub cores: u32,
    /// Packages.
    pub sockets: u32,
    pub numa_nodes: u32,
    /// Size of the last-level cache in bytes.
    pub llc_bytes: Option<u64>,
    pub memory_bytes: u64,
    /// Size of a page of memory in bytes: kernels for arm64 have 4, 16 or 64 KiB.
    pub page_bytes: Option<u64>,
    pub swap_bytes: u64,
    /// Release of the kernel.
    pub kernel: String,
    /// Name of the distribution.
    pub os: Option<String>,
    /// Identity of this boot: figures hold for one boot only.
    pub boot_id: Option<String>,
    /// Hypervisor below the host, if one is detected.
    pub hypervisor: Option<String>,
    /// cgroup layout: `v1`, `hybrid` or `v2`.
    pub cgroup: Option<String>,
    /// Current clock source.
    pub clocksource: Option<String>,
    /// Frequency governors in use.
    pub governor: Option<String>,
    /// Driver that sets the frequency.
    pub frequency_driver: Option<String>,
    /// Revision of the CPU's microcode.
    pub microcode: Option<String>,
    /// Whether the kernel moves pages between NUMA nodes.
    pub numa_balancing: Option<bool>,
    /// Whether turbo or boost is on.
    pub turbo: Option<bool>,
    /// Whether simultaneous multithreading is active.
    pub smt: Option<bool>,
    /// Transparent huge pages: the mode in force.
    pub thp: Option<String>,
    /// Whether kernel same-page merging runs.
    pub ksm: Option<bool>,
    /// Mitigations of CPU vulnerabilities, by vulnerability.
    pub mitigations: BTreeMap<String, String>,
    /// Options the kernel was booted with that move figures (`isolcpus`, `nohz_full`, `mitigations`).
    pub boot_options: Vec<String>,
    /// Type of the file system that holds the results file.
    pub storage: Option<String>,
}

/// Facts of a box as its agent sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct BoxFacts {
    /// Release of the kernel that the box runs on.
    pub kernel: String,
    /// CPUs that the agent may run on.
    pub allowed_cpus: Vec<u32>,
    /// CPUs online in the box's kernel.
    pub online_cpus: u32,
    /// Memory that the box's kernel reports, in bytes.
    pub memory_bytes: u64,
    /// RAM in the memory map that firmware or hypervisor handed to the box's kernel, in bytes.
    pub firmware_ram_bytes: Option<u64>,
    /// Swap that the box's kernel reports, in bytes.
    pub swap_bytes: u64,
    /// Current clock source.
    pub clocksource: Option<String>,
    /// Transparent huge pages: the mode in force.
    pub thp: Option<String>,
    /// Whether a seccomp filter is in force on the agent.
    pub seccomp: Option<bool>,
    /// Effective capabilities of the agent, as a set: bit n is capability n.
    pub capabilities: Option<u64>,
    /// Whether the agent and what it starts can gain no privileges.
    pub no_new_privileges: Option<bool>,
    /// How users of the box are mapped: first in the box, first outside, how many.
    pub uid_map: Option<String>,
    /// Resident memory of the agent in bytes.
    pub agent_rss_bytes: u64,
}

impl BoxFacts {
    /// The same with short texts.
    #[must_use]
    pub fn brief(mut self) -> Self {
        let told = [&mut self.clocksource, &mut self.thp, &mut self.uid_map];
        let told = told.into_iter().flatten();
        told.chain([&mut self.kernel]).for_each(shorten);
        self
    }
}
