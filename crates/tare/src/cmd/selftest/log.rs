//! The log of campaigns: JSON lines, the first says what the rest is. A campaign
//! is a line or is not there, so that a killed self-test goes on where it was.

use crate::files;
use anyhow::Context;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use tare_host::host;
use tare_lab::safe_file;
use tare_platforms::agent_file;
use tare_selftest::campaign::Campaign;
use tare_selftest::log::{Header, Options};

/// An open log.
pub struct Log {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    length: u64,
}

impl Log {
    /// Makes a new log; nothing is left if its header cannot be written.
    pub fn create(path: &Path, header: &Header) -> anyhow::Result<Self> {
        let made = safe_file::create(path, 0o644);
        let file = made.map_err(|e| files::unwritten(&format!("log {}", path.display()), "--log", &e))?;
        let mut log = Self {
            file,
            path: path.to_owned(),
            length: 0,
        };
        log.append(header).inspect_err(|_| {
            // Only our own, just made.
            let _ = std::fs::remove_file(path);
        })?;
        Ok(log)
    }

    /// Appends a line; if it cannot be written whole, none of it stays.
    pub fn append(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            let _ = self.file.set_len(self.length);
            return Err(error).with_context(|| {
                format!(
                    "cannot write to log {}: the campaigns so far are intact; free disk space, then start again with the same --log",
                    self.path.display()
                )
            });
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

/// A log that is there already.
pub struct Earlier {
    path: PathBuf,
    /// Its first line.
    pub header: Header,
    campaigns: Vec<Campaign>,
    /// Bytes of whole lines.
    length: u64,
}

impl Earlier {
    /// Reads a log.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        // What is no file may have no end.
        anyhow::ensure!(
            path.is_file(),
            "{shown} is not a file: choose another log with --log"
        );
        let bytes = std::fs::read(path).with_context(|| format!("cannot read log {shown}"))?;
        let end = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let mut lines = bytes[..end]
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let header: Header = lines
            .next()
            .and_then(|line| serde_json::from_slice(line).ok())
            .with_context(|| format!("{shown} is not a log of a self-test: choose another with --log"))?;
        let mut campaigns = Vec::new();
        for (number, line) in (2..).zip(lines) {
            let read = serde_json::from_slice(line);
            campaigns.push(read.with_context(|| {
                format!(
                    "{shown}:{number} is not a campaign: remove the line, or choose another log with --log"
                )
            })?);
        }
        Ok(Self {
            path: path.to_owned(),
            header,
            campaigns,
            length: end as u64,
        })
    }

    /// Opens it to go on with the same options: its header and its campaigns. Half a line
    /// at its end is cut off.
    pub fn resume(self, options: &Options) -> anyhow::Result<(Log, Header, Vec<Campaign>)> {
        check(&self.path.display().to_string(), &self.header, options)?;
        let open = || -> std::io::Result<File> {
            let file = safe_file::open(&self.path)?;
            file.set_len(self.length)?;
            Ok(file)
        };
        let file = open().with_context(|| format!("cannot write to log {}", self.path.display()))?;
        let log = Log {
            file,
            path: self.path,
            length: self.length,
        };
        Ok((log, self.header, self.campaigns))
    }
}

/// Refuses to mix what another build, another host or other options measured.
fn check(path: &str, header: &Header, options: &Options) -> anyhow::Result<()> {
    anyhow::ensure!(
        header.build == agent_file::build_id(),
        "{path} was written by another build of the agent: the two may run different machine code; continue it with the same tare, or begin another log"
    );
    let now = host::facts();
    let same_host = (&header.host.cpu_model, header.host.cpus, &header.host.kernel)
        == (&now.cpu_model, now.cpus, &now.kernel);
    anyhow::ensure!(
        same_host,
        "{path} was written on another host or kernel: continue it there, or begin another log"
    );
    let then = &header.options;
    let differs = [
        ("--platform", then.platform != options.platform),
        ("--percent, or aa for inject", then.tenths != options.tenths),
        ("--blocks", then.blocks != options.blocks),
        ("--fresh", then.fresh != options.fresh),
        ("--slices", then.slicing != options.slicing),
        (
            "--trial-time",
            then.trial_seconds.to_bits() != options.trial_seconds.to_bits(),
        ),
        (
            "--margin",
            then.margin_percent.to_bits() != options.margin_percent.to_bits(),
        ),
        ("--polluter", then.polluter != options.polluter),
        ("--batches", then.batches != options.batches),
        ("--no-settle", then.settle != options.settle),
        ("--seed", then.seed != options.seed),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        Some((option, _)) => anyhow::bail!(
            "{path} was started with another {option}: give the same options to continue it, or start another log"
        ),
        None => Ok(()),
    }
}
