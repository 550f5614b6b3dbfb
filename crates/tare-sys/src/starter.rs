//! Starts a program again and again from a process of a few pages, so that the peak memory
//! which wait4(2) tells of the program is the program's own.
//!
//! The kernel counts into a process's peak all address spaces that it ever had: execve(2) folds
//! in the one that it leaves (`exec_mmap` in fs/exec.c, `setmax_mm_hiwater_rss`). A program that
//! this process starts would so begin at this process's peak, with fork as with vfork. Nothing
//! takes that back: `clear_refs` of proc(5) lowers a peak to what is resident, which after a fork
//! is megabytes still. So another process starts it, whose address space is a page of code and its
//! stack. It makes the program a child of ours (`CLONE_PARENT`), so that we wait for it as ever,
//! and tells when it began: handing over the order is not part of the program's time.

use crate::wait4;
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, getpid};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

// What the process runs. The word at its end, which `image` fills in, is its end of a socket. For
// each byte that comes it starts the program of its second word on, by the path in its first;
// the answer is four words: seconds and nanoseconds at which it began, the process id or the
// error of clone, the error of execve or 0. It ends with the socket. The program's process runs
// on the stack of its parent, which waits for it to leave that (CLONE_VFORK), so it calls nothing.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .rodata.tare_starter,\"a\"",
    ".balign 8",
    ".globl tare_starter_begin, tare_starter_end",
    "tare_starter_begin:",
    "mov r12, rsp",
    "sub rsp, 64",
    "mov ebx, dword ptr [rip + 9f]",
    "mov eax, 72", // fcntl(socket, F_SETFD, FD_CLOEXEC): not for the program
    "mov edi, ebx",
    "mov esi, 2",
    "mov edx, 1",
    "syscall",
    "2:",
    "xor eax, eax", // read(socket, answer, 1)
    "mov edi, ebx",
    "mov rsi, rsp",
    "mov edx, 1",
    "syscall",
    "cmp rax, 1",
    "jne 4f",
    "mov qword ptr [rsp + 24], 0",
    "mov eax, 228", // clock_gettime(CLOCK_MONOTONIC, answer)
    "mov edi, 1",
    "mov rsi, rsp",
    "syscall",
    "mov eax, 56", // clone(CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD)
    "mov edi, 0xc111",
    "xor esi, esi",
    "xor edx, edx",
    "xor r10d, r10d",
    "xor r8d, r8d",
    "syscall",
    "test rax, rax",
    "jz 3f",
    "mov qword ptr [rsp + 16], rax",
    "mov eax, 1", // write(socket, answer, 32)
    "mov edi, ebx",
    "mov rsi, rsp",
    "mov edx, 32",
    "syscall",
    "jmp 2b",
    "3:",
    "mov eax, 109", // setpgid(0, 0)
    "xor edi, edi",
    "xor esi, esi",
    "syscall",
    "mov eax, 59", // execve(first word, second word on, environment)
    "mov rdi, qword ptr [r12 + 8]",
    "lea rsi, [r12 + 16]",
    "mov rdx, qword ptr [r12]",
    "lea rdx, [r12 + rdx * 8 + 16]",
    "syscall",
    "neg rax",
    "mov qword ptr [rsp + 24], rax",
    "4:",
    "mov eax, 231", // exit_group(127)
    "mov edi, 127",
    "syscall",
    ".balign 4",
    "9:",
    ".long 0",
    "tare_starter_end:",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".pushsection .rodata.tare_starter,\"a\"",
    ".balign 8",
    ".globl tare_starter_begin, tare_starter_end",
    "tare_starter_begin:",
    "mov x19, sp",
    "sub sp, sp, #64",
    "adr x20, 9f",
    "ldr w20, [x20]",
    "mov x8, #25", // fcntl(socket, F_SETFD, FD_CLOEXEC): not for the program
    "mov x0, x20",
    "mov x1, #2",
    "mov x2, #1",
    "svc #0",
    "2:",
    "mov x8, #63", // read(socket, answer, 1)
    "mov x0, x20",
    "mov x1, sp",
    "mov x2, #1",
    "svc #0",
    "cmp x0, #1",
    "b.ne 4f",
    "str xzr, [sp, #24]",
    "mov x8, #113", // clock_gettime(CLOCK_MONOTONIC, answer)
    "mov x0, #1",
    "mov x1, sp",
    "svc #0",
    "mov x8, #220", // clone(CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD)
    "mov x0, #0xc111",
    "mov x1, #0",
    "mov x2, #0",
    "mov x3, #0",
    "mov x4, #0",
    "svc #0",
    "cbz x0, 3f",
    "str x0, [sp, #16]",
    "mov x8, #64", // write(socket, answer, 32)
    "mov x0, x20",
    "mov x1, sp",
    "mov x2, #32",
    "svc #0",
    "b 2b",
    "3:",
    "mov x8, #154", // setpgid(0, 0)
    "mov x0, #0",
    "mov x1, #0",
    "svc #0",
    "mov x8, #221", // execve(first word, second word on, environment)
    "ldr x2, [x19]",
    "add x2, x19, x2, lsl #3",
    "add x2, x2, #16",
    "ldr x0, [x19, #8]",
    "add x1, x19, #16",
    "svc #0",
    "neg x0, x0",
    "str x0, [sp, #24]",
    "4:",
    "mov x8, #94", // exit_group(127)
    "mov x0, #127",
    "svc #0",
    ".balign 4",
    "9:",
    ".long 0",
    "tare_starter_end:",
    ".popsection",
);

