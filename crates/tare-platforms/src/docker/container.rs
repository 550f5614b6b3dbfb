//! A container with its agent.

use super::super::contract::{ANSWER_DEADLINE, BoxError, HELLO_DEADLINE, RunningBox};
use super::super::directory::BoxDirectory;
use super::attach::attach;
use super::engine::Engine;
use crate::link::Link;
use bollard::models::NetworkSettings;
use bollard::query_parameters as query;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tare_host::cgroup::{Cgroup, CgroupError, Layout, Meter};
use tare_host::control_cpu;
use tare_host::net::HostReach;
use tare_host::net::Network;

pub(super) struct DockerBox {
    engine: Rc<Engine>,
    id: String,
    directory: BoxDirectory,
    link: Option<Link>,
    cgroup: Option<Cgroup>,
    address: Option<IpAddr>,
    host_address: Option<IpAddr>,
    host_reach: HostReach,
    hello_after: Duration,
    frozen: bool,
    gone: bool,
}

impl DockerBox {
    /// A created container that has not been started; removed when dropped.
    pub fn new(engine: Rc<Engine>, id: String, directory: BoxDirectory) -> Self {
        Self {
            engine,
            id,
            directory,
            link: None,
            cgroup: None,
            address: None,
            host_address: None,
            host_reach: HostReach::Direct,
            hello_after: Duration::ZERO,
            frozen: false,
            gone: false,
        }
    }

    /// Attaches before the start, so that nothing is lost, and greets the agent of this build.
    /// `around` is the cgroup in which its own must be.
    pub fn start(
        &mut self,
        build_id: &'static str,
        requested: Instant,
        network: Network,
        around: Option<&Path>,
    ) -> Result<(), BoxError> {
        let engine = Rc::clone(&self.engine);
        let stderr = Rc::default();
        let stream = attach(&engine, &self.id, Rc::clone(&stderr))?;
        engine.wait(
            engine
                .api
                .start_container(&self.id, None::<query::StartContainerOptions>),
        )?;
        let mut link = Link::new(stream);
        link.hello(build_id, None, HELLO_DEADLINE)
            .map_err(|source| BoxError::NoHello {
                source,
                console: String::from_utf8_lossy(&stderr.borrow()).trim().to_owned(),
            })?;
        self.hello_after = requested.elapsed();
        if let Some(pid) = self.find_pid() {
            // The engine's daemon and shim take some 400 us for a message and its answer.
            link.shorten(pid, control_cpu::cpu(), ANSWER_DEADLINE)?;
            self.cgroup = self.cgroup_of(pid);
        }
        if !around.is_none_or(|around| self.is_within(around)) {
            return Err(self.lacks("cgroup within the one that was made for it"));
        }
        self.link = Some(link);
        match network {
            // The last is not an engine's.
            Network::None | Network::Macvlan => {}
            Network::Host => {
                self.address = Some(Ipv4Addr::LOCALHOST.into());
                self.host_address = self.address;
            }
            Network::Bridge => self.find_addresses()?,
            Network::Published => {
                self.find_addresses()?;
                self.host_reach = HostReach::Published(self.find_port()?);
            }
            // Whoever passes connections on makes them inside to the loopback or to another address.
            Network::Pasta | Network::Slirp4netns => {
                self.address = Some(Ipv4Addr::UNSPECIFIED.into());
                self.host_reach = HostReach::Published(self.find_port()?);
            }
        }
        Ok(())
    }

