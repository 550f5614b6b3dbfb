//! What runs inside boxes: the agent, and the processes that it starts.

use crate::box_args::AgentArgs;
use crate::out;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use tare_box::agent::{self, HostRoot, LinkSource, MachineRoot, Options};
use tare_box::jail::Jail;
use tare_kernels::KernelError;

/// Serves until the link ends.
pub fn run(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    let link = match (&args.port, &args.tty, args.vsock, args.fd) {
        (Some(port), ..) => LinkSource::VirtioPort(port.clone()),
        (_, Some(tty), ..) => LinkSource::Tty(tty.clone()),
        (_, _, Some(port), _) => LinkSource::Vsock(port),
        (.., Some(fd)) => LinkSource::Fd(fd),
        (None, None, None, None) => LinkSource::Stdio,
    };
    agent::run(&Options {
        link,
        init: args.init,
        work: args.work,
        machine_root: match &args.root_disk {
            Some(device) => MachineRoot::Disk(device.clone()),
            None if args.new_root => MachineRoot::Memory,
            None => MachineRoot::First,
        },
        holds_image: args.holds_image,
        host_root: args
            .root
            .clone()
            .zip(args.root_work.clone())
            .map(|(folder, work)| HostRoot { folder, work }),
        power_off: args.power_off,
        address: args.address,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a program in a jail to its end.
pub fn run_jailed(jail: &Jail, program: &str, words: &[String]) -> anyhow::Result<ExitCode> {
    let code = jail.run(program, words)?.code();
    // A program that a signal ended has no code.
    Ok(ExitCode::from(
        code.map_or(1, |code| u8::try_from(code).unwrap_or(1)),
    ))
}

/// Runs the kernel that a JSON text describes and prints its report as JSON. At a gate
/// it works in the slices that standard input orders, each answered by a line before
/// the report, by itself or as the client of a server elsewhere.
pub fn run_kernel(spec: &str, gate: bool, server: Option<SocketAddr>) -> anyhow::Result<ExitCode> {
    let spec = serde_json::from_str(spec)?;
    let (orders, answers) = (&mut io::stdin().lock(), &mut io::stdout().lock());
    finish(match server {
        Some(server) => tare_kernels::serve_to(&spec, server, orders, answers),
        None if gate => tare_kernels::serve(&spec, orders, answers),
        None => tare_kernels::run(&spec),
    })
}

/// Answers the clients of the kernel that a JSON text describes, until it is ended.
pub fn run_server(spec: &str, at: SocketAddr) -> anyhow::Result<ExitCode> {
    let spec = serde_json::from_str(spec)?;
    tare_kernels::answer(&spec, at, &mut io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// Loads a server as a JSON text describes, in the slices that standard input orders, and prints
/// what came of it as JSON.
pub fn run_load(spec: &str, server: SocketAddr) -> anyhow::Result<ExitCode> {
    let spec = serde_json::from_str(spec)?;
    let (orders, answers) = (&mut io::stdin().lock(), &mut io::stdout().lock());
    finish(tare_load::serve(&spec, server, orders, answers))
}

/// Runs the proof that a JSON text describes and prints its report as JSON.
pub fn run_proof(spec: &str) -> anyhow::Result<ExitCode> {
    let spec = serde_json::from_str(spec)?;
    finish(tare_kernels::prove(&spec))
}

fn finish(report: Result<impl serde::Serialize, KernelError>) -> anyhow::Result<ExitCode> {
    match report {
        Ok(report) => {
            out::print(&serde_json::to_string(&report)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ (KernelError::UnsupportedIsa(_) | KernelError::NoDisk { .. })) => {
            out::say(&error.to_string());
            Ok(ExitCode::from(u8::try_from(tare_model::kernel::UNSUPPORTED)?))
        }
        Err(error) => Err(error.into()),
    }
}
