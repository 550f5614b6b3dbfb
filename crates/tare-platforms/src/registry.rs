//! Every platform by its name.

use super::contract::Platform;
use super::options::Options;
use super::{docker, fake, libvirt, lxc, microvmm, native, nspawn, oci, podman, ssh, uml, vm, vmware};
use std::path::Path;
use tare_host::net::Network;
use tare_model::platform::PlatformPath;
use tare_model::suggest;

/// A platform's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in paths.
    pub name: &'static str,
    /// What it is also called: whoever writes one of these is told its name.
    pub(super) aliases: &'static [&'static str],
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
    /// The platform with its options, and the folder in which it may keep what it made. Touches nothing.
    pub(super) open: fn(Options, &Path) -> Opened,
}

/// A platform, or what is wrong with its options and what would be right.
pub(super) type Opened = Result<Box<dyn Platform>, String>;

/// Every platform.
pub const REGISTRY: [Entry; 17] = [
    Entry {
        name: "native",
        aliases: &["host", "bare-metal"],
        about: "a process in a cgroup of its own",
        by_default: true,
        inner: true,
        open: |options, _| opened(native::Native::open(options)),
        ..USUAL
    },
    Entry {
        name: "docker",
        about: "a Docker container, by the engine's API",
        by_default: true,
        inner: true,
        open: |options, cache| opened(docker::Docker::open(options, cache)),
        ..USUAL
    },
    Entry {
        name: "podman",
        about: "a Podman container, by its service's API",
        inner: true,
        open: |options, cache| opened(podman::Podman::open(options, cache)),
        ..USUAL
    },
    Entry {
        name: "lxc",
        about: "an LXC system container",
        by_default: true,
        open: |options, _| opened(lxc::Lxc::open(options)),
        ..USUAL
    },
    Entry {
        name: "runc",
        about: "a container by runc, the runtime below Docker, without an engine",
        inner: true,
        open: |options, state| opened(oci::Oci::open(options, oci::Runtime::Runc, state)),
        ..USUAL
    },
    Entry {
        name: "crun",
        about: "a container by crun",
        inner: true,
        open: |options, state| opened(oci::Oci::open(options, oci::Runtime::Crun, state)),
        ..USUAL
    },
    Entry {
        name: "runsc",
        aliases: &["gvisor"],
        about: "a gVisor sandbox: a kernel in user space, by runsc",
        open: |options, state| opened(oci::Oci::open(options, oci::Runtime::Runsc, state)),
        ..USUAL
    },
    Entry {
        name: "containerd",
        aliases: &["ctr"],
        about: "a container by containerd, the engine below Docker and Kubernetes",
        open: |options, state| opened(oci::Oci::open(options, oci::Runtime::Containerd, state)),
        ..USUAL
    },
    Entry {
        name: "nspawn",
        aliases: &["systemd-nspawn"],
        about: "a container by systemd-nspawn",
        inner: true,
        open: |options, _| opened(nspawn::Nspawn::open(options)),
        ..USUAL
    },
    Entry {
        name: "vm",
        aliases: &["qemu", "kvm"],
        about: "a QEMU virtual machine (KVM where it works, else TCG)",
        by_default: true,
        open: |options, cache| opened(vm::Vm::open(options, &vm::Machine::ALL, &vm::NETWORKS, cache)),
        ..USUAL
    },
    Entry {
        name: "libvirt",
        aliases: &["virsh"],
        about: "the same as a transient domain of libvirt's, by virsh",
        open: |options, cache| opened(libvirt::Libvirt::open(options, cache)),
        ..USUAL
    },
    Entry {
        name: "firecracker",
        about: "a Firecracker microVM on KVM",
        untested: true,
        open: |options, _| micro_vm(options, microvmm::MicroVmm::Firecracker),
        ..USUAL
    },
    Entry {
        name: "cloud-hypervisor",
        about: "a Cloud Hypervisor virtual machine on KVM",
        untested: true,
        open: |options, _| micro_vm(options, microvmm::MicroVmm::CloudHypervisor),
        ..USUAL
    },
    Entry {
        name: "vmware",
        about: "a VMware Workstation or Player virtual machine",
        untested: true,
        open: |options, cache| opened(vmware::Vmware::open(options, cache)),
        ..USUAL
    },
    Entry {
        name: "uml",
        aliases: &["user-mode-linux"],
        about: "User-Mode Linux: a kernel as a process of the host",
        open: |options, _| {
            opened(
                options
                    .network(&uml::NETWORKS)
                    .map(|network| uml::Uml { network }),
            )
        },
        ..USUAL
    },
    Entry {
        name: "ssh",
        about: "another host, by ssh: ssh:HOST, or ssh:HOST/PLATFORM",
        open: |options, _| opened(ssh::Ssh::open(options)),
        ..USUAL
    },
    Entry {
        name: "fake",
        about: "a scripted test bed: costs, failures and hangs, no real work",
        real: false,
        open: |options, _| opened(fake::Fake::open(options)),
        ..USUAL
    },
];

/// What most platforms have in common.
const USUAL: Entry = Entry {
    name: "",
    aliases: &[],
    about: "",
    real: true,
    by_default: false,
    inner: false,
    untested: false,
    open: |_, _| Err("it has no driver".to_owned()),
};

fn opened<P: Platform + 'static>(platform: Result<P, String>) -> Opened {
    platform.map(|platform| Box::new(platform) as Box<dyn Platform>)
}

fn micro_vm(options: Options, vmm: microvmm::MicroVmm) -> Opened {
    opened(options.network(&[Network::None]).map(|_| vmm))
}

/// The entry of a name.
pub(super) fn entry(name: &str) -> Option<&'static Entry> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// Whether a platform of this path has never run on its engine.
pub fn untested(path: &PlatformPath) -> bool {
    let mut names = path.segments().iter().map(|segment| &segment.name);
    names.any(|name| entry(name).is_some_and(|entry| entry.untested))
}

/// The names of those that measure something: what is offered to users.
pub fn names() -> Vec<&'static str> {
    let real = REGISTRY.iter().filter(|entry| entry.real);
    real.map(|entry| entry.name).collect()
}

/// `did you mean 'x'?` where a word is near to a platform's name or another of its names, else
/// all names.
pub(super) fn meant(word: &str) -> String {
    let is_called = |entry: &&Entry| entry.aliases.iter().any(|alias| word.eq_ignore_ascii_case(alias));
    match REGISTRY.iter().find(is_called) {
        Some(entry) => format!("did you mean '{}'?", entry.name),
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