unsafe extern "C" {
    static tare_starter_begin: u8;
    static tare_starter_end: u8;
}

/// The machine for which the code is, as elf(5) numbers it.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
/// Where it is loaded: programs of fixed address are everywhere loaded there or above.
const ADDRESS: u64 = 0x40_0000;
/// Length of the header of the file and of one of its two segments.
const HEADER: u16 = 64;
const SEGMENT: u16 = 56;
/// Length of its answer, of four words.
const ANSWER: usize = 32;

/// A process that starts one program, as often as it is told to.
#[derive(Debug)]
pub struct Starter {
    process: Child,
    /// Our end of its socket; none once it has ended.
    socket: Option<UnixStream>,
    /// Whether what it starts is our child is yet to be seen.
    unseen: bool,
}

/// A program that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// Its process, a child of ours and the first of a group of its own.
    pub pid: u32,
    /// When it was started, by the monotonic clock.
    pub since_ns: u64,
}

impl Starter {
    /// A process that starts the file `program` with the words `argv`. `dress` gives it what it
    /// hands on to what it starts: environment, folder, standard input and output.
    ///
    /// # Errors
    /// As memfd_create(2), fork(2) and execve(2): ENOENT also for a folder that is not there.
    pub fn new(
        program: &Path,
        argv: &[impl AsRef<OsStr>],
        dress: impl FnOnce(&mut Command),
    ) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let file = executable(&image(theirs.as_raw_fd()))?;
        let mut command = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
        command.arg0(program).args(argv);
        dress(&mut command);
        crate::inherit(&mut command, theirs.into());
        // Our copy of its end goes with the command: else its end would not be seen here.
        let process = command.spawn()?;
        drop(command);
        Ok(Self {
            process,
            socket: Some(ours),
            unseen: true,
        })
    }

    /// Starts the program. What it prints comes from this process's own pipes, if it has any.
    ///
    /// # Errors
    /// As clone(2) and execve(2); `UnexpectedEof` and the like where the process was killed.
    pub fn start(&mut self) -> io::Result<Started> {
        let socket = self.socket.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        socket.write_all(&[1])?;
        let mut answer = [0; ANSWER];
        socket.read_exact(&mut answer)?;
        let [seconds, nanoseconds, pid, failed] = words(answer);
        let pid = i32::try_from(pid).map_err(|_| io::ErrorKind::InvalidData)?;
        if pid <= 0 {
            return Err(io::Error::from_raw_os_error(-pid));
        }
        let started = Started {
            pid: pid.cast_unsigned(),
            since_ns: (seconds * 1_000_000_000 + nanoseconds).cast_unsigned(),
        };
        if std::mem::take(&mut self.unseen) && !is_ours(started.pid) {
            // gVisor knows no CLONE_PARENT: an orphan comes to us, as first process or subreaper.
            self.end();
        }
        match i32::try_from(failed) {
            Ok(0) => Ok(started),
            failed => {
                wait4(started.pid)?;
                Err(io::Error::from_raw_os_error(failed.unwrap_or(libc::EIO)))
            }
        }
    }

    /// Whether it can start the program once more.
    pub fn is_there(&self) -> bool {
        self.socket.is_some()
    }

    /// The process, as long as it is there.
    pub fn pid(&self) -> Option<Pid> {
        let number = i32::try_from(self.process.id()).ok()?;
        Pid::from_raw(number).filter(|_| self.is_there())
    }

    /// The pipes of what it starts.
    pub fn pipes(&mut self) -> &mut Child {
        &mut self.process
    }

    fn end(&mut self) {
        // It ends with its socket; one that is stopped would not.
        if self.socket.take().is_some() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether a process is a child of this one.
fn is_ours(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // `pid (name) state parent ...`, and the name may hold anything.
    let parent = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.split(' ').nth(1));
    parent.and_then(|parent| parent.parse().ok()) == Some(getpid().as_raw_nonzero().get())
}

fn words(answer: [u8; ANSWER]) -> [i64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(answer.chunks_exact(8)) {
        *word = i64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    }
    words
}

