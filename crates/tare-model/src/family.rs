//! What kind of box a platform makes, by its name: what advice is given for.

/// What boxes of a platform are. Native processes, other hosts, User-Mode Linux and scripted boxes are
/// neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxFamily {
    /// It shares the host's kernel, or a sandbox of it.
    Container,
    /// It has a kernel of its own on virtual hardware.
    Machine,
}

/// Every platform of a family. `oci` is a name of results of old.
const FAMILIES: [(&str, BoxFamily); 14] = [
    ("docker", BoxFamily::Container),
    ("podman", BoxFamily::Container),
    ("lxc", BoxFamily::Container),
    ("runc", BoxFamily::Container),
    ("crun", BoxFamily::Container),
    ("runsc", BoxFamily::Container),
    ("containerd", BoxFamily::Container),
    ("nspawn", BoxFamily::Container),
    ("oci", BoxFamily::Container),
    ("vm", BoxFamily::Machine),
    ("libvirt", BoxFamily::Machine),
    ("firecracker", BoxFamily::Machine),
    ("cloud-hypervisor", BoxFamily::Machine),
    ("vmware", BoxFamily::Machine),
];

impl BoxFamily {
    /// The family of a platform of this name.
    pub fn of(platform: &str) -> Option<Self> {
        let entry = FAMILIES.iter().find(|(name, _)| *name == platform);
        entry.map(|(_, family)| *family)
    }
}
