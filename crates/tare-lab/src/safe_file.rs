//! Files that tare makes for its user. It often runs as root in folders that others may
//! write to: no link is followed to the file, and no file of others is written into.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Names that are tried for a file beside another: one of them is free.
const TRIES: u32 = 8;

/// Makes a new file to append to; an error of kind `AlreadyExists` if anything bears its
/// name, a link that leads nowhere too.
///
/// # Errors
/// As the system says.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true).mode(mode);
    options.custom_flags(flags(OFlags::NOFOLLOW)).open(path)
}

/// Opens a file that is there, to append to it or to cut it. Nothing but a plain file under
/// this very name will do: a pipe without a reader would be waited for without end.
///
/// # Errors
/// As the system says, and where it is no plain file.
pub fn open(path: &Path) -> io::Result<File> {
    plain(OpenOptions::new().append(true), path)
}

/// The first bytes of a plain file, at most so many.
///
/// # Errors
/// As [`open`].
pub fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = plain(OpenOptions::new().read(true), path)?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts a file in the place of what bears its name, whole or not at all: it is written
/// beside it, reaches the disk, and takes the name.
///
/// # Errors
/// As the system says; nothing is left then.
pub fn replace(path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
    replace_with(path, mode, |file| file.write_all(content))
}

/// The same of what is written piece by piece.
///
/// # Errors
/// As [`replace`], and those of `write`.
pub fn replace_with<T, E: From<io::Error>>(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let (mut file, beside) = beside(path, mode)?;
    let written = write(&mut file).and_then(|written| {
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        Ok(written)
    });
    written.inspect_err(|_| drop(std::fs::remove_file(&beside)))
}

/// Whether [`replace`] could put a file there, by trying.
///
/// # Errors
/// As the system says.
pub fn try_replace(path: &Path) -> io::Result<()> {
    let (_, beside) = beside(path, 0o600)?;
    std::fs::remove_file(beside)
}

/// The folder of a file.
pub fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty());
    folder.unwrap_or_else(|| Path::new("."))
}

/// A new file beside another, of a name that nobody can know before.
fn beside(path: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let folder = folder_of(path);
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..TRIES {
        let random = RandomState::new().build_hasher().finish();
        let beside = folder.join(format!(".tare-{random:016x}.partial"));
        match create(&beside, mode) {
            Ok(file) => return Ok((file, beside)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => last = e,
            Err(e) => return Err(e),
        }
    }
    Err(last)
}

fn plain(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = flags(OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY);
    let opened = options.custom_flags(flags).open(path);
    let file = opened.map_err(|e| match e.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => {
            io::Error::other("it is a symbolic link: give the path of the file itself")
        }
        _ => e,
    })?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

#[expect(clippy::cast_possible_wrap, reason = "flags of the system's open are an int")]
fn flags(flags: OFlags) -> i32 {
    (flags | OFlags::CLOEXEC).bits() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn no_link_is_followed_and_no_pipe_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("notes"), "kept").unwrap();
        symlink("notes", at("link")).unwrap();
        symlink("nothing", at("astray")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        for name in ["notes", "link", "astray", "pipe"] {
            let made = create(&at(name), 0o644).unwrap_err();
            assert_eq!(made.kind(), io::ErrorKind::AlreadyExists, "{name}");
        }
        for name in ["link", "astray", "pipe", "."] {
            assert!(
                open(&at(name)).is_err() && beginning(&at(name), 4).is_err(),
                "{name}"
            );
        }
        // What is replaced is the link and not the file behind it.
        replace(&at("link"), 0o600, b"new").unwrap();
        assert_eq!(std::fs::read(at("notes")).unwrap(), b"kept");
        assert_eq!(beginning(&at("link"), 2).unwrap(), b"ne");
        let mode = std::fs::symlink_metadata(at("link"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o7777, 0o600);
        try_replace(&at("other")).unwrap();
        assert!(replace(&at("."), 0o600, b"new").is_err());
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            4,
            "nothing is left"
        );
    }
}
