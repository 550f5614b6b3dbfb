//! Where checks are made: one platform, one run, and a box that checks share
//! which do it no harm.

use super::{Broken, CheckError, Order, ready};
use crate::architecture::Architecture;
use crate::contract::{BoxSpec, Platform, RunningBox};
use std::path::PathBuf;
use std::time::Duration;
use tare_host::cgroup::Weight;
use tare_host::host;
use tare_model::platform::Provisioning;
use tare_model::size::{Cpus, InstanceType};

/// Boxes that are made in a row where one takes no time to speak of.
const MANY: u32 = 50;
/// And where one takes seconds.
const A_FEW: u32 = 5;
/// The cost of a box that divides the two.
const COSTLY: Duration = Duration::from_secs(2);

/// Memory of every box: enough for an emulated machine and for what is kept of output.
const MEMORY_BYTES: u64 = 256 << 20;

pub(super) struct CheckContext<'a> {
    order: &'a Order<'a>,
    platform: Option<Box<dyn Platform>>,
    /// Boxes named so far.
    named: u32,
    shared: Option<Box<dyn RunningBox>>,
}

impl<'a> CheckContext<'a> {
    pub(super) fn open(order: &'a Order<'a>) -> Result<Self, CheckError> {
        Ok(Self {
            order,
            platform: Some(ready(order.path, order.state)?),
            named: 0,
            shared: None,
        })
    }

    pub(super) fn order(&self) -> &'a Order<'a> {
        self.order
    }

    /// The platform, opened anew after [`CheckContext::close`].
    pub(super) fn platform(&mut self) -> Result<&mut dyn Platform, Broken> {
        let platform = match self.platform.take() {
            Some(platform) => platform,
            None => ready(self.order.path, self.order.state).map_err(|e| Broken::Seen(e.to_string()))?,
        };
        Ok(&mut **self.platform.insert(platform))
    }

    /// Gives the platform up, with what it may have started.
    pub(super) fn close(&mut self) -> Result<(), Broken> {
        self.put_away()?;
        self.platform = None;
        Ok(())
    }

    /// What the next box is to be.
    pub(super) fn spec(&mut self, provisioning: Provisioning) -> BoxSpec {
        self.named += 1;
        let spec = BoxSpec {
            name: format!("{}-{}", self.order.run.name(), self.named),
            run: self.order.run.name().to_owned(),
            ..spec(self.order, provisioning)
        };
        let Ok(platform) = self.platform() else {
            return spec;
        };
        BoxSpec {
            weight: weight(platform),
            ..spec.on(platform.architecture())
        }
    }

    pub(super) fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, Broken> {
        Ok(self.platform()?.launch(spec)?)
    }

    /// A box of its own for one check, with its name.
    pub(super) fn own(&mut self) -> Result<(Box<dyn RunningBox>, String), Broken> {
        let spec = self.spec(Provisioning::Vanilla);
        Ok((self.launch(&spec)?, spec.name))
    }

    /// The box that checks share.
    pub(super) fn shared(&mut self) -> Result<&mut dyn RunningBox, Broken> {
        let shared = match self.shared.take() {
            Some(shared) => shared,
            None => self.own()?.0,
        };
        Ok(&mut **self.shared.insert(shared))
    }

    /// Removes the shared box.
    pub(super) fn put_away(&mut self) -> Result<(), Broken> {
        Ok(self.shared.take().map_or(Ok(()), |mut shared| shared.destroy())?)
    }

    /// Removes the shared box, which may be broken.
    pub(super) fn forget_shared(&mut self) {
        self.shared = None;
    }

    /// A folder that a box may use under the same name, whether it has the host's
    /// files or its own. It goes with the run.
    pub(super) fn folder(&self) -> PathBuf {
        self.order.run.folder().join("files")
    }

    /// Boxes to make in a row.
    pub(super) fn many(&mut self) -> Result<u32, Broken> {
        let costly = self.platform()?.cost().0 >= COSTLY;
        let by_cost = if costly { A_FEW } else { MANY };
        Ok(self.order.boxes.unwrap_or(by_cost))
    }
}

/// What the boxes of a platform get of the CPU in a run.
pub(super) fn weight(platform: &dyn Platform) -> Weight {
    match platform.supports_weight() {
        Ok(()) => Weight::Most,
        Err(_) => Weight::Usual,
    }
}

/// A box of one CPU; its names are left to be given.
pub(super) fn spec(order: &Order<'_>, provisioning: Provisioning) -> BoxSpec {
    BoxSpec {
        name: String::new(),
        run: String::new(),
        hostname: BoxSpec::HOSTNAME.to_owned(),
        instance: InstanceType {
            cpus: Cpus::from_milli(1000),
            memory_bytes: MEMORY_BYTES,
        },
        provisioning,
        pinned_set: host::pinned_set(1),
        host_set: Vec::new(),
        weight: Weight::Usual,
        scratch: order.run.folder().to_owned(),
        binary: order.agent.clone(),
        architecture: Architecture::HERE,
        holds_boxes: false,
        image: None,
    }
}
