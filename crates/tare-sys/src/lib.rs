//! The few system calls that neither the standard library nor rustix offers
//! safely: what spawning boxes and reaping processes needs.

pub mod counting;
pub mod interface;
pub mod private;
pub mod regular;
pub mod shifted;
pub mod starter;

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a process ended and what it used, as wait4(2) tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reaped {
    /// Process id.
    pub pid: u32,
    /// Exit code, if it ended by itself.
    pub code: Option<i32>,
    /// Signal that ended it, if one did.
    pub signal: Option<i32>,
    /// User time in nanoseconds, its reaped children's included.
    pub user_ns: u64,
    /// System time in nanoseconds, its reaped children's included.
    pub system_ns: u64,
    /// Largest resident set in bytes. A child's starts at its parent's
    /// (getrusage(2) carries it over exec): see [`starter`].
    pub max_rss_bytes: u64,
    /// Page faults that found their page in memory, or made it.
    pub minor_faults: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// Times that it gave up its CPU by itself, to wait for something.
    pub voluntary_switches: u64,
    /// Times that its CPU was taken from it.
    pub involuntary_switches: u64,
    /// Bytes that were read from storage for it.
    pub read_bytes: u64,
    /// Bytes of pages that it changed and that storage is to get.
    pub written_bytes: u64,
}

impl Reaped {
    /// Of a process that nobody knows the end of.
    pub fn unknown(pid: u32) -> Self {
        Self {
            pid,
            ..Self::default()
        }
    }
}

/// Where programs for administrators lie, which many systems leave out of an ordinary user's PATH.
const FOR_ADMINISTRATORS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Lets this process find programs for administrators, after all others. Does nothing if it has several threads:
/// one of them could be reading the environment.
pub fn search_for_administrators() {
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let Some(path) = std::env::var_os("PATH").filter(|_| threads == 1) else {
        return;
    };
    if let Some(path) = with_administrators(&path) {
        // SAFETY: this thread is the only one, so nothing else reads or writes the environment.
        unsafe { std::env::set_var("PATH", path) };
    }
}

fn with_administrators(path: &OsStr) -> Option<OsString> {
    let listed: Vec<PathBuf> = std::env::split_paths(path).collect();
    let more = FOR_ADMINISTRATORS.map(PathBuf::from).into_iter();
    let more = more.filter(|folder| !listed.contains(folder));
    std::env::join_paths(listed.iter().cloned().chain(more)).ok()
}

/// Lets the calling thread run before all that share the CPU by weight, or no longer so.
/// What it starts does not inherit that.
///
/// # Errors
/// As sched_setscheduler(2): EPERM without the right to it, or in a cgroup without such time.
pub fn run_first(first: bool) -> io::Result<()> {
    let (policy, priority) = if first {
        (libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, 1)
    } else {
        (libc::SCHED_OTHER, 0)
    };
    // SAFETY: sched_param is plain data for which all-zero bytes are a valid value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // musl's own function refuses always, since POSIX means the process by it.
    // SAFETY: the pointer is to a live value; 0 is the calling thread.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameters) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Waits for the child `pid` to end.
///
/// # Errors
/// As wait4(2), but never for an interruption by a signal.
pub fn wait4(pid: u32) -> io::Result<Reaped> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    wait4_raw(pid, 0)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

/// Reaps any child that has ended; `None` while children live and none has ended.
///
/// # Errors
/// ECHILD when there is no child at all.
pub fn reap_any() -> io::Result<Option<Reaped>> {
    wait4_raw(-1, libc::WNOHANG)
}

fn wait4_raw(pid: libc::pid_t, options: libc::c_int) -> io::Result<Option<Reaped>> {
    let mut status = 0;
    // SAFETY: rusage is plain data for which all-zero bytes are a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live, writable values of the right types.
        match unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) } {
            0 => return Ok(None),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            reaped => return Ok(Some(reaped_from(reaped, status, &usage))),
        }
    }
}

fn reaped_from(pid: libc::pid_t, status: libc::c_int, usage: &libc::rusage) -> Reaped {
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    Reaped {
        pid: pid.cast_unsigned(),
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        user_ns: timeval_ns(usage.ru_utime),
        system_ns: timeval_ns(usage.ru_stime),
        max_rss_bytes: count(usage.ru_maxrss) * 1024,
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        read_bytes: count(usage.ru_inblock) * BLOCK_BYTES,
        written_bytes: count(usage.ru_oublock) * BLOCK_BYTES,
    }
}

/// What getrusage(2) counts blocks of storage in, whatever the file system has.
const BLOCK_BYTES: u64 = 512;

