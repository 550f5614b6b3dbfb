//! LXC system containers, by `lxc-start` in the foreground on pipes.

use super::apart::Apart;
use super::child::{ChildBox, Start};
use super::contract::{
    Absent, BoxError, BoxSpec, Capabilities, HELLO_DEADLINE, Platform, RunningBox, Seccomp, Security,
    Storage, Support,
};
use super::directory::{BoxDirectory, Root};
use super::options::Options;
use super::probe::{cgroups_usable, installed};
use super::security::{self, FIRST_USER, Offer, USERS};
use super::shared::shared_binary;
use super::storage::{self, Work};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tare_host::carry;
use tare_host::cgroup::{Cgroup, DEVICES, INNER, Layout, Limits, PERIOD_US, cpu_list};
use tare_host::net::Network;
use tare_host::places::{BINARY, HELD_IMAGE, HIDDEN, WORK_FOLDER};
use tare_model::results::PlatformVersion;

/// The filter that LXC brings for its containers.
const PROFILE: &str = "/usr/share/lxc/config/common.seccomp";

/// What its configuration can say. A container of root's has all capabilities and no filter
/// unless told otherwise.
const SECURITY: Offer = Offer {
    seccomp: &[Seccomp::Off, Seccomp::Common],
    capabilities: &[Capabilities::All, Capabilities::None],
    userns: true,
    pidns: false,
};

pub(super) struct Lxc(Apart);

impl Lxc {
    pub(super) fn open(mut options: Options) -> Result<Self, String> {
        let apart = Apart::by_tool(&mut options, &SECURITY)?;
        options.none().map(|()| Self(apart))
    }
}

/// Checks that LXC can map users: it does so by newuidmap if that is installed, which allows root only the ranges in these files.
fn users_to_map() -> Result<(), Absent> {
    if carry::find_program("newuidmap").is_err() {
        return Ok(());
    }
    let line = format!("root:{FIRST_USER}:{USERS}");
    let lacks = |file: &&str| {
        !fs::read_to_string(file)
            .unwrap_or_default()
            .lines()
            .any(gives_root_users)
    };
    ["/etc/subuid", "/etc/subgid"]
        .iter()
        .find(|file| lacks(file))
        .map_or(Ok(()), |file| {
            Err(Absent::new(
                format!(
                    "newuidmap is installed, and {file} has no line '{line}' for the user namespaces of root"
                ),
                format!("add the line '{line}' to /etc/subuid and /etc/subgid, or omit userns"),
            ))
        })
}

/// Whether a line of /etc/subuid gives root all users of a user namespace.
fn gives_root_users(line: &str) -> bool {
    let fields: Vec<&str> = line.trim().split(':').collect();
    let [owner, first, count] = fields[..] else {
        return false;
    };
    let (Ok(first), Ok(count)) = (first.parse::<u64>(), count.parse::<u64>()) else {
        return false;
    };
    let (from, to) = (u64::from(FIRST_USER), u64::from(FIRST_USER + USERS));
    ["root", "0"].contains(&owner) && first <= from && first.saturating_add(count) >= to
}

