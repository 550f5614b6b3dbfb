//! The agent that this program carries, as a file that can be run and put into boxes.

use anyhow::Context;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use tare_model::kernel::{KernelReport, KernelSpec};

/// Its bytes, as they were built.
static BYTES: &[u8] = include_bytes!(env!("TARE_AGENT"));
/// Their digest at that time.
const SHA256: &str = env!("TARE_AGENT_SHA256");

/// A path of its file, which lasts as long as this process. Made when it is first asked for.
///
/// # Errors
/// If the bytes are not those that were built, or there is no memory for them.
pub fn file() -> io::Result<PathBuf> {
    static FILE: OnceLock<File> = OnceLock::new();
    if FILE.get().is_none() {
        let _ = FILE.set(make(BYTES)?);
    }
    let file = FILE.wait();
    // By the number of the process: others are to find it, too.
    Ok(PathBuf::from(format!(
        "/proc/{}/fd/{}",
        std::process::id(),
        file.as_raw_fd()
    )))
}

fn make(bytes: &[u8]) -> io::Result<File> {
    check(bytes)?;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("tare-agent", flags)?);
    file.write_all(bytes)?;
    fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(file)
}

fn check(bytes: &[u8]) -> io::Result<()> {
    let digest: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if digest == SHA256 {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        "the agent inside this tare is not the one it was built with: the program file is damaged; reinstall tare",
    ))
}

/// Runs a kernel here and now, outside of any box, by the machine code that boxes get.
///
/// # Errors
/// Why it does not run, in the words of the kernel.
pub fn run_kernel(spec: &KernelSpec) -> anyhow::Result<KernelReport> {
    let mut command = Command::new(file()?);
    command.args(["run-kernel", &serde_json::to_string(spec)?]);
    let ended = command.output().context("cannot start the agent")?;
    if !ended.status.success() {
        let words = String::from_utf8_lossy(&ended.stderr);
        let words = words.trim();
        anyhow::bail!("{}", words.strip_prefix("tare-agent: ").unwrap_or(words));
    }
    Ok(serde_json::from_slice(&ended.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_carried_as_it_was_built_and_is_known_by_its_build_id() {
        assert_eq!(std::fs::read(file().unwrap()).unwrap(), BYTES);
        assert_ne!(tare_host::build_id::of_file(&file().unwrap()), "unknown");
    }

    #[test]
    fn an_agent_that_was_cut_or_exchanged_is_refused() {
        let mut other = BYTES.to_vec();
        *other.last_mut().unwrap() ^= 1;
        for bytes in [&BYTES[..BYTES.len() - 1], &other, b""] {
            let error = make(bytes).unwrap_err().to_string();
            assert!(error.contains("the program file is damaged"), "{error}");
        }
    }
}
