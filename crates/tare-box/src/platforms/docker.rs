//! Docker containers, by the engine's API on its local socket.

use super::{Absent, BoxError, BoxSpec, END_DEADLINE, HELLO_DEADLINE, Platform, RunningBox};
use crate::cgroup::{Cgroup, Layout, Meter, PERIOD_US, cpu_list};
use crate::interrupt;
use crate::link::{Link, Stream};
use bollard::container::AttachContainerResults;
use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig};
use bollard::query_parameters as query;
use futures_util::StreamExt;
use std::collections::HashMap;
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tare_model::results::PlatformVersion;
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Runtime};

/// Name of the image that holds the tare binary alone; its tag is the binary's digest.
const REPOSITORY: &str = "tare-box";
/// Label of every container: the run that made it.
const LABEL: &str = "tare.run";
/// Where the engine listens unless `DOCKER_HOST` says otherwise.
const SOCKET: &str = "unix:///var/run/docker.sock";
/// Seconds that the engine has to answer.
const API_TIMEOUT_SECONDS: u64 = 120;

/// The engine, connected when first used.
#[derive(Default)]
pub(super) struct Docker {
    engine: Option<Rc<Engine>>,
}

struct Engine {
    runtime: Runtime,
    api: bollard::Docker,
}

impl Engine {
    fn connect() -> Result<Self, BoxError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(BoxError::host("start the runtime for the Docker API"))?;
        let address = socket();
        let api =
            bollard::Docker::connect_with_unix(&address, API_TIMEOUT_SECONDS, bollard::API_DEFAULT_VERSION)
                .map_err(refused)?;
        let api = runtime.block_on(api.negotiate_version()).map_err(refused)?;
        Ok(Self { runtime, api })
    }

    fn wait<T>(&self, call: impl Future<Output = Result<T, bollard::errors::Error>>) -> Result<T, BoxError> {
        self.runtime.block_on(call).map_err(refused)
    }
}

fn socket() -> String {
    std::env::var("DOCKER_HOST")
        .ok()
        .filter(|host| !host.is_empty())
        .unwrap_or_else(|| SOCKET.to_owned())
}

fn refused(error: bollard::errors::Error) -> BoxError {
    BoxError::Engine {
        engine: "docker",
        message: error.to_string(),
    }
}

impl Docker {
    fn engine(&mut self) -> Result<Rc<Engine>, BoxError> {
        if let Some(engine) = &self.engine {
            return Ok(Rc::clone(engine));
        }
        let engine = Rc::new(Engine::connect()?);
        self.engine = Some(Rc::clone(&engine));
        Ok(engine)
    }
}

