//! The options that platforms which are containers have in common.

use super::Network;
use super::registry::Options;
use super::security::{Offer, Security};
use super::storage::Storage;

/// What keeps a container's boxes apart from their host.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    pub network: Network,
    pub security: Security,
    pub storage: Option<Storage>,
}

impl Apart {
    /// Takes the options out of those of a path.
    pub(super) fn take(options: &mut Options, offer: &Offer) -> Result<Self, String> {
        Ok(Self {
            network: options.take_network(&Network::ALL)?,
            security: Security::take(options, offer)?,
            storage: Storage::take(options)?,
        })
    }

    /// What a report is to tell of them.
    pub(super) fn details(&self) -> impl Iterator<Item = (String, String)> {
        self.security.details().chain(self.storage.map(Storage::detail))
    }
}
