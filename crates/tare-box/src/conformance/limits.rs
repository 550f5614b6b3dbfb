//! Limits, by the same proof as in a run.

use super::site::Site;
use super::{Broken, Kept, expect};
use crate::limits::prove;
use crate::platforms::contract::BoxSpec;
use tare_model::platform::Provisioning;
use tare_model::size::{Cpus, InstanceType, show_memory};
use tare_model::study::BoxKind;

/// A quota that is no whole CPU.
pub(super) fn quota(site: &mut Site<'_>) -> Result<Kept, Broken> {
    let spec = site.spec(Provisioning::Vanilla);
    let instance = InstanceType {
        cpus: Cpus::from_milli(600),
        ..spec.instance
    };
    proven(site, &BoxSpec { instance, ..spec })
}

pub(super) fn pinned(site: &mut Site<'_>) -> Result<Kept, Broken> {
    let spec = site.spec(Provisioning::Pinned);
    proven(site, &spec)
}

fn proven(site: &mut Site<'_>, spec: &BoxSpec) -> Result<Kept, Broken> {
    let kind = BoxKind {
        platform: site.order().path.clone(),
        provisioning: spec.provisioning,
        instance: None,
    };
    let platform = site.platform()?;
    let views = (platform.quota_view(), platform.memory_view());
    let mut made = platform.launch(spec)?;
    let proof = prove(&mut *made, views, &kind, spec)?;
    made.destroy()?;
    expect(proof.proven, || proof.remarks.join("; "))?;
    let cores = proof.host_cores.or_else(|| proof.burn?.cores_between_edges);
    Ok(Kept::Yes(cores.map(|cores| {
        format!(
            "{cores:.3} of {} CPUs, {}",
            proof.limit_cores,
            show_memory(proof.limit_bytes)
        )
    })))
}
