//! The results file as it is written: one record per line, each handed to the
//! kernel whole, so that a killed run loses nothing that was finished.

use crate::safe_file;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tare_model::results::{Header, Record};

/// Why a results file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It is there already.
    #[error("{0} already exists: choose another name with -o, or continue it with --resume")]
    Exists(PathBuf),
    /// It cannot be made.
    #[error("cannot create results file {path}: {source}; give a writable path with -o")]
    Create { path: PathBuf, source: io::Error },
    /// Another run has it open.
    #[error("{0} is being written by another run: wait until it ends")]
    Busy(PathBuf),
    /// It cannot be continued.
    #[error(
        "cannot write to results file {path}: {source}; the records so far are intact: free disk space, then continue with --resume"
    )]
    Append { path: PathBuf, source: io::Error },
    /// The disk does not take it.
    #[error(
        "results file {path} may not have reached the disk: {source}; its content is intact as long as this host runs: copy it to another disk and continue the copy with --resume"
    )]
    Sync { path: PathBuf, source: io::Error },
}

/// How often records are made to reach the disk at most: a power failure loses
/// no more than this, a killed run nothing.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// An open results file.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// Bytes of whole records.
    length: u64,
    synced: Instant,
}

impl Writer {
    /// Makes a new file and writes its header; nothing is left if that fails.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn create(path: &Path, header: &Header) -> Result<Self, WriteError> {
        let created = safe_file::create(path, 0o644);
        let file = created.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => WriteError::Exists(path.to_owned()),
            _ => WriteError::Create {
                path: path.to_owned(),
                source,
            },
        })?;
        lock(&file, path)?;
        let mut writer = Self {
            file,
            path: path.to_owned(),
            length: 0,
            synced: Instant::now(),
        };
        let written = writer
            .append(&Record::from(header.clone()))
            .and_then(|()| writer.sync());
        written.map_err(|e| {
            // Only our own, just made: nothing of the user's is lost.
            let _ = std::fs::remove_file(path);
            match e {
                WriteError::Append { path, source } | WriteError::Sync { path, source } => {
                    WriteError::Create { path, source }
                }
                other => other,
            }
        })?;
        Ok(writer)
    }

    /// Opens a file to continue it after `complete_bytes`; half a record behind
    /// them is cut off.
    ///
    /// # Errors
    /// [`WriteError::Append`].
    pub fn resume(path: &Path, complete_bytes: u64) -> Result<Self, WriteError> {
        let failed = |source| WriteError::Append {
            path: path.to_owned(),
            source,
        };
        let file = safe_file::open(path).map_err(failed)?;
        lock(&file, path)?;
        if file.metadata().map_err(failed)?.len() < complete_bytes {
            return Err(failed(io::Error::other("it became shorter meanwhile")));
        }
        file.set_len(complete_bytes).map_err(failed)?;
        Ok(Self {
            file,
            path: path.to_owned(),
            length: complete_bytes,
            synced: Instant::now(),
        })
    }

    /// Appends a record. If it cannot be written whole, none of it stays.
    ///
    /// # Errors
    /// [`WriteError::Append`].
    pub fn append(&mut self, record: &Record) -> Result<(), WriteError> {
        let failed = |path: &Path, source| WriteError::Append {
            path: path.to_owned(),
            source,
        };
        let mut line = serde_json::to_vec(record).map_err(|e| failed(&self.path, e.into()))?;
        line.push(b'\n');
        if let Err(source) = self.file.write_all(&line) {
            let _ = self.file.set_len(self.length);
            return Err(failed(&self.path, source));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// As [`Writer::sync`], but at most once a second: blocks of one short trial
    /// would else spend their time waiting for the disk.
    ///
    /// # Errors
    /// [`WriteError::Sync`].
    pub fn sync_if_due(&mut self) -> Result<(), WriteError> {
        if self.synced.elapsed() < SYNC_EVERY {
            return Ok(());
        }
        self.synced = Instant::now();
        self.sync()
    }

    /// Waits until all records are on the disk.
    ///
    /// # Errors
    /// [`WriteError::Sync`].
    pub fn sync(&mut self) -> Result<(), WriteError> {
        self.file.sync_data().map_err(|source| WriteError::Sync {
            path: self.path.clone(),
            source,
        })
    }
}

/// Keeps others from writing to the file as long as it is open.
/// Whether a program of this host writes to a results file: it holds a lock, which is looked up and not tried, since
/// to hold one for a moment could stop a run that begins.
pub fn is_written(path: &Path) -> bool {
    let Ok(about) = path.metadata() else {
        return false;
    };
    let inode = format!(":{}", about.ino());
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    // 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
    locks.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.nth(3) == Some("WRITE") && words.nth(1).is_some_and(|file| file.ends_with(&inode))
    })
}

fn lock(file: &File, path: &Path) -> Result<(), WriteError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(WriteError::Busy(path.to_owned())),
        // A file system without locks has none to break.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::results::{EndReason, EndRecord};

    fn end() -> Record {
        Record::End(EndRecord {
            reason: EndReason::Complete,
            ended_unix_ns: 0,
        })
    }

    /// A pipe takes bytes and cannot be brought to any disk.
    #[test]
    fn a_disk_that_does_not_take_the_file_is_told_from_one_that_is_full() {
        let (reader, pipe) = io::pipe().unwrap();
        let mut writer = Writer {
            file: File::from(std::os::fd::OwnedFd::from(pipe)),
            path: PathBuf::from("r.jsonl"),
            length: 0,
            synced: Instant::now(),
        };
        writer.append(&end()).unwrap();
        let told = writer.sync().unwrap_err().to_string();
        assert!(
            told.contains("may not have reached the disk") && told.contains("--resume"),
            "{told}"
        );
        drop(reader);
        // What cannot be written is another matter.
        let told = writer.append(&end()).unwrap_err().to_string();
        assert!(told.contains("cannot write to results file"), "{told}");
    }

    #[test]
    fn a_file_is_written_as_long_as_its_writer_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        assert!(!is_written(&path));
        std::fs::write(&path, "{}\n").unwrap();
        assert!(!is_written(&path));
        let writer = Writer::resume(&path, 3).unwrap();
        assert!(is_written(&path));
        drop(writer);
        assert!(!is_written(&path));
    }

    #[test]
    fn nothing_but_a_plain_file_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("r.jsonl"), "{}\n").unwrap();
        std::os::unix::fs::symlink("r.jsonl", at("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        for (name, why) in [("link", "symbolic link"), ("pipe", "")] {
            let told = Writer::resume(&at(name), 0).unwrap_err().to_string();
            assert!(told.contains(why) && told.contains(name), "{told}");
        }
        assert!(Writer::resume(&at("r.jsonl"), 4).is_err(), "it became shorter");
        assert_eq!(std::fs::read(at("r.jsonl")).unwrap(), b"{}\n");
        Writer::resume(&at("r.jsonl"), 3).unwrap().append(&end()).unwrap();
    }
}
