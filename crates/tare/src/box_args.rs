//! The command line of what runs in boxes, apart from that of users: the agent shall
//! be small, and the whole of the other one takes memory when it is built.

use clap::{Args, Parser, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(name = "tare")]
pub struct BoxCli {
    #[command(subcommand)]
    pub command: BoxCommand,
}

impl BoxCli {
    /// Whether this process was started for a box, by its first argument.
    pub fn is_meant() -> bool {
        let first = std::env::args_os().nth(1);
        first.is_some_and(|name| name.to_str().is_some_and(BoxCommand::has_subcommand))
    }
}

#[derive(Debug, Subcommand)]
pub enum BoxCommand {
    /// Serve inside a box
    Agent(AgentArgs),
    /// Act a part for a check, inside a box
    RunAct {
        #[arg(allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Run a program in a jail, on the host
    RunJailed {
        /// The folder that it sees
        #[arg(long)]
        folder: PathBuf,
        /// A file that it sees and cannot write
        #[arg(long)]
        file: Option<PathBuf>,
        /// An empty folder for the jail
        #[arg(long)]
        place: PathBuf,
        /// Bytes that it may keep in memory as files
        #[arg(long)]
        own_bytes: u64,
        program: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Run a kernel for the agent
    RunKernel {
        spec: String,
        /// Work in the slices that standard input orders
        #[arg(long)]
        gate: bool,
        /// Be the client of a server at this address
        #[arg(long, requires = "gate")]
        server: Option<SocketAddr>,
    },
    /// Run the server of a kernel for the agent
    RunServer { spec: String, at: SocketAddr },
    /// Load a server for the agent, in the slices that standard input orders
    RunLoad { spec: String, server: SocketAddr },
    /// Run a proof for the agent
    RunProof { spec: String },
}

#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Serve on this inherited descriptor
    #[arg(long)]
    pub fd: Option<i32>,
    /// Serve on the virtio-serial port of this name
    #[arg(long)]
    pub port: Option<String>,
    /// Serve on this terminal, made raw
    #[arg(long)]
    pub tty: Option<PathBuf>,
    /// Connect to this port of the host by vsock
    #[arg(long)]
    pub vsock: Option<u32>,
    /// Be the first process of a VM
    #[arg(long)]
    pub init: bool,
    /// Have commands start in a folder of their own: own, tmpfs or disk
    #[arg(long, requires = "init")]
    pub work: Option<tare_box::agent::Work>,
    /// Take a root that boxes in this one can leave behind
    #[arg(long, requires = "init")]
    pub new_root: bool,
    /// Take the file system on this device as the root
    #[arg(long, requires = "init", conflicts_with = "new_root")]
    pub root_disk: Option<String>,
    /// Show the image on the first disk to boxes in this one, whose files go to the second
    #[arg(long, requires = "init")]
    pub holds_image: bool,
    /// Take this folder of the host as the root
    #[arg(long, requires = "root_work", conflicts_with = "init")]
    pub root: Option<PathBuf>,
    /// Have commands start in this folder of the host, as a folder of that root
    #[arg(long, requires = "root")]
    pub root_work: Option<PathBuf>,
    /// Power the VM off in the end, rather than reset it
    #[arg(long, requires = "init")]
    pub power_off: bool,
    /// Give the VM's network interface this address
    #[arg(long, requires = "init")]
    pub address: Option<tare_box::net::Address>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        BoxCli::command().debug_assert();
    }

    #[test]
    fn no_name_is_in_both_command_lines() {
        let (inside, outside) = (BoxCli::command(), Cli::command());
        for name in inside.get_subcommands().map(clap::Command::get_name) {
            assert!(outside.find_subcommand(name).is_none(), "{name}");
        }
    }
}
