//! Mechanisms: what sets a box apart from its baseline, each with what switches it off.

use crate::evidence::State;
use crate::platform::{PlatformPath, Provisioning};
use crate::study::BoxKind;

/// A mechanism that can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mechanism {
    /// What it is, as in "the seccomp filter".
    pub name: &'static str,
    pub switch: Switch,
    /// Parts of names of the kernel's functions that do its work and nothing else.
    pub functions: &'static [&'static str],
    /// States in which tasks are because of it alone.
    pub states: &'static [State],
    /// What a deployment can do about its cost, as in "grant it only what it needs".
    pub remedy: &'static str,
}

/// All that can be switched off.
pub const MECHANISMS: [Mechanism; 10] = [
    Mechanism {
        name: "quota",
        switch: Switch::Pinning,
        functions: &["throttle_cfs_rq", "unthrottle_cfs_rq", "sched_cfs_period_timer"],
        states: &[State::Throttled],
        remedy: "pin it to a set of CPUs (cpuset) instead of a quota",
    },
    Mechanism {
        name: "seccomp filter",
        switch: Switch::Option {
            key: "seccomp",
            off: "off",
        },
        functions: &["seccomp", "__secure_computing", "syscall_trace_enter"],
        remedy: "run it without a seccomp filter, which gives up its protection",
        ..PLAIN
    },
    Mechanism {
        name: "limited capabilities",
        switch: Switch::Option {
            key: "capabilities",
            off: "all",
        },
        functions: &["cap_capable", "ns_capable"],
        remedy: "grant it all capabilities, which gives up their protection",
        ..PLAIN
    },
    Mechanism {
        name: "user namespace",
        switch: Switch::Option {
            key: "userns",
            off: "off",
        },
        functions: &["map_id_range", "make_kuid", "make_kgid", "from_kuid", "from_kgid"],
        remedy: "run it without a user namespace, which gives up its protection",
        ..PLAIN
    },
    Mechanism {
        name: "PID namespace",
        switch: Switch::Option {
            key: "pidns",
            off: "off",
        },
        functions: &["pid_ns", "proc_flush_pid"],
        remedy: "let it share the host's PID namespace, which shows it the host's processes",
        ..PLAIN
    },
    Mechanism {
        name: "own network",
        switch: Switch::Option {
            key: "network",
            off: "host",
        },
        functions: &["nf_", "nft_", "ipt_", "br_", "veth_"],
        remedy: "use the host's network",
        ..PLAIN
    },
    Mechanism {
        name: "own file system",
        switch: Switch::Option {
            key: "storage",
            off: "volume",
        },
        functions: &["ovl_"],
        remedy: "keep its data on a volume",
        ..PLAIN
    },
    Mechanism {
        name: "memory given on first touch",
        switch: Switch::Option {
            key: "prealloc",
            off: "on",
        },
        remedy: "allocate all its memory before it starts",
        ..PLAIN
    },
    Mechanism {
        name: "memory not in reserved huge pages",
        switch: Switch::Option {
            key: "hugepages",
            off: "on",
        },
        remedy: "reserve huge pages for it on the host",
        ..PLAIN
    },
    Mechanism {
        name: "host's page cache below its disk",
        switch: Switch::Option {
            key: "cache",
            off: "none",
        },
        remedy: "open its disk past the host's page cache (cache=none)",
        ..PLAIN
    },
];

/// What most mechanisms have in common.
const PLAIN: Mechanism = Mechanism {
    name: "",
    switch: Switch::Pinning,
    functions: &[],
    states: &[],
    remedy: "",
};

/// What switches a mechanism off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// This value of an option of the platform.
    Option { key: &'static str, off: &'static str },
    /// A set of CPUs instead of a quota.
    Pinning,
}

impl Switch {
    /// The word by which a person selects it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Option { key, .. } => key,
            Self::Pinning => "quota",
        }
    }
}

impl std::fmt::Display for Switch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Option { key, off } => write!(f, "{key}={off}"),
            Self::Pinning => write!(f, "{}", Provisioning::Pinned),
        }
    }
}

impl Mechanism {
    /// The same platform without it.
    pub fn without_option(&self, path: &PlatformPath) -> PlatformPath {
        match self.switch {
            Switch::Option { key, off } => path.with_option(key, off),
            Switch::Pinning => path.clone(),
        }
    }

    /// The same kind of box without it.
    pub fn without(&self, kind: &BoxKind) -> BoxKind {
        let mut kind = kind.clone();
        match self.switch {
            Switch::Option { .. } => kind.platform = self.without_option(&kind.platform),
            Switch::Pinning => kind.provisioning = Provisioning::Pinned,
        }
        kind
    }

    /// Whether it is off in such boxes.
    pub fn is_off(&self, kind: &BoxKind) -> bool {
        match self.switch {
            Switch::Option { key, off } => {
                let (_, innermost) = kind.platform.split_last();
                innermost.options.get(key).is_some_and(|value| value == off)
            }
            Switch::Pinning => kind.provisioning == Provisioning::Pinned,
        }
    }
}
