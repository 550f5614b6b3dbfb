//! The host itself: a process in a cgroup with the same limits as every box.

use super::apart::can_be_had;
use super::child::{ChildBox, Start};
use super::contract::{Absent, BoxError, BoxSpec, HELLO_DEADLINE, Platform, RunningBox, Support};
use super::directory::{BoxDirectory, canonical};
use super::image_root::make_folder;
use super::options::Options;
use super::probe::limits_usable;
use std::fs;
use std::process::Command;
use std::time::Instant;
use tare_host::net::Network;
use tare_host::places::{HOST_PLACES, WORK_FOLDER};
use tare_model::results::PlatformVersion;

/// A process on the host. With an image `is_confined` keeps it, and all that it starts, from the host but for its
/// network; without one it has the host's own programs, which their user trusts.
pub(super) struct Native {
    is_confined: bool,
    network: Network,
}

impl Native {
    /// What runs outside of the boxes that are compared.
    pub(super) const OUTSIDE: Self = Self {
        is_confined: true,
        network: Network::Host,
    };

    pub(super) fn open(mut options: Options) -> Result<Self, String> {
        let network = options.choose(Network::OPTION, &[Network::Host, Network::Bridge], Network::name)?;
        options.none().map(|()| Self {
            is_confined: false,
            network: network.unwrap_or(Network::Host),
        })
    }
}

impl Platform for Native {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        let layout = limits_usable()?;
        can_be_had(self.network)?;
        let kernel = tare_host::host::facts().kernel;
        Ok(PlatformVersion {
            version: format!("Linux {kernel}"),
            details: [("cgroup".to_owned(), layout.name().to_owned())].into(),
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let requested = Instant::now();
        let directory = BoxDirectory::make(spec)?;
        let mut command = Command::new(&spec.binary);
        command.arg("agent");
        if self.network != Network::Host {
            let hosts = directory.path.join("hosts");
            fs::copy("/etc/hosts", &hosts).map_err(BoxError::host("copy /etc/hosts"))?;
            command.arg("--own-network").arg(canonical(&hosts)?);
            command.args(["--hostname", &spec.hostname]);
        }
        if spec.root_image().is_some() {
            enter_image(&mut command, &directory, spec)?;
            if self.is_confined {
                command.arg("--confined");
            }
        }
        let limits = spec.limits();
        let start = Start {
            command,
            directory,
            limits: Some(&limits),
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::over_pipes(start)?;
        made.connect(self.network, spec)?;
        Ok(Box::new(made))
    }

    fn network(&self) -> Network {
        self.network
    }

    fn has_host_files(&self) -> bool {
        true
    }

    fn supports_image(&self) -> Support {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can change the root of a process: run tare as root");
        }
        Ok(())
    }

    /// What is in its boxes sees the store.
    fn supports_held_image(&self) -> Support {
        Ok(())
    }
}

/// Has the agent take an image as its root, and start commands in a plain folder of the host's:
/// what the host itself has to work in is no overlay.
fn enter_image(command: &mut Command, directory: &BoxDirectory, spec: &BoxSpec) -> Result<(), BoxError> {
    let rootfs = directory.rootfs_without_binary(spec)?;
    for place in HOST_PLACES.iter().chain([&"/run", &WORK_FOLDER]) {
        make_folder(&rootfs.join(place.trim_start_matches('/')))?;
    }
    let work = directory.path.join("work");
    make_folder(&work)?;
    command.arg("--root").arg(canonical(&rootfs)?);
    command.arg("--root-work").arg(canonical(&work)?);
    Ok(())
}
