//! Threads that each keep a queue of requests at the disk.

use super::aio::{Direction, Queue};
use super::block::{self, Stamp};
use super::folder::Folder;
use super::scratch::Scratch;
use crate::error::KernelError;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Threads, each with a queue of its own, as fio's jobs in the study that this kernel
/// follows. One thread with a queue for all takes less CPU time, and shows less of what a
/// box adds: interrupts and switches between those who wait.
pub const JOBS: u32 = 8;

/// Requests that each keeps in flight.
pub const DEPTH: usize = 16;

/// In which order blocks are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Random,
    Sequential,
}

/// Where each operation of a kernel goes. It follows from its number alone: whichever
/// thread carries it out, the same orders are the same work in every box.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    pub order: Order,
    /// Blocks of each file.
    pub blocks: u64,
}

impl Course {
    /// The file and the block in it of an operation. Files take turns.
    #[expect(clippy::cast_possible_truncation, reason = "fewer files than jobs")]
    pub fn place(self, operation: u64) -> (usize, u64) {
        let file = operation % u64::from(JOBS);
        let step = match self.order {
            Order::Random => scattered(operation),
            Order::Sequential => operation / u64::from(JOBS),
        };
        (file as usize, step % self.blocks)
    }

    /// Which of all blocks that is.
    pub fn position(self, operation: u64) -> u64 {
        let (file, block) = self.place(operation);
        file as u64 * self.blocks + block
    }
}

