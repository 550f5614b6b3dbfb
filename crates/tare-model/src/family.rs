//! What kind of box a platform makes, by its name: what advice is given for.

/// What boxes of a platform are. Native processes, other hosts, User-Mode Linux and scripted boxes are
/// neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// It shares the host's kernel, or a sandbox of it.
    Container,
    /// It has a kernel of its own on virtual hardware.
    Machine,
}

/// Every platform of a family. `oci` is a name of results of old.
const FAMILIES: [(&str, Family); 13] = [
    ("docker", Family::Container),
    ("podman", Family::Container),
    ("lxc", Family::Container),
    ("runc", Family::Container),
    ("crun", Family::Container),
    ("runsc", Family::Container),
    ("nspawn", Family::Container),
    ("oci", Family::Container),
    ("vm", Family::Machine),
    ("libvirt", Family::Machine),
    ("firecracker", Family::Machine),
    ("cloud-hypervisor", Family::Machine),
    ("vmware", Family::Machine),
];

impl Family {
    /// The family of a platform of this name.
    pub fn of(platform: &str) -> Option<Self> {
        let entry = FAMILIES.iter().find(|(name, _)| *name == platform);
        entry.map(|(_, family)| *family)
    }
}
