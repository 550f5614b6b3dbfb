//! What sets a container apart from its host, and what is seen of it in a box: the
//! filter of system calls, capabilities and the user namespace.

use std::fmt;
use std::fs;

/// Names of capabilities, by number.
const NAMES: [&str; 41] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
];

/// The capabilities that every engine knows, as a set: those before Linux 5.8.
pub(crate) const OF_OLD: u64 = (1 << 38) - 1;

/// The capability to rule a network, as a set.
pub(crate) const NET_ADMIN: u64 = 1 << 12;

/// The first user of the host that a user namespace is mapped to: beyond those that
/// distributions give to people, and a multiple of the number of users, which nspawn asks for.
pub(crate) const FIRST_USER: u32 = 16 * USERS;
/// Users of a user namespace: as many as 16 bits can tell apart, as everywhere.
pub(crate) const USERS: u32 = 1 << 16;

/// A filter of system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seccomp {
    /// The engine's own.
    Default,
    /// The profile that LXC brings for its containers, which boxes do not use by default.
    Common,
    /// None.
    Off,
}

impl Seccomp {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Common => "common",
            Self::Off => "off",
        }
    }
}

/// What the first process of a box may do as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capabilities {
    /// The engine's choice.
    Default,
    /// Whatever root has on this host.
    All,
    /// The same without the rule over networks, which reaches through a link of the box's to the
    /// host's network.
    AllButNetwork,
    /// Nothing.
    None,
}

impl Capabilities {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::All => "all",
            Self::AllButNetwork => "all-but-net_admin",
            Self::None => "none",
        }
    }
}

/// What is in force in a platform's boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Security {
    /// The filter of system calls.
    pub seccomp: Seccomp,
    /// Capabilities of the first process.
    pub capabilities: Capabilities,
    /// Whether root in the box is another user of the host; `None` where the engine
    /// decides.
    pub userns: Option<bool>,
    /// Whether the box has a PID namespace; `None` where that cannot be chosen.
    pub pidns: Option<bool>,
}

pub(crate) const fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// The capabilities that root has on this host, as a set: hosts that are
/// containers lack some.
pub(crate) fn host_capabilities() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapBnd:"));
    line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .unwrap_or(u64::MAX)
}

/// The names of a set of capabilities.
pub(crate) fn capability_names(set: u64) -> Vec<&'static str> {
    let named = NAMES.into_iter().enumerate();
    named
        .filter(|(number, _)| set & (1 << number) != 0)
        .map(|(_, name)| name)
        .collect()
}

/// What is seen in a box that is not as was asked for; `host` are capabilities and
/// map of users of the host.
pub(crate) fn broken(
    asked: Security,
    seen: &ObservedSecurity<'_>,
    host: &ObservedSecurity<'_>,
) -> Option<String> {
    let filter = match asked.seccomp {
        Seccomp::Default => None,
        Seccomp::Common => Some(true),
        Seccomp::Off => Some(false),
    };
    if filter.is_some_and(|due| seen.filtered != Some(due)) {
        return Some(format!(
            "seccomp={} was requested, but a filter is active: {:?}",
            asked.seccomp.name(),
            seen.filtered
        ));
    }
    let missing = host.capabilities.unwrap_or(0) & OF_OLD & !seen.capabilities.unwrap_or(0);
    let granted = match asked.capabilities {
        Capabilities::Default => true,
        Capabilities::All => missing == 0,
        Capabilities::AllButNetwork => {
            missing & !NET_ADMIN == 0 && seen.capabilities.is_some_and(|set| set & NET_ADMIN == 0)
        }
        Capabilities::None => seen.capabilities == Some(0),
    };
    if !granted {
        return Some(format!(
            "capabilities={} was requested, but the agent has {:?} and the host {:?}",
            asked.capabilities.name(),
            seen.capabilities.map(capability_names),
            host.capabilities.map(capability_names)
        ));
    }
    if let (Some(due), Some(own)) = (asked.pidns, seen.own_processes)
        && due != own
    {
        return Some(format!(
            "pidns={} was requested, but the box {} the host's processes",
            on_off(due),
            if own { "does not see" } else { "sees" }
        ));
    }
    let mapped = seen.uid_map != host.uid_map;
    asked.userns.filter(|due| *due != mapped).map(|due| {
        format!(
            "userns={} was requested, but the user map is {:?} and the host's {:?}",
            on_off(due),
            seen.uid_map,
            host.uid_map
        )
    })
}

/// What a process sees of these mechanisms.
pub(crate) struct ObservedSecurity<'a> {
    pub filtered: Option<bool>,
    pub capabilities: Option<u64>,
    pub uid_map: Option<&'a str>,
    /// Whether the first process that it sees is of the box.
    pub own_processes: Option<bool>,
}

impl fmt::Display for ObservedSecurity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filter = self.filtered.map_or("unknown", on_off);
        let capabilities = self.capabilities.map_or_else(
            || "unknown".to_owned(),
            |set| format!("{} capabilities", set.count_ones()),
        );
        let users = self.uid_map.unwrap_or("unknown");
        write!(f, "seccomp {filter}, {capabilities}, users {users}")
    }
}
