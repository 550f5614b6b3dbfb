//! Docker containers, by the engine's API on its local socket.

mod able;
mod address;
mod attach;
mod body;
mod container;
pub(super) mod daemon;
mod engine;
mod image;

use super::apart::Apart;
use super::contract::{
    Absent, BoxError, BoxSpec, Capabilities, Cleaned, InnerNeeds, MemoryView, Platform, QuotaView,
    RunningBox, Seccomp, Security, Storage, Support,
};
use super::directory::BoxDirectory;
use super::options::Options;
use super::probe::installed;
use super::security::Offer;
use super::storage::Work;
use able::{allows, has_bridge, knows, supports_pinning, supports_weight};
use address::{Address, address};
use body::{add_work, around, body, hold};
use bollard::query_parameters as query;
use container::DockerBox;
use engine::{Engine, Removal, reachable};
use image::IMAGE_STEM;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tare_host::cgroup;
use tare_host::net::Network;
use tare_model::results::PlatformVersion;

/// Label of every container: the run that made it.
const LABEL: &str = "tare.run";
/// Why nothing is said of an engine that was not asked yet.
pub(super) const UNPROBED: &str = "its engine was not queried";
/// In the names of runtimes that are sandboxes with a kernel.
const SANDBOXES: [&str; 3] = ["runsc", "gvisor", "kata"];

/// What its engine can be told. Whether a container has a user namespace is decided for all
/// of Docker's containers at once, by the daemon's configuration.
const SECURITY: Offer = Offer {
    seccomp: &[Seccomp::Default, Seccomp::Off],
    capabilities: &[Capabilities::Default, Capabilities::All, Capabilities::None],
    userns: false,
    pidns: true,
};

/// An engine that speaks Docker's API, connected when first used.
pub(super) struct Docker {
    /// What it is called in messages.
    name: &'static str,
    /// Its socket, `unix://PATH`.
    address: Address,
    /// The OCI runtime to ask for; absent: the engine's own choice.
    runtime: Option<String>,
    /// By its name an engine of our own has its folder.
    cache: PathBuf,
    apart: Apart,
    /// Whether its containers always stand in a cgroup of tare's: a user's Podman gives those in none no limits, and says nothing.
    is_within: bool,
    /// Why its containers cannot stand in a cgroup of tare's.
    weight: Support,
    pinning: Support,
    engine: Option<Rc<Engine>>,
}

impl Docker {
    /// `cache` is the folder of whoever opens it: of a box, in a box.
    pub(super) fn open(mut options: Options, cache: &Path) -> Result<Self, String> {
        let runtime = options.take("runtime")?;
        let apart = Apart::by_engine(&mut options, &SECURITY, &Network::OF_ENGINES)?;
        options.none()?;
        Ok(Self {
            runtime,
            cache: cache.to_owned(),
            ..Self::at("docker", address(), apart)
        })
    }

    /// The engine of this name on this socket, `unix://PATH`.
    pub(super) fn on(name: &'static str, socket: String, apart: Apart) -> Self {
        let address = Address {
            url: socket,
            by: None,
        };
        Self::at(name, address, apart)
    }

    /// The same, with all containers in cgroups of tare's.
    #[must_use]
    pub(super) fn within(self, is_within: bool) -> Self {
        Self { is_within, ..self }
    }

    fn at(name: &'static str, address: Address, apart: Apart) -> Self {
        Self {
            name,
            address,
            runtime: None,
            cache: PathBuf::new(),
            apart,
            is_within: false,
            weight: Err(UNPROBED),
            pinning: Ok(()),
            engine: None,
        }
    }

    /// Whether the runtime puts a kernel of its own between the box and the host: its
    /// processes account by another clock, and memory beyond the limit ends the box.
    fn is_sandbox(&self) -> bool {
        let name = self.runtime.as_deref().unwrap_or_default();
        SANDBOXES.iter().any(|sandbox| name.contains(sandbox))
    }

    fn engine(&mut self) -> Result<Rc<Engine>, BoxError> {
        if let Some(engine) = &self.engine {
            return Ok(Rc::clone(engine));
        }
        // In a box, the engine is what was carried in, for us to start.
        let engine = if daemon::is_wanted() && reachable(&self.address).is_err() {
            daemon::start(&self.cache)?
        } else {
            Engine::connect(self.name, &self.address.url, None)?
        };
        let engine = Rc::new(engine);
        self.engine = Some(Rc::clone(&engine));
        Ok(engine)
    }
}

/// The address of this host's engine, if it answers.
pub(super) fn socket() -> Result<String, Absent> {
    let address = address();
    reachable(&address).map(|()| address.url)
}

