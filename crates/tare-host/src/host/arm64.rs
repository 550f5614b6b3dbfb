//! CPU model and hypervisor of an arm64 host, whose /proc/cpuinfo has neither `model name` nor `flags`.

use std::fs;
use std::path::Path;

/// CPUs by implementer and part in the register MIDR_EL1: Linux, arch/arm64/include/asm/cputype.h.
const CPUS: [(u32, u32, &str); 27] = [
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse N1"),
    (0x41, 0xd40, "Neoverse V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse N2"),
    (0x41, 0xd4f, "Neoverse V2"),
    (0x41, 0xd83, "Neoverse V3AE"),
    (0x41, 0xd84, "Neoverse V3"),
    (0x43, 0x0af, "Cavium ThunderX2"),
    (0x46, 0x001, "Fujitsu A64FX"),
    (0x48, 0xd01, "HiSilicon TSV110"),
    (0x4e, 0x004, "NVIDIA Carmel"),
    (0x51, 0xc00, "Qualcomm Falkor"),
    (0x61, 0x022, "Apple M1 Icestorm"),
    (0x61, 0x023, "Apple M1 Firestorm"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1A"),
];

/// Vendors in DMI whose machines are virtual.
const VENDORS: [&str; 10] = [
    "Alibaba Cloud",
    "Amazon EC2",
    "Apple Inc.",
    "DigitalOcean",
    "Google",
    "Microsoft Corporation",
    "OpenStack Foundation",
    "Parallels",
    "QEMU",
    "VMware, Inc.",
];

/// The kinds of CPU in this /proc/cpuinfo: `Cortex-A72 r0p3, Cortex-A53 r0p4`.
pub(super) fn cpu_model(cpuinfo: &str) -> Option<String> {
    let mut kinds: Vec<String> = Vec::new();
    for kind in cpuinfo.split("\n\n").filter_map(kind) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// The kind of one CPU, with its variant and revision.
fn kind(cpu: &str) -> Option<String> {
    let field = |key: &str| {
        let mut fields = cpu.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = fields.find(|(name, _)| name.trim() == key)?;
        Some(value.trim())
    };
    let hex = |key| u32::from_str_radix(field(key)?.strip_prefix("0x")?, 16).ok();
    let (implementer, part) = (hex("CPU implementer")?, hex("CPU part")?);
    let known = CPUS.iter().find(|(i, p, _)| (*i, *p) == (implementer, part));
    let name = known.map_or_else(
        || format!("CPU part {part:#05x} of implementer {implementer:#04x}"),
        |(.., name)| (*name).to_owned(),
    );
    Some(format!(
        "{name} r{}p{}",
        hex("CPU variant")?,
        field("CPU revision")?
    ))
}

/// The hypervisor below, by the device tree or DMI below this root.
pub(super) fn hypervisor(root: &Path) -> Option<String> {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    // Strings in a device tree end with a NUL.
    let first = |path: &str| read(path).map(|text| text.split('\0').next().unwrap_or_default().to_owned());
    match first("proc/device-tree/hypervisor/compatible").as_deref() {
        Some("linux,kvm") => return Some("KVM".to_owned()),
        Some(other) if other.starts_with("xen") => return Some("Xen".to_owned()),
        Some(other) => return Some(other.to_owned()),
        None => {}
    }
    // The machine `virt` of QEMU.
    if first("proc/device-tree/compatible").as_deref() == Some("linux,dummy-virt") {
        return Some("unknown hypervisor (QEMU)".to_owned());
    }
    let dmi = |name: &str| Some(read(&format!("sys/class/dmi/id/{name}"))?.trim().to_owned());
    let vendor = dmi("sys_vendor").filter(|vendor| VENDORS.contains(&vendor.as_str()))?;
    // These vendors also have machines without a hypervisor.
    let product = dmi("product_name").unwrap_or_default();
    let is_virtual = match vendor.as_str() {
        "Amazon EC2" => !product.ends_with(".metal"),
        "Apple Inc." | "Microsoft Corporation" => product.contains("Virtual"),
        _ => true,
    };
    is_virtual.then(|| format!("unknown hypervisor ({vendor})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_known_by_its_id_register() {
        let cpu = |implementer: &str, part: &str, variant: &str, revision: &str| {
            format!(
                "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: {implementer}\nCPU architecture: 8\n\
                 CPU variant\t: {variant}\nCPU part\t: {part}\nCPU revision\t: {revision}\n\n"
            )
        };
        let graviton = cpu("0x41", "0xd0c", "0x3", "1").repeat(2);
        assert_eq!(cpu_model(&graviton).unwrap(), "Neoverse N1 r3p1");
        let board = [cpu("0x41", "0xd03", "0x0", "4"), cpu("0x41", "0xd08", "0x0", "3")].concat();
        assert_eq!(cpu_model(&board).unwrap(), "Cortex-A53 r0p4, Cortex-A72 r0p3");
        let unknown = cpu("0x99", "0x1", "0x1", "0");
        assert_eq!(
            cpu_model(&unknown).unwrap(),
            "CPU part 0x001 of implementer 0x99 r1p0"
        );
        assert_eq!(cpu_model("processor : 0\nmodel name : x\n"), None);
    }

    #[test]
    fn a_hypervisor_is_in_the_device_tree_or_in_dmi() {
        let with = |files: &[(&str, &str)]| {
            let root = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            hypervisor(root.path())
        };
        let (vendor, product) = ("sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name");
        assert_eq!(with(&[]), None);
        assert_eq!(
            with(&[("proc/device-tree/hypervisor/compatible", "linux,kvm\0")]).unwrap(),
            "KVM"
        );
        assert_eq!(
            with(&[("proc/device-tree/compatible", "linux,dummy-virt\0")]).unwrap(),
            "unknown hypervisor (QEMU)"
        );
        let graviton = with(&[(vendor, "Amazon EC2\n"), (product, "c7g.large\n")]);
        assert_eq!(graviton.unwrap(), "unknown hypervisor (Amazon EC2)");
        assert_eq!(with(&[(vendor, "Amazon EC2\n"), (product, "c7g.metal\n")]), None);
        assert_eq!(with(&[(vendor, "Ampere(R)\n")]), None);
    }
}
