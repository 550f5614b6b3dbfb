//! `random-read`, `random-write`, `sequential-read`, `sequential-write`: blocks of 4 KiB
//! past the page cache, with 128 requests in flight.
//!
//! The job of ruan2016: fio with `bs=4k direct=1 ioengine=libaio iodepth=16 numjobs=8`.
//! Files are laid out before, so that writes are overwrites.

use super::aio::Direction;
use super::block::{self, Stamp};
use super::buffer::Buffer;
use super::facts;
use super::folder::Folder;
use super::jobs::{Course, DEPTH, JOBS, Order, Shared, Team};
use super::scratch::{Access, Scratch};
use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::report;
use crate::size;
use std::os::unix::fs::FileExt;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, Disk, Kernel, KernelSpec, Way};

/// Operations of a unit: as many as the queues hold, since fewer would not fill them.
const UNIT: u64 = JOBS as u64 * DEPTH as u64;

/// Written blocks that are read again at the end.
const SAMPLE: u64 = 512;

/// The kernel, of which a unit is as many operations as fill all queues once.
pub struct Slices {
    team: Team,
    folder: Folder,
    operations: u64,
    /// Blocks that held another's stamp.
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError`] for a size that is none, where the folder is on no disk, and if
    /// files, queues or threads cannot be had.
    pub fn new(spec: &KernelSpec) -> Result<Self, KernelError> {
        let blocks = size::check(spec)? / block::BYTES as u64;
        let folder = Folder::here(spec.kernel)?;
        folder.require_disk(Way::Direct)?;
        let (order, direction) = match spec.kernel {
            Kernel::RandomWrite => (Order::Random, Direction::Write),
            Kernel::SequentialRead => (Order::Sequential, Direction::Read),
            Kernel::SequentialWrite => (Order::Sequential, Direction::Write),
            _ => (Order::Random, Direction::Read),
        };
        let files = (0..u64::from(JOBS))
            .map(|file| Scratch::lay(&folder, Access::Direct, &(file * blocks..(file + 1) * blocks)));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let shared = Shared::new(files, Course { order, blocks }, direction);
        Ok(Self {
            team: Team::start(&folder, shared)?,
            folder,
            operations: 0,
            wrong: 0,
        })
    }

    /// Of the blocks that were written, how many of a sample do not hold what a write put
    /// there. Two writes of one block that are in flight together may come in any order.
    fn misplaced(&self) -> Result<u64, KernelError> {
        let shared = self.team.shared();
        let mut buffer = Buffer::new(1)?;
        let step = (self.operations / SAMPLE).max(1);
        let mut wrong = 0;
        for operation in (0..self.operations).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
            let (file, within) = shared.course.place(operation);
            let (block, offset) = (buffer.as_mut_slice(), within * block::BYTES as u64);
            let read = shared.files[file].file.read_exact_at(block, offset);
            read.map_err(self.folder.failed("read what it wrote"))?;
            let stamp = Stamp::of(block);
            let is_right = stamp.write().is_some_and(|write| {
                write < self.operations && shared.course.position(write) == stamp.position
            });
            wrong += u64::from(!is_right || stamp.position != shared.course.position(operation));
        }
        Ok(wrong)
    }
}

impl Sliced for Slices {
    /// The slice ends when nothing is in flight any more, and its start fills the queues:
    /// both are in its time, the same in every box.
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let operations = units.saturating_mul(UNIT);
        let (team, first) = (&self.team, self.operations);
        let done = timed_alone(parts, operations as f64, || team.work(first, operations));
        done.map_err(self.folder.failed("carry out its requests"))?;
        self.operations += operations;
        if team.shared().direction == Direction::Read {
            let wrong = team.look();
            self.wrong += wrong.map_err(self.folder.failed("look at what it read"))?;
        }
        Ok(())
    }

    fn check(&mut self) -> Check {
        if self.team.shared().direction == Direction::Write {
            // What cannot be read is wrong.
            self.wrong += self.misplaced().unwrap_or(SAMPLE);
        }
        report::check("blocks with wrong content", self.wrong as f64, 0.0)
    }

    fn disk(&self) -> Option<Disk> {
        Some(Disk {
            file_system: self.folder.file_system.name(),
            way: Way::Direct,
            device: facts::device(&self.team.shared().files[0].file),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::NOTHING;
    use tare_wire::kernel::Isa;

    fn slices(kernel: Kernel) -> Slices {
        let spec = KernelSpec {
            kernel,
            isa: Isa::Baseline,
            threads: 1,
            size: 256 << 10,
            seconds: 0.1,
        };
        Slices::new(&spec).unwrap()
    }

    #[test]
    fn slices_go_on_where_the_one_before_ended_and_the_time_of_all_threads_counts() {
        for kernel in [
            Kernel::RandomRead,
            Kernel::RandomWrite,
            Kernel::SequentialRead,
            Kernel::SequentialWrite,
        ] {
            let mut slices = slices(kernel);
            let mut parts = [NOTHING];
            for units in [1, 3, 10] {
                slices.work(units, &mut parts).unwrap();
            }
            assert_eq!(parts[0].work, 14.0 * UNIT as f64);
            assert_eq!(slices.operations, 14 * UNIT);
            assert!(parts[0].wall_ns > 0 && parts[0].cpu_ns > 0, "{parts:?}");
            assert_eq!(slices.check().found, 0.0, "{kernel}");
            assert_eq!(slices.disk().unwrap().way, Way::Direct);
        }
    }

    #[test]
    fn a_block_that_holds_something_else_is_noticed() {
        for (kernel, wrong) in [(Kernel::RandomRead, true), (Kernel::RandomWrite, true)] {
            let mut slices = slices(kernel);
            let mut buffer = Buffer::new(1).unwrap();
            Stamp::laid(1 << 40).put(buffer.as_mut_slice());
            slices.work(1, &mut [NOTHING]).unwrap();
            let spoil = |slices: &Slices| {
                for file in &slices.team.shared().files {
                    for block in 0..file.blocks {
                        let offset = block * block::BYTES as u64;
                        file.file.write_all_at(buffer.as_slice(), offset).unwrap();
                    }
                }
            };
            spoil(&slices);
            if kernel == Kernel::RandomRead {
                slices.work(1, &mut [NOTHING]).unwrap();
            }
            assert_eq!(slices.check().found > 0.0, wrong, "{kernel}");
        }
    }
}
