//! The results file as it is written: one record per line, each handed to the
//! kernel whole, so that a killed run loses nothing that was finished.

use crate::safe_file;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{DirEntry, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tare_host::owner;
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

/// Whether a program of this user's or root's writes to a results file: it holds a lock, which is looked up and not
/// tried, since to hold one for a moment could stop a run that begins.
pub fn is_written(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| is_locked_by_us_or_root(&about))
}

fn is_locked_by_us_or_root(about: &Metadata) -> bool {
    let inode = format!(":{}", about.ino());
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    // 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
    locks.lines().any(|line| {
        let mut words = line.split_whitespace().skip(3);
        let (mode, process, file) = (words.next(), words.next(), words.next());
        mode == Some("WRITE")
            && file.is_some_and(|file| file.ends_with(&inode))
            && process.is_some_and(|process| owner::is_ours(&Path::new("/proc").join(process)))
    })
}

/// Keeps other runs from writing to the file as long as it is open. Whoever may read it can lock it; a lock of
/// another user, who cannot write to it, keeps no run from it.
fn lock(file: &File, path: &Path) -> Result<(), WriteError> {
    let about = match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => file.metadata(),
        // A file system without locks has none to break.
        _ => return Ok(()),
    };
    match about {
        Ok(about) if !is_locked_by_us_or_root(&about) && !is_open_for_writing_elsewhere(&about) => Ok(()),
        _ => Err(WriteError::Busy(path.to_owned())),
    }
}

/// Whether another process of ours can write to a file: a run that got no lock either.
fn is_open_for_writing_elsewhere(about: &Metadata) -> bool {
    let number = |process: &DirEntry| process.file_name().to_str()?.parse::<u32>().ok();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let others =
        processes.filter(|process| number(process).is_some_and(|number| number != std::process::id()));
    let others = others.filter(|process| owner::is_ours(&process.path()));
    let mut open = others.flat_map(|process| {
        let open = std::fs::read_dir(process.path().join("fd"));
        open.into_iter().flatten().flatten()
    });
    open.any(|descriptor| {
        // The mode of the link is that of the descriptor.
        let writes = descriptor.metadata().is_ok_and(|link| link.mode() & 0o200 != 0);
        let is_same = |of: Metadata| (of.dev(), of.ino()) == (about.dev(), about.ino());
        writes && std::fs::metadata(descriptor.path()).is_ok_and(is_same)
    })
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

    /// By util-linux: a lock of this process is its own.
    fn locks(path: &Path, user: &str) -> std::process::Child {
        let mut flock = std::process::Command::new("setpriv");
        flock
            .args(["--reuid", user, "--clear-groups", "flock", "--shared"])
            .arg(path);
        let mut child = flock
            .args(["sh", "-c", "echo locked; read _"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = [0; 7];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut told).unwrap();
        child
    }

    #[test]
    fn a_lock_of_another_user_stops_no_run_and_one_of_ours_does() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = folder.path().join("r.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        let mut his = locks(&path, "65534");
        assert!(!is_written(&path));
        drop(Writer::resume(&path, 3).unwrap());
        // A run that began beside the other user's lock.
        let mut ours = std::process::Command::new("sh");
        ours.args(["-c", "exec 3>>\"$0\"; echo opened; read _"])
            .arg(&path);
        let mut ours = ours
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = [0; 7];
        std::io::Read::read_exact(ours.stdout.as_mut().unwrap(), &mut told).unwrap();
        let busy = Writer::resume(&path, 3);
        for child in [&mut his, &mut ours] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert!(matches!(busy, Err(WriteError::Busy(_))), "{busy:?}");
        Writer::resume(&path, 3).unwrap();
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
