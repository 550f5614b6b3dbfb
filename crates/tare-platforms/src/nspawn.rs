//! systemd-nspawn containers. nspawn takes its payload along into whatever cgroup
//! it is in itself: it is started in one without limits, and the agent is moved to
//! one that has them before it is asked for anything but its hello.

use super::apart::Apart;
use super::child::{ChildBox, Start};
use super::contract::{
    Absent, BoxError, BoxSpec, Capabilities, HELLO_DEADLINE, InnerNeeds, Platform, RunningBox, Seccomp,
    Security, Storage, Support,
};
use super::directory::BoxDirectory;
use super::image_root::make_folder;
use super::options::Options;
use super::probe::{cgroups_usable, installed};
use super::security::{self, Offer};
use super::shared::shared_binary;
use super::storage::{self, Work};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tare_host::cgroup::{Cgroup, Layout, Limits};
use tare_host::net::Network;
use tare_host::places::{BINARY, HELD_IMAGE, HIDDEN, WORK_FOLDER};
use tare_host::remove;
use tare_model::results::PlatformVersion;

/// Where nspawn makes a folder per container that it does not always remove; on those of the second it mounts, since version 256, a
/// file system of its own.
const FOLDERS: [&str; 2] = ["/run/systemd/nspawn/propagate", "/run/systemd/nspawn/unix-export"];

/// What it can be told.
const SECURITY: Offer = Offer {
    seccomp: &[Seccomp::Default, Seccomp::Off],
    capabilities: &[Capabilities::Default, Capabilities::All, Capabilities::None],
    userns: true,
    pidns: false,
};

/// Of what nspawn grants by itself, what makes root in a box root on the host: it could mount what
/// is read-only again to be written, cgroups of version 1 with a program that the host runs as they
/// empty, make devices, and open files by their numbers. And what reaches beyond the box: files that
/// nobody can remove, schedules that no quota binds, and the host's network, which a link between
/// the two gives a number for (`IFLA_TARGET_NETNSID` asks for no more than this capability over it).
const TOO_MUCH: [&str; 6] = [
    "CAP_SYS_ADMIN",
    "CAP_NET_ADMIN",
    "CAP_MKNOD",
    "CAP_DAC_READ_SEARCH",
    "CAP_LINUX_IMMUTABLE",
    "CAP_SYS_NICE",
];

/// What is mounted over what a box may not see. Places in /proc are mounted on when nothing else
/// than the box is left: this is its own device.
const NOTHING: &str = "/dev/null";

/// By which root in a box could restart the host: nspawn 252 leaves it writable under systemd.
const SYSRQ: &str = "/proc/sysrq-trigger";

/// What is taken out of nspawn's filter of system calls. It leaves the host's mounts in the namespace
/// of the box, out of reach but known to the kernel, which therefore lets root of a user namespace
/// mount a /proc in which all of the host's can be written.
const WITHOUT: &str = "~mount mount_setattr move_mount open_tree fsmount fsopen fspick fsconfig";

pub(super) struct Nspawn(Apart);

impl Nspawn {
    pub(super) fn open(mut options: Options) -> Result<Self, String> {
        let apart = Apart::by_tool(&mut options, &SECURITY)?;
        options.none().map(|()| Self(apart))
    }
}

/// The option that mounts a file of the host's read-only; its fields are divided by colons.
fn bound(file: &Path, target: &str) -> String {
    let source = file.display().to_string().replace(':', "\\:");
    format!("--bind-ro={source}:{target}")
}

fn add_work(command: &mut Command, work: &Work) {
    let folder = WORK_FOLDER;
    command.arg(format!("--chdir={folder}"));
    match work {
        Work::Own => {}
        Work::Volume(source) => drop(command.arg(format!("--bind={}:{folder}", source.display()))),
        Work::Overlay(place) => {
            let [lower, upper, _] = storage::LAYERS.map(|layer| place.join(layer).display().to_string());
            command.arg(format!("--overlay={lower}:{upper}:{folder}"));
        }
        Work::Tmpfs => drop(command.arg(format!("--tmpfs={folder}:mode=755"))),
    }
}

