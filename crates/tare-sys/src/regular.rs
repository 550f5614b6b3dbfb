//! Files of others, to be read: nothing but a regular file is waited for.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions, metadata};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file to read it; `None` where it is none. A pipe would be waited for, a
/// device has no end, and to open one may do something.
///
/// # Errors
/// As the system says.
pub fn open(path: &Path) -> io::Result<Option<File>> {
    if !metadata(path)?.is_file() {
        return Ok(None);
    }
    open_as_is(path)
}

/// As [`open`] where it was a regular file a moment ago: whoever owns its folder may have put
/// another in its place since.
#[expect(clippy::cast_possible_wrap, reason = "flags of the system's open are an int")]
fn open_as_is(path: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened_whenever_they_were_swapped() {
        let own = std::env::current_exe().unwrap();
        assert!(open(&own).unwrap().is_some() && open_as_is(&own).unwrap().is_some());
        for other in ["/dev/null", "/proc"].map(Path::new) {
            assert!(open(other).unwrap().is_none() && open_as_is(other).unwrap().is_none());
        }
        let pipe = std::env::temp_dir().join(format!("tare-regular-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let opened = (open(&pipe).unwrap(), open_as_is(&pipe).unwrap());
        std::fs::remove_file(pipe).unwrap();
        assert!(opened.0.is_none() && opened.1.is_none());
        assert_eq!(
            open(Path::new("/nowhere")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
