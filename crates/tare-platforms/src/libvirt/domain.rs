//! A domain's description, as libvirt reads it.

use super::super::architecture::Architecture;
use super::super::contract::{BoxSpec, GuestMemory};
use super::super::disk::Drive;
use super::super::vm::{Accelerator, Machine, PORT, Parts};
use std::path::Path;
use tare_host::cgroup::{Limits, PERIOD_US, cpu_list};

/// Nothing where libvirt's own choice is as good.
fn memory_backing(memory: GuestMemory) -> String {
    if memory == GuestMemory::default() {
        return String::new();
    }
    let huge = if memory.hugepages { "<hugepages/>" } else { "" };
    let allocated = if memory.prealloc {
        "<allocation mode='immediate'/>"
    } else {
        ""
    };
    format!("\n  <memoryBacking>{huge}{allocated}</memoryBacking>")
}

/// The domain's description; each part's reason is in `docs/drivers.md`.
pub(super) fn describe(
    spec: &BoxSpec,
    parts: &Parts,
    (machine, backing): (Machine, GuestMemory),
    folder: &Path,
    drives: &[Drive],
) -> String {
    let (kind, cpu) = match parts.accelerator {
        Accelerator::Kvm => ("kvm", "host-passthrough"),
        Accelerator::Tcg => ("qemu", "maximum"),
    };
    let file = |path: &Path| escaped(&path.to_string_lossy());
    let (cpuset, tune) = cpus(&spec.limits());
    format!(
        "<domain type='{kind}'>
  <name>{name}</name>
  <memory unit='MiB'>{memory}</memory>{backing}
  <vcpu placement='static'{cpuset}>{vcpus}</vcpu>{tune}
  <os>
    <type arch='{architecture}' machine='{machine}'>hvm</type>
    <kernel>{kernel}</kernel>
    <initrd>{initramfs}</initrd>
    <cmdline>{words}</cmdline>
  </os>
  <features>{features}</features>
  <cpu mode='{cpu}'/>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>destroy</on_reboot>
  <on_crash>destroy</on_crash>
  <devices>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
    <serial type='file'><source path='{console}'/></serial>
    <channel type='unix'>
      <source mode='bind' path='{link}'/>
      <target type='virtio' name='{PORT}'/>
    </channel>{drives}
  </devices>
  <seclabel type='static' model='dac' relabel='no'><label>+0:+0</label></seclabel>
</domain>
",
        name = escaped(&spec.name),
        memory = spec.instance.memory_bytes >> 20,
        backing = memory_backing(backing),
        vcpus = spec.instance.cpus.whole(),
        architecture = machine.architecture().name(),
        machine = machine.name(),
        features = features(machine, parts.accelerator),
        kernel = file(&parts.kernel),
        initramfs = file(&parts.initramfs),
        words = escaped(&parts.command_line),
        console = file(&folder.join("console")),
        link = file(&folder.join("link")),
        drives = ('a'..).zip(drives).map(described).collect::<String>(),
    )
}

/// Without firmware, a machine of arm64 has no ACPI. GICv2, the usual one there, supports at most 8 CPUs.
fn features(machine: Machine, accelerator: Accelerator) -> &'static str {
    match (machine.architecture(), accelerator) {
        (Architecture::X86, _) => "<acpi/>",
        (Architecture::Arm, Accelerator::Kvm) => "<gic version='host'/>",
        (Architecture::Arm, Accelerator::Tcg) => "<gic version='3'/>",
    }
}

fn described((letter, drive): (char, &Drive)) -> String {
    format!(
        "
    <disk type='file' device='disk'>
      <driver name='qemu' type='{format}' cache='{cache}'/>
      <source file='{file}'/>
      <target dev='vd{letter}' bus='virtio'/>{closed}
    </disk>",
        format = drive.disk.format.name(),
        cache = drive.disk.cache.name(),
        file = escaped(&drive.path.to_string_lossy()),
        closed = if drive.is_read_only { "<readonly/>" } else { "" },
    )
}

/// The attribute that names the set, and the element with the quota.
fn cpus(limits: &Limits) -> (String, String) {
    let set = limits.cpuset.as_deref().map(cpu_list);
    let quota = limits.quota.map(|quota| quota.quota_us(PERIOD_US));
    (
        set.map(|set| format!(" cpuset='{set}'")).unwrap_or_default(),
        quota
            .map(|us| format!("\n  <cputune><global_period>{PERIOD_US}</global_period><global_quota>{us}</global_quota></cputune>"))
            .unwrap_or_default(),
    )
}