    /// Freezes its cgroup or lets it go on, and tells whether that could be: not where it is not known, or is root's and this user is
    /// not, who may ask the engine.
    fn set_frozen(&self, frozen: bool) -> Result<bool, BoxError> {
        match self.cgroup.as_ref().map(|cgroup| cgroup.freeze(frozen)) {
            Some(Err(CgroupError::File { source, .. }))
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                Ok(false)
            }
            Some(done) => Ok(done.map(|()| true)?),
            None => Ok(false),
        }
    }

    /// The cgroup of a process that bears the container's id in its path. One that does not is of another kernel, that of an engine in a
    /// machine, and a stranger has its number here.
    fn cgroup_of(&self, pid: u32) -> Option<Cgroup> {
        let layout = Layout::detect().ok()?;
        let found = Cgroup::of_process(&layout, pid).ok()?;
        let path = found.path(&layout);
        path.to_str()?.contains(&self.id).then_some(found)
    }

    fn is_within(&self, around: &Path) -> bool {
        let own = self.cgroup.as_ref().zip(Layout::detect().ok());
        own.is_some_and(|(own, layout)| own.path(&layout).starts_with(around))
    }

    /// The address that the engine gave the container, and that of the host beside it.
    fn find_addresses(&mut self) -> Result<(), BoxError> {
        let networks = self.networks()?.and_then(|settings| settings.networks);
        let mut networks = networks.into_iter().flatten().map(|(_, one)| one);
        let read = |text: Option<String>| text.and_then(|text| text.parse().ok());
        let found = networks.find_map(|one| Some((read(one.ip_address)?, read(one.gateway))));
        let (address, host) = found.ok_or_else(|| self.lacks("address in the engine's bridge"))?;
        self.address = Some(address);
        self.host_address = host;
        Ok(())
    }

    /// Where the engine publishes the container's port on the host.
    fn find_port(&self) -> Result<SocketAddr, BoxError> {
        let ports = self.networks()?.and_then(|settings| settings.ports);
        let bound = ports
            .into_iter()
            .flatten()
            .filter_map(|(_, bound)| bound)
            .flatten();
        let mut ports = bound.filter_map(|binding| binding.host_port?.parse().ok());
        let found = ports
            .find(|port| *port != 0)
            .map(|port| (Ipv4Addr::LOCALHOST, port).into());
        found.ok_or_else(|| self.lacks("published port"))
    }

    fn networks(&self) -> Result<Option<NetworkSettings>, BoxError> {
        let options = None::<query::InspectContainerOptions>;
        let container = self
            .engine
            .wait(self.engine.api.inspect_container(&self.id, options))?;
        Ok(container.network_settings)
    }

    fn lacks(&self, what: &str) -> BoxError {
        BoxError::Engine {
            engine: self.engine.name,
            message: format!("container {:.12} has no {what}", self.id),
        }
    }

    /// The container's first process, as the engine's host numbers it.
    fn find_pid(&self) -> Option<u32> {
        let options = None::<query::InspectContainerOptions>;
        let state = self
            .engine
            .wait(self.engine.api.inspect_container(&self.id, options))
            .ok()?
            .state?;
        state.pid.and_then(|pid| u32::try_from(pid).ok())
    }

    fn end(&mut self) -> Result<(), BoxError> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        if let Some(cgroup) = &self.cgroup {
            // It may have been paused, which the engine does not know.
            let _ = cgroup.freeze(false);
        }
        if self.frozen {
            let _ = self.engine.wait(self.engine.api.unpause_container(&self.id));
        }
        self.link = None;
        self.engine.remove(&self.id)?;
        self.directory.clear()
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

    fn marks(&self) -> Vec<String> {
        vec![self.id.clone()]
    }

    fn meter(&self) -> Option<Meter> {
        self.cgroup.as_ref()?.meter().ok()
    }

    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        self.cgroup.as_ref()?.allowed_cpus()
    }

    fn host_memory_limit(&self) -> Option<u64> {
        self.cgroup.as_ref()?.memory_limit().ok()?
    }

    fn address(&self) -> Option<IpAddr> {
        self.address
    }

    fn host_address(&self) -> Option<IpAddr> {
        self.host_address
    }

    fn host_reach(&self) -> HostReach {
        self.host_reach
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

    /// By the freezer itself, where the container's cgroup is known: the engine takes
    /// some 10 ms for what the kernel does in 0.2.
    fn pause(&mut self) -> Result<(), BoxError> {
        if self.set_frozen(true)? {
            return Ok(());
        }
        self.freeze()
    }

    fn resume(&mut self) -> Result<(), BoxError> {
        if self.set_frozen(false)? {
            return Ok(());
        }
        self.thaw()
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
