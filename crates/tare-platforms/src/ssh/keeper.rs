//! The binary on another host, for as long as a connection to it lasts.

use super::super::child::{pipes, tail};
use super::super::contract::{BoxError, BoxSpec, END_DEADLINE};
use crate::link::{FdStream, LinkError, Stream};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tare_host::capture::Capture;
use tare_host::control_cpu;

/// Time for the binary to get there: some megabytes, over a slow line too.
const COPY_WITHIN: Duration = Duration::from_secs(180);

/// Bytes of what the host says after which its line is not waited for any more.
const MAX_ANSWER: usize = 64 << 10;

/// Bytes that are kept of ssh's messages.
const MESSAGES: usize = 64 << 10;

/// First word of the line that tells where the binary is.
const WORD: &str = "tare-folder";

/// The script that holds the binary on the host for as long as its standard input
/// lasts: the end of the controller, however it comes, removes it. It goes through
/// the login shell, which need not be a POSIX one: hence `sh`, one line, and no
/// single quote and no exclamation mark within. The run's name is ours.
pub(super) fn script(run: &str, bytes: u64) -> String {
    format!(
        "exec sh -c 'umask 077; old=; trap \"exit 1\" HUP INT TERM PIPE; \
         for place in /var/tmp /tmp /dev/shm; do \
         new=$(mktemp -d $place/{run}-XXXXXXXX) || continue; trap \"rm -rf $old $new\" EXIT; \
         if test -n \"$old\"; then mv $old/tare $new/tare; else head -c {bytes} >$new/tare; fi; \
         chmod 700 $new/tare; \
         if $new/tare --version >/dev/null; then echo {WORD} $new; cat >/dev/null; exit; fi; \
         old=$new; done; exit 1'"
    )
}

/// The binary's path by what the script printed, which must be its one line:
/// what a login shell prints besides would get between the agent and us.
fn told(answer: &str) -> Result<String, String> {
    let folder = answer
        .strip_prefix(WORD)
        .and_then(|rest| rest.strip_prefix(' '))
        .and_then(|rest| rest.strip_suffix('\n'))
        .filter(|folder| {
            folder.starts_with('/')
                && folder
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "/.-_".contains(c))
        });
    folder.map(|folder| format!("{folder}/tare")).ok_or_else(|| {
        let seen: String = answer.chars().take(80).filter(|c| !c.is_control()).collect();
        format!("its login shell prints '{seen}', which would corrupt the link: let its start files print nothing without a terminal")
    })
}

/// The ssh process whose end removes the binary from the host.
pub(super) struct Keeper {
    child: Child,
    stream: Option<FdStream>,
    /// Path of the binary there.
    pub program: String,
}

impl Keeper {
    /// Brings the binary to the host by `command`, which is to run the script there.
    pub(super) fn start(host: &str, command: Command, spec: &BoxSpec) -> Result<Self, BoxError> {
        let content =
            fs::read(&spec.binary).map_err(BoxError::host(format!("read {}", spec.binary.display())))?;
        let no_room = "make room for ssh's messages";
        let words = Capture::of_at_most(MESSAGES).map_err(BoxError::host(no_room))?;
        let stderr = words.writer().map_err(BoxError::host(no_room))?;
        let mut keeper = Self::spawn(command, stderr).map_err(BoxError::host("start ssh"))?;
        let fails = |message: String| BoxError::Engine {
            engine: "ssh",
            message: format!("{host}: {message}"),
        };
        let answer = keeper.take(&content).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => LinkError::Interrupted.into(),
            _ => fails(format!(
                "the binary cannot be copied: {e}: {}",
                tail(&words.written())
            )),
        })?;
        keeper.program = told(&answer).map_err(fails)?;
        Ok(keeper)
    }

    fn spawn(mut command: Command, words: impl Into<Stdio>) -> io::Result<Self> {
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(words);
        tare_sys::die_with_parent(&mut command);
        let mut child = control_cpu::away(|| command.spawn())?;
        Ok(Self {
            stream: Some(pipes(&mut child)?),
            child,
            program: String::new(),
        })
    }

    /// Sends the binary and reads one line.
    fn take(&mut self, content: &[u8]) -> io::Result<String> {
        let deadline = Instant::now() + COPY_WITHIN;
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stream.send(content, deadline)?;
        let mut answer = Vec::new();
        let mut seen = 0;
        while !answer[seen..].contains(&b'\n') && answer.len() < MAX_ANSWER {
            seen = answer.len();
            if stream.receive(&mut answer, deadline)? == 0 {
                return Err(io::Error::other("the connection ended"));
            }
        }
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stream = None;
        let deadline = Instant::now() + END_DEADLINE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn only_the_scripts_own_line_is_believed() {
        assert_eq!(
            told("tare-folder /var/tmp/tare-Ab3\n").unwrap(),
            "/var/tmp/tare-Ab3/tare"
        );
        for noise in [
            "",
            "Welcome!\ntare-folder /var/tmp/x\n",
            "tare-folder /var/tmp/x\nmore\n",
            "tare-folder /tmp/x; reboot\n",
            "tare-folder -x\n",
        ] {
            let why = told(noise).unwrap_err();
            assert!(why.contains("start files"), "{noise:?}: {why}");
        }
    }

    #[test]
    fn a_host_that_talks_without_end_is_not_listened_to_for_long() {
        let mut command = Command::new("tr");
        command.args(["\\0", "x"]);
        let talk = std::fs::File::open("/dev/zero").unwrap();
        command.process_group(0).stdin(talk).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let nowhere = std::fs::File::options().write(true).open("/dev/null").unwrap();
        let stream = FdStream::new(output.into(), nowhere.into()).unwrap();
        let mut keeper = Keeper {
            child,
            stream: Some(stream),
            program: String::new(),
        };
        let answer = keeper.take(b"binary").unwrap();
        assert!(answer.len() < 2 * MAX_ANSWER, "{}", answer.len());
        assert!(told(&answer).is_err());
    }

    #[test]
    fn the_script_holds_the_binary_until_its_input_ends() {
        let binary = b"#!/bin/sh\nexit 0\n";
        let mut command = Command::new("sh");
        command.args(["-c", &script("tare-test", binary.len() as u64)]);
        let mut keeper = Keeper::spawn(command, Stdio::null()).unwrap();
        let program = told(&keeper.take(binary).unwrap()).unwrap();
        assert_eq!(fs::read(&program).unwrap(), binary);
        drop(keeper);
        assert!(!Path::new(&program).parent().unwrap().exists());
    }
}
