//! The agent's end of the link.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::OptionalActions;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tare_wire::frame::{Decoder, Frame, Head, Kind, encode};

/// Where the agent's end of the link is.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum LinkSource {
    /// Standard input and output.
    #[default]
    Stdio,
    /// An inherited descriptor that is read and written.
    Fd(RawFd),
    /// A virtio-serial port, by its name.
    VirtioPort(String),
    /// The terminal of this path, made raw.
    Tty(PathBuf),
    /// A connection to this port of the host, by virtio-vsock.
    Vsock(u32),
}

/// How long to wait for the link's device to appear after its driver was loaded.
const PORT_DEADLINE: Duration = Duration::from_secs(20);

/// Said over a terminal, once, when it is raw.
const TTY_READY: u8 = 6;

/// An open link, blocking.
pub(crate) struct Port {
    read: OwnedFd,
    write: OwnedFd,
    decoder: Decoder,
    /// Of the request under way, which all that answers it bears.
    number: u32,
    /// Whether bytes have come. Until then a virtio-serial port reads as ended,
    /// and it is asked again every millisecond rather than waited for: QEMU's main
    /// loop looks for bytes to deliver only when something wakes it, which the
    /// opening of the port does not, but a guest's timer does.
    connected: bool,
}

impl Port {
    pub(crate) fn open(source: &LinkSource) -> io::Result<Self> {
        let (read, write) = match source {
            LinkSource::Stdio => stdio()?,
            LinkSource::Fd(fd) => {
                let fd = tare_sys::inherited_fd(*fd)?;
                (fd.try_clone()?, fd)
            }
            LinkSource::Tty(path) => {
                let terminal = fs::OpenOptions::new().read(true).write(true).open(path)?;
                let mut raw = rustix::termios::tcgetattr(&terminal)?;
                raw.make_raw();
                rustix::termios::tcsetattr(&terminal, OptionalActions::Now, &raw)?;
                // What comes before this would be altered: the controller waits for a word.
                rustix::io::write(&terminal, &[TTY_READY])?;
                (terminal.try_clone()?.into(), terminal.into())
            }
            LinkSource::Vsock(port) => {
                let socket = connect_host(*port)?;
                (socket.try_clone()?, socket)
            }
            LinkSource::VirtioPort(name) => {
                let port = fs::OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(find_port(name)?)?;
                (port.try_clone()?.into(), port.into())
            }
        };
        silence_stdio()?;
        let connected = !matches!(source, LinkSource::VirtioPort(_));
        Ok(Self {
            read,
            write,
            decoder: Decoder::default(),
            number: 0,
            connected,
        })
    }

    /// Speaks over this socket from now on.
    pub(crate) fn move_to(&mut self, line: OwnedFd) -> io::Result<()> {
        self.read = line.try_clone()?;
        self.write = line;
        self.connected = true;
        Ok(())
    }

    /// A frame that has arrived whole already.
    pub(crate) fn arrived(&mut self) -> io::Result<Option<Frame>> {
        self.decoder
            .next_frame()
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
    }

    /// The next frame; `None` when the link has ended.
    pub(crate) fn receive(&mut self) -> io::Result<Option<Frame>> {
        let mut buffer = [0; 16 << 10];
        let opened = Instant::now();
        loop {
            if let Some(frame) = self.arrived()? {
                return Ok(Some(frame));
            }
            match rustix::io::read(&self.read, &mut buffer) {
                Ok(0) | Err(rustix::io::Errno::AGAIN)
                    if !self.connected && opened.elapsed() < PORT_DEADLINE =>
                {
                    pause();
                }
                Ok(0) => return Ok(None),
                Ok(n) => {
                    self.connected = true;
                    self.decoder.feed(&buffer[..n]);
                }
                Err(rustix::io::Errno::AGAIN) => self.wait()?,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::CONNRESET) => return Ok(None),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Waits for bytes on a link that another process made non-blocking.
    fn wait(&self) -> io::Result<()> {
        match poll(&mut [PollFd::new(&self.read, PollFlags::IN)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Answers this request from now on.
    pub(crate) fn answer_to(&mut self, number: u32) {
        self.number = number;
    }

    pub(crate) fn send(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        self.send_frame(Head::of(kind, self.number), payload)
    }

    /// Hands on the next bytes of an inner box.
    pub(crate) fn relay(&mut self, channel: u16, payload: &[u8]) -> io::Result<()> {
        self.send_frame(Head::relay(channel), payload)
    }

    fn send_frame(&mut self, head: Head, payload: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(payload.len() + tare_wire::frame::HEADER_BYTES);
        encode(head, payload, &mut bytes);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(&self.write, rest) {
                Ok(n) => rest = &rest[n..],
                Err(rustix::io::Errno::AGAIN) => {
                    let _ = poll(&mut [PollFd::new(&self.write, PollFlags::OUT)], None);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    /// The descriptor whose hang-up means that the controller is gone.
    pub(crate) fn hang_up(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}

/// Standard input and output as descriptors that children do not inherit.
fn stdio() -> io::Result<(OwnedFd, OwnedFd)> {
    let read = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let write = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    Ok((read, write))
}

/// Puts /dev/null in the place of standard input and output: children inherit
/// them, and nothing that a workload prints can reach the link.
fn silence_stdio() -> io::Result<()> {
    let null = fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}

/// Finds the device of a virtio-serial port by the name that the VMM gave it.
fn find_port(name: &str) -> io::Result<PathBuf> {
    let deadline = Instant::now() + PORT_DEADLINE;
    loop {
        for entry in fs::read_dir("/sys/class/virtio-ports")
            .into_iter()
            .flatten()
            .flatten()
        {
            let found = fs::read_to_string(entry.path().join("name")).unwrap_or_default();
            let device = PathBuf::from("/dev").join(entry.file_name());
            if found.trim() == name && device.exists() {
                return Ok(device);
            }
        }
        if Instant::now() > deadline {
            let message = format!("no virtio-serial port named '{name}' appeared");
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        pause();
    }
}

/// Connects to a port of the host. The agent connects rather than listens: the
/// controller listens before the machine starts, so that nobody has to try again
/// and again while it boots.
fn connect_host(port: u32) -> io::Result<OwnedFd> {
    /// `VMADDR_CID_HOST` of vsock(7).
    const HOST: u32 = 2;
    let deadline = Instant::now() + PORT_DEADLINE;
    loop {
        match tare_sys::connect_vsock(HOST, port) {
            Ok(socket) => return Ok(socket),
            // The device may appear a little after its driver.
            Err(_) if Instant::now() < deadline => pause(),
            Err(e) => {
                let message = format!("connect to port {port} of the host by vsock: {e}");
                return Err(io::Error::new(e.kind(), message));
            }
        }
    }
}

fn pause() {
    let _ = rustix::thread::nanosleep(&Timespec {
        tv_sec: 0,
        tv_nsec: 1_000_000,
    });
}