/// A file in memory that can be run.
fn executable(image: &[u8]) -> io::Result<File> {
    let made = |flags| rustix::fs::memfd_create("tare-starter", MemfdFlags::CLOEXEC | flags);
    let file = match made(MemfdFlags::EXEC) {
        // Kernels before 6.3 let such files be run unasked.
        Err(rustix::io::Errno::INVAL) => made(MemfdFlags::empty()),
        made => made,
    };
    // Refused where vm.memfd_noexec is 2, which the program's own name would not tell.
    let file = file.map_err(|e| {
        let why = format!("no file in memory for the process that is to start it: {e}");
        io::Error::new(io::Error::from(e).kind(), why)
    })?;
    let mut file = File::from(file);
    file.write_all(image)?;
    Ok(file)
}

/// The program as elf(5) has it: one segment that holds the whole file, and a stack.
fn image(socket: RawFd) -> Vec<u8> {
    let code = code();
    let start = usize::from(HEADER + 2 * SEGMENT);
    let length = (start + code.len()) as u64;
    let mut image = b"\x7fELF\x02\x01\x01".to_vec();
    image.resize(16, 0);
    let mut put = |bytes: &[u8]| image.extend_from_slice(bytes);
    put(&[2, 0]); // ET_EXEC
    put(&MACHINE.to_le_bytes());
    put(&1_u32.to_le_bytes());
    put(&(ADDRESS + start as u64).to_le_bytes());
    put(&u64::from(HEADER).to_le_bytes());
    put(&[0; 12]); // no sections, no flags
    for half in [HEADER, SEGMENT, 2, 0, 0, 0] {
        put(&half.to_le_bytes());
    }
    // Type and rights: PT_LOAD, to be read and run; PT_GNU_STACK, to be read and written.
    for (kind, rights, address, length) in [(1, 5, ADDRESS, length), (0x6474_e551, 6, 0, 0)] {
        put(&u32::to_le_bytes(kind));
        put(&u32::to_le_bytes(rights));
        for long in [0, address, address, length, length, 0x1000] {
            put(&long.to_le_bytes());
        }
    }
    put(&code[..code.len() - 4]);
    put(&socket.to_le_bytes());
    image
}

fn code() -> &'static [u8] {
    let (begin, end) = (&raw const tare_starter_begin, &raw const tare_starter_end);
    // SAFETY: the two labels enclose one run of bytes of this program's constants.
    unsafe { std::slice::from_raw_parts(begin, end.addr() - begin.addr()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn starter(program: &str, argv: &[&str]) -> Starter {
        Starter::new(Path::new(program), argv, |command| {
            command.env_clear().env("WORD", "word").stdout(Stdio::piped());
        })
        .unwrap()
    }

    #[test]
    fn a_program_is_started_again_and_again() {
        let mut starter = starter(
            "/bin/sh",
            &["name", "-c", "printf \"$0 $WORD $1.\"; exit 7", "a", "b"],
        );
        for _ in 0..3 {
            let started = starter.start().unwrap();
            let reaped = wait4(started.pid).unwrap();
            assert_eq!((reaped.code, reaped.signal), (Some(7), None));
            let mut said = [0; 9];
            let stdout = starter.pipes().stdout.as_mut().unwrap();
            stdout.read_exact(&mut said).unwrap();
            assert_eq!(&said, b"a word b.");
        }
    }

    #[test]
    fn a_program_that_cannot_be_started_is_refused_with_its_cause() {
        let mut missing = starter("/there/is/none", &["none"]);
        for _ in 0..2 {
            let refused = missing.start().unwrap_err();
            assert_eq!(refused.raw_os_error(), Some(libc::ENOENT), "{refused}");
        }
        let refused = starter("/", &["folder"]).start().unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EACCES), "{refused}");
        let nowhere = Starter::new(Path::new("/bin/true"), &["true"], |command| {
            command.current_dir("/there/is/none");
        });
        assert_eq!(nowhere.unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }

    #[test]
    fn a_starter_that_was_killed_is_told() {
        let mut killed = starter("/bin/true", &["true"]);
        killed.pipes().kill().unwrap();
        killed.start().unwrap_err();
    }

    #[test]
    fn the_peak_of_a_program_does_not_begin_at_ours() {
        // Far more than any `true` takes.
        let ours = vec![1_u8; 64 << 20];
        let started = starter("/bin/true", &["true"]).start().unwrap();
        let small = wait4(started.pid).unwrap().max_rss_bytes;
        #[expect(clippy::zombie_processes, reason = "it is waited for by its number")]
        let child = Command::new("/bin/true").spawn().unwrap();
        let inherited = wait4(child.id()).unwrap().max_rss_bytes;
        assert!(small > 0 && small < 16 << 20, "{small}");
        // If a kernel mends this, starters are needed no longer.
        assert!(inherited >= ours.len() as u64, "{inherited}");
    }
}