impl Platform for Lxc {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let version = installed("lxc-start", "install LXC (Debian: apt-get install lxc)")?;
        self.0.probe()?;
        if self.0.security.has_userns() {
            users_to_map()?;
        }
        Ok(PlatformVersion {
            version: format!("LXC {version}"),
            details: self.0.details().collect(),
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // Once per run, and no part of start-up latency.
        let shared = shared_binary(spec)?;
        let requested = Instant::now();
        let directory = BoxDirectory::make_apart(spec, Some(&self.0.security))?;
        let config = directory.path.join("config");
        let root = directory.shared_rootfs(spec, shared)?;
        let Apart {
            security, storage, ..
        } = self.0;
        let work = Work::make(storage, &directory.path, &root.path)?;
        security.own_root(spec, &root.path)?;
        work.iter().try_for_each(|work| work.own(&security, spec))?;
        let layout = Layout::detect()?;
        let cgroup = Cgroup::within(&layout, &spec.name, &spec.limits())?;
        if !spec.holds_boxes {
            cgroup.outermost().forbid_devices()?;
        }
        let mut text = self::config(spec, &directory.empty_file()?, &root, &self.0);
        work.iter().for_each(|work| add_work(&mut text, work));
        fs::write(&config, text).map_err(BoxError::host("write the container's configuration"))?;
        let mut command = Command::new("lxc-start");
        command
            .arg("-P")
            .arg(&directory.path)
            .args(["-n", &spec.name, "-F", "-f"])
            .arg(&config);
        let start = Start {
            command,
            directory,
            limits: None,
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::over_pipes(start)?;
        made.use_cgroup(cgroup);
        made.connect(self.0.network, spec)?;
        Ok(Box::new(made))
    }

    fn network(&self) -> Network {
        self.0.network
    }

    fn storage(&self) -> Option<Storage> {
        self.0.storage
    }

    fn supports_image(&self) -> Support {
        self.0.security.supports_image()
    }

    fn supports_held_image(&self) -> Support {
        Ok(())
    }

    fn security(&self) -> Option<Security> {
        Some(self.0.security)
    }
}

/// The container's configuration; each line's reason is in `docs/drivers.md`.
fn config(spec: &BoxSpec, empty: &Path, root: &Root, apart: &Apart) -> String {
    let (kernel, cgroups) = if spec.holds_boxes {
        ("proc:rw sys:mixed", "rw")
    } else {
        ("proc:mixed sys:ro", "ro")
    };
    let mut text = format!(
        "lxc.rootfs.path = dir:{root}\n\
         lxc.uts.name = {hostname}\n\
         lxc.init.cmd = /tare agent\n\
         lxc.console.path = none\n\
         lxc.tty.max = 0\n\
         lxc.net.0.type = {network}\n\
         lxc.autodev = 1\n\
         lxc.mount.entry = tmpfs dev/shm tmpfs rw,nosuid,noexec,nodev,size=65536k,mode=1777,create=dir 0 0\n\
         lxc.mount.auto = {kernel} cgroup:{cgroups}:force\n\
         lxc.cgroup.dir.container = {name}/{INNER}\n\
         lxc.cgroup.dir.monitor = {name}-lxc\n\
         lxc.cgroup.dir.monitor.pivot = {name}-pivot\n",
        root = root.path.display(),
        name = spec.name,
        hostname = spec.hostname,
        network = network_type(apart.network),
    );
    if apart.network != Network::Host {
        // An empty network is one with a loopback, which is put into use by this alone.
        text.push_str("lxc.net.0.flags = up\n");
    }
    if let Some(binary) = &root.binary {
        let _ = writeln!(text, "lxc.mount.entry = {}", bound(binary));
    }
    if let Some(image) = spec.held_image() {
        let (source, target) = (field(image.rootfs()), HELD_IMAGE.trim_start_matches('/'));
        let _ = writeln!(
            text,
            "lxc.mount.entry = {source} {target} none bind,ro,nodev,create=dir 0 0"
        );
    }
    if !spec.holds_boxes {
        mask(&mut text, empty);
    }
    add_security(&mut text, &apart.security);
    if !spec.holds_boxes {
        add_devices(&mut text);
    }
    let limits = spec.limits();
    let v2 = matches!(Layout::detect(), Ok(Layout::V2(_)));
    let (version, settings) = if v2 {
        ("2", settings_v2(&limits))
    } else {
        ("", settings_v1(&limits))
    };
    for (key, value) in settings {
        let _ = writeln!(text, "lxc.cgroup{version}.{key} = {value}");
    }
    text
}

/// The mount of the binary; fields are divided by blanks.
fn bound(binary: &Path) -> String {
    let target = BINARY.trim_start_matches('/');
    format!(
        "{} {target} none bind,ro,nosuid,nodev,create=file 0 0",
        field(binary)
    )
}

/// A path in a line of mounts.
fn field(path: &Path) -> String {
    path.display().to_string().replace(' ', "\\040")
}

/// Hides files of the kernel's, as other engines of containers do, and makes others read-only.
fn mask(text: &mut String, empty: &Path) {
    for file in HIDDEN {
        let (empty, target) = (field(empty), file.trim_start_matches('/'));
        let _ = writeln!(
            text,
            "lxc.mount.entry = {empty} {target} none bind,ro,optional 0 0"
        );
    }
    for folder in ["irq", "bus", "fs"] {
        let _ = writeln!(
            text,
            "lxc.mount.entry = /proc/{folder} proc/{folder} none bind,ro,optional 0 0"
        );
    }
}

fn add_work(text: &mut String, work: &Work) {
    let folder = WORK_FOLDER;
    let _ = writeln!(text, "lxc.init.cwd = {folder}");
    // Places of mounts are told from the root of the box on.
    let target = folder.trim_start_matches('/');
    let _ = match work {
        Work::Own => Ok(()),
        Work::Volume(source) => writeln!(
            text,
            "lxc.mount.entry = {} {target} none bind,rw,nosuid,nodev 0 0",
            source.display()
        ),
        Work::Overlay(place) => writeln!(
            text,
            "lxc.mount.entry = overlay {target} overlay nosuid,nodev,{} 0 0",
            storage::layers(place).join(",")
        ),
        Work::Tmpfs => writeln!(
            text,
            "lxc.mount.entry = tmpfs {target} tmpfs rw,nosuid,nodev,mode=755 0 0"
        ),
    };
}

fn add_devices(text: &mut String) {
    for version in ["", "2"] {
        let _ = writeln!(text, "lxc.cgroup{version}.devices.deny = a");
        for rule in DEVICES {
            let _ = writeln!(text, "lxc.cgroup{version}.devices.allow = {rule}");
        }
    }
}

fn add_security(text: &mut String, security: &Security) {
    if security.seccomp == Seccomp::Common {
        let _ = writeln!(text, "lxc.seccomp.profile = {PROFILE}");
    }
    match security.capabilities {
        Capabilities::None => text.push_str("lxc.cap.keep = none\n"),
        Capabilities::AllButNetwork => text.push_str("lxc.cap.drop = net_admin\n"),
        Capabilities::All | Capabilities::Default => {}
    }
    if security.has_userns() {
        for kind in ["u", "g"] {
            let (first, users) = (security::FIRST_USER, security::USERS);
            let _ = writeln!(text, "lxc.idmap = {kind} 0 {first} {users}");
        }
    }
}

const fn network_type(network: Network) -> &'static str {
    match network {
        // What LXC calls none is no network of its own.
        Network::Host => "none",
        _ => "empty",
    }
}

fn settings_v1(limits: &Limits) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    if let Some(quota) = limits.quota {
        settings.push(("cpu.cfs_period_us", PERIOD_US.to_string()));
        settings.push(("cpu.cfs_quota_us", quota.quota_us(PERIOD_US).to_string()));
    }
    settings.extend(limits.cpuset.iter().map(|cpus| ("cpuset.cpus", cpu_list(cpus))));
    settings.extend(
        limits
            .weight
            .shares()
            .map(|shares| ("cpu.shares", shares.to_string())),
    );
    if let Some(bytes) = limits.memory_bytes {
        settings.push(("memory.limit_in_bytes", bytes.to_string()));
        if Path::new("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes").exists() {
            settings.push(("memory.memsw.limit_in_bytes", bytes.to_string()));
        }
    }
    settings
}

