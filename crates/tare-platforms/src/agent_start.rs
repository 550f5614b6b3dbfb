//! How the agent is started as the first process of a machine: by the words for it
//! behind those for the guest's kernel. Every VMM hands them over in its own way.

use super::contract::BoxSpec;
use tare_host::net::Port;
use tare_host::places::{BINARY, Work};

/// Words for the kernel of every guest: quiet, since an emulated console is slow;
/// without the self-tests of the kernel's ciphers, a fifth of an emulated boot.
pub(super) const QUIET: &str = "quiet loglevel=3 cryptomgr.notests";

/// The agent's end of the link in a machine.
#[derive(Debug, Clone, Copy)]
pub(super) enum AgentLink {
    /// The virtio-serial port of this name.
    Port(&'static str),
    /// This terminal.
    Tty(&'static str),
    /// A connection to this port of the host, by virtio-vsock.
    Vsock(u32),
}

/// What the agent is told as a machine's first process.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentStart {
    pub link: AgentLink,
    /// Whether it ends the machine by powering it off, where a reset would start it anew.
    pub power_off: bool,
    /// Whether it takes a root that boxes in this one can leave behind.
    pub new_root: bool,
    /// The device of the disk that it takes as its root; absent: none.
    pub root_disk: Option<&'static str>,
    /// Whether it shows an image and a folder to write in to the boxes in it, each from a disk.
    pub holds_image: bool,
    /// Where commands then start; absent: in the root.
    pub work: Option<Work>,
}

impl AgentStart {
    /// An agent that serves over this link and ends its machine by a reset.
    pub(super) const fn over(link: AgentLink) -> Self {
        Self {
            link,
            power_off: false,
            new_root: false,
            root_disk: None,
            holds_image: false,
            work: None,
        }
    }

    /// The agent's words, the first of which is its subcommand.
    pub(super) fn words(self) -> Vec<String> {
        let mut words = vec!["agent".to_owned(), "--init".to_owned()];
        words.extend(self.power_off.then(|| "--power-off".to_owned()));
        words.extend(self.new_root.then(|| "--new-root".to_owned()));
        words.extend(self.holds_image.then(|| "--holds-image".to_owned()));
        let root_disk = self
            .root_disk
            .map(|device| ["--root-disk".to_owned(), device.to_owned()]);
        let work = self.work.map(|work| ["--work".to_owned(), work.to_string()]);
        words.extend(root_disk.into_iter().chain(work).flatten());
        let (option, value) = match self.link {
            AgentLink::Port(name) => ("--port", name.to_owned()),
            AgentLink::Tty(path) => ("--tty", path.to_owned()),
            AgentLink::Vsock(port) => ("--vsock", port.to_string()),
        };
        words.extend([option.to_owned(), value]);
        words
    }

    /// The whole command line of a kernel that finds the agent in its initramfs;
    /// `kernel` are the words for itself.
    pub(super) fn command_line(self, kernel: &str) -> String {
        format!("{kernel} rdinit={BINARY} -- {}", self.words().join(" "))
    }
}

/// The last words of a machine: its name and, on the run's bridge, the address that its agent is to set.
pub(super) fn own_words(spec: &BoxSpec, port: Option<&Port>) -> Vec<String> {
    let name = ["--hostname".to_owned(), spec.hostname.clone()];
    let address = port.map(|port| ["--address".to_owned(), port.address().to_string()]);
    name.into_iter().chain(address.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_told_all_that_it_is_to_do() {
        let start = AgentStart {
            power_off: true,
            new_root: true,
            holds_image: true,
            work: Some(Work::Disk),
            ..AgentStart::over(AgentLink::Port("tare"))
        };
        assert_eq!(
            start.command_line("panic=-1"),
            "panic=-1 rdinit=/tare -- agent --init --power-off --new-root --holds-image --work disk --port tare"
        );
    }

    #[test]
    fn it_is_told_no_more_than_its_link_where_nothing_else_is_to_be_done() {
        let words = |link| AgentStart::over(link).words().join(" ");
        assert_eq!(words(AgentLink::Tty("/dev/tty1")), "agent --init --tty /dev/tty1");
        assert_eq!(words(AgentLink::Vsock(1)), "agent --init --vsock 1");
        assert_eq!(own_words(&BoxSpec::example(), None), ["--hostname", "tare"]);
    }
}
