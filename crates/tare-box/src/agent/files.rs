//! Files into and out of the box.

use super::{Port, Refusal};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tare_model::frame::Kind;
use tare_model::protocol::{ErrorCode, Reply};

/// Bytes of a file per frame.
const CHUNK: usize = 256 << 10;

/// Sends a file of at most `max_bytes`.
pub(super) fn send(port: &mut Port, path: &str, max_bytes: u64) -> io::Result<Result<Reply, Refusal>> {
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

/// Takes a file whose bytes follow in data frames. They are taken in full even
/// where they cannot be written, so that the link keeps its place.
pub(super) fn take(port: &mut Port, path: &str, mode: u32, bytes: u64) -> io::Result<Result<Reply, Refusal>> {
    let mut target = create(Path::new(path), mode);
    let mut left = bytes;
    while left > 0 {
        let Some(frame) = port.receive()? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if frame.head.kind != Kind::File || frame.payload.len() as u64 > left {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a frame that is no part of the announced file",
            ));
        }
        left -= frame.payload.len() as u64;
        target = target.and_then(|mut file| file.write_all(&frame.payload).map(|()| file));
    }
    Ok(target
        .map(|_| Reply::FileWritten)
        .map_err(|e| Refusal::new(ErrorCode::File, format!("write {path}: {e}"))))
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
