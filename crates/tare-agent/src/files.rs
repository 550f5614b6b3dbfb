//! Files into and out of the box.

use crate::port::Port;
use crate::refusal::Refusal;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tare_box::jail;
use tare_wire::frame::Kind;
use tare_wire::protocol::{ErrorCode, Reply};

/// Where the folder is mounted from which files are copied, for that long: in the only folder in
/// which an image has nothing of its own.
const SHARED_BY_HOST: &str = "/dev/tare-shared";

/// Bytes of a file per frame.
const CHUNK: usize = 256 << 10;

/// Sends a file of at most `max_bytes`.
pub(crate) fn send(port: &mut Port, path: &str, max_bytes: u64) -> io::Result<Result<Reply, Refusal>> {
    let failed = |e: io::Error| Refusal::new(ErrorCode::File, format!("read {path}: {e}"));
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(e) => return Ok(Err(failed(e))),
    };
    // One byte more than allowed tells a longer file, of which /proc gives no length.
    let mut file = file.take(max_bytes.saturating_add(1));
    let mut sent = 0;
    let mut buffer = vec![0; CHUNK];
    loop {
        let n = match file.read(&mut buffer) {
            Ok(0) => return Ok(Ok(Reply::FileRead { bytes: sent })),
            Ok(n) => n,
            Err(e) => return Ok(Err(failed(e))),
        };
        sent += n as u64;
        if sent > max_bytes {
            return Ok(Err(Refusal::new(
                ErrorCode::File,
                format!("{path} is longer than {max_bytes} B"),
            )));
        }
        port.send(Kind::File, &buffer[..n])?;
    }
}

/// Takes a file whose bytes follow in data frames, or makes a folder. They are taken in full even
/// where they cannot be written, so that the link keeps its place.
pub(crate) fn take(port: &mut Port, path: &str, mode: u32, bytes: u64) -> io::Result<Result<Reply, Refusal>> {
    let failed = |e: io::Error| Refusal::new(ErrorCode::File, format!("write {path}: {e}"));
    if bytes == 0 && path.ends_with('/') {
        let made = fs::create_dir_all(path).map_err(failed);
        return Ok(made.map(|()| Reply::FileWritten));
    }
    let mut target = create(Path::new(path), mode);
    let mut left = bytes;
    while left > 0 {
        let Some(frame) = port.receive()? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if frame.head.kind != Kind::File || frame.payload.len() as u64 > left {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a frame that is not part of the announced file",
            ));
        }
        left -= frame.payload.len() as u64;
        target = target.and_then(|mut file| file.write_all(&frame.payload).map(|()| file));
    }
    Ok(target.map(|_| Reply::FileWritten).map_err(failed))
}

/// Copies a file out of the folder that the host shares with this machine.
pub(crate) fn take_shared(name: &str, path: &str, mode: u32) -> Result<Reply, Refusal> {
    let copied = Shared::mount().and_then(|shared| {
        let mut source = fs::File::open(shared.file(name))?;
        io::copy(&mut source, &mut create(Path::new(path), mode)?)
    });
    copied
        .map(|_| Reply::FileWritten)
        .map_err(|e| Refusal::new(ErrorCode::File, format!("write {path}: {e}")))
}

/// The folder that the host shares with a machine of User-Mode Linux, as long as this lives: what
/// runs in the box need not see it.
struct Shared;

impl Shared {
    fn mount() -> io::Result<Self> {
        fs::create_dir_all(SHARED_BY_HOST)?;
        let folder = CString::new(jail::FOLDER)?;
        mount(
            "none",
            SHARED_BY_HOST,
            "hostfs",
            MountFlags::RDONLY,
            Some(folder.as_c_str()),
        )?;
        Ok(Self)
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new(SHARED_BY_HOST).join(name)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = unmount(SHARED_BY_HOST, UnmountFlags::empty());
        let _ = fs::remove_dir(SHARED_BY_HOST);
    }
}

fn create(path: &Path, mode: u32) -> io::Result<fs::File> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let file = fs::File::create(path)?;
    // Not at the making: the box's mask would be applied, and an older file would keep its mode.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    Ok(file)
}
