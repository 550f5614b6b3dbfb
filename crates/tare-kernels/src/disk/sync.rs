//! `fsync`: how long a write takes that has reached the disk when it returns.
//!
//! A block is written over within a file that was laid out, through the page cache, and
//! fdatasync waits for it, as a database does with its log: no length changes, so that
//! the file system has no journal of its own to write for most of them.

use super::block::{self, Stamp};
use super::facts;
use super::folder::Folder;
use super::scratch::{Access, Scratch};
use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::report;
use std::io;
use std::os::unix::fs::FileExt;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, Disk, KernelSpec, Way};

/// Blocks of the file, which are written over one after another.
const BLOCKS: u64 = 256;

/// The kernel, of which a unit is a write that is waited for.
pub struct Slices {
    folder: Folder,
    log: Scratch,
    writes: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError`] where the folder is on no disk, and if the file cannot be made.
    pub fn new(spec: &KernelSpec) -> Result<Self, KernelError> {
        let folder = Folder::here(spec.kernel)?;
        folder.require_disk(Way::Synced)?;
        let log = Scratch::lay(&folder, Access::Cached, &(0..BLOCKS))?;
        Ok(Self {
            folder,
            log,
            writes: 0,
        })
    }

    fn write(&mut self, writes: u64) -> io::Result<()> {
        let mut block = [0; block::BYTES];
        for write in self.writes..self.writes + writes {
            let position = write % BLOCKS;
            Stamp::written(position, write).put(&mut block);
            self.log
                .file
                .write_all_at(&block, position * block::BYTES as u64)?;
            self.log.file.sync_data()?;
        }
        self.writes += writes;
        Ok(())
    }

    /// The last write of a block, if there was one.
    fn last(&self, position: u64) -> Stamp {
        let rounds = (self.writes + BLOCKS - 1 - position) / BLOCKS;
        match rounds.checked_sub(1) {
            Some(before) => Stamp::written(position, before * BLOCKS + position),
            None => Stamp::laid(position),
        }
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let done = timed_alone(parts, units as f64, || self.write(units));
        done.map_err(self.folder.failed("write a block (pwrite, fdatasync)"))
    }

    /// What cannot be read is wrong.
    fn check(&mut self) -> Check {
        let mut block = [0; block::BYTES];
        let wrong = (0..BLOCKS).filter(|position| {
            let read = self
                .log
                .file
                .read_exact_at(&mut block, position * block::BYTES as u64);
            read.is_err() || Stamp::of(&block) != self.last(*position)
        });
        let wrong = wrong.count() as f64;
        report::check("blocks without their last write", wrong, 0.0)
    }

    fn disk(&self) -> Option<Disk> {
        Some(Disk {
            file_system: self.folder.file_system.name(),
            way: Way::Synced,
            device: facts::device(&self.log.file),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::NOTHING;
    use tare_wire::kernel::{Isa, Kernel};

    #[test]
    fn every_block_holds_its_last_write() {
        let spec = KernelSpec {
            kernel: Kernel::Fsync,
            isa: Isa::Baseline,
            threads: 1,
            size: 0,
            seconds: 0.1,
        };
        let mut slices = Slices::new(&spec).unwrap();
        assert!(slices.check().passed(), "as it was laid out");
        let mut parts = [NOTHING];
        for units in [1, 300] {
            slices.work(units, &mut parts).unwrap();
            assert!(slices.check().passed());
        }
        assert_eq!(slices.last(44), Stamp::written(44, 300));
        assert_eq!(slices.last(45), Stamp::written(45, 45));
        assert_eq!(parts[0].work, 301.0);
        slices.writes += 1;
        assert_eq!(slices.check().found, 1.0);
    }
}