fn settings_v2(limits: &Limits) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    settings.extend(
        limits
            .quota
            .map(|quota| ("cpu.max", format!("{} {PERIOD_US}", quota.quota_us(PERIOD_US)))),
    );
    settings.extend(limits.cpuset.iter().map(|cpus| ("cpuset.cpus", cpu_list(cpus))));
    settings.extend(
        limits
            .weight
            .weight()
            .map(|weight| ("cpu.weight", weight.to_string())),
    );
    if let Some(bytes) = limits.memory_bytes {
        settings.push(("memory.max", bytes.to_string()));
        settings.push(("memory.swap.max", "0".to_owned()));
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_users_to_map_if_a_line_gives_it_all_of_them() {
        assert!(gives_root_users("root:1048576:65536") && gives_root_users("0:1000000:200000 "));
        for line in [
            "user:1048576:65536",
            "root:1048576:65535",
            "root:1048577:65536",
            "root:x:1",
            "",
            "root",
        ] {
            assert!(!gives_root_users(line), "{line}");
        }
    }
    use tare_host::cgroup::Weight;

    fn config_with(given: &[(&str, &str)]) -> String {
        let given = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let lxc = Lxc::open(Options::new(given.collect())).unwrap();
        let mut text = String::new();
        add_security(&mut text, &lxc.0.security);
        text
    }

    #[test]
    fn nothing_is_added_to_what_a_container_is_by_default() {
        assert_eq!(config_with(&[]), "");
        assert_eq!(config_with(&[("capabilities", "all"), ("userns", "off")]), "");
    }

    #[test]
    fn a_weight_is_written_for_both_versions_where_it_is_not_the_usual_one() {
        let usual = Limits::default();
        assert!(settings_v1(&usual).is_empty() && settings_v2(&usual).is_empty());
        let most = Limits {
            weight: Weight::Most,
            ..usual
        };
        assert_eq!(settings_v1(&most), [("cpu.shares", "262144".to_owned())]);
        assert_eq!(settings_v2(&most), [("cpu.weight", "10000".to_owned())]);
    }

    #[test]
    fn the_work_folder_has_its_lines() {
        let of = |work| {
            let mut text = String::new();
            add_work(&mut text, &work);
            text
        };
        assert_eq!(of(Work::Own), "lxc.init.cwd = /work\n");
        assert!(
            of(Work::Tmpfs).ends_with("lxc.mount.entry = tmpfs work tmpfs rw,nosuid,nodev,mode=755 0 0\n")
        );
        assert!(
            of(Work::Volume("/s/work".into())).ends_with("= /s/work work none bind,rw,nosuid,nodev 0 0\n")
        );
    }

    #[test]
    fn each_mechanism_has_its_lines() {
        assert_eq!(config_with(&[("capabilities", "none")]), "lxc.cap.keep = none\n");
        assert_eq!(
            config_with(&[("userns", "on")]),
            "lxc.idmap = u 0 1048576 65536\nlxc.idmap = g 0 1048576 65536\n"
        );
        assert!(config_with(&[("seccomp", "common")]).starts_with("lxc.seccomp.profile = /"));
    }
}
