//! Looking into an image as a process sees it whose root it is: links lead no further.

use super::Image;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, openat2, statat};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

/// The largest file whose text is read, in bytes.
const MOST_TEXT: u64 = 1 << 20;

impl Image {
    /// Whether a path from the root on is a regular file that somebody may run.
    pub fn has_program(&self, path: &Path) -> bool {
        let stat = self
            .at(path, OFlags::PATH)
            .and_then(|fd| Ok(statat(&fd, "", AtFlags::EMPTY_PATH)?));
        stat.is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_mode & 0o111 != 0
        })
    }

    /// Whether a path from the root on is a folder.
    pub fn has_folder(&self, path: &Path) -> bool {
        self.at(path, OFlags::PATH | OFlags::DIRECTORY).is_ok()
    }

    /// What is in a text file of at most 1 MiB, by its path from the root on. What is no text in
    /// it is replaced.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for a longer one.
    pub fn text(&self, path: &Path) -> io::Result<String> {
        // Not to wait for whoever writes into a pipe, should it be one.
        let file = File::from(self.at(path, OFlags::RDONLY | OFlags::NONBLOCK)?);
        let mut bytes = Vec::new();
        file.take(MOST_TEXT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_TEXT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn at(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let root = File::open(self.rootfs())?;
        let inside = path.strip_prefix("/").unwrap_or(path);
        let inside = if inside.as_os_str().is_empty() {
            Path::new(".")
        } else {
            inside
        };
        let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        Ok(openat2(
            root,
            inside,
            flags | OFlags::CLOEXEC,
            Mode::empty(),
            within,
        )?)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::WorkFolder;
    use crate::from_directory;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    #[test]
    fn links_lead_no_further_than_the_root() {
        let site = WorkFolder::new();
        let outside = site.at("outside");
        fs::write(&outside, "of the host").unwrap();
        fs::set_permissions(&outside, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(&outside, site.at("rootfs/link")).unwrap();
        symlink("/usr/bin/su", site.at("rootfs/inside")).unwrap();
        fs::write(site.at("rootfs/plain"), "text").unwrap();
        let image = from_directory(&site.store(), "a", &site.at("rootfs")).unwrap();
        assert!(image.has_program(Path::new("/inside")));
        assert!(image.has_folder(Path::new("/usr/bin")) && image.has_folder(Path::new("/")));
        for not in ["/link", "/plain", "/usr", "/../outside", "/none"] {
            assert!(!image.has_program(Path::new(not)), "{not}");
        }
        assert_eq!(image.text(Path::new("/plain")).unwrap(), "text");
        assert!(image.text(Path::new("/link")).is_err());
    }
}
