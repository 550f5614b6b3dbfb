//! Boxes in boxes: the outer platform makes a box, whose agent makes the inner
//! one by the same code and relays its stream.

mod inside;
mod running;

pub use inside::launch;

use super::contract::{
    ANSWER_DEADLINE, Absent, BoxError, BoxImage, BoxSpec, Layer, MemoryView, Platform, QuotaView, RunningBox,
    Support,
};
use super::directory::canonical;
use super::security;
use crate::agent_file;
use crate::architecture::Architecture;
use crate::link::{Link, unexpected};
use running::{NestedBox, Relayed};
use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tare_host::build_id;
use tare_host::carry;
use tare_host::net::Network;
use tare_host::places::{HELD_IMAGE, INNER_BOXES};
use tare_model::platform::PlatformPath;
use tare_model::protocol::{InnerBox, InnerImage, Reply, Request};
use tare_model::results::PlatformVersion;
use tare_model::size::InstanceType;

/// Channel of the one inner box.
const CHANNEL: u16 = 1;

/// Name of the folder of the inner box in that of an outer one on the host.
const FOLDER: &str = "inner";

/// Time for an outer box to make an inner one, with its engine started on an emulated CPU.
const LAUNCH_DEADLINE: Duration = Duration::from_secs(180);

/// Time for one file to be carried into the outer box.
const CARRY_DEADLINE: Duration = Duration::from_secs(60);

/// A guest's kernel keeps up to one part in so many of large memory: 64 bytes for each
/// page, page tables, what it leaves free for huge pages, and from 3 GiB on buffers for
/// devices that address no more.
const KERNEL_SHARE: u64 = 16;

/// A platform in another, which may itself be in another: every box of a path is
/// made from here, by the agent of the box around it.
pub(super) struct Nested {
    pub outer: Box<dyn Platform>,
    pub outer_path: PlatformPath,
    /// The innermost platform as it is here: its programs are carried from here.
    pub inner: Box<dyn Platform>,
    pub inner_path: PlatformPath,
    /// Whether the inner box has the network of the outer one.
    pub shares_network: bool,
}