fn timeval_ns(time: libc::timeval) -> u64 {
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_usec) * 1000
}

/// Lets the process that `command` starts be killed when the *thread* that
/// starts it ends (prctl(2), `PR_SET_PDEATHSIG`), so that a killed controller
/// leaves no engine behind. Spawn from the main thread.
pub fn die_with_parent(command: &mut Command) {
    signal_with_parent(command, rustix::process::Signal::KILL);
}

/// The same by SIGTERM: of what leaves half a job behind where it is killed.
pub fn end_with_parent(command: &mut Command) {
    signal_with_parent(command, rustix::process::Signal::TERM);
}

fn signal_with_parent(command: &mut Command, signal: rustix::process::Signal) {
    let parent = rustix::process::getpid();
    // SAFETY: the closure runs between fork and exec and makes two system
    // calls, without allocating or locking.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(signal))?;
            // The parent may have died before the line above took effect.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(io::Error::from_raw_os_error(libc::ESRCH))
            }
        });
    }
}

/// Lets the process that `command` starts lead a session and a group of its own, without a
/// terminal that it or its children could open (credentials(7)).
pub fn leave_terminal(command: &mut Command) {
    // SAFETY: the closure runs between fork and exec and makes one system call.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
}

/// Lets the process that `command` starts enter cgroups by their files
/// `cgroup.procs` before it does anything else.
pub fn enter_cgroups(command: &mut Command, files: Vec<PathBuf>) {
    let files: Vec<CString> = files
        .into_iter()
        .map(|file| CString::new(file.into_os_string().into_vec()).unwrap_or_default())
        .collect();
    // SAFETY: the closure runs between fork and exec and makes system calls
    // with strings that live in it, without allocating or locking.
    unsafe {
        command.pre_exec(move || {
            for file in &files {
                let fd = libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
                // Before the write, which would put EBADF in the place of the cause.
                if fd < 0 {
                    return Err(io::Error::last_os_error());
                }
                // 0 is whoever writes it.
                if libc::write(fd, c"0".as_ptr().cast(), 1) != 1 {
                    return Err(io::Error::last_os_error());
                }
                libc::close(fd);
            }
            Ok(())
        });
    }
}

/// Lets the process that `command` starts run in a mount namespace of its own
/// in which what is mounted on `path` is not to be seen. Needs root.
pub fn hide_mount(command: &mut Command, path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
    let done = |result: libc::c_int| {
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: the closure runs between fork and exec and makes three system
    // calls with strings that live in it, without allocating or locking.
    unsafe {
        command.pre_exec(move || {
            let private = libc::MS_REC | libc::MS_PRIVATE;
            let (root, none) = (c"/".as_ptr(), std::ptr::null());
            done(libc::unshare(libc::CLONE_NEWNS))?;
            done(libc::mount(none, root, none, private, none.cast()))?;
            done(libc::umount2(path.as_ptr(), libc::MNT_DETACH))
        });
    }
}

/// Leaves the host's namespaces but that of users: mounts, networks, names, queues, and
/// process ids for what is started from now on. Needs root and a process of one thread.
///
/// # Errors
/// As unshare(2).
pub fn leave_namespaces() -> io::Result<()> {
    use rustix::thread::UnshareFlags;
    unshare(
        UnshareFlags::NEWNS
            | UnshareFlags::NEWNET
            | UnshareFlags::NEWUTS
            | UnshareFlags::NEWIPC
            | UnshareFlags::NEWPID,
    )
}

/// As [`leave_namespaces`], but for the network and the host's name.
///
/// # Errors
/// As unshare(2).
pub fn leave_all_but_network() -> io::Result<()> {
    use rustix::thread::UnshareFlags;
    unshare(UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWPID)
}

/// Takes this process, of one thread, into a mount namespace of its own.
///
/// # Errors
/// As unshare(2).
pub fn leave_mounts() -> io::Result<()> {
    unshare(rustix::thread::UnshareFlags::NEWNS)
}

/// Takes this process, of one thread, into a network, a host name and a mount namespace of its own.
///
/// # Errors
/// As unshare(2).
pub fn leave_network() -> io::Result<()> {
    use rustix::thread::UnshareFlags;
    unshare(UnshareFlags::NEWNET | UnshareFlags::NEWUTS | UnshareFlags::NEWNS)
}

/// Takes this process, of one thread, into a user, a mount and a cgroup namespace of its own,
/// and what it starts into one of process ids, as anybody may.
///
/// # Errors
/// As unshare(2).
pub fn become_root_of_namespaces() -> io::Result<()> {
    use rustix::thread::UnshareFlags;
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWCGROUP | UnshareFlags::NEWPID)
}

