//! `file`: small files are created, asked for and deleted.
//!
//! Each of the three is timed by itself, over a folder full of files. Nothing is synced:
//! what is measured is the file system's work in memory, and its journal as it comes.

mod nest;

use super::facts;
use super::folder::Folder;
use crate::clock;
use crate::error::KernelError;
use crate::gate::{Sliced, timed};
use crate::report;
use crate::size;
use nest::Nest;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, Disk, KernelSpec, Way};

/// Files that are there at once, however many a slice has.
const AT_ONCE: u64 = 1024;

/// The kernel, of which a unit is a file.
pub struct Slices {
    folder: Folder,
    nest: Nest,
    content: Vec<u8>,
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError`] for a size that is none, and if the folder of files cannot be made.
    pub fn new(spec: &KernelSpec) -> Result<Self, KernelError> {
        let bytes = size::count(spec)?;
        let folder = Folder::here(spec.kernel)?;
        let nest = Nest::new(&folder).map_err(folder.failed("make a folder for its files"))?;
        Ok(Self {
            folder,
            nest,
            content: vec![b'.'; bytes],
            wrong: 0,
        })
    }

    /// So many files from the first to the last of their days.
    fn live(&mut self, files: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let (nest, content) = (&self.nest, &self.content);
        let names = nest::names(files);
        let cpu_ns = clock::process_cpu_ns;
        timed(&mut parts[0], cpu_ns, || {
            names.iter().try_for_each(|name| nest.create(name, content))
        })
        .map_err(self.folder.failed("create a file"))?;
        let bytes = timed(&mut parts[1], cpu_ns, || {
            names.iter().try_fold(0, |sum, name| Ok(sum + nest.length(name)?))
        });
        let bytes: u64 = bytes.map_err(self.folder.failed("ask for a file (stat)"))?;
        timed(&mut parts[2], cpu_ns, || {
            names.iter().try_for_each(|name| nest.delete(name))
        })
        .map_err(self.folder.failed("delete a file"))?;
        for part in parts {
            part.work += files as f64;
        }
        self.wrong += bytes.abs_diff(files * self.content.len() as u64);
        Ok(())
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let mut left = units;
        while left > 0 {
            let files = left.min(AT_ONCE);
            self.live(files, parts)?;
            left -= files;
        }
        Ok(())
    }

    /// Whether the files had the length that was written, and are gone. What cannot be
    /// asked is wrong.
    fn check(&mut self) -> Check {
        let left = self.nest.count().unwrap_or(1);
        let found = self.wrong + left;
        report::check(
            "bytes that files lacked, and files that are left",
            found as f64,
            0.0,
        )
    }

    fn disk(&self) -> Option<Disk> {
        Some(Disk {
            file_system: self.folder.file_system.name(),
            way: Way::PageCache,
            device: facts::device(&self.folder.opened),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::NOTHING;
    use tare_wire::kernel::{Isa, Kernel};

    fn slices(size: u64) -> Slices {
        let spec = KernelSpec {
            kernel: Kernel::File,
            isa: Isa::Baseline,
            threads: 1,
            size,
            seconds: 0.1,
        };
        Slices::new(&spec).unwrap()
    }

    #[test]
    fn files_come_and_go_and_every_part_counts_them() {
        for size in [0, 100] {
            let mut slices = slices(size);
            let mut parts = [NOTHING; 3];
            for units in [1, 5, AT_ONCE + 1] {
                slices.work(units, &mut parts).unwrap();
            }
            assert!(parts.iter().all(|part| part.work == 7.0 + AT_ONCE as f64));
            assert!(parts.iter().all(|part| part.wall_ns > 0 && part.cpu_ns > 0));
            assert!(slices.check().passed(), "{:?}", slices.check());
        }
    }

    #[test]
    fn files_that_are_left_are_noticed_and_go_with_their_folder() {
        let mut slices = slices(0);
        slices.nest.create(&nest::names(1)[0], b"x").unwrap();
        assert_eq!(slices.check().found, 1.0);
        let path = slices.folder.path.join(slices.nest.name());
        assert!(path.is_dir());
        drop(slices);
        assert!(!path.exists());
    }

    #[test]
    fn a_dead_process_s_files_go_with_the_next() {
        let mut dead = slices(0);
        dead.nest.create(&nest::names(1)[0], b"x").unwrap();
        let path = dead.folder.path.join(dead.nest.name());
        dead.nest.forget();
        drop(dead);
        assert!(path.exists(), "as if it had been killed");
        let alive = slices(0);
        let next = slices(0);
        assert!(!path.exists());
        assert!(alive.folder.path.join(alive.nest.name()).is_dir(), "it is in use");
        drop(next);
    }
}
