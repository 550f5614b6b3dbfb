//! A bundle's configuration; what is peculiar in it is told in `docs/drivers.md`.

use super::super::contract::security::{NET_ADMIN, capability_names, host_capabilities};
use super::super::contract::{BoxSpec, Capabilities};
use super::super::security::{FIRST_USER, TO_HOLD_BOXES, USERS};
use super::super::storage::{self, Work};
use super::{Oci, Runtime};
use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tare_host::cgroup::{Limits, PERIOD_US, cpu_list};
use tare_host::net::Network;
use tare_host::places::{BINARY, HELD_IMAGE, MASKED, READ_ONLY, WORK_FOLDER};

/// The file of a bundle.
pub(super) const CONFIG: &str = "config.json";

/// What Docker grants by default: figures of the runtimes shall differ by the runtime.
const CAPABILITIES: [&str; 14] = [
    "CAP_AUDIT_WRITE",
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_MKNOD",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

/// What a bundle is made of beside what is asked of its box.
pub(super) struct Parts<'a> {
    /// Where its cgroup is, as the kernel knows it.
    pub cgroup: &'a Path,
    /// Its root on the host.
    pub root: &'a Path,
    /// What is mounted as its binary, where that is not in its root.
    pub binary: Option<&'a Path>,
    /// Its work folder.
    pub work: Option<&'a Work>,
}