/// Gives this process, and what it starts from now on, a session keyring of its own with nothing
/// in it (keyrings(7)): keys of whoever started it can be had by no other way.
///
/// # Errors
/// As keyctl(2): ENOSYS where the kernel has no keys.
pub fn leave_keyring() -> io::Result<()> {
    const JOIN_SESSION_KEYRING: libc::c_int = 1;
    let no_name = std::ptr::null::<libc::c_char>();
    // SAFETY: without a name the call reads no memory.
    match unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, no_name) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Moves the calling thread into a network of its own, which holds no link but a loopback
/// that is down. Needs root.
///
/// # Errors
/// As unshare(2).
pub fn enter_new_network() -> io::Result<()> {
    unshare(rustix::thread::UnshareFlags::NEWNET)
}

/// Only for namespaces.
fn unshare(namespaces: rustix::thread::UnshareFlags) -> io::Result<()> {
    // SAFETY: of all that unshare parts, only descriptors and memory would be unsound to part
    // behind Rust's back; a namespace is neither.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces) }?)
}

/// Lets what `command` starts run as this user and group alone, with no right beyond theirs
/// and no way to get one, leave no core file, and be killed when the calling thread ends,
/// also from within a namespace of process ids in which that is not to be seen.
///
/// # Errors
/// As `pidfd_open(2)`.
pub fn confine(command: &mut Command, user: u32) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit};
    use rustix::thread::{CapabilitySet, CapabilitySets};
    const NO_CAPABILITIES: CapabilitySets = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    const NO_CORE: Rlimit = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let parent = own_pidfd()?;
    // Further groups are given up with them.
    command.uid(user).gid(user);
    // SAFETY: the closure runs between fork and exec and makes system calls alone,
    // without allocating or locking.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setrlimit(Resource::Core, NO_CORE)?;
            rustix::thread::set_no_new_privs(true)?;
            rustix::thread::set_capabilities(None, NO_CAPABILITIES)?;
            // Changing the user has taken back any such wish before.
            end_with(&parent)
        });
    }
    Ok(())
}

/// As [`die_with_parent`], also from within a namespace of process ids in which the parent is
/// not to be seen.
///
/// # Errors
/// As `pidfd_open(2)`.
pub fn die_with_unseen_parent(command: &mut Command) -> io::Result<()> {
    let parent = own_pidfd()?;
    // SAFETY: the closure runs between fork and exec and makes system calls alone,
    // without allocating or locking.
    unsafe {
        command.pre_exec(move || end_with(&parent));
    }
    Ok(())
}

fn own_pidfd() -> io::Result<OwnedFd> {
    let flags = rustix::process::PidfdFlags::empty();
    Ok(rustix::process::pidfd_open(rustix::process::getpid(), flags)?)
}

/// Lets the calling process be killed when its parent ends, which that descriptor stands for.
fn end_with(parent: &OwnedFd) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The parent may have died before the line above took effect: then its descriptor can be read.
    let mut ended = [rustix::event::PollFd::new(parent, rustix::event::PollFlags::IN)];
    match rustix::event::poll(&mut ended, Some(&rustix::time::Timespec::default()))? {
        0 => Ok(()),
        _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
    }
}

/// Lets the process that `command` starts inherit a descriptor, under the number
/// that it has here and that is returned. It is closed here with the command.
pub fn inherit(command: &mut Command, fd: OwnedFd) -> RawFd {
    let number = fd.as_raw_fd();
    // SAFETY: the closure runs between fork and exec and makes one system call,
    // on a descriptor that it owns.
    unsafe {
        command.pre_exec(move || Ok(rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::empty())?));
    }
    number
}

