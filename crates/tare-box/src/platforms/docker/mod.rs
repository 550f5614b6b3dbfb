//! Docker containers, by the engine's API on its local socket.

mod attach;
mod container;
mod daemon;
mod engine;

use super::{
    Absent, BoxError, BoxSpec, InnerNeeds, Network, Options, Platform, RunningBox, TO_HOLD_BOXES, installed,
};
use crate::cgroup::{PERIOD_US, cpu_list, within_a_box};
use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig};
use bollard::query_parameters as query;
use container::DockerBox;
use engine::{Engine, IMAGE_STEM, reachable};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tare_model::results::PlatformVersion;

/// Label of every container: the run that made it.
const LABEL: &str = "tare.run";
/// Where the engine listens unless `DOCKER_HOST` says otherwise.
const SOCKET: &str = "unix:///var/run/docker.sock";

/// An engine that speaks Docker's API, connected when first used.
pub(super) struct Docker {
    /// What it is called in messages.
    name: &'static str,
    /// Its socket, `unix://PATH`.
    address: String,
    /// The OCI runtime to ask for; absent: the engine's own choice.
    runtime: Option<String>,
    network: Network,
    engine: Option<Rc<Engine>>,
}

impl Docker {
    pub(super) fn open(mut options: Options) -> Result<Self, String> {
        let address = std::env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
        let runtime = options.take("runtime")?;
        let network = options.network(&Network::ALL)?;
        Ok(Self {
            runtime,
            ..Self::at("docker", address.unwrap_or_else(|| SOCKET.to_owned()), network)
        })
    }

    /// The engine of this name on this socket.
    pub(super) fn at(name: &'static str, address: String, network: Network) -> Self {
        Self {
            name,
            address,
            runtime: None,
            network,
            engine: None,
        }
    }

    fn engine(&mut self) -> Result<Rc<Engine>, BoxError> {
        if let Some(engine) = &self.engine {
            return Ok(Rc::clone(engine));
        }
        // In a box, the engine is what was carried in, for us to start.
        let engine = if within_a_box() && reachable(&self.address).is_err() {
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
        if !within_a_box() {
            reachable(&self.address)?;
        }
        let unusable =
            |e: BoxError| Absent::new(e.to_string(), "look at the engine's log: journalctl -u docker");
        let engine = self.engine().map_err(unusable)?;
        let version = engine.wait(engine.api.version()).map_err(unusable)?;
        let info = engine.wait(engine.api.info()).map_err(unusable)?;
        if self.network == Network::Bridge {
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
        let body = body(spec, &image, self.runtime.clone(), self.network);
        let created = engine.wait(engine.api.create_container(Some(options), body))?;
        let mut made = DockerBox::new(engine, created.id);
        made.start(requested, self.network)?;
        Ok(Box::new(made))
    }

    fn probe_carried(&mut self) -> Result<PlatformVersion, Absent> {
        let version = installed("dockerd", "install Docker (Debian: apt-get install docker.io)")?;
        Ok(PlatformVersion {
            version,
            ..PlatformVersion::default()
        })
    }

    fn inner_needs(&self) -> InnerNeeds {
        InnerNeeds {
            programs: &daemon::PROGRAMS,
            memory_bytes: daemon::MEMORY,
            ..InnerNeeds::default()
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

fn body(spec: &BoxSpec, image: &str, runtime: Option<String>, network: Network) -> ContainerCreateBody {
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
        network_mode: Some(network.name().to_owned()),
        // Else the log driver writes the whole link to disk.
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        runtime,
        auto_remove: Some(true),
        ..HostConfig::default()
    };
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
