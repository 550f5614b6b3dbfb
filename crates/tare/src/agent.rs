//! The agents that this program carries, as files that can be run and put into boxes.

use anyhow::Context;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::Command;
use tare_model::kernel::{KernelReport, KernelSpec};
use tare_platforms::{Architecture, PerArchitecture};

/// An agent as it was built.
struct Carried {
    /// As `uname -m` tells it.
    architecture: &'static str,
    bytes: &'static [u8],
    /// The digest of the bytes.
    sha256: &'static str,
}

/// The agent for this host's CPUs, then those for others.
static CARRIED: &[Carried] = &include!(concat!(env!("OUT_DIR"), "/agents.rs"));

/// A path of the agent's file for an architecture, which lasts as long as this process. Made when it is first asked for.
///
/// # Errors
/// If there is none, the bytes are not those that were built, or there is no memory for them.
pub fn file(architecture: Architecture) -> io::Result<PathBuf> {
    static FILES: PerArchitecture<File> = PerArchitecture::empty();
    let carried = CARRIED
        .iter()
        .find(|agent| agent.architecture == architecture.name());
    let carried = carried.ok_or(io::ErrorKind::NotFound)?;
    let file = FILES.of(architecture);
    if file.get().is_none() {
        let _ = file.set(make(carried.bytes, carried.sha256)?);
    }
    let file = file.wait();
    // By the number of the process: others are to find it, too.
    Ok(PathBuf::from(format!(
        "/proc/{}/fd/{}",
        std::process::id(),
        file.as_raw_fd()
    )))
}

fn make(bytes: &[u8], sha256: &str) -> io::Result<File> {
    check(bytes, sha256)?;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("tare-agent", flags)?);
    file.write_all(bytes)?;
    fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(file)
}

fn check(bytes: &[u8], sha256: &str) -> io::Result<()> {
    let digest: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if digest == sha256 {
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
    let mut command = Command::new(file(Architecture::HERE)?);
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
        for agent in CARRIED {
            let is_its = |architecture: &Architecture| architecture.name() == agent.architecture;
            let architecture = Architecture::ALL.into_iter().find(is_its).unwrap();
            let file = file(architecture).unwrap();
            assert_eq!(std::fs::read(&file).unwrap(), agent.bytes);
            assert_ne!(tare_host::build_id::of_file(&file), "unknown");
        }
        assert_eq!(CARRIED[0].architecture, Architecture::HERE.name());
    }

    #[test]
    fn an_agent_that_was_cut_or_exchanged_is_refused() {
        let Carried { bytes, sha256, .. } = CARRIED[0];
        let mut other = bytes.to_vec();
        *other.last_mut().unwrap() ^= 1;
        for bytes in [&bytes[..bytes.len() - 1], &other, b""] {
            let error = make(bytes, sha256).unwrap_err().to_string();
            assert!(error.contains("the program file is damaged"), "{error}");
        }
    }
}
