//! Every platform by its name.

use tare_model::platform::PlatformPath;
use tare_model::suggest;

/// A platform's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in paths.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Whether it measures anything real.
    pub real: bool,
    /// Whether it is part of a study that names no platforms.
    pub by_default: bool,
    /// Whether it can be the inner one of a path.
    pub inner: bool,
    /// Whether its driver was written by the documentation of its engine, and has
    /// never run on it.
    pub untested: bool,
}

/// Every platform.
pub const REGISTRY: [Entry; 16] = [
    Entry {
        name: "native",
        about: "a process in a cgroup of its own",
        by_default: true,
        inner: true,
        ..USUAL
    },
    Entry {
        name: "docker",
        about: "a Docker container, by the engine's API",
        by_default: true,
        inner: true,
        ..USUAL
    },
    Entry {
        name: "podman",
        about: "a Podman container, by its service's API",
        inner: true,
        ..USUAL
    },
    Entry {
        name: "lxc",
        about: "an LXC system container",
        by_default: true,
        ..USUAL
    },
    Entry {
        name: "runc",
        about: "a container by runc, the runtime below Docker, without an engine",
        inner: true,
        ..USUAL
    },
    Entry {
        name: "crun",
        about: "a container by crun",
        inner: true,
        ..USUAL
    },
    Entry {
        name: "runsc",
        about: "a gVisor sandbox: a kernel in user space, by runsc",
        ..USUAL
    },
    Entry {
        name: "nspawn",
        about: "a container by systemd-nspawn",
        inner: true,
        ..USUAL
    },
    Entry {
        name: "vm",
        about: "a QEMU virtual machine (KVM where it works, else TCG)",
        by_default: true,
        ..USUAL
    },
    Entry {
        name: "libvirt",
        about: "the same as a transient domain of libvirt's, by virsh",
        ..USUAL
    },
    Entry {
        name: "firecracker",
        about: "a Firecracker microVM on KVM",
        untested: true,
        ..USUAL
    },
    Entry {
        name: "cloud-hypervisor",
        about: "a Cloud Hypervisor virtual machine on KVM",
        untested: true,
        ..USUAL
    },
    Entry {
        name: "vmware",
        about: "a VMware Workstation or Player virtual machine",
        untested: true,
        ..USUAL
    },
    Entry {
        name: "uml",
        about: "User-Mode Linux: a kernel as a process of the host",
        ..USUAL
    },
    Entry {
        name: "ssh",
        about: "another host, by ssh: ssh:HOST, or ssh:HOST/PLATFORM",
        ..USUAL
    },
    Entry {
        name: "fake",
        about: "a scripted test bed: costs, failures and hangs, no real work",
        real: false,
        ..USUAL
    },
];

/// What most platforms have in common.
const USUAL: Entry = Entry {
    name: "",
    about: "",
    real: true,
    by_default: false,
    inner: false,
    untested: false,
};

/// Whether a platform of this path has never run on its engine.
pub fn untested(path: &PlatformPath) -> bool {
    let mut names = path.segments().iter().map(|segment| &segment.name);
    names.any(|name| REGISTRY.iter().any(|entry| entry.untested && entry.name == name))
}

/// The names of those that measure something: what is offered to users.
pub fn names() -> Vec<&'static str> {
    let real = REGISTRY.iter().filter(|entry| entry.real);
    real.map(|entry| entry.name).collect()
}

/// What a platform is also called, and its name here.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("host", "native"),
    ("bare-metal", "native"),
    ("gvisor", "runsc"),
    ("systemd-nspawn", "nspawn"),
    ("qemu", "vm"),
    ("kvm", "vm"),
    ("virsh", "libvirt"),
    ("user-mode-linux", "uml"),
];

/// `did you mean 'x'?` where a word is near to a platform's name or another of its names, else
/// all names.
pub(super) fn meant(word: &str) -> String {
    let other = OTHER_NAMES
        .iter()
        .find(|(other, _)| word.eq_ignore_ascii_case(other));
    match other {
        Some((_, name)) => format!("did you mean '{name}'?"),
        None => suggest::among(word, &names(), "the platforms"),
    }
}

/// Those of the platforms that can be the inner one of a path.
pub(super) fn inner_names() -> String {
    let inner = REGISTRY.iter().filter(|entry| entry.inner);
    inner.map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_untested_if_one_of_its_platforms_is() {
        let tested = |path: &str| !untested(&path.parse().unwrap());
        assert!(tested("vm/runc") && !tested("vmware") && !tested("firecracker/runc"));
    }
}
