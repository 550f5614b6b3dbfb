//! `tare serve`: a local page over a folder of results files. It reads, and nothing else: on the
//! loopback alone, behind a token in the address.

mod folder;
mod http;

use crate::args::ServeArgs;
use crate::out;
use anyhow::Context;
use folder::Folder;
use std::io::Read;
use std::process::ExitCode;
use tare_host::interrupt;

/// Serves until the user stops it.
pub fn run(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        args.folder.is_dir(),
        "{} is not a folder: give a folder of results files",
        args.folder.display()
    );
    interrupt::install().context("cannot handle signals")?;
    let folder = Folder::open(args.folder.clone());
    let folder = folder.with_context(|| format!("cannot open {}", args.folder.display()))?;
    http::serve(folder, &token()?, args.port)?;
    out::say("stopped");
    Ok(ExitCode::SUCCESS)
}

/// What no other user of this host can guess.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    let mut source = std::fs::File::open("/dev/urandom").context("cannot make a token")?;
    source.read_exact(&mut bytes).context("cannot make a token")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