/// Text as XML has it, in elements and in attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\'' => escaped.push_str("&apos;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push_str(&format!("&#{};", u32::from(c))),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_machine_of_arm64_has_an_interrupt_controller_for_many_cpus() {
        let of = |machine, accelerator| super::features(machine, accelerator);
        assert_eq!(of(Machine::Q35, Accelerator::Tcg), "<acpi/>");
        assert_eq!(of(Machine::Virt, Accelerator::Tcg), "<gic version='3'/>");
        assert_eq!(of(Machine::Virt, Accelerator::Kvm), "<gic version='host'/>");
    }

    use super::super::super::contract::storage::{Cache, Disk, Format};
    use super::*;
    use tare_host::cgroup::Weight;
    use tare_model::platform::Provisioning;
    use tare_model::size::{Cpus, InstanceType};

    fn domain(provisioning: Provisioning, folder: &str) -> String {
        domain_with(provisioning, folder, &[])
    }

    fn domain_with(provisioning: Provisioning, folder: &str, drives: &[Drive]) -> String {
        let spec = BoxSpec {
            name: "tare-00c0ffee-1".to_owned(),
            run: "tare-00c0ffee".to_owned(),
            hostname: BoxSpec::HOSTNAME.to_owned(),
            instance: InstanceType {
                cpus: Cpus::from_milli(1500),
                memory_bytes: 256 << 20,
            },
            provisioning,
            pinned_set: vec![2, 3],
            host_set: Vec::new(),
            weight: Weight::Usual,
            scratch: folder.into(),
            binary: "/tare".into(),
            architecture: Architecture::HERE,
            holds_boxes: false,
            image: None,
        };
        let parts = Parts {
            kernel: "/boot/vmlinuz".into(),
            initramfs: "/i".into(),
            command_line: "a=\"1\" & b".to_owned(),
            accelerator: Accelerator::Tcg,
        };
        let machine = (Machine::Q35, GuestMemory::default());
        describe(&spec, &parts, machine, Path::new(folder), drives)
    }

    #[test]
    fn limits_stand_in_the_description() {
        let vanilla = domain(Provisioning::Vanilla, "/x");
        assert!(
            vanilla.contains("<global_quota>150000</global_quota>"),
            "{vanilla}"
        );
        assert!(vanilla.contains("<vcpu placement='static'>2</vcpu>"), "{vanilla}");
        assert!(vanilla.contains("<memory unit='MiB'>256</memory>"), "{vanilla}");
        let pinned = domain(Provisioning::Pinned, "/x");
        assert!(
            pinned.contains("cpuset='2,3'>2</vcpu>") && !pinned.contains("quota"),
            "{pinned}"
        );
    }

    #[test]
    fn disks_stand_in_the_description_with_their_caches() {
        let disk = Disk {
            format: Format::Qcow2,
            cache: Cache::Directsync,
        };
        let drive = |path: &str| Drive::to_write(disk, path.into());
        let shared = Drive {
            is_read_only: true,
            ..drive("/x/root")
        };
        let text = domain_with(Provisioning::Vanilla, "/x", &[drive("/x/it's"), shared]);
        assert!(text.contains("dev='vda'") && text.contains("dev='vdb'"), "{text}");
        assert!(text.contains("type='qcow2' cache='directsync'"), "{text}");
        assert!(text.contains("<source file='/x/it&apos;s'/>"), "{text}");
        let closed = text.find("<readonly/>");
        assert!(closed > text.find("/x/root") && text.matches("<readonly/>").count() == 1);
        assert!(!domain(Provisioning::Vanilla, "/x").contains("<disk"));
    }

    #[test]
    fn hostile_texts_stay_text() {
        let text = domain(Provisioning::Vanilla, "/a'/><on_crash>&\n");
        assert!(
            text.contains("path='/a&apos;/&gt;&lt;on_crash&gt;&amp;&#10;/link'"),
            "{text}"
        );
        assert!(
            text.contains("<cmdline>a=&quot;1&quot; &amp; b</cmdline>"),
            "{text}"
        );
    }
}
