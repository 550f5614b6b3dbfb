//! The options that platforms which are containers have in common.

use super::contract::{Absent, Security, Storage};
use super::options::Options;
use super::security::Offer;
use tare_host::net::{Network, makes_macvlan, without_bridges};

/// What keeps a container's boxes apart from their host.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    pub network: Network,
    pub security: Security,
    pub storage: Option<Storage>,
}

/// Whether the kernel makes this network, which tare brings itself. A macvlan is on a bridge too.
pub(super) fn can_be_had(network: Network) -> Result<(), Absent> {
    if !matches!(network, Network::Bridge | Network::Macvlan) {
        return Ok(());
    }
    if let Some(why) = without_bridges() {
        return Err(Absent::new(
            format!("the kernel makes no bridge for network={}: {why}", network.name()),
            "run tare as root on a host whose kernel has bridge and veth (modprobe bridge veth), or choose another network",
        ));
    }
    if network == Network::Bridge || makes_macvlan() {
        return Ok(());
    }
    Err(Absent::new(
        "the kernel makes no macvlan",
        "load its module (modprobe macvlan), or choose another network",
    ))
}

impl Apart {
    /// Takes the options out of those of a path, of containers whose mounts an engine
    /// makes.
    pub(super) fn by_engine(
        options: &mut Options,
        offer: &Offer,
        networks: &[Network],
    ) -> Result<Self, String> {
        Self::take(options, offer, networks, &Storage::OF_CONTAINERS)
    }

    /// As [`Apart::by_engine`], of containers whose mounts are told one by one.
    pub(super) fn by_tool(options: &mut Options, offer: &Offer) -> Result<Self, String> {
        let apart = Self::take(options, offer, &Network::OF_TOOLS, &Storage::OF_BUNDLES)?;
        Ok(Self {
            security: apart.security.tied_by(apart.network),
            ..apart
        })
    }

    fn take(
        options: &mut Options,
        offer: &Offer,
        networks: &[Network],
        storages: &[Storage],
    ) -> Result<Self, String> {
        Ok(Self {
            network: options.take_network(networks)?,
            security: Security::take(options, offer)?,
            storage: Storage::take(options, storages)?,
        })
    }

    /// Whether the kernel has what storage and network need.
    pub(super) fn probe(&self) -> Result<(), Absent> {
        self.storage.map_or(Ok(()), Storage::probe)?;
        can_be_had(self.network)
    }

    /// What a report is to tell of them.
    pub(super) fn details(&self) -> impl Iterator<Item = (String, String)> {
        let storage = self.storage.into_iter().flat_map(Storage::details);
        self.security.details().chain(storage)
    }
}