/// Makes a tap of this name (tun(4)): an Ethernet link whose other end is the
/// descriptor, and which goes with it; `virtio`: with the headers that QEMU wants.
///
/// # Errors
/// As open(2) and ioctl(2); `InvalidInput` for a name that is too long.
pub fn tap(name: &str, virtio: bool) -> io::Result<OwnedFd> {
    let tun = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/net/tun")?;
    // SAFETY: ifreq is plain data for which all-zero bytes are a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    let headers = if virtio { libc::IFF_VNET_HDR } else { 0 };
    let flags = libc::IFF_TAP | libc::IFF_NO_PI | headers;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(flags).map_err(io::Error::other)?;
    // SAFETY: TUNSETIFF reads and writes an ifreq, and the pointer is to a live one.
    match unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } {
        0 => Ok(tun.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Connects to a port of a machine over AF_VSOCK (vsock(7)), by its context id.
///
/// # Errors
/// As socket(2) and connect(2); the kernel gives an unanswered connection up
/// after two seconds.
pub fn connect_vsock(cid: u32, port: u32) -> io::Result<OwnedFd> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::VSOCK,
        rustix::net::SocketType::STREAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    // SAFETY: sockaddr_vm is plain data for which all-zero bytes are a valid value.
    let mut address: libc::sockaddr_vm = unsafe { std::mem::zeroed() };
    address.svm_family = libc::sa_family_t::try_from(libc::AF_VSOCK).unwrap_or_default();
    address.svm_cid = cid;
    address.svm_port = port;
    let size = libc::socklen_t::try_from(size_of_val(&address)).unwrap_or_default();
    // SAFETY: the pointer is to a live value of `size` bytes, which connect only reads.
    match unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), size) } {
        0 => Ok(socket),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sends a frame with the header of its link, by the link of this number (packet(7)).
///
/// # Errors
/// As socket(2) and sendto(2): EPERM without `CAP_NET_RAW`.
pub fn send_frame(link: u32, frame: &[u8]) -> io::Result<()> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::PACKET,
        rustix::net::SocketType::RAW,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    // SAFETY: sockaddr_ll is plain data for which all-zero bytes are a valid value.
    let mut to: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    to.sll_family = libc::sa_family_t::try_from(libc::AF_PACKET).unwrap_or_default();
    to.sll_ifindex = i32::try_from(link).map_err(io::Error::other)?;
    let size = libc::socklen_t::try_from(size_of_val(&to)).unwrap_or_default();
    // SAFETY: both pointers are to live values of the lengths given, which the call only reads.
    let sent = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            frame.as_ptr().cast(),
            frame.len(),
            0,
            (&raw const to).cast(),
            size,
        )
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A descriptor of our own for what is open under an inherited number, and neither goes to
/// children. It is a copy: whoever else knows the number keeps what it has.
///
/// # Errors
/// EBADF if it is not open; `InvalidInput` for standard input, output and error.
pub fn inherited_fd(fd: RawFd) -> io::Result<OwnedFd> {
    if fd <= libc::STDERR_FILENO {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the two calls make a new descriptor and set a flag; any number may be given.
    let copy = unsafe {
        let copy = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, libc::STDERR_FILENO + 1);
        libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        copy
    };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was made just now, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Gives back the memory of this program's text: what runs from here on is mapped again as it is
/// needed, what ran before is not. Does nothing where it cannot be told which memory that is.
pub fn release_text() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let here = release_text as fn() as usize;
    let Some((start, end)) = maps.lines().find_map(|line| text_around(here, line)) else {
        return;
    };
    // SAFETY: the range is one mapping of a file that cannot be written by this process, so
    // every page of it is as in the file when it is mapped again.
    unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
}

/// The range of a line of `/proc/self/maps` (proc(5)) if this address is in it, and it is text
/// of a file.
fn text_around(address: usize, line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let bound = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (bound(start)?, bound(end)?);
    let is_text = words.next()? == "r-xp" && words.nth(2)? != "0";
    (is_text && (start..end).contains(&address)).then_some((start, end))
}

