//! Docker containers, by the engine's API on its local socket.

mod attach;
mod container;
pub(super) mod daemon;
mod engine;

use super::apart::Apart;
use super::security::{self, Capabilities, Offer, Seccomp, Security};
use super::storage::{self, Storage, Work};
use super::{
    Absent, BoxError, BoxSpec, InnerNeeds, MemoryView, Network, Options, Platform, QuotaView, RunningBox,
    TO_HOLD_BOXES, installed,
};
use crate::cgroup::{PERIOD_US, cpu_list};
use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig};
use bollard::query_parameters as query;
use container::DockerBox;
use engine::{Engine, IMAGE_STEM, reachable};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tare_model::results::PlatformVersion;

/// Label of every container: the run that made it.
const LABEL: &str = "tare.run";
/// In the names of runtimes that are sandboxes with a kernel.
const SANDBOXES: [&str; 3] = ["runsc", "gvisor", "kata"];
/// Where the engine listens unless `DOCKER_HOST` says otherwise.
const SOCKET: &str = "unix:///var/run/docker.sock";

/// What its engine can be told. Whether a container has a user namespace is decided for all
/// of Docker's containers at once, by the daemon's configuration.
const SECURITY: Offer = Offer {
    seccomp: &[Seccomp::Default, Seccomp::Off],
    capabilities: &[Capabilities::Default, Capabilities::All, Capabilities::None],
    userns: false,
};

/// An engine that speaks Docker's API, connected when first used.
pub(super) struct Docker {
    /// What it is called in messages.
    name: &'static str,
    /// Its socket, `unix://PATH`.
    address: String,
    /// The OCI runtime to ask for; absent: the engine's own choice.
    runtime: Option<String>,
    apart: Apart,
    engine: Option<Rc<Engine>>,
}

impl Docker {
    pub(super) fn open(mut options: Options) -> Result<Self, String> {
        let address = std::env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
        let runtime = options.take("runtime")?;
        let apart = Apart::take(&mut options, &SECURITY)?;
        options.none()?;
        Ok(Self {
            runtime,
            ..Self::at("docker", address.unwrap_or_else(|| SOCKET.to_owned()), apart)
        })
    }

    /// The engine of this name on this socket.
    pub(super) fn at(name: &'static str, address: String, apart: Apart) -> Self {
        Self {
            name,
            address,
            runtime: None,
            apart,
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
            daemon::start()?
        } else {
            Engine::connect(self.name, &self.address, None)?
        };
        let engine = Rc::new(engine);
        self.engine = Some(Rc::clone(&engine));
        Ok(engine)
    }
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
            known(name, info.runtimes.as_ref())?;
        }
        if self.apart.network == Network::Bridge {
            has_bridge(&engine)?;
        }
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
        let image = engine.image(&spec.binary)?;
        // The image is made once: it is no part of a box's start-up.
        let requested = Instant::now();
        let options = query::CreateContainerOptionsBuilder::new()
            .name(&spec.name)
            .build();
        // Only a folder of the host's needs a place there.
        let volume = self.apart.storage == Some(Storage::Volume);
        let premises = volume.then(|| spec.premises()).transpose()?;
        let folder = premises
            .as_ref()
            .map_or_else(|| Path::new(""), |premises| &premises.folder);
        let work = self
            .apart
            .storage
            .map(|storage| Work::of(storage, folder))
            .transpose()?;
        let mut body = body(spec, &image, self.runtime.clone(), &self.apart);
        if let Some(work) = &work {
            add_work(&mut body, work, &self.apart.security);
        }
        let created = engine.wait(engine.api.create_container(Some(options), body))?;
        let mut made = DockerBox::new(engine, created.id, premises);
        made.start(requested, self.apart.network)?;
        Ok(Box::new(made))
    }

    fn storage(&self) -> Option<Storage> {
        self.apart.storage
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

    fn clean(&mut self) -> Result<Vec<String>, BoxError> {
        if reachable(&self.address).is_err() {
            return Ok(Vec::new());
        }
        let engine = self.engine()?;
        let images = engine.wait(engine.api.list_images(None::<query::ListImagesOptions>))?;
        let tags = images.into_iter().flat_map(|image| image.repo_tags);
        let tags = tags.filter(|tag| {
            tag.rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with(IMAGE_STEM))
        });
        tags.map(|tag| {
            engine.wait(
                engine
                    .api
                    .remove_image(&tag, None::<query::RemoveImageOptions>, None),
            )?;
            Ok(format!("image {tag}"))
        })
        .collect()
    }
}