impl Platform for Docker {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        if !daemon::is_wanted() {
            reachable(&self.address)?;
        }
        let unusable =
            |e: BoxError| Absent::new(e.to_string(), "look at the engine's log: journalctl -u docker");
        let engine = self.engine().map_err(unusable)?;
        let version = engine.wait(engine.api.version()).map_err(unusable)?;
        let info = engine.wait(engine.api.info()).map_err(unusable)?;
        if let Some(name) = &self.runtime {
            knows(name, info.runtimes.as_ref())?;
        }
        // A user's Podman calls itself rootless too, and checks its options itself.
        if !self.is_within {
            allows(&self.apart, &info)?;
        }
        if matches!(self.apart.network, Network::Bridge | Network::Published) {
            has_bridge(&engine)?;
        }
        self.weight = supports_weight(&engine, &info);
        self.pinning = supports_pinning(&info);
        let details = [
            ("storage", info.driver),
            ("runtime", self.runtime.clone().or(info.default_runtime)),
            ("cgroup-driver", info.cgroup_driver.map(|d| d.to_string())),
            ("security", info.security_options.map(|options| options.join(" "))),
        ];
        let details = details
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .chain(self.apart.details())
            .collect();
        Ok(PlatformVersion {
            version: format!("{} {}", self.name, version.version.unwrap_or_default()),
            details,
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let engine = self.engine()?;
        let image = engine.image(spec)?;
        // The image is made once: it is no part of a box's start-up.
        let requested = Instant::now();
        let directory = BoxDirectory::make(spec)?;
        let around = around(spec, self.is_within)?;
        let options = query::CreateContainerOptionsBuilder::new()
            .name(&spec.name)
            .build();
        let work = self
            .apart
            .storage
            .map(|storage| Work::of(storage, &directory.path))
            .transpose()?
            .flatten();
        let mut body = body(spec, &image, self.runtime.clone(), &self.apart, around.as_deref());
        if let Some(image) = spec.held_image() {
            hold(&mut body, image, &directory.path)?;
        }
        if let Some(work) = &work {
            add_work(&mut body, work, &self.apart.security);
        }
        let created = engine.wait(engine.api.create_container(Some(options), body))?;
        let mut made = DockerBox::new(engine, created.id, directory);
        made.start(spec.build_id(), requested, self.apart.network, around.as_deref())?;
        Ok(Box::new(made))
    }

    fn network(&self) -> Network {
        self.apart.network
    }

    fn storage(&self) -> Option<Storage> {
        self.apart.storage
    }

    fn supports_image(&self) -> Support {
        Ok(())
    }

    fn supports_held_image(&self) -> Support {
        Ok(())
    }

    fn security(&self) -> Option<Security> {
        Some(self.apart.security)
    }

    fn probe_carried(&mut self) -> Result<PlatformVersion, Absent> {
        let version = installed("dockerd", "install Docker (Debian: apt-get install docker.io)")?;
        Ok(PlatformVersion {
            version,
            details: self.apart.details().collect(),
        })
    }

    fn inner_needs(&self) -> InnerNeeds {
        InnerNeeds {
            programs: &daemon::PROGRAMS,
            memory_bytes: daemon::MEMORY,
            ..InnerNeeds::default()
        }
    }

    fn quota_view(&self) -> QuotaView {
        if self.is_sandbox() {
            QuotaView::HostOnly
        } else {
            QuotaView::Inside
        }
    }

    fn memory_view(&self) -> MemoryView {
        if self.is_sandbox() {
            MemoryView::HostLimit
        } else {
            MemoryView::Touch
        }
    }

    fn supports_weight(&self) -> Support {
        self.weight?;
        cgroup::supports_weight()
    }

    fn supports_pinning(&self) -> Support {
        self.pinning
    }

    fn is_in_own_cgroup(&self) -> bool {
        self.is_within
    }

    fn cost(&self) -> (Duration, f64) {
        (Duration::from_millis(1500), 1.1)
    }

    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        if reachable(&self.address).is_err() {
            return Ok(Vec::new());
        }
        let engine = self.engine()?;
        let filters = HashMap::from([("label", vec![format!("{LABEL}={run}")])]);
        let options = query::ListContainersOptionsBuilder::new()
            .all(true)
            .filters(&filters)
            .build();
        let containers = engine.wait(engine.api.list_containers(Some(options)))?;
        let ids = containers.into_iter().filter_map(|container| container.id);
        ids.map(|id| engine.remove(&id).map(|()| format!("container {id:.12}")))
            .collect()
    }

    fn clean(&mut self, alive: &[String]) -> Result<Cleaned, BoxError> {
        let mut cleaned = Cleaned::default();
        if reachable(&self.address).is_err() {
            return Ok(cleaned);
        }
        let engine = self.engine()?;
        let mut tags = engine.image_tags()?;
        // Those that have a layer above others before these.
        tags.sort_by_key(|tag| std::cmp::Reverse(tag.len()));
        for tag in tags {
            let name = tag.rsplit('/').next().unwrap_or_default();
            if !name.starts_with(IMAGE_STEM) {
                continue;
            }
            // Between two boxes of a run no container tells that it uses the image.
            if !alive.is_empty() {
                let runs = alive.join(", ");
                cleaned
                    .left
                    .push(format!("image {tag}: in use by another run ({runs})"));
                continue;
            }
            match engine.remove_image(&tag)? {
                Removal::Done => cleaned.removed.push(format!("image {tag}")),
                Removal::Gone => {}
                Removal::Used => cleaned
                    .left
                    .push(format!("image {tag}: in use by a container of this engine")),
            }
        }
        Ok(cleaned)
    }
}