pub(super) fn config(spec: &BoxSpec, parts: &Parts<'_>, apart: &Oci) -> Value {
    let security = apart.security;
    let granted = security.map_or(Capabilities::Default, |security| security.capabilities);
    let capabilities: Vec<&str> = capabilities(granted, spec.holds_boxes);
    let cgroups = if spec.holds_boxes { "rw" } else { "ro" };
    let kinds = ["pid", "network", "ipc", "uts", "mount", "cgroup"];
    let is_shared = |kind: &str| match kind {
        "network" => apart.network == Network::Host,
        "pid" => security.is_some_and(|security| security.shares_processes()),
        _ => false,
    };
    let kinds = kinds.iter().filter(|kind| !is_shared(kind));
    let namespaces: Vec<Value> = kinds.map(|kind| json!({ "type": kind })).collect();
    let mount = |destination: &str, kind: &str, options: &[&str]| json!({ "destination": destination, "type": kind, "source": kind, "options": options });
    let mut config = json!({
        "ociVersion": "1.0.2",
        "hostname": spec.hostname,
        "root": { "path": parts.root, "readonly": false },
        "process": {
            "terminal": false,
            "user": { "uid": 0, "gid": 0 },
            "args": ["/tare", "agent"],
            "env": [format!("PATH={}", tare_host::carry::PATH)],
            "cwd": "/",
            // A program with the bit that makes it root's brings no rights that were not granted.
            "noNewPrivileges": true,
            "capabilities": { "bounding": capabilities, "effective": capabilities, "permitted": capabilities },
        },
        "mounts": [
            mount("/proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            // As large as Docker's: databases share memory between their processes there.
            mount("/dev/shm", "tmpfs", &["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]),
            mount("/sys", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
            mount("/sys/fs/cgroup", "cgroup", &["nosuid", "noexec", "nodev", "relatime", cgroups]),
        ],
        "linux": {
            "cgroupsPath": parts.cgroup,
            "resources": resources(&spec.limits()),
            "namespaces": namespaces,
        },
    });
    if apart.runtime == Runtime::Containerd {
        as_of_ours(&mut config["process"]);
    }
    if let Some(binary) = parts.binary {
        add_mount(&mut config, bind(binary, BINARY, &["ro", "nosuid", "nodev"]));
    }
    if let Some(image) = spec.held_image() {
        add_mount(&mut config, bind(image.rootfs(), HELD_IMAGE, &["ro", "nodev"]));
    }
    if let Some(work) = parts.work {
        add_work(&mut config, work);
    }
    if !spec.holds_boxes {
        // An inner box's user namespace could not mount a /proc of which a part is hidden here.
        config["linux"]["maskedPaths"] = json!(MASKED);
        config["linux"]["readonlyPaths"] = json!(READ_ONLY);
    }
    if security.is_some_and(|security| security.has_userns()) {
        add_userns(&mut config["linux"]);
    }
    config
}

/// What boxes of runtimes that tare starts inherit from it, and those of an engine from that: systemd starts containerd without limits and
/// as the last to be killed for memory.
fn as_of_ours(process: &mut Value) {
    let told = fs::read_to_string("/proc/self/oom_score_adj").unwrap_or_default();
    if let Ok(score) = told.trim().parse::<i32>() {
        process["oomScoreAdj"] = score.into();
    }
    let limit = |(name, resource)| {
        let limit = getrlimit(resource);
        let number = |bound: Option<u64>| bound.unwrap_or(u64::MAX);
        json!({ "type": name, "soft": number(limit.current), "hard": number(limit.maximum) })
    };
    let limits = [
        ("RLIMIT_CORE", Resource::Core),
        ("RLIMIT_NOFILE", Resource::Nofile),
        ("RLIMIT_NPROC", Resource::Nproc),
        ("RLIMIT_MEMLOCK", Resource::Memlock),
    ];
    process["rlimits"] = limits.map(limit).to_vec().into();
}

fn add_work(config: &mut Value, work: &Work) {
    config["process"]["cwd"] = WORK_FOLDER.into();
    let mount = match work {
        Work::Own => return,
        Work::Volume(folder) => bind(folder, WORK_FOLDER, &["rw", "nosuid", "nodev"]),
        Work::Overlay(place) => {
            json!({ "destination": WORK_FOLDER, "type": "overlay", "source": "overlay", "options": overlay_options(place) })
        }
        Work::Tmpfs => {
            json!({ "destination": WORK_FOLDER, "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=755"] })
        }
    };
    add_mount(config, mount);
}

fn bind(source: &Path, destination: &str, options: &[&str]) -> Value {
    let options = [&["bind"], options].concat();
    json!({ "destination": destination, "type": "bind", "source": source, "options": options })
}

fn add_mount(config: &mut Value, mount: Value) {
    if let Some(mounts) = config["mounts"].as_array_mut() {
        mounts.push(mount);
    }
}

fn overlay_options(place: &Path) -> Vec<String> {
    let plain = ["nosuid", "nodev"].map(str::to_owned);
    plain.into_iter().chain(storage::layers(place)).collect()
}

fn add_userns(linux: &mut Value) {
    let mapping = json!([{ "containerID": 0, "hostID": FIRST_USER, "size": USERS }]);
    if let Some(namespaces) = linux["namespaces"].as_array_mut() {
        namespaces.push(json!({ "type": "user" }));
    }
    linux["uidMappings"] = mapping.clone();
    linux["gidMappings"] = mapping;
}

fn capabilities(granted: Capabilities, holds_boxes: bool) -> Vec<&'static str> {
    match granted {
        Capabilities::Default => {}
        // Runtimes take one that the host lacks for a failure.
        Capabilities::All => return capability_names(host_capabilities()),
        Capabilities::AllButNetwork => return capability_names(host_capabilities() & !NET_ADMIN),
        Capabilities::None => return Vec::new(),
    }
    let more = TO_HOLD_BOXES.iter().filter(|_| holds_boxes);
    CAPABILITIES.iter().chain(more).copied().collect()
}

fn resources(limits: &Limits) -> Value {
    let mut cpu = serde_json::Map::new();
    if let Some(quota) = limits.quota {
        cpu.insert("quota".into(), quota.quota_us(PERIOD_US).into());
        cpu.insert("period".into(), PERIOD_US.into());
    }
    if let Some(cpus) = &limits.cpuset {
        cpu.insert("cpus".into(), cpu_list(cpus).into());
    }
    if let Some(shares) = limits.weight.shares() {
        // Runtimes turn them into a weight where version 2 wants one.
        cpu.insert("shares".into(), shares.into());
    }
    json!({
        "devices": [{ "allow": false, "access": "rwm" }],
        "cpu": cpu,
        // Swap counts memory too: equal values mean none.
        "memory": { "limit": limits.memory_bytes, "swap": limits.memory_bytes },
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::contract::BoxImage;
    use super::super::super::options::Options;
    use super::*;
    use tare_model::protocol::InnerImage;

    fn parts() -> Parts<'static> {
        Parts {
            cgroup: Path::new("/tare-0-1/box"),
            root: Path::new("/state/tare-0-1/rootfs"),
            binary: Some(Path::new("/state/shared/tare")),
            work: None,
        }
    }

    #[test]
    fn a_box_that_holds_others_alone_sees_all_of_the_kernel() {
        let oci = Oci::open(Options::new([].into()), Runtime::Runc, Path::new("/state")).unwrap();
        let config = |holds_boxes| {
            let spec = BoxSpec {
                holds_boxes,
                ..BoxSpec::example()
            };
            config(&spec, &parts(), &oci)
        };
        assert_eq!(config(false)["linux"]["readonlyPaths"], json!(READ_ONLY));
        assert_eq!(config(false)["linux"]["maskedPaths"], json!(MASKED));
        assert!(config(true)["linux"]["maskedPaths"].is_null());
        assert!(config(true)["linux"]["readonlyPaths"].is_null());
    }

    #[test]
    fn the_binary_cannot_be_written_in_a_box() {
        let mounts = config_with(&[])["mounts"].clone();
        let of_binary = |mount: &&Value| mount["destination"] == "/tare";
        let binary = mounts.as_array().unwrap().iter().find(of_binary).unwrap();
        assert_eq!(binary["options"], json!(["bind", "ro", "nosuid", "nodev"]));
    }

    #[test]
    fn an_image_that_is_held_for_others_cannot_be_written() {
        let oci = Oci::open(Options::new([].into()), Runtime::Runc, Path::new("/state")).unwrap();
        let mounts = |holds_boxes| {
            let spec = BoxSpec {
                holds_boxes,
                image: Some(BoxImage::held(&InnerImage {
                    rootfs: "/store/rootfs".into(),
                    digest: "0".repeat(64),
                })),
                ..BoxSpec::example()
            };
            config(&spec, &parts(), &oci)["mounts"].clone()
        };
        let of_image = |mount: &&Value| mount["destination"] == "/image";
        let held = mounts(true);
        let held = held.as_array().unwrap().iter().find(of_image).unwrap();
        assert_eq!(held["options"], json!(["bind", "ro", "nodev"]));
        assert!(!mounts(false).as_array().unwrap().iter().any(|m| of_image(&m)));
    }

    fn config_with(given: &[(&str, &str)]) -> Value {
        let given = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let oci = Oci::open(Options::new(given.collect()), Runtime::Runc, Path::new("/state")).unwrap();
        config(&BoxSpec::example(), &parts(), &oci)
    }

    #[test]
    fn a_bundle_has_the_rights_that_were_asked_for() {
        let granted = |config: &Value| {
            config["process"]["capabilities"]["effective"]
                .as_array()
                .unwrap()
                .len()
        };
        assert_eq!(granted(&config_with(&[])), CAPABILITIES.len());
        assert_eq!(granted(&config_with(&[("capabilities", "none")])), 0);
        assert!(config_with(&[])["linux"]["uidMappings"].is_null());
        let apart = config_with(&[("userns", "on")]);
        let last = apart["linux"]["namespaces"].as_array().unwrap().last().unwrap();
        assert_eq!(last["type"], "user");
        assert_eq!(apart["linux"]["gidMappings"][0]["hostID"], FIRST_USER);
    }

    #[test]
    fn commands_start_in_the_work_folder_if_there_is_one() {
        let mut config = config_with(&[]);
        assert_eq!(config["process"]["cwd"], "/");
        let mounts = config["mounts"].as_array().unwrap().len();
        add_work(&mut config, &Work::Own);
        assert_eq!(config["process"]["cwd"], "/work");
        assert_eq!(config["mounts"].as_array().unwrap().len(), mounts);
        add_work(&mut config, &Work::Volume("/state/box/work".into()));
        assert_eq!(config["mounts"][mounts]["source"], "/state/box/work");
    }

    #[test]
    fn gvisor_has_no_such_options() {
        let given = [("capabilities".to_owned(), "none".to_owned())].into();
        assert!(Oci::open(Options::new(given), Runtime::Runsc, Path::new("/state")).is_err());
    }
}