/// Whether an engine knows a runtime: by a name that was configured, or one of
/// containerd's, which are not listed.
fn known<T>(name: &str, runtimes: Option<&HashMap<String, T>>) -> Result<(), Absent> {
    let Some(runtimes) = runtimes.filter(|r| !r.contains_key(name) && !name.contains('.')) else {
        return Ok(());
    };
    let mut names: Vec<&str> = runtimes.keys().map(String::as_str).collect();
    names.sort_unstable();
    Err(Absent::new(
        format!("the engine knows no runtime '{name}', but {}", names.join(", ")),
        "name one of these, or add it to \"runtimes\" in the engine's daemon.json",
    ))
}

/// Commands start in the work folder, which the engine makes where nothing is mounted.
fn add_work(body: &mut ContainerCreateBody, work: &Work, security: &Security) {
    body.working_dir = Some(storage::FOLDER.to_owned());
    let Some(host) = &mut body.host_config else {
        return;
    };
    match work {
        Work::Own => {}
        Work::Tmpfs => {
            host.tmpfs = Some(HashMap::from([(
                storage::FOLDER.to_owned(),
                "mode=755,exec".to_owned(),
            )]));
        }
        Work::Volume(source) => {
            // Podman gives the folder to the root of the namespace that it chose.
            let options = if security.has_userns() { ":U" } else { "" };
            let bind = format!("{}:{}{options}", source.display(), storage::FOLDER);
            host.binds.get_or_insert_default().push(bind);
        }
    }
}

fn apply(security: &Security, host: &mut HostConfig) {
    if security.seccomp == Seccomp::Off {
        host.security_opt = Some(vec!["seccomp=unconfined".to_owned()]);
    }
    match security.capabilities {
        Capabilities::Default => {}
        Capabilities::All => host.cap_add = Some(security::all_by_engine(security::of_host())),
        Capabilities::None => host.cap_drop = Some(vec!["ALL".to_owned()]),
    }
    // The size is that of the other platforms; the range is Podman's choice.
    host.userns_mode = security
        .has_userns()
        .then(|| format!("auto:size={}", security::USERS));
}

/// Whether the engine has the network that its containers have by default: `bridge`,
/// or as Podman may call it.
fn has_bridge(engine: &Engine) -> Result<(), Absent> {
    let call = engine.api.list_networks(None::<query::ListNetworksOptions>);
    let networks = engine
        .wait(call)
        .map_err(|e| Absent::new(e.to_string(), "look at the engine's log"))?;
    let mut names = networks.into_iter().filter_map(|network| network.name);
    if names.any(|name| name == Network::Bridge.name() || name == engine.name) {
        return Ok(());
    }
    Err(Absent::new(
        format!("{} has no bridge of its own (as with --bridge=none)", engine.name),
        "start it with one, or ask for network=none or network=host",
    ))
}

fn body(spec: &BoxSpec, image: &str, runtime: Option<String>, apart: &Apart) -> ContainerCreateBody {
    let limits = spec.limits();
    let memory = limits.memory_bytes.and_then(|bytes| i64::try_from(bytes).ok());
    let quota = limits
        .quota
        .and_then(|cpus| i64::try_from(cpus.quota_us(PERIOD_US)).ok());
    let mut host_config = HostConfig {
        cpu_period: quota.and_then(|_| i64::try_from(PERIOD_US).ok()),
        cpu_quota: quota,
        cpuset_cpus: limits.cpuset.as_deref().map(cpu_list),
        memory,
        // Equal to the memory: no swap.
        memory_swap: memory,
        network_mode: Some(apart.network.name().to_owned()),
        // Else the log driver writes the whole link to disk.
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        runtime,
        auto_remove: Some(true),
        ..HostConfig::default()
    };
    apply(&apart.security, &mut host_config);
    if spec.holds_boxes {
        let name = |capability: &str| capability.trim_start_matches("CAP_").to_owned();
        host_config.cap_add = Some(TO_HOLD_BOXES.map(name).to_vec());
        host_config.security_opt = Some(vec!["seccomp=unconfined".into(), "apparmor=unconfined".into()]);
        host_config.masked_paths = Some(Vec::new());
        host_config.readonly_paths = Some(Vec::new());
        host_config.binds = Some(vec!["/sys/fs/cgroup:/sys/fs/cgroup:rw".into()]);
    }
    ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(vec!["/tare".to_owned(), "agent".to_owned()]),
        labels: Some(HashMap::from([(LABEL.to_owned(), spec.run.clone())])),
        open_stdin: Some(true),
        // The container ends when the controller's connection does.
        stdin_once: Some(true),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        host_config: Some(host_config),
        ..ContainerCreateBody::default()
    }
}
