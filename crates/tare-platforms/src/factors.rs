//! Options of platforms whose values a study may take one by one, as levels of a factor.

use super::contract::Storage;
use super::contract::storage::{Cache, Format};
use super::storage::CACHE;
use tare_host::net::Network;

/// Such an option.
#[derive(Debug)]
pub struct OptionFactor {
    /// The name of the factor, which is that of the key and of the command line's option.
    pub name: &'static str,
    /// The option of platforms.
    pub option: &'static str,
    /// All values that a platform may have.
    pub levels: &'static [&'static str],
}

/// All of them, each behind those on which it depends: only a disk has a cache.
pub const OPTION_FACTORS: [OptionFactor; 3] = [
    OptionFactor {
        name: "storages",
        option: Storage::OPTION,
        levels: &[
            Storage::Own.name(),
            Storage::Volume.name(),
            Storage::Tmpfs.name(),
            Storage::Overlay.name(),
            Format::Raw.name(),
            Format::Qcow2.name(),
        ],
    },
    OptionFactor {
        name: "caches",
        option: CACHE,
        levels: &[
            Cache::Writeback.name(),
            Cache::None.name(),
            Cache::Writethrough.name(),
            Cache::Directsync.name(),
            Cache::Unsafe.name(),
        ],
    },
    OptionFactor {
        name: "networks",
        option: Network::OPTION,
        levels: &[
            Network::None.name(),
            Network::Host.name(),
            Network::Bridge.name(),
            Network::Macvlan.name(),
            Network::Published.name(),
            Network::Pasta.name(),
            Network::Slirp4netns.name(),
        ],
    },
];