fn apply(security: &Security, holds_boxes: bool, command: &mut Command) {
    if !holds_boxes {
        command.arg(format!("--system-call-filter={WITHOUT}"));
    }
    if security.seccomp == Seccomp::Off {
        // The only way: its options add calls to the filter or take some out.
        command.env("SYSTEMD_SECCOMP", "0");
    }
    match security.capabilities {
        Capabilities::Default if holds_boxes => {}
        Capabilities::Default => drop(command.arg(format!("--drop-capability={}", TOO_MUCH.join(",")))),
        Capabilities::All => drop(command.arg("--capability=all")),
        Capabilities::AllButNetwork => {
            command.args(["--capability=all", "--drop-capability=CAP_NET_ADMIN"]);
        }
        Capabilities::None => drop(command.arg("--drop-capability=all")),
    }
    if security.has_userns() {
        let range = format!("{}:{}", security::FIRST_USER, security::USERS);
        command.arg(format!("--private-users={range}"));
    }
}

impl Platform for Nspawn {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let version = installed(
            "systemd-nspawn",
            "install it (Debian: apt-get install systemd-container)",
        )?;
        self.0.probe()?;
        Ok(PlatformVersion {
            version,
            details: self.0.details().collect(),
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // Once per run, and no part of start-up latency.
        let shared = shared_binary(spec)?;
        let requested = Instant::now();
        let mut directory = BoxDirectory::make_apart(spec, Some(&self.0.security))?;
        directory.elsewhere = FOLDERS.map(|folder| Path::new(folder).join(&spec.name)).into();
        let root = directory.shared_rootfs(spec, shared)?;
        // A root without it is refused as no system at all.
        make_folder(&root.path.join("usr"))?;
        // Where it tells of the host.
        make_folder(&root.path.join("run"))?;
        let work = Work::make(self.0.storage, &directory.path, &root.path)?;
        self.0.security.own_root(spec, &root.path)?;
        work.iter()
            .try_for_each(|work| work.own(&self.0.security, spec))?;
        let mut command = Command::new("systemd-nspawn");
        if let Some(binary) = &root.binary {
            command.arg(bound(binary, BINARY));
        }
        command.args(spec.held_image().map(|image| bound(image.rootfs(), HELD_IMAGE)));
        // nspawn hides some of them, but only where systemd is the host's first process.
        let hidden = HIDDEN.iter().chain(&[SYSRQ]);
        let hidden = hidden.filter(|file| Path::new(file).exists());
        command.args(hidden.map(|file| bound(Path::new(NOTHING), file)));
        apply(&self.0.security, spec.holds_boxes, &mut command);
        work.iter().for_each(|work| add_work(&mut command, work));
        command
            // The agent is the first process: as the second one it would have nspawn's own before it,
            // by which root in the box could get at nspawn's file.
            .args(["--quiet", "--register=no", "--keep-unit", "--console=pipe"])
            .args(["--timezone=off", "--resolv-conf=off", "--link-journal=no"])
            .args((self.0.network != Network::Host).then_some("--private-network"))
            .arg(format!("--machine={}", spec.name))
            .arg(format!("--hostname={}", spec.hostname))
            .arg("--directory")
            .arg(&root.path)
            .args(["/tare", "agent"]);
        let layout = Layout::detect()?;
        let engine = Cgroup::create(&layout, &format!("{}-nspawn", spec.name), &Limits::default())?;
        engine.hold(&mut command);
        let start = Start {
            command,
            directory,
            limits: None,
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::over_pipes(start)?;
        let limited = Cgroup::within(&layout, &spec.name, &spec.limits())?;
        if !spec.holds_boxes {
            // Refused once there is a cgroup within.
            limited.outermost().forbid_devices()?;
        }
        limited.limit(&spec.limits())?;
        let payload = engine.processes().into_iter().filter(|pid| *pid != made.pid());
        payload.into_iter().try_for_each(|pid| limited.adopt(pid))?;
        made.use_cgroup(limited);
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

    fn inner_needs(&self) -> InnerNeeds {
        InnerNeeds {
            programs: &["systemd-nspawn"],
            // It tells its payload by which system it was started.
            files: &["/usr/lib/os-release"],
            ..InnerNeeds::default()
        }
    }

    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        let entries = FOLDERS.iter().filter_map(|folder| fs::read_dir(folder).ok());
        let entries = entries.flatten().flatten();
        let ours = entries.filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with(&format!("{run}-"))
        });
        ours.map(|entry| {
            let path = entry.path();
            let what = format!("folder {}", path.display());
            remove::folder(&path)
                .map(|()| what.clone())
                .map_err(BoxError::host(format!("remove {what}")))
        })
        .collect()
    }
}
