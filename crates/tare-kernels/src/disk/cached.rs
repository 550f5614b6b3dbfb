//! `byte-read`, `byte-write`, `block-read`, `block-write`: a file through the page cache.
//!
//! Bonnie's distinction: what a program's own loop over bytes costs, and what the way into
//! the kernel and its page cache cost. No disk need be touched while the clock runs: what
//! is read was laid out just before, and what is written the kernel writes out later.

mod stream;

use super::block::{self, Stamp};
use super::facts;
use super::folder::Folder;
use super::scratch::{Access, Scratch};
use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::report;
use crate::size;
use std::io;
use std::os::unix::fs::FileExt;
use stream::{Getter, Putter};
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, Disk, Kernel, KernelSpec, Way};

/// Blocks of Bonnie's chunk of 8 KiB.
const CHUNK_BLOCKS: usize = 2;

/// Written blocks that are read again at the end.
const SAMPLE: u64 = 512;

/// What is done with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    GetBytes,
    PutBytes,
    ReadBlocks,
    WriteBlocks,
}

impl Task {
    const fn of(kernel: Kernel) -> Self {
        match kernel {
            Kernel::ByteWrite => Self::PutBytes,
            Kernel::BlockRead => Self::ReadBlocks,
            Kernel::BlockWrite => Self::WriteBlocks,
            _ => Self::GetBytes,
        }
    }

    /// Blocks of a unit: those that go to or from the kernel by one call.
    const fn blocks(self) -> usize {
        match self {
            Self::GetBytes | Self::PutBytes => 1,
            Self::ReadBlocks | Self::WriteBlocks => CHUNK_BLOCKS,
        }
    }

    const fn writes(self) -> bool {
        matches!(self, Self::PutBytes | Self::WriteBlocks)
    }
}

/// The kernel, of which a unit is what goes to or from the kernel by one call.
pub struct Slices {
    folder: Folder,
    file: Scratch,
    task: Task,
    /// What is written next, or was read last: a unit of it.
    unit: Vec<u8>,
    units: u64,
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError`] for a size that is none, and if the file cannot be made.
    pub fn new(spec: &KernelSpec) -> Result<Self, KernelError> {
        let task = Task::of(spec.kernel);
        let unit = task.blocks() * block::BYTES;
        let units = size::check(spec)? / unit as u64;
        let folder = Folder::here(spec.kernel)?;
        let file = Scratch::lay(&folder, Access::Cached, &(0..units * task.blocks() as u64))?;
        Ok(Self {
            folder,
            file,
            task,
            unit: vec![0; unit],
            units: 0,
            wrong: 0,
        })
    }

    /// The first block of a unit.
    fn position(&self, unit: u64) -> u64 {
        unit * self.task.blocks() as u64 % self.file.blocks
    }

    /// Units one after another, from the start again after the end. The sum of the bytes
    /// that were got.
    fn carry_out(&mut self, units: u64) -> io::Result<u64> {
        let mut sum = 0;
        for unit in self.units..self.units + units {
            let position = self.position(unit);
            let offset = position * block::BYTES as u64;
            if self.task.writes() {
                for (block, position) in self.unit.chunks_exact_mut(block::BYTES).zip(position..) {
                    Stamp::written(position, unit).put(block);
                }
            }
            match self.task {
                Task::GetBytes => sum += Getter::new(&self.file.file, offset).sum_of_bytes(block::BYTES)?,
                Task::PutBytes => Putter::new(&self.file.file, offset).put_all(&self.unit)?,
                Task::ReadBlocks => self.file.file.read_exact_at(&mut self.unit, offset)?,
                Task::WriteBlocks => self.file.file.write_all_at(&self.unit, offset)?,
            }
        }
        Ok(sum)
    }

    /// Looks at what the last units read: at the sum of all bytes, or at the last chunk.
    fn look(&mut self, first: u64, sum: u64) {
        match self.task {
            Task::GetBytes => {
                let laid = |unit| Stamp::laid(self.position(unit)).sum();
                let right: u64 = (first..self.units).map(laid).sum();
                self.wrong += u64::from(sum != right);
            }
            Task::ReadBlocks => {
                let position = self.position(self.units - 1);
                let blocks = self.unit.chunks_exact(block::BYTES).zip(position..);
                let wrong = blocks.filter(|(block, position)| Stamp::of(block) != Stamp::laid(*position));
                self.wrong += wrong.count() as u64;
                // So that a read that does nothing is noticed.
                self.unit.fill(0xff);
            }
            Task::PutBytes | Task::WriteBlocks => {}
        }
    }

    /// Of the units that were written last, how many of a sample are not in the file.
    fn missing(&self) -> u64 {
        let in_file = self.file.blocks / self.task.blocks() as u64;
        let first = self.units.saturating_sub(in_file);
        let step = ((self.units - first) / SAMPLE).max(1);
        let mut block = [0; block::BYTES];
        let sample = (first..self.units).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        let missing = sample.filter(|unit| {
            let position = self.position(*unit);
            let read = self
                .file
                .file
                .read_exact_at(&mut block, position * block::BYTES as u64);
            read.is_err() || Stamp::of(&block) != Stamp::written(position, *unit)
        });
        missing.count() as u64
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let bytes = units as f64 * self.unit.len() as f64;
        let done = timed_alone(parts, bytes, || self.carry_out(units));
        let sum = done.map_err(self.folder.failed("read or write its file"))?;
        let first = self.units;
        self.units += units;
        self.look(first, sum);
        Ok(())
    }

    fn check(&mut self) -> Check {
        if self.task.writes() {
            self.wrong += self.missing();
        }
        report::check("blocks or sums that are others", self.wrong as f64, 0.0)
    }

    fn disk(&self) -> Option<Disk> {
        Some(Disk {
            file_system: self.folder.file_system.name(),
            way: Way::PageCache,
            device: facts::device(&self.file.file),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::NOTHING;
    use tare_wire::kernel::Isa;

    const ALL: [Kernel; 4] = [
        Kernel::ByteRead,
        Kernel::ByteWrite,
        Kernel::BlockRead,
        Kernel::BlockWrite,
    ];

    fn slices(kernel: Kernel) -> Slices {
        let spec = KernelSpec {
            kernel,
            isa: Isa::Baseline,
            threads: 1,
            size: 100_000,
            seconds: 0.1,
        };
        Slices::new(&spec).unwrap()
    }

    #[test]
    fn a_file_is_gone_through_again_and_again() {
        for kernel in ALL {
            let mut slices = slices(kernel);
            let mut parts = [NOTHING];
            for units in [1, 7, 200] {
                slices.work(units, &mut parts).unwrap();
                assert!(slices.check().passed(), "{kernel}: {:?}", slices.check());
            }
            assert_eq!(parts[0].work, 208.0 * slices.unit.len() as f64, "{kernel}");
            assert!(slices.file.blocks * 4096 <= 100_000);
        }
    }

    #[test]
    fn a_block_that_holds_something_else_is_noticed() {
        for kernel in ALL {
            let mut slices = slices(kernel);
            slices.work(3, &mut [NOTHING]).unwrap();
            let position = slices.position(if slices.task.writes() { 2 } else { 3 });
            let mut other = [0; block::BYTES];
            Stamp::laid(1 << 40).put(&mut other);
            let offset = position * block::BYTES as u64;
            slices.file.file.write_all_at(&other, offset).unwrap();
            if !slices.task.writes() {
                slices.work(1, &mut [NOTHING]).unwrap();
            }
            assert!(!slices.check().passed(), "{kernel}");
        }
    }
}
