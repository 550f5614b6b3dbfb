//! The parts that a command in a box can play: what this process does when it
//! is started with `run-act PART`.

pub mod attack;
pub mod forge;
pub mod reach;
pub mod stray;

use rustix::process::{Pid, Signal, getpid, kill_process, setsid};
use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a part that waits to be ended waits at most.
const LONG: Duration = Duration::from_secs(300);

/// Bytes that are printed at a time.
const CHUNK: usize = 64 << 10;

/// Members of a family beside its head.
const MEMBERS: usize = 3;

/// Plays a part; returns the exit code.
///
/// # Errors
/// Those of the system; `InvalidInput` for an unknown part.
pub fn act(words: &[String]) -> io::Result<u8> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["exit", code] => return number(code),
        ["prints-to-null"] => return Ok(u8::from(!prints_to_null()?)),
        ["die", signal] => die(number(signal)?)?,
        ["wait"] => std::thread::sleep(LONG),
        ["print", out, err] => print(number(out)?, number(err)?)?,
        ["surroundings"] => surroundings()?,
        ["mode", path] => mode(path)?,
        ["family", end] => family(end == "stay")?,
        ["member", role] => member(role)?,
        ["living", ref pids @ ..] => living(pids)?,
        ["interfaces"] => writeln!(io::stdout(), "{}", tare_box::interface::interfaces().join(" "))?,
        ["spoil-binary"] => attack::spoil_binary()?,
        ["open-kernel", disk] => attack::open_kernel(disk)?,
        ["open-fresh-proc"] => attack::open_fresh_proc()?,
        ["lift-limits"] => attack::lift_limits()?,
        ["forge"] => forge::forge()?,
        ["trespass"] => forge::trespass()?,
        ["shut"] => forge::shut()?,
        ["reach", ref wanted @ ..] => reach::reach(wanted)?,
        ["lend", ref folders @ ..] => reach::lend(folders)?,
        ["try", ref paths @ ..] => reach::try_paths(paths)?,
        ["answer", at] => answer(number(at)?)?,
        ["talk", to] => talk(number(to)?)?,
        ["stray", gateway, to] => stray(number(gateway)?, number(to)?)?,
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    }
    Ok(0)
}

