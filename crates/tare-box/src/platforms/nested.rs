//! Boxes in boxes: the outer platform makes a box, whose agent makes the inner
//! one by the same code and relays its stream.

use super::{
    ANSWER_DEADLINE, Absent, BoxError, BoxSpec, HELLO_DEADLINE, MemoryView, Platform, QuotaView, RunningBox,
};
use crate::carry;
use crate::cgroup::Meter;
use crate::link::{Link, Stream, unexpected};
use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tare_model::platform::PlatformPath;
use tare_model::protocol::{InnerBox, Reply, Request};
use tare_model::results::PlatformVersion;
use tare_model::size::InstanceType;

/// Channel of the one inner box.
const CHANNEL: u16 = 1;

/// Memory of an outer box beyond that of the inner: its kernel's share, the
/// engine, the files carried into it.
const HEADROOM_BYTES: u64 = 192 << 20;

/// Time for one file to be carried into the outer box.
const CARRY_DEADLINE: Duration = Duration::from_secs(60);

/// A platform in another.
pub(super) struct Nested {
    pub outer: Box<dyn Platform>,
    /// The inner platform as it is here: its programs are carried from here.
    pub inner: Box<dyn Platform>,
    /// What is below the outer platform in the path.
    pub inner_path: PlatformPath,
}

impl Nested {
    /// Files that the inner engine consists of.
    fn files(&self) -> Result<Vec<PathBuf>, BoxError> {
        let mut files = Vec::new();
        for program in self.inner.programs() {
            files.extend(carry::program_files(program).map_err(|e| BoxError::Engine {
                engine: program,
                message: e.to_string(),
            })?);
        }
        files.sort();
        files.dedup();
        Ok(files)
    }

    fn supply(&self, outer: &mut dyn RunningBox) -> Result<(), BoxError> {
        if self.outer.has_host_files() {
            return Ok(());
        }
        for path in self.files()? {
            let content = std::fs::read(&path).map_err(BoxError::host(format!("read {}", path.display())))?;
            let target = path.to_string_lossy();
            outer.carry(&target, 0o755, &content, CARRY_DEADLINE)?;
        }
        Ok(())
    }
}

impl Platform for Nested {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        let outer = self.outer.probe()?;
        if self.outer.is_host() {
            // Its engines are asked there, when a box is made.
            return Ok(outer);
        }
        let inner = self.inner.probe()?;
        let mut details = outer.details;
        details.extend(
            inner
                .details
                .into_iter()
                .map(|(key, value)| (format!("inner-{key}"), value)),
        );
        Ok(PlatformVersion {
            version: format!("{} in {}", inner.version, outer.version),
            details,
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let requested = Instant::now();
        let instance = InstanceType {
            memory_bytes: spec.instance.memory_bytes + HEADROOM_BYTES,
            ..spec.instance
        };
        let outer_spec = BoxSpec {
            instance,
            ..spec.clone()
        };
        let mut outer = self.outer.launch(&outer_spec)?;
        self.supply(&mut *outer)?;
        let inner = InnerBox {
            platform: self.inner_path.clone(),
            name: spec.name.clone(),
            run: spec.run.clone(),
            instance: spec.instance,
            provisioning: spec.provisioning,
            pinned_set: self.outer.cpus_inside(&spec.pinned_set),
        };
        let request = Request::Launch {
            channel: CHANNEL,
            inner,
        };
        match outer.link().request(&request, HELLO_DEADLINE)?.reply {
            Reply::Launched => {}
            other => return Err(unexpected("launch an inner box", &other).into()),
        }
        let outer = Rc::new(RefCell::new(outer));
        let mut link = Link::new(Relayed(Rc::clone(&outer)));
        link.hello(None, ANSWER_DEADLINE)?;
        Ok(Box::new(NestedBox {
            link,
            outer,
            on_host: self.outer.is_host(),
            hello_after: requested.elapsed(),
        }))
    }

    /// An inner box ends with its outer one.
    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        self.outer.sweep(run)
    }

    fn quota_view(&self) -> QuotaView {
        match self.outer.quota_view() {
            QuotaView::HostOnly => QuotaView::HostOnly,
            QuotaView::Inside => self.inner.quota_view(),
        }
    }

    fn has_host_files(&self) -> bool {
        self.outer.has_host_files() && self.inner.has_host_files()
    }

    fn is_host(&self) -> bool {
        self.outer.is_host()
    }

    fn memory_view(&self) -> MemoryView {
        self.inner.memory_view()
    }

    fn cost(&self) -> (Duration, f64) {
        let ((outer, stretch), (inner, inner_stretch)) = (self.outer.cost(), self.inner.cost());
        (
            outer + inner.mul_f64(stretch.max(1.0) * 2.0),
            stretch.max(inner_stretch),
        )
    }

    fn programs(&self) -> Vec<&'static str> {
        let mut programs = self.outer.programs();
        programs.extend(self.inner.programs());
        programs
    }
}

type Shared = Rc<RefCell<Box<dyn RunningBox>>>;

/// The stream of an inner box's agent, over the link of the outer box.
struct Relayed(Shared);

impl Stream for Relayed {
    fn send(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.0.borrow_mut().link().relay(CHANNEL, bytes, deadline)
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        self.0.borrow_mut().link().relayed(CHANNEL, buffer, deadline)
    }
}

/// An inner box. The host sees the outer one: its counters, its CPUs, its freezer.
struct NestedBox {
    link: Link,
    outer: Shared,
    /// Whether the outer box is a host of its own, which is not to be frozen.
    on_host: bool,
    hello_after: Duration,
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

    /// The inner box ends with the outer one: nothing is asked of it, which may be
    /// frozen or dead.
    fn destroy(&mut self) -> Result<(), BoxError> {
        self.outer.borrow_mut().destroy()
    }
}
