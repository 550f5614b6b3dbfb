//! A running inner box, and the stream to its agent.

use super::super::contract::{ANSWER_DEADLINE, BoxError, Layer, OnLayer, RunningBox};
use super::CHANNEL;
use crate::link::{Link, LinkError, Stream, unexpected};
use std::cell::RefCell;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tare_host::cgroup::Meter;
use tare_host::net::HostReach;
use tare_model::protocol::{Reply, Request};

/// The outer box, of which the inner one has the link.
pub(super) type Shared = Rc<RefCell<Box<dyn RunningBox>>>;

/// The stream of an inner box's agent, over the link of the outer box.
pub(super) struct Relayed(pub Shared);

impl Stream for Relayed {
    fn send(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.0.borrow_mut().link().relay(CHANNEL, bytes, deadline)
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        self.0.borrow_mut().link().relayed(CHANNEL, buffer, deadline)
    }
}

/// An inner box. The host sees the outer one: its counters, its CPUs, its freezer.
pub(super) struct NestedBox {
    pub link: Link,
    pub outer: Shared,
    pub outer_layer: Layer,
    /// Whether the outer box is a host of its own, which is not to be frozen and has no limits.
    pub on_host: bool,
    pub hello_after: Duration,
    pub shares_network: bool,
}

impl NestedBox {
    fn ask_outer(&self, request: &Request, expected: &Reply) -> Result<(), BoxError> {
        let reply = self
            .outer
            .borrow_mut()
            .link()
            .request(request, ANSWER_DEADLINE)?
            .reply;
        if reply == *expected {
            Ok(())
        } else {
            Err(unexpected("freeze or thaw an inner box", &reply).into())
        }
    }
}

impl RunningBox for NestedBox {
    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn keeps_time(&self) -> bool {
        !self.on_host && self.outer.borrow().keeps_time()
    }

    fn hello_after(&self) -> Duration {
        self.hello_after
    }

    fn marks(&self) -> Vec<String> {
        if self.on_host {
            return Vec::new();
        }
        self.outer.borrow().marks()
    }

    fn meter(&self) -> Option<Meter> {
        self.outer.borrow().meter()
    }

    fn address(&self) -> Option<IpAddr> {
        self.shares_network.then(|| self.outer.borrow().address())?
    }

    fn host_reach(&self) -> HostReach {
        self.outer.borrow().host_reach()
    }

    fn host_address(&self) -> Option<IpAddr> {
        self.shares_network.then(|| self.outer.borrow().host_address())?
    }

    fn on_each_outer(&mut self, act: &mut OnLayer<'_>) -> Result<(), LinkError> {
        if self.on_host {
            return Ok(());
        }
        let mut outer = self.outer.borrow_mut();
        outer.on_each_outer(act)?;
        act(&mut **outer, &self.outer_layer)
    }

    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        self.outer.borrow().host_allowed_cpus()
    }

    fn freeze(&mut self) -> Result<(), BoxError> {
        if self.on_host {
            return self.ask_outer(&Request::Freeze { channel: CHANNEL }, &Reply::Frozen);
        }
        self.outer.borrow_mut().freeze()
    }

    fn thaw(&mut self) -> Result<(), BoxError> {
        if self.on_host {
            return self.ask_outer(&Request::Thaw { channel: CHANNEL }, &Reply::Thawed);
        }
        self.outer.borrow_mut().thaw()
    }

    fn pause(&mut self) -> Result<(), BoxError> {
        if self.on_host {
            return self.freeze();
        }
        self.outer.borrow_mut().pause()
    }

    fn resume(&mut self) -> Result<(), BoxError> {
        if self.on_host {
            return self.thaw();
        }
        self.outer.borrow_mut().resume()
    }

    /// The inner box ends with the outer one: nothing is asked of it, which may be
    /// frozen or dead.
    fn destroy(&mut self) -> Result<(), BoxError> {
        self.outer.borrow_mut().destroy()
    }
}
