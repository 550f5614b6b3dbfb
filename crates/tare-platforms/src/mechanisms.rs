//! Which mechanisms a platform has.

use super::contract::storage::Storage;
use super::contract::{GuestMemory, Platform, Security};
use super::open::open;
use super::vm::has_huge_pages;
use std::path::Path;
use tare_host::net::Network;
use tare_model::mechanism::{MECHANISMS, Mechanism};
use tare_model::platform::PlatformPath;

/// What of a platform tells whether a mechanism is on.
type Isolation = (Option<Security>, Network, Option<Storage>, Option<GuestMemory>);

/// Those that are on in boxes of this platform and that an option of it switches off; `cache` is the folder in which it may keep what
/// it made. Nothing is made or asked.
pub fn mechanisms_of(path: &PlatformPath, cache: &Path) -> Vec<Mechanism> {
    let state = |path: &PlatformPath| open(path, cache).ok().map(|platform| state(&*platform));
    let Some(on) = state(path) else {
        return Vec::new();
    };
    let can_be_off = |mechanism: &Mechanism| {
        let is_there = match mechanism.switch.key() {
            // Without a folder of its own, a box has nothing that another place could hold.
            Storage::OPTION => on.2.is_some(),
            GuestMemory::HUGE_PAGES => has_huge_pages(),
            _ => true,
        };
        is_there && state(&mechanism.without_option(path)).is_some_and(|off| off != on)
    };
    MECHANISMS.into_iter().filter(can_be_off).collect()
}

fn state(platform: &dyn Platform) -> Isolation {
    (
        platform.security(),
        platform.network(),
        platform.storage(),
        platform.memory(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(path: &str) -> Vec<&'static str> {
        let found = mechanisms_of(&path.parse().unwrap(), Path::new("/nowhere"));
        found.iter().map(|mechanism| mechanism.switch.key()).collect()
    }

    #[test]
    fn a_platform_has_the_mechanisms_that_are_on_and_can_be_off() {
        assert_eq!(options("docker"), ["seccomp", "capabilities", "pidns", "network"]);
        assert_eq!(
            options("docker?seccomp=off&network=host"),
            ["capabilities", "pidns"]
        );
        assert_eq!(
            options("docker?storage=own"),
            ["seccomp", "capabilities", "pidns", "network", "storage"]
        );
        assert_eq!(options("nspawn?userns=on").first(), Some(&"seccomp"));
        assert!(options("nspawn?userns=on").contains(&"userns"));
        assert!(!options("lxc").contains(&"seccomp"));
        assert!(options("vm").contains(&"prealloc") && !options("vm").contains(&"cache"));
        assert!(options("vm?storage=raw").contains(&"cache"));
        assert_eq!(options("native?network=bridge"), ["network"]);
        assert!(options("native").is_empty() && options("no-such").is_empty());
    }
}