fn number<T: std::str::FromStr>(text: &str) -> io::Result<T> {
    text.parse().map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Whether standard output is the device by which programs see that nobody reads it.
fn prints_to_null() -> io::Result<bool> {
    let device = rustix::fs::fstat(rustix::stdio::stdout())?.st_rdev;
    Ok((rustix::fs::major(device), rustix::fs::minor(device)) == (1, 3))
}

/// Kills this process.
fn die(signal: i32) -> io::Result<()> {
    let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
    // Rust's handler of SEGV takes the first for an overflow of the stack, and
    // steps aside for the next.
    for _ in 0..2 {
        kill_process(getpid(), signal)?;
    }
    Ok(())
}

/// The byte at a place of what is printed: all values occur, and no block
/// repeats another.
pub fn pattern(at: u64) -> u8 {
    let [low, middle, high, ..] = at.to_le_bytes();
    low ^ middle.wrapping_mul(31) ^ high.wrapping_mul(17)
}

/// Prints so many bytes to standard output and to standard error, in turns.
fn print(out: u64, err: u64) -> io::Result<()> {
    let streams: [(&mut dyn Write, u64); 2] =
        [(&mut io::stdout().lock(), out), (&mut io::stderr().lock(), err)];
    let mut streams = streams.map(|(stream, bytes)| (stream, 0..bytes));
    while streams.iter().any(|(_, rest)| !rest.is_empty()) {
        for (stream, rest) in &mut streams {
            let chunk: Vec<u8> = rest.by_ref().take(CHUNK).map(pattern).collect();
            stream.write_all(&chunk)?;
            stream.flush()?;
        }
    }
    Ok(())
}

/// Prints the working folder and the environment, each part ended by a zero byte.
fn surroundings() -> io::Result<()> {
    let mut said = std::env::current_dir()?.into_os_string().as_bytes().to_vec();
    for (name, value) in std::env::vars_os() {
        said.push(0);
        said.extend_from_slice(name.as_bytes());
        said.push(b'=');
        said.extend_from_slice(value.as_bytes());
    }
    io::stdout().write_all(&said)
}

/// Prints the permission bits of a file.
fn mode(path: &str) -> io::Result<()> {
    let bits = std::fs::metadata(path)?.permissions().mode() & 0o7777;
    writeln!(io::stdout(), "{bits:o}")
}

/// Starts a child, a grandchild and an orphan in a session of its own, and
/// prints their process ids and its own once all of them live. Then it stays, or
/// leaves them behind.
fn family(stay: bool) -> io::Result<()> {
    let (lines, writer) = io::pipe()?;
    for role in ["parent", "deserter"] {
        start(role, &writer)?;
    }
    drop(writer);
    let mut told = format!("{}\n", std::process::id());
    for line in BufReader::new(lines).lines().take(MEMBERS) {
        told.push_str(&line?);
        told.push('\n');
    }
    io::stdout().write_all(told.as_bytes())?;
    if stay {
        std::thread::sleep(LONG);
    }
    Ok(())
}

fn start(role: &str, to: &PipeWriter) -> io::Result<()> {
    let mut command = Command::new("/proc/self/exe");
    command
        .args(["run-act", "member", role])
        .stdout(Stdio::from(to.try_clone()?));
    command.spawn().map(drop)
}

/// A member of a family: tells its process id to its head and waits.
fn member(role: &str) -> io::Result<()> {
    let heir = match role {
        "parent" => Some("child"),
        "deserter" => Some("orphan"),
        _ => None,
    };
    if let Some(heir) = heir {
        Command::new("/proc/self/exe")
            .args(["run-act", "member", heir])
            .spawn()
            .map(drop)?;
    }
    if role == "deserter" {
        return Ok(());
    }
    if role == "orphan" {
        setsid()?;
    }
    writeln!(io::stdout(), "{}", std::process::id())?;
    std::thread::sleep(LONG);
    Ok(())
}

/// Prints those of the process ids that live.
fn living(pids: &[&str]) -> io::Result<()> {
    let mut said = String::new();
    for pid in pids {
        let raw = Pid::from_raw(number(pid)?).ok_or(io::ErrorKind::InvalidInput)?;
        let line = std::fs::read(format!("/proc/{}/cmdline", raw.as_raw_nonzero())).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains("run-act") {
            said.push_str(&format!("{pid}\n"));
        }
    }
    io::stdout().write_all(said.as_bytes())
}

/// Bytes that a talk consists of, each way: more than a few frames.
pub const PATTERN_BYTES: u64 = 256 << 10;

/// Time for a talk, and for the other side to be there.
const TALK_DEADLINE: Duration = Duration::from_secs(30);
/// Time between two tries to be heard.
const AGAIN: Duration = Duration::from_millis(10);

/// Takes one connection at this address and sends back what comes over it.
fn answer(at: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(at)?;
    listener.set_nonblocking(true)?;
    let deadline = Instant::now() + TALK_DEADLINE;
    let mut caller = loop {
        match listener.accept() {
            Ok((caller, _)) => break caller,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline => {
                std::thread::sleep(AGAIN);
            }
            Err(e) => return Err(e),
        }
    };
    caller.set_nonblocking(false)?;
    caller.set_read_timeout(Some(TALK_DEADLINE))?;
    caller.set_write_timeout(Some(TALK_DEADLINE))?;
    let mut heard = Vec::new();
    caller.try_clone()?.take(PATTERN_BYTES).read_to_end(&mut heard)?;
    caller.write_all(&heard)
}

/// Connects to this address, says a lot and expects to hear it again.
pub fn talk(to: SocketAddr) -> io::Result<()> {
    let deadline = Instant::now() + TALK_DEADLINE;
    let mut peer = loop {
        match TcpStream::connect_timeout(&to, TALK_DEADLINE) {
            Ok(peer) => break peer,
            // It does not listen yet, or is not known there yet.
            Err(e) if Instant::now() > deadline => return Err(e),
            Err(_) => std::thread::sleep(AGAIN),
        }
    };
    peer.set_read_timeout(Some(TALK_DEADLINE))?;
    peer.set_write_timeout(Some(TALK_DEADLINE))?;
    let said: Vec<u8> = (0..PATTERN_BYTES).map(pattern).collect();
    peer.write_all(&said)?;
    let mut heard = Vec::new();
    peer.read_to_end(&mut heard)?;
    if heard == said {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "received {} bytes, not what was sent",
        heard.len()
    )))
}

/// Sends what shall not leave the box's network, and prints what could be sent.
fn stray(gateway: Ipv4Addr, to: SocketAddrV4) -> io::Result<()> {
    let sent = stray::stray(gateway, to);
    writeln!(io::stdout(), "{}", sent.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_holds_every_byte_and_does_not_repeat() {
        let block = |n: u64| (n * 256..(n + 1) * 256).map(pattern).collect::<Vec<u8>>();
        let mut values = block(0);
        values.sort_unstable();
        assert_eq!(values, (0..=255).collect::<Vec<u8>>());
        assert!(block(0) != block(1) && block(1) != block(257));
    }

    #[test]
    fn what_is_said_is_heard_again() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let answering = std::thread::spawn(move || answer(port));
        talk(port).unwrap();
        answering.join().unwrap().unwrap();
    }

    #[test]
    fn an_unknown_part_is_refused() {
        assert!(act(&["dance".to_owned()]).is_err());
        assert!(act(&[]).is_err());
        assert_eq!(act(&["exit".to_owned(), "7".to_owned()]).unwrap(), 7);
    }
}
