//! What the processes do that the agent starts for kernels, loads and proofs. Each takes what it
//! is to do as a JSON text, and prints its report as JSON.

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use tare_kernels::KernelError;

type Ended = Result<ExitCode, Box<dyn Error>>;

/// Runs a kernel. At a gate it works in the slices that standard input orders, each answered by a
/// line before the report, by itself or as the client of a server elsewhere.
pub fn kernel(spec: &str, gate: bool, server: Option<SocketAddr>) -> Ended {
    let spec = serde_json::from_str(spec)?;
    let (orders, answers) = (&mut io::stdin().lock(), &mut io::stdout().lock());
    finish(match server {
        Some(server) => tare_kernels::serve_to(&spec, server, orders, answers),
        None if gate => tare_kernels::serve(&spec, orders, answers),
        None => tare_kernels::run(&spec),
    })
}

/// Answers the clients of a kernel until it is ended.
pub fn server(spec: &str, at: SocketAddr) -> Result<(), Box<dyn Error>> {
    let spec = serde_json::from_str(spec)?;
    Ok(tare_kernels::answer(&spec, at, &mut io::stdout())?)
}

/// Loads a server in the slices that standard input orders.
pub fn load(spec: &str, server: SocketAddr) -> Ended {
    let spec = serde_json::from_str(spec)?;
    let (orders, answers) = (&mut io::stdin().lock(), &mut io::stdout().lock());
    finish(tare_load::serve(&spec, server, orders, answers))
}

/// Runs the proof of a limit.
pub fn proof(spec: &str) -> Ended {
    finish(tare_kernels::prove(&serde_json::from_str(spec)?))
}

fn finish(report: Result<impl serde::Serialize, KernelError>) -> Ended {
    match report {
        Ok(report) => {
            let mut stdout = io::stdout().lock();
            let told = stdout
                .write_all(&serde_json::to_vec(&report)?)
                .and_then(|()| stdout.flush());
            match told {
                Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e.into()),
                _ => Ok(ExitCode::SUCCESS),
            }
        }
        Err(error @ (KernelError::UnsupportedIsa(_) | KernelError::NoDisk { .. })) => {
            let _ = writeln!(io::stderr().lock(), "{error}");
            Ok(ExitCode::from(u8::try_from(tare_wire::kernel::UNSUPPORTED)?))
        }
        Err(error) => Err(error.into()),
    }
}
