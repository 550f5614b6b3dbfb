//! The folder in which a kernel works.

use super::facts::FileSystem;
use super::scratch::{self, Scratch};
use crate::error::KernelError;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tare_wire::kernel::{Kernel, Way};

/// The folder in which a kernel works, open.
pub struct Folder {
    pub kernel: Kernel,
    pub path: PathBuf,
    /// The folder itself: its files are made by this descriptor, wherever it is moved.
    pub opened: File,
    pub file_system: FileSystem,
}

impl Folder {
    /// The folder in which this process was started.
    ///
    /// # Errors
    /// [`KernelError::Disk`] if it cannot be opened.
    pub fn here(kernel: Kernel) -> Result<Self, KernelError> {
        let path = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        Self::at(kernel, &path)
    }

    /// Another folder.
    ///
    /// # Errors
    /// As [`here`](Self::here).
    pub fn at(kernel: Kernel, path: &Path) -> Result<Self, KernelError> {
        let failed = |source| KernelError::Disk {
            kernel,
            what: "open the folder",
            folder: path.to_owned(),
            source,
        };
        let opened = File::open(path).map_err(failed)?;
        let file_system = FileSystem::of(&opened).map_err(failed)?;
        Ok(Self {
            kernel,
            path: path.to_owned(),
            opened,
            file_system,
        })
    }

    /// The error of something that failed here.
    pub fn failed(&self, what: &'static str) -> impl Fn(io::Error) -> KernelError {
        move |source| KernelError::Disk {
            kernel: self.kernel,
            what,
            folder: self.path.clone(),
            source,
        }
    }

    /// Refuses a folder without a disk, and for [`Way::Direct`] one whose file system does
    /// not go past the page cache. What the file system says of itself is not enough: an
    /// overlay does not tell what lies below, and newer kernels take `O_DIRECT` in memory.
    /// So a file is written with it, and looked for in memory.
    ///
    /// # Errors
    /// [`KernelError::NoDisk`], and [`KernelError::Disk`] if no file can be made.
    pub fn require_disk(&self, way: Way) -> Result<(), KernelError> {
        if self.file_system.is_memory() {
            return Err(self.no_disk("which is memory"));
        }
        match Scratch::lay(self, scratch::Access::Direct, &(0..PROBED_BLOCKS)) {
            Ok(probe)
                if probe
                    .is_in_memory()
                    .map_err(self.failed("look for its file in memory"))? =>
            {
                Err(self.no_disk("which accepts O_DIRECT but keeps written data in memory"))
            }
            Ok(_) => Ok(()),
            // What a file system answers that does not know O_DIRECT.
            Err(KernelError::Disk { source, .. }) if source.raw_os_error() == Some(libc::EINVAL) => match way
            {
                Way::Direct => Err(self.no_disk("which cannot go past the page cache (O_DIRECT)")),
                Way::Synced | Way::PageCache => Ok(()),
            },
            Err(error) => Err(error),
        }
    }

    fn no_disk(&self, why: &'static str) -> KernelError {
        KernelError::NoDisk {
            kernel: self.kernel,
            folder: self.path.clone(),
            file_system: self.file_system.name(),
            why,
        }
    }
}

/// Blocks of the file that is looked for in memory.
const PROBED_BLOCKS: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_no_disk_and_the_error_says_what_to_do() {
        let folder = Folder::at(Kernel::RandomRead, Path::new("/dev/shm")).unwrap();
        if folder.file_system.name() != "tmpfs" {
            return;
        }
        for way in [Way::Direct, Way::Synced] {
            let error = folder.require_disk(way).unwrap_err().to_string();
            assert_eq!(
                error,
                "random-read measures a disk, but /dev/shm is on tmpfs, which is memory: start it in a folder on a disk; boxes get one with a platform option such as storage=volume (docs/platforms.md)"
            );
        }
    }

    #[test]
    fn what_takes_direct_writes_and_keeps_them_in_memory_is_no_disk() {
        let mut folder = Folder::at(Kernel::RandomRead, Path::new("/dev/shm")).unwrap();
        if folder.file_system.name() != "tmpfs" {
            return;
        }
        // As an overlay on a tmpfs shows itself.
        folder.file_system = FileSystem::from_magic(0x794c_7630);
        let error = folder.require_disk(Way::Direct).unwrap_err().to_string();
        assert!(error.contains("on overlay, which"), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_told_by_its_name() {
        let error = Folder::at(Kernel::Fsync, Path::new("/there/is/none"))
            .err()
            .unwrap();
        let error = error.to_string();
        assert!(
            error.starts_with("fsync cannot open the folder in /there/is/none: "),
            "{error}"
        );
    }
}
