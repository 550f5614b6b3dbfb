//! The command line: what drivers and the agent itself start this program with. No user types it.

use crate::init::MachineRoot;
use crate::port::LinkSource;
use crate::root::HostRoot;
use crate::serve::Options;
use lexopt::prelude::*;
use lexopt::{Error as Unusable, Parser};
use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use tare_box::jail::Jail;

/// What this process is to do.
#[derive(Debug)]
pub enum Role {
    /// Serve inside a box.
    Serve(Options),
    /// Act a part for a check, inside a box.
    Act(Vec<String>),
    /// Run a program in a jail, on the host.
    Jailed {
        jail: Jail,
        program: String,
        words: Vec<String>,
    },
    /// Run a kernel.
    Kernel {
        spec: String,
        /// Whether it works in the slices that standard input orders.
        gate: bool,
        /// The server of which it is the client.
        server: Option<SocketAddr>,
    },
    /// Run the server of a kernel.
    Server {
        spec: String,
        at: SocketAddr,
    },
    Load {
        spec: String,
        server: SocketAddr,
    },
    /// Run a proof.
    Proof {
        spec: String,
    },
    /// Print the version.
    Version,
}

/// The names of the roles, as the first argument.
pub const ROLES: [&str; 7] = [
    "agent",
    "run-act",
    "run-jailed",
    "run-kernel",
    "run-server",
    "run-load",
    "run-proof",
];

/// Reads the arguments, the first of which names the role.
pub fn parse(mut parser: Parser) -> Result<Role, Box<dyn Error>> {
    let role = match parser.next()? {
        Some(Value(name)) => name.string()?,
        Some(Long("version")) => return Ok(Role::Version),
        Some(other) => return Err(other.unexpected().into()),
        None => return Err("tare starts it; do not run it by hand".into()),
    };
    Ok(match role.as_str() {
        "agent" => Role::Serve(options(&mut parser)?),
        "run-act" => Role::Act(rest(&mut parser)?),
        "run-jailed" => jailed(&mut parser)?,
        "run-kernel" => kernel(&mut parser)?,
        "run-server" => Role::Server {
            spec: word(&mut parser, "a spec")?,
            at: word(&mut parser, "an address")?.parse()?,
        },
        "run-load" => Role::Load {
            spec: word(&mut parser, "a spec")?,
            server: word(&mut parser, "an address")?.parse()?,
        },
        "run-proof" => Role::Proof {
            spec: word(&mut parser, "a spec")?,
        },
        other => return Err(format!("no role '{other}'").into()),
    })
}

fn options(parser: &mut Parser) -> Result<Options, Unusable> {
    let mut options = Options::default();
    let (mut root, mut root_work) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("fd") => options.link = LinkSource::Fd(parser.value()?.parse()?),
            Long("port") => options.link = LinkSource::VirtioPort(parser.value()?.string()?),
            Long("tty") => options.link = LinkSource::Tty(parser.value()?.into()),
            Long("vsock") => options.link = LinkSource::Vsock(parser.value()?.parse()?),
            Long("init") => options.init = true,
            Long("work") => options.work = Some(parser.value()?.parse()?),
            Long("new-root") => options.machine_root = MachineRoot::Memory,
            Long("root-disk") => options.machine_root = MachineRoot::Disk(parser.value()?.string()?),
            Long("holds-image") => options.holds_image = true,
            Long("root") => root = Some(PathBuf::from(parser.value()?)),
            Long("root-work") => root_work = Some(PathBuf::from(parser.value()?)),
            Long("confined") => options.is_confined = true,
            Long("own-network") => options.own_network = Some(parser.value()?.into()),
            Long("hostname") => options.hostname = Some(parser.value()?.string()?),
            Long("power-off") => options.power_off = true,
            Long("address") => options.address = Some(parser.value()?.parse()?),
            other => return Err(other.unexpected()),
        }
    }
    options.host_root = root
        .zip(root_work)
        .map(|(folder, work)| HostRoot { folder, work });
    Ok(options)
}

fn jailed(parser: &mut Parser) -> Result<Role, Box<dyn Error>> {
    let mut jail = Jail {
        folder: PathBuf::new(),
        file: None,
        place: PathBuf::new(),
        own_bytes: 0,
    };
    loop {
        match parser.next()?.ok_or("no program for the jail")? {
            Long("folder") => jail.folder = parser.value()?.into(),
            Long("file") => jail.file = Some(parser.value()?.into()),
            Long("place") => jail.place = parser.value()?.into(),
            Long("own-bytes") => jail.own_bytes = parser.value()?.parse()?,
            Value(program) => {
                let program = program.string()?;
                let words = rest(parser)?;
                return Ok(Role::Jailed { jail, program, words });
            }
            other => return Err(other.unexpected().into()),
        }
    }
}

fn kernel(parser: &mut Parser) -> Result<Role, Box<dyn Error>> {
    let (mut spec, mut gate, mut server) = (None, false, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("gate") => gate = true,
            Long("server") => server = Some(parser.value()?.parse()?),
            Value(text) if spec.is_none() => spec = Some(text.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let spec = spec.ok_or("no spec of a kernel")?;
    Ok(Role::Kernel { spec, gate, server })
}

fn word(parser: &mut Parser, what: &str) -> Result<String, Box<dyn Error>> {
    match parser.next()? {
        Some(Value(text)) => Ok(text.string()?),
        Some(other) => Err(other.unexpected().into()),
        None => Err(format!("{what} is missing").into()),
    }
}

/// All that is left, whatever it begins with.
fn rest(parser: &mut Parser) -> Result<Vec<String>, Unusable> {
    parser.raw_args()?.map(|word| word.string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_box::places::Work;

    fn parsed(words: &str) -> Result<Role, Box<dyn Error>> {
        parse(Parser::from_args(words.split(' ')))
    }

    #[test]
    fn the_first_process_of_a_machine_gets_all_that_drivers_write() {
        let line = "agent --init --power-off --root-disk /dev/vda --holds-image --work disk --port tare";
        let Role::Serve(options) = parsed(line).unwrap() else {
            panic!("another role");
        };
        assert!(options.init && options.power_off && options.holds_image);
        assert_eq!(options.work, Some(Work::Disk));
        assert_eq!(options.machine_root, MachineRoot::Disk("/dev/vda".to_owned()));
        assert_eq!(options.link, LinkSource::VirtioPort("tare".to_owned()));
    }

    #[test]
    fn a_jail_and_a_part_hand_on_words_whatever_they_begin_with() {
        let line = "run-jailed --folder /f --place /p --own-bytes 9 linux.uml --mem=1 -x -- y";
        let Role::Jailed { jail, program, words } = parsed(line).unwrap() else {
            panic!("another role");
        };
        assert_eq!((jail.own_bytes, program.as_str()), (9, "linux.uml"));
        assert_eq!(words, ["--mem=1", "-x", "--", "y"]);
        assert!(matches!(parsed("run-act exit -3"), Ok(Role::Act(words)) if words == ["exit", "-3"]));
    }

    #[test]
    fn what_nobody_starts_is_refused() {
        for line in [
            "",
            "serve",
            "agent --fd",
            "agent --x",
            "run-server {}",
            "run-kernel --gate",
            "run-load {} here",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