/// A number that looks as if drawn by lot (the finaliser of SplitMix64, Steele 2014).
const fn scattered(number: u64) -> u64 {
    let mut x = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What the threads share.
pub struct Shared {
    pub files: Vec<Scratch>,
    pub course: Course,
    pub direction: Direction,
    /// The next operation that no thread has taken, and where those of this slice end.
    /// Threads take one after another, so that all end together: with a share for each, the
    /// slowest would be alone at the end, its queue the only one.
    next: AtomicU64,
    end: AtomicU64,
}

impl Shared {
    pub fn new(files: Vec<Scratch>, course: Course, direction: Direction) -> Self {
        Self {
            files,
            course,
            direction,
            next: AtomicU64::new(0),
            end: AtomicU64::new(0),
        }
    }

    fn take(&self) -> Option<u64> {
        let operation = self.next.fetch_add(1, Ordering::Relaxed);
        (operation < self.end.load(Ordering::Relaxed)).then_some(operation)
    }
}

/// What a thread is told to do.
#[derive(Clone, Copy)]
enum Task {
    /// Take operations until there are none left, and wait for their ends.
    Work,
    /// Count the blocks read last that hold another's stamp.
    Look,
}

/// The threads, which wait for tasks.
pub struct Team {
    shared: Arc<Shared>,
    tasks: Vec<SyncSender<Task>>,
    /// How many wrong blocks each found, or why it failed.
    answers: Receiver<io::Result<u64>>,
    threads: Vec<JoinHandle<()>>,
}

impl Team {
    /// # Errors
    /// [`KernelError`] if a thread or its queue cannot be had.
    pub fn start(folder: &Folder, shared: Shared) -> Result<Self, KernelError> {
        let (answer, answers) = sync_channel(JOBS as usize);
        let mut team = Self {
            shared: Arc::new(shared),
            tasks: Vec::new(),
            answers,
            threads: Vec::new(),
        };
        for number in 1..=JOBS {
            let queue = Queue::new(DEPTH, folder.failed("make a queue of requests (io_setup)"))?;
            let (task, tasks) = sync_channel(1);
            let mut job = Job {
                shared: Arc::clone(&team.shared),
                queue,
                last: [None; DEPTH],
            };
            let answer = answer.clone();
            let started = std::thread::Builder::new().spawn(move || job.serve(&tasks, &answer));
            team.threads.push(started.map_err(|source| KernelError::Thread {
                number,
                threads: JOBS,
                source,
            })?);
            team.tasks.push(task);
        }
        Ok(team)
    }

    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Carries out the operations from `first` on, so many.
    ///
    /// # Errors
    /// That of the first that failed.
    pub fn work(&self, first: u64, operations: u64) -> io::Result<()> {
        self.shared.next.store(first, Ordering::Relaxed);
        self.shared
            .end
            .store(first.saturating_add(operations), Ordering::Relaxed);
        self.all(Task::Work).map(|_| ())
    }

    /// How many blocks, of those that were read last into each place, hold another's stamp.
    pub fn look(&self) -> io::Result<u64> {
        self.all(Task::Look)
    }

    /// Has every thread do it, and waits for all of them. The channels order what was
    /// stored before.
    fn all(&self, task: Task) -> io::Result<u64> {
        for tasks in &self.tasks {
            // Fails only if the thread is gone, which then gives no answer either.
            let _ = tasks.send(task);
        }
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let mut all = Ok(0);
        // Of every thread, also after one has failed: an answer left over would be taken
        // for the next task's.
        for _ in &self.tasks {
            let answer = self.answers.recv().map_err(gone)?;
            all = all.and_then(|sum| Ok(sum + answer?));
        }
        all
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        // The end of its tasks ends a thread.
        self.tasks.clear();
        for thread in self.threads.drain(..) {
            // A panic of the other thread was told when it happened.
            let _ = thread.join();
        }
    }
}

/// One thread.
struct Job {
    shared: Arc<Shared>,
    queue: Queue,
    /// The operation that used each place of the queue last.
    last: [Option<u64>; DEPTH],
}

impl Job {
    fn serve(&mut self, tasks: &Receiver<Task>, answers: &SyncSender<io::Result<u64>>) {
        while let Ok(task) = tasks.recv() {
            let answer = match task {
                Task::Work => self.work().map(|()| 0),
                Task::Look => Ok(self.look()),
            };
            if answers.send(answer).is_err() {
                return;
            }
        }
    }

    /// Keeps the queue full while there are operations, and ends with nothing in flight.
    fn work(&mut self) -> io::Result<()> {
        let mut outcome = Ok(());
        loop {
            // Once something failed nothing new is started; what is in flight must end.
            while outcome.is_ok() {
                let Some(place) = self.queue.idle() else { break };
                let Some(operation) = self.shared.take() else {
                    self.queue.give_back(place);
                    break;
                };
                outcome = self.begin(place, operation);
            }
            if self.queue.is_empty() {
                return outcome;
            }
            let ended = self.queue.reap()?;
            outcome = outcome.and(ended);
        }
    }

    #[inline]
    fn begin(&mut self, place: usize, operation: u64) -> io::Result<()> {
        let shared = &*self.shared;
        let (file, within) = shared.course.place(operation);
        if shared.direction == Direction::Write {
            let position = file as u64 * shared.course.blocks + within;
            Stamp::written(position, operation).put(self.queue.block(place));
        }
        self.last[place] = Some(operation);
        let offset = within * block::BYTES as u64;
        self.queue
            .start(place, shared.direction, &shared.files[file].file, offset)
    }

    fn look(&mut self) -> u64 {
        let course = self.shared.course;
        let mut wrong = 0;
        for (place, last) in self.last.iter_mut().enumerate() {
            if let Some(operation) = last.take() {
                let stamp = Stamp::of(self.queue.block(place));
                wrong += u64::from(stamp.position != course.position(operation));
                // So that a read that does nothing is noticed.
                self.queue.block(place)[..8].fill(0xff);
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_in_order_visit_every_block_once_and_then_begin_again() {
        let course = Course {
            order: Order::Sequential,
            blocks: 16,
        };
        let all = u64::from(JOBS) * 16;
        let mut seen: Vec<u64> = (0..all).map(|n| course.position(n)).collect();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..all));
        assert_eq!(course.place(all), course.place(0));
        assert_eq!(course.place(9), (1, 1));
    }

    #[test]
    fn operations_at_random_reach_all_blocks_evenly() {
        let course = Course {
            order: Order::Random,
            blocks: 10,
        };
        let mut seen = [0_u32; 10 * JOBS as usize];
        for operation in 0..80_000 {
            seen[usize::try_from(course.position(operation)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
    }
}
