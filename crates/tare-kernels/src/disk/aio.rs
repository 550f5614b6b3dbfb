//! Linux's asynchronous input and output (libaio), by its system calls.
//!
//! Chosen over io_uring, which containers' seccomp filters refuse and gVisor does not carry
//! out, and over a thread for each request, which costs twice the CPU time.

use super::block;
use super::buffer::Buffer;
use crate::error::KernelError;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Whether requests read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
}

/// `struct iocb` of linux/aio_abi.h, whose second and third word trade places on big-endian
/// machines; both are 0 here.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Request {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

const PREAD: u16 = 0;
const PWRITE: u16 = 1;

/// `struct io_event`: how a request ended.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    request: u64,
    result: i64,
    result2: i64,
}

/// The kernel's end of a queue.
struct Context(libc::c_ulong);

impl Context {
    fn new(depth: usize) -> io::Result<Self> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: `id` is valid for writing, and 0 as the call wants it.
        let made = unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut id) };
        if made == 0 {
            Ok(Self(id))
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Waits for what is in flight: no buffer is freed under a disk's hands.
        // SAFETY: the context that `new` made, which nobody uses any more.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

/// A queue of requests for a block each, every one with its own place in a buffer.
pub struct Queue {
    // Dropped before the buffer, by the order of the fields.
    context: Context,
    buffer: Buffer,
    requests: Vec<Request>,
    events: Vec<Event>,
    idle: Vec<usize>,
    /// Of each place whether the kernel has its block.
    in_flight: Vec<bool>,
}

impl Queue {
    /// # Errors
    /// [`KernelError::Map`], and that of io_setup by `failed`.
    pub fn new(depth: usize, failed: impl Fn(io::Error) -> KernelError) -> Result<Self, KernelError> {
        Ok(Self {
            context: Context::new(depth).map_err(failed)?,
            buffer: Buffer::new(depth)?,
            requests: vec![Request::default(); depth],
            events: vec![Event::default(); depth],
            idle: (0..depth).collect(),
            in_flight: vec![false; depth],
        })
    }

    /// A place that no request uses.
    pub fn idle(&mut self) -> Option<usize> {
        self.idle.pop()
    }

    /// Gives back a place that no request was started with.
    pub fn give_back(&mut self, place: usize) {
        self.idle.push(place);
    }

    /// Whether no request is in flight.
    pub fn is_empty(&self) -> bool {
        self.idle.len() == self.requests.len()
    }

    /// The block of a place.
    ///
    /// # Panics
    /// Of a place that is not there, and of one whose request is in flight.
    pub fn block(&mut self, place: usize) -> &mut [u8] {
        assert!(!self.in_flight[place], "its request is in flight");
        // SAFETY: a whole block of the buffer, which the kernel does not have: see
        // `start` and `reap`. `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.address(place).as_ptr(), block::BYTES) }
    }

    /// Starts a request with an idle place, for the block at `offset` of `file`. One call
    /// for one request, as fio does: of several at once the kernel makes one larger, where
    /// they are neighbours.
    ///
    /// # Errors
    /// As io_submit(2); the place is idle again.
    ///
    /// # Panics
    /// Of a place whose request is in flight.
    pub fn start(&mut self, place: usize, direction: Direction, file: &File, offset: u64) -> io::Result<()> {
        assert!(!self.in_flight[place], "its request is in flight");
        let request = Request {
            data: place as u64,
            opcode: match direction {
                Direction::Read => PREAD,
                Direction::Write => PWRITE,
            },
            fd: file.as_raw_fd().cast_unsigned(),
            buffer: self.buffer.address(place).as_ptr().expose_provenance() as u64,
            bytes: block::BYTES as u64,
            offset: offset.cast_signed(),
            ..Request::default()
        };
        self.requests[place] = request;
        let list = [&raw mut self.requests[place]];
        // SAFETY: the list has one request, which the kernel copies. The block that it
        // names lives until the context is gone, and `block` lends it to nobody before
        // `reap` has seen the end of the request.
        let started = unsafe { libc::syscall(libc::SYS_io_submit, self.context.0, 1, list.as_ptr()) };
        if started == 1 {
            self.in_flight[place] = true;
            return Ok(());
        }
        self.idle.push(place);
        Err(io::Error::last_os_error())
    }

    /// Waits until a request has ended, and takes all that have: their places are idle.
    /// Within, the error of the first that failed, [`WriteZero`](io::ErrorKind::WriteZero)
    /// of one that did not move a whole block.
    ///
    /// # Errors
    /// As io_getevents(2): nothing has ended, and nothing may be waited for.
    pub fn reap(&mut self) -> io::Result<io::Result<()>> {
        let n = self.wait()?;
        let mut outcome = Ok(());
        for event in &self.events[..n] {
            // As it was given.
            let place = usize::try_from(event.data).unwrap_or(usize::MAX);
            self.in_flight[place] = false;
            self.idle.push(place);
            outcome = outcome.and_then(|()| moved(event.result));
        }
        Ok(outcome)
    }

    /// How many requests have ended, at least one; their events are the first.
    fn wait(&mut self) -> io::Result<usize> {
        loop {
            // SAFETY: `events` has room for as many as the context has requests; there is
            // no time limit.
            let n = unsafe {
                let none: *const libc::timespec = std::ptr::null();
                let (events, room) = (self.events.as_mut_ptr(), self.events.len());
                libc::syscall(libc::SYS_io_getevents, self.context.0, 1, room, events, none)
            };
            match usize::try_from(n) {
                Ok(n) => return Ok(n),
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
    }
}

/// Whether a request that ended so moved a whole block.
fn moved(result: i64) -> io::Result<()> {
    match usize::try_from(result) {
        Ok(block::BYTES) => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::from_raw_os_error(
            i32::try_from(-result).unwrap_or(libc::EIO),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::Stamp;
    use super::super::folder::Folder;
    use super::super::scratch::{Access, Scratch};
    use super::*;
    use std::path::Path;
    use tare_wire::kernel::Kernel;

    #[test]
    fn blocks_are_read_as_they_were_written_and_places_are_idle_again() {
        let folder = Folder::at(Kernel::RandomRead, Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let laid = Scratch::lay(&folder, Access::Cached, &(0..8)).unwrap();
        let mut queue = Queue::new(4, folder.failed("make a queue")).unwrap();
        let place = queue.idle().unwrap();
        Stamp::written(3, 99).put(queue.block(place));
        let offset = 3 * block::BYTES as u64;
        queue.start(place, Direction::Write, &laid.file, offset).unwrap();
        assert!(!queue.is_empty());
        queue.reap().unwrap().unwrap();
        assert!(queue.is_empty());
        for position in [3, 4] {
            let place = queue.idle().unwrap();
            let offset = position * block::BYTES as u64;
            queue.start(place, Direction::Read, &laid.file, offset).unwrap();
            queue.reap().unwrap().unwrap();
            let expected = if position == 3 {
                Stamp::written(3, 99)
            } else {
                Stamp::laid(4)
            };
            assert_eq!(Stamp::of(queue.block(place)), expected);
        }
    }

    #[test]
    fn what_ends_beyond_the_file_is_an_error() {
        let folder = Folder::at(Kernel::RandomRead, Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let laid = Scratch::lay(&folder, Access::Cached, &(0..1)).unwrap();
        let mut queue = Queue::new(1, folder.failed("make a queue")).unwrap();
        let place = queue.idle().unwrap();
        queue.start(place, Direction::Read, &laid.file, 1 << 20).unwrap();
        assert_eq!(
            queue.reap().unwrap().unwrap_err().kind(),
            io::ErrorKind::WriteZero
        );
        assert!(queue.is_empty());
        assert_eq!(moved(-28).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    }
}
