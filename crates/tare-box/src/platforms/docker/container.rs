//! A container and the attached stream to its agent.

use super::super::{BoxError, HELLO_DEADLINE, RunningBox};
use super::engine::Engine;
use crate::cgroup::{Cgroup, Layout, Meter};
use crate::interrupt;
use crate::link::{Link, Stream};
use bollard::container::AttachContainerResults;
use bollard::query_parameters as query;
use futures_util::StreamExt;
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

pub(super) struct DockerBox {
    engine: Rc<Engine>,
    id: String,
    link: Option<Link>,
    cgroup: Option<Cgroup>,
    hello_after: Duration,
    frozen: bool,
    gone: bool,
}

impl DockerBox {
    /// A created container that has not been started; removed when dropped.
    pub fn new(engine: Rc<Engine>, id: String) -> Self {
        Self {
            engine,
            id,
            link: None,
            cgroup: None,
            hello_after: Duration::ZERO,
            frozen: false,
            gone: false,
        }
    }

    /// Attaches before the start, so that nothing is lost, and greets the agent.
    pub fn start(&mut self, requested: Instant) -> Result<(), BoxError> {
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
        self.engine.remove(&self.id)
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