/// Lets no descriptor but standard input, output and error go to children, also those that
/// this process was started with. Kernels before 5.11 cannot: there each is asked for.
pub fn keep_descriptors() {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the call sets a flag of descriptors and closes none.
    let set = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if set == 0 {
        return;
    }
    for entry in std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten() {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<RawFd>().ok());
        if let Some(number) = number.filter(|number| *number > libc::STDERR_FILENO) {
            // SAFETY: as above.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

/// No other CPU has a time stamp counter.
#[cfg(not(target_arch = "x86_64"))]
pub const fn tsc_khz(_over: std::time::Duration) -> Option<u64> {
    None
}

/// Frequency of the CPU's time stamp counter in kHz, measured against the
/// monotonic clock over about this time; each end is bracketed by the counter,
/// which over 20 ms leaves some parts in a million. Only x86 has one.
#[cfg(target_arch = "x86_64")]
pub fn tsc_khz(over: std::time::Duration) -> Option<u64> {
    use std::time::Instant;
    // The tightest of some readings: the counter just before and after a look at the clock.
    let reading = || {
        let look = || {
            let before = tsc();
            let at = Instant::now();
            let after = tsc();
            (after.wrapping_sub(before), before / 2 + after / 2, at)
        };
        let (_, ticks, at) = (0..16)
            .map(|_| look())
            .min_by_key(|(width, ..)| *width)
            .unwrap_or_else(look);
        (ticks, at)
    };
    let (first_ticks, first_at) = reading();
    std::thread::sleep(over);
    let (last_ticks, last_at) = reading();
    let microseconds = last_at.duration_since(first_at).as_nanos() / 1000;
    u64::try_from(u128::from(last_ticks.wrapping_sub(first_ticks)) * 1000 / microseconds.max(1)).ok()
}

#[cfg(target_arch = "x86_64")]
fn tsc() -> u64 {
    // SAFETY: reading the counter has no precondition on x86-64.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_for_administrators_are_searched_last_and_once() {
        let searched = |path: &str| with_administrators(OsStr::new(path)).unwrap();
        assert_eq!(
            searched("/usr/bin:/bin"),
            "/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
        );
        assert_eq!(searched("/usr/sbin:/bin"), "/usr/sbin:/bin:/usr/local/sbin:/sbin");
    }

    #[test]
    fn text_is_what_a_file_has_mapped_to_be_run_alone() {
        let line = |mode, inode| format!("7f00-7fff {mode} 00001000 08:01 {inode}   /tare");
        assert_eq!(text_around(0x7f10, &line("r-xp", 12)), Some((0x7f00, 0x7fff)));
        assert_eq!(text_around(0x7fff, &line("r-xp", 12)), None);
        assert_eq!(text_around(0x7f10, &line("rwxp", 12)), None);
        assert_eq!(text_around(0x7f10, &line("r-xp", 0)), None);
        assert_eq!(text_around(0, ""), None);
        // And the program runs on.
        release_text();
        assert_eq!(text_around(1, "x-y r-xp 0 0 1"), None);
    }

    #[test]
    fn a_thread_runs_first_only_as_long_as_it_asks() {
        // SAFETY: asks the kernel for a number; 0 is the calling thread.
        let policy = || unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
        match run_first(true) {
            Ok(()) => {
                let first = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
                assert_eq!(policy(), i64::from(first));
                run_first(false).unwrap();
            }
            Err(e) => assert_eq!(e.raw_os_error(), Some(libc::EPERM), "{e}"),
        }
        assert_eq!(policy(), i64::from(libc::SCHED_OTHER));
    }

    #[test]
    fn a_cgroup_that_cannot_be_entered_is_refused_with_its_cause() {
        for (file, cause) in [("/there is none", libc::ENOENT), ("/", libc::EISDIR)] {
            let mut command = Command::new("true");
            enter_cgroups(&mut command, vec![file.into()]);
            let refused = command.spawn().unwrap_err();
            assert_eq!(refused.raw_os_error(), Some(cause), "{file}: {refused}");
        }
    }

    #[test]
    fn a_child_is_reaped_with_its_usage() {
        #[expect(
            clippy::zombie_processes,
            reason = "it is waited for by the function under test"
        )]
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let reaped = wait4(child.id()).unwrap();
        assert_eq!((reaped.code, reaped.signal), (Some(7), None));
        assert!(reaped.max_rss_bytes > 0);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_counter_ticks_alike_however_long_it_is_watched() {
        let [short, long] = [10, 50].map(|ms| tsc_khz(std::time::Duration::from_millis(ms)).unwrap());
        assert!(
            short > 100_000 && short.abs_diff(long) * 1000 < long,
            "{short} {long}"
        );
    }

    #[test]
    fn a_machine_that_nobody_has_cannot_be_connected_to() {
        // No machine has the context id that stands for any machine.
        assert!(connect_vsock(libc::VMADDR_CID_ANY, 1).is_err());
    }

    #[test]
    fn a_closed_descriptor_is_refused() {
        assert!(inherited_fd(987).is_err());
    }

    #[test]
    fn what_is_taken_of_an_inherited_number_is_a_copy() {
        let (mut here, there) = std::os::unix::net::UnixStream::pair().unwrap();
        let taken = [there.as_raw_fd(); 2].map(|number| inherited_fd(number).unwrap());
        assert!(taken.iter().all(|copy| copy.as_raw_fd() != there.as_raw_fd()));
        drop(taken);
        // What was copied is open still.
        io::Write::write_all(&mut &there, b"x").unwrap();
        io::Read::read_exact(&mut here, &mut [0]).unwrap();
        for number in 0..3 {
            assert!(inherited_fd(number).is_err());
        }
    }

    #[test]
    fn a_descriptor_that_this_process_was_started_with_goes_to_no_child() {
        let file = std::fs::File::open("/dev/null").unwrap();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        keep_descriptors();
        let flags = rustix::io::fcntl_getfd(&file).unwrap();
        assert_eq!(flags, rustix::io::FdFlags::CLOEXEC);
    }
}