impl Platform for Docker {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        reachable(&socket())?;
        let unusable =
            |e: BoxError| Absent::new(e.to_string(), "look at the engine's log: journalctl -u docker");
        let engine = self.engine().map_err(unusable)?;
        let version = engine.wait(engine.api.version()).map_err(unusable)?;
        let info = engine.wait(engine.api.info()).map_err(unusable)?;
        let details = [
            ("storage", info.driver),
            ("runtime", info.default_runtime),
            ("cgroup-driver", info.cgroup_driver.map(|d| d.to_string())),
            ("security", info.security_options.map(|options| options.join(" "))),
        ];
        let details = details
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect();
        Ok(PlatformVersion {
            version: format!("Docker {}", version.version.unwrap_or_default()),
            details,
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let engine = self.engine()?;
        let image = image(&engine, &spec.binary)?;
        // The image is made once: it is no part of a box's start-up.
        let requested = Instant::now();
        let options = query::CreateContainerOptionsBuilder::new()
            .name(&spec.name)
            .build();
        let created = engine.wait(engine.api.create_container(Some(options), body(spec, &image)))?;
        let mut made = DockerBox {
            engine: Rc::clone(&engine),
            id: created.id,
            link: None,
            cgroup: None,
            hello_after: Duration::ZERO,
            frozen: false,
            gone: false,
        };
        made.start(requested)?;
        Ok(Box::new(made))
    }

    fn cost(&self) -> (Duration, f64) {
        (Duration::from_millis(1500), 1.1)
    }

    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        if reachable(&socket()).is_err() {
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
        ids.map(|id| remove(&engine, &id).map(|()| format!("container {id:.12}")))
            .collect()
    }

    fn clean(&mut self) -> Result<Vec<String>, BoxError> {
        if reachable(&socket()).is_err() {
            return Ok(Vec::new());
        }
        let engine = self.engine()?;
        let filters = HashMap::from([("reference", vec![REPOSITORY])]);
        let options = query::ListImagesOptionsBuilder::new().filters(&filters).build();
        let images = engine.wait(engine.api.list_images(Some(options)))?;
        let tags = images.into_iter().flat_map(|image| image.repo_tags);
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

/// Whether the engine's socket is there and open to us, and if not, what to do.
fn reachable(address: &str) -> Result<(), Absent> {
    let Some(path) = address.strip_prefix("unix://") else {
        return Err(Absent::new(
            format!("DOCKER_HOST is '{address}', which is no local socket"),
            "point DOCKER_HOST to a unix:// socket of an engine on this host",
        ));
    };
    std::os::unix::net::UnixStream::connect(path)
        .map(drop)
        .map_err(|e| match e.kind() {
            io::ErrorKind::PermissionDenied => Absent::new(
                format!("no permission for the engine's socket {path}"),
                "run tare as root or join the group docker",
            ),
            io::ErrorKind::ConnectionRefused => Absent::new(
                format!("the Docker engine does not answer on {path}"),
                "start it: systemctl start docker",
            ),
            _ => Absent::new(
                format!("no Docker engine: {path}: {e}"),
                "install and start Docker (Debian: apt-get install docker.io; systemctl start docker)",
            ),
        })
}

/// The image that holds the binary; imported if the engine does not have it yet.
fn image(engine: &Engine, binary: &Path) -> Result<String, BoxError> {
    let read = std::fs::read(binary).map_err(BoxError::host(format!("read {}", binary.display())))?;
    let mut hasher = DefaultHasher::new();
    read.hash(&mut hasher);
    let tag = format!("{:016x}", hasher.finish());
    let name = format!("{REPOSITORY}:{tag}");
    if let Ok(found) = engine.wait(engine.api.inspect_image(&name)) {
        return Ok(found.id.unwrap_or(name));
    }
    let archive = one_file_archive(&read).map_err(BoxError::host("pack the binary"))?;
    let options = query::CreateImageOptionsBuilder::new()
        .from_src("-")
        .repo(REPOSITORY)
        .tag(&tag)
        .build();
    let mut progress = engine
        .api
        .create_image(Some(options), Some(bollard::body_full(archive.into())), None);
    engine.runtime.block_on(async {
        while let Some(step) = progress.next().await {
            step.map_err(refused)?;
        }
        Ok::<_, BoxError>(())
    })?;
    Ok(name)
}

fn one_file_archive(binary: &[u8]) -> io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_size(binary.len() as u64);
    header.set_mode(0o755);
    let mut archive = tar::Builder::new(Vec::with_capacity(binary.len() + 4096));
    archive.append_data(&mut header, "tare", binary)?;
    archive.into_inner()
}

fn body(spec: &BoxSpec, image: &str) -> ContainerCreateBody {
    let limits = spec.limits();
    let memory = limits.memory_bytes.and_then(|bytes| i64::try_from(bytes).ok());
    let quota = limits
        .quota
        .and_then(|cpus| i64::try_from(cpus.quota_us(PERIOD_US)).ok());
    let host_config = HostConfig {
        cpu_period: quota.and_then(|_| i64::try_from(PERIOD_US).ok()),
        cpu_quota: quota,
        cpuset_cpus: limits.cpuset.as_deref().map(cpu_list),
        memory,
        // Equal to the memory: no swap.
        memory_swap: memory,
        network_mode: Some("none".to_owned()),
        // Else the log driver writes the whole link to disk.
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        auto_remove: Some(true),
        ..HostConfig::default()
    };
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

struct DockerBox {
    engine: Rc<Engine>,
    id: String,
    link: Option<Link>,
    cgroup: Option<Cgroup>,
    hello_after: Duration,
    frozen: bool,
    gone: bool,
}

impl DockerBox {
    /// Attaches before the start, so that nothing is lost, and greets the agent.
    fn start(&mut self, requested: Instant) -> Result<(), BoxError> {
        let engine = Rc::clone(&self.engine);
        let options = query::AttachContainerOptionsBuilder::new()
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .stream(true)
            .build();
        let attached = engine.wait(engine.api.attach_container(&self.id, Some(options)))?;
        engine.wait(
            engine
                .api
                .start_container(&self.id, None::<query::StartContainerOptions>),
        )?;
        let stderr = Rc::default();
        let mut link = Link::new(AttachedStream {
            engine: Rc::clone(&engine),
            attached,
            stderr: Rc::clone(&stderr),
        });
        link.hello(None, HELLO_DEADLINE)
            .map_err(|source| BoxError::NoHello {
                source,
                console: String::from_utf8_lossy(&stderr.borrow()).trim().to_owned(),
            })?;
        self.link = Some(link);
        self.hello_after = requested.elapsed();
        self.cgroup = self.find_cgroup();
        Ok(())
    }

    /// The container's cgroup, by its first process.
    fn find_cgroup(&self) -> Option<Cgroup> {
        let options = None::<query::InspectContainerOptions>;
        let state = self
            .engine
            .wait(self.engine.api.inspect_container(&self.id, options))
            .ok()?
            .state?;
        let pid = state.pid.and_then(|pid| u32::try_from(pid).ok())?;
        Cgroup::of_process(&Layout::detect().ok()?, pid).ok()
    }

    fn end(&mut self) -> Result<(), BoxError> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        if self.frozen {
            let _ = self.engine.wait(self.engine.api.unpause_container(&self.id));
        }
        self.link = None;
        remove(&self.engine, &self.id)
    }
}

/// Removes a container and waits until the engine has forgotten it.
fn remove(engine: &Engine, id: &str) -> Result<(), BoxError> {
    let deadline = Instant::now() + END_DEADLINE;
    loop {
        let options = query::RemoveContainerOptionsBuilder::new().force(true).build();
        let removed = engine
            .runtime
            .block_on(engine.api.remove_container(id, Some(options)));
        match removed {
            Err(bollard::errors::Error::DockerResponseServerError { status_code: 404, .. }) => return Ok(()),
            // The engine may be removing it already, since its link has ended: asked again until it is gone.
            _ if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            Ok(()) => return Ok(()),
            Err(e) => return Err(refused(e)),
        }
    }
}

impl RunningBox for DockerBox {
    fn link(&mut self) -> &mut Link {
        self.link
            .as_mut()
            .expect("a box has its link from launch to destroy")
    }

    fn hello_after(&self) -> Duration {
        self.hello_after
    }

    fn meter(&self) -> Option<Meter> {
        self.cgroup.as_ref()?.meter().ok()
    }

    fn freeze(&mut self) -> Result<(), BoxError> {
        self.engine.wait(self.engine.api.pause_container(&self.id))?;
        self.frozen = true;
        Ok(())
    }

    fn thaw(&mut self) -> Result<(), BoxError> {
        self.engine.wait(self.engine.api.unpause_container(&self.id))?;
        self.frozen = false;
        Ok(())
    }

    fn destroy(&mut self) -> Result<(), BoxError> {
        self.end()
    }
}

impl Drop for DockerBox {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The attached stream of a container; its standard error is kept apart.
struct AttachedStream {
    engine: Rc<Engine>,
    attached: AttachContainerResults,
    stderr: Rc<std::cell::RefCell<Vec<u8>>>,
}

/// Most bytes of a container's standard error that are kept for messages.
const STDERR_KEPT: usize = 4096;

/// Waits for a step of the stream until the deadline, looking at the user's
/// wish to stop in between.
async fn within<T>(step: impl Future<Output = T>, deadline: Instant) -> io::Result<T> {
    let mut step = std::pin::pin!(step);
    loop {
        let left = interrupt::next_slice(deadline)?;
        if let Ok(done) = tokio::time::timeout(left, &mut step).await {
            return Ok(done);
        }
    }
}

impl Stream for AttachedStream {
    fn send(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        let input = &mut self.attached.input;
        let write = async {
            input.write_all(bytes).await?;
            input.flush().await
        };
        self.engine.runtime.block_on(within(write, deadline))?
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        use bollard::container::LogOutput;
        loop {
            let next = self
                .engine
                .runtime
                .block_on(within(self.attached.output.next(), deadline))?;
            match next {
                None => return Ok(0),
                Some(Err(e)) => return Err(io::Error::other(e)),
                Some(Ok(LogOutput::StdErr { message })) => {
                    let mut kept = self.stderr.borrow_mut();
                    let room = STDERR_KEPT.saturating_sub(kept.len()).min(message.len());
                    kept.extend_from_slice(&message[..room]);
                }
                Some(Ok(output)) => {
                    let bytes = output.into_bytes();
                    if !bytes.is_empty() {
                        buffer.extend_from_slice(&bytes);
                        return Ok(bytes.len());
                    }
                }
            }
        }
    }
}
