//! The network of a container, entered from outside.

use super::NetError;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::os::fd::AsFd;
use tare_box::interface::{Address, configure};

/// The network of a box, by the first of its processes that is not in ours.
pub(super) fn namespace(processes: &[u32]) -> Option<File> {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    let ours = of("self")?;
    let theirs = processes.iter().find(|pid| {
        let theirs = of(&pid.to_string());
        theirs.is_some_and(|theirs| theirs != ours)
    })?;
    File::open(format!("/proc/{theirs}/ns/net")).ok()
}

/// As [`configure`], in the network of a box. Only a thread that ends afterwards
/// goes there.
pub(super) fn configure_in(namespace: File, address: Address) -> Result<(), NetError> {
    let there = std::thread::spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|e| NetError::new("enter the network of the box", e))?;
        configure(address).map_err(|e| NetError::new("give the box its address", e))
    });
    let lost = |_| {
        Err(NetError::new(
            "give the box its address",
            "the thread for it failed",
        ))
    };
    there.join().unwrap_or_else(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_in_our_own_network_shows_no_other() {
        assert!(namespace(&[std::process::id()]).is_none());
        assert!(namespace(&[]).is_none());
    }
}