impl Nested {
    /// Files that the inner engine consists of.
    fn files(&self) -> Result<Vec<PathBuf>, BoxError> {
        let needs = self.inner.inner_needs();
        let mut files: Vec<PathBuf> = needs.files.iter().map(PathBuf::from).collect();
        for program in needs.programs {
            files.extend(carry::program_files(program).map_err(|e| BoxError::Engine {
                engine: program,
                message: e.to_string(),
            })?);
        }
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Memory of the outer box beyond that of the inner one: for its engine, and where the
    /// outer box has a kernel of its own, for the kernel's books, which grow with the memory, and
    /// for this program, whose file is in its memory twice: as unpacked, and in the root for boxes.
    fn headroom_bytes(&self, inner_bytes: u64, program_bytes: u64) -> u64 {
        let machine_bytes = match self.outer.memory_view() {
            MemoryView::Ram => inner_bytes / KERNEL_SHARE + 2 * program_bytes,
            MemoryView::Touch | MemoryView::HostLimit => 0,
        };
        self.inner.inner_needs().memory_bytes + machine_bytes
    }

    /// The folder for the files of the inner box, as the outer one sees it.
    fn folder(&self, outer: &BoxSpec) -> Result<PathBuf, BoxError> {
        let security = self.inner.security();
        let has_userns = security.is_some_and(|security| security.has_userns());
        match outer.held_image() {
            // What is written above an image goes where it would in a box alone, not into the memory
            // that a host has there. Another user of the host would not get through to it.
            Some(_) if self.outer.has_host_files() && !has_userns => {
                Ok(canonical(&outer.scratch.join(&outer.name))?.join(FOLDER))
            }
            _ => Ok(INNER_BOXES.into()),
        }
    }

    /// An image as the outer box sees it.
    fn seen(&self, image: &BoxImage) -> InnerImage {
        if self.outer.has_host_files() {
            image.seen_at(image.rootfs())
        } else {
            image.seen_at(HELD_IMAGE.as_ref())
        }
    }

    fn supply(&self, outer: &mut dyn RunningBox) -> Result<(), BoxError> {
        if self.outer.has_host_files() {
            return Ok(());
        }
        for path in self.files()? {
            let content = fs::read(&path).map_err(BoxError::host(format!("read {}", path.display())))?;
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
        let inner = self.inner.probe_carried()?;
        let mut details = outer.details;
        security::forget(&mut details);
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
        // The inner box gets what the outer one's tare has, whatever file is named here.
        if build_id::of_file(&spec.binary) != spec.build_id() {
            let other = io::Error::other("it is not the agent that this tare carries");
            return Err(BoxError::host(format!(
                "put {} into a box",
                spec.binary.display()
            ))(other));
        }
        let requested = Instant::now();
        let binary = agent_file::for_box(true).map_err(BoxError::host("find this program"))?;
        let program_bytes = fs::metadata(&binary)
            .map_err(BoxError::host("read this program"))?
            .len();
        let headroom_bytes = self.headroom_bytes(spec.instance.memory_bytes, program_bytes);
        let outer_spec = BoxSpec {
            instance: InstanceType {
                memory_bytes: spec.instance.memory_bytes + headroom_bytes,
                ..spec.instance
            },
            architecture: Architecture::HERE,
            holds_boxes: true,
            binary,
            ..spec.clone()
        };
        let mut outer = self.outer.launch(&outer_spec)?;
        self.supply(&mut *outer)?;
        let inner = InnerBox {
            platform: self.inner_path.clone(),
            // Another name than those around it: a keyring of the kernel may be known by it.
            name: format!("{}-in{}", spec.name, self.outer_path.segments().len()),
            run: spec.run.clone(),
            hostname: spec.hostname.clone(),
            instance: spec.instance,
            provisioning: spec.provisioning,
            pinned_set: self.outer.cpus_inside(&spec.pinned_set),
            // Whatever is in a box runs where that does; a host of its own binds nothing.
            host_set: if self.outer.is_host() {
                spec.host_set.clone()
            } else {
                Vec::new()
            },
            holds_boxes: spec.holds_boxes,
            on_host: self.outer.is_host(),
            folder: self.folder(&outer_spec)?,
            image: spec.image.as_ref().map(|image| self.seen(image)),
        };
        let request = Request::Launch {
            channel: CHANNEL,
            inner,
        };
        match outer.link().request(&request, LAUNCH_DEADLINE)?.reply {
            Reply::Launched => {}
            other => return Err(unexpected("launch an inner box", &other).into()),
        }
        let outer = Rc::new(RefCell::new(outer));
        let mut link = Link::new(Relayed(Rc::clone(&outer)));
        link.hello(spec.build_id(), None, ANSWER_DEADLINE)?;
        Ok(Box::new(NestedBox {
            link,
            outer,
            outer_layer: Layer {
                path: self.outer_path.clone(),
                views: (self.outer.quota_view(), self.outer.memory_view()),
                spec: outer_spec,
                reserved_bytes: headroom_bytes,
            },
            on_host: self.outer.is_host(),
            shares_network: self.shares_network,
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

    fn network(&self) -> Network {
        if self.shares_network {
            self.outer.network()
        } else {
            Network::None
        }
    }

    fn supports_image(&self) -> Support {
        self.outer.supports_held_image()?;
        self.inner.supports_image_inside()
    }

    fn supports_held_image(&self) -> Support {
        self.outer.supports_held_image()?;
        self.inner.supports_held_image()
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

    /// An inner box competes with nothing but its outer one, which holds it.
    fn supports_weight(&self) -> Support {
        self.outer.supports_weight()
    }

    fn supports_pinning(&self) -> Support {
        self.outer.supports_pinning()
    }

    fn is_in_own_cgroup(&self) -> bool {
        self.outer.is_in_own_cgroup()
    }

    fn cpus_inside(&self, set: &[u32]) -> Vec<u32> {
        self.inner.cpus_inside(&self.outer.cpus_inside(set))
    }
}
