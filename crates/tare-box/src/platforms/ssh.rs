//! Another host, by ssh: the agent runs there without limits, and makes the box
//! that has them.

use super::child::{ChildBox, Start, last_words, pipes, run_within};
use super::{Absent, BoxError, BoxSpec, END_DEADLINE, HELLO_DEADLINE, Options, Platform, RunningBox};
use crate::link::{FdStream, Stream};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tare_model::results::PlatformVersion;

/// Names the program to use instead of `ssh`, such as a script that adds options.
const PROGRAM: &str = "TARE_SSH";

/// The key agent's socket: the one variable of ours that ssh needs.
const KEY_AGENT: &str = "SSH_AUTH_SOCK";

/// Each option's reason is in `docs/platforms.md`.
const OPTIONS: [&str; 8] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ControlMaster=no",
    "ClearAllForwardings=yes",
    "RemoteCommand=none",
    "ForwardX11=no",
];

/// Time for a short command on the host, the connection with it.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Time for the binary to get there: some megabytes, over a slow line too.
const COPY_WITHIN: Duration = Duration::from_secs(180);

/// What is asked of a host: its kernel, and who we are there.
const QUESTION: &str = "uname -srm; id -u";

/// First word of the line that tells where the binary is.
const WORD: &str = "tare-folder";

pub(super) struct Ssh {
    host: Option<String>,
    /// The binary on the host, brought there once.
    keeper: Option<Keeper>,
}

impl Ssh {
    pub(super) fn open(mut options: Options) -> Result<Self, String> {
        let host = options.take("host")?;
        options.none()?;
        Ok(Self { host, keeper: None })
    }

    fn host(&self) -> &str {
        self.host.as_deref().unwrap_or_default()
    }

    /// ssh with what it is to run there. The name of the host cannot look like an
    /// option: its form was checked when the path was read.
    fn command(&self, there: &str) -> Command {
        let mut command = Command::new(program());
        command.arg("-T");
        command.args(OPTIONS.iter().flat_map(|option| ["-o", option]));
        command.args(["--", self.host(), there]);
        if let Some(socket) = std::env::var_os(KEY_AGENT) {
            command.env(KEY_AGENT, socket);
        }
        command
    }

    fn fails(&self, message: impl AsRef<str>) -> BoxError {
        BoxError::Engine {
            engine: "ssh",
            message: format!("{}: {}", self.host(), message.as_ref()),
        }
    }

    /// Brings the binary to the host, unless it is there.
    fn install(&mut self, spec: &BoxSpec) -> Result<&Keeper, BoxError> {
        if self.keeper.is_none() {
            self.keeper = Some(self.copy(spec)?);
        }
        Ok(self.keeper.as_ref().expect("made just now"))
    }

    fn copy(&self, spec: &BoxSpec) -> Result<Keeper, BoxError> {
        let content =
            fs::read(&spec.binary).map_err(BoxError::host(format!("read {}", spec.binary.display())))?;
        let folder = spec.scratch.join("ssh-copy");
        fs::create_dir_all(&folder).map_err(BoxError::host("make the folder of ssh's messages"))?;
        let words = fs::File::create(folder.join("stderr"))
            .map_err(BoxError::host("make the file of ssh's messages"))?;
        let mut command = self.command(&keep(&spec.run, content.len()));
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(words);
        tare_sys::die_with_parent(&mut command);
        let child = command.spawn().map_err(BoxError::host("start ssh"))?;
        let mut keeper = Keeper::new(child).map_err(BoxError::host("talk to ssh"))?;
        let failed = |e: io::Error| {
            self.fails(format!(
                "the binary cannot be copied: {e} {}",
                last_words(&folder)
            ))
        };
        let answer = keeper.take(&content).map_err(failed)?;
        keeper.program = told(&answer).map_err(|why| self.fails(why))?;
        Ok(keeper)
    }
}

fn program() -> OsString {
    std::env::var_os(PROGRAM).unwrap_or_else(|| "ssh".into())
}

/// The script that holds the binary on the host for as long as its standard input
/// lasts: the end of the controller, however it comes, removes it. It goes through
/// the login shell, which need not be a POSIX one: hence `sh`, one line, and no
/// single quote and no exclamation mark within. The run's name is ours.
fn keep(run: &str, bytes: usize) -> String {
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
        format!("its login shell prints '{seen}', which would get into the link: let its start files print nothing where there is no terminal")
    })
}

/// The ssh process whose end removes the binary from the host.
struct Keeper {
    child: Child,
    stream: Option<FdStream>,
    /// Path of the binary there.
    program: String,
}

impl Keeper {
    fn new(mut child: Child) -> io::Result<Self> {
        let stream = Some(pipes(&mut child)?);
        let program = String::new();
        Ok(Self {
            child,
            stream,
            program,
        })
    }

    /// Sends the binary and reads one line.
    fn take(&mut self, content: &[u8]) -> io::Result<String> {
        let deadline = Instant::now() + COPY_WITHIN;
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stream.send(content, deadline)?;
        let mut answer = Vec::new();
        while !answer.contains(&b'\n') {
            if stream.receive(&mut answer, deadline)? == 0 {
                return Err(io::Error::other("the connection ended;"));
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

/// Version of the host by its answer to the question, or why it will not do.
fn judge(host: &str, answer: &str) -> Result<PlatformVersion, Absent> {
    let unfit = |reason: String, fix: &str| Err(Absent::new(reason, fix));
    let lines: Vec<&str> = answer.lines().collect();
    let [system, user] = lines[..] else {
        let reason = format!("the login shell on {host} prints more or less than was asked");
        return unfit(
            reason,
            "let its start files print nothing where there is no terminal",
        );
    };
    if !(system.starts_with("Linux ") && system.ends_with(" x86_64")) {
        let reason = format!("{host} is {system}");
        return unfit(reason, "name a host with Linux on x86_64");
    }
    if user != "0" {
        let reason =
            format!("ssh logs in on {host} without root, so that no cgroup can be made to set limits");
        return unfit(
            reason,
            "let it log in as root: ssh:root@HOST, or 'User root' in ~/.ssh/config",
        );
    }
    Ok(PlatformVersion {
        version: system.to_owned(),
        details: BTreeMap::from([("host".to_owned(), host.to_owned())]),
    })
}

impl Platform for Ssh {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        let program = program().to_string_lossy().into_owned();
        let absent = || {
            Absent::new(
                format!("no {program} on PATH"),
                "install it (Debian: apt-get install openssh-client)",
            )
        };
        run_within(Command::new(&program).arg("-V"), ANSWER_WITHIN).map_err(|_| absent())?;
        let Some(host) = self.host.clone() else {
            return Err(Absent::new(
                "no host is named",
                "write ssh:HOST, a host that ssh knows by its name or by ~/.ssh/config",
            ));
        };
        let fix = format!("make 'ssh {host} true' work without a question");
        let answer = run_within(&mut self.command(QUESTION), ANSWER_WITHIN)
            .map_err(|e| Absent::new(format!("{host} does not answer: {e}"), fix.as_str()))?;
        if !answer.status.success() {
            let words = String::from_utf8_lossy(&answer.stderr);
            let last = words.trim().lines().last().unwrap_or("no reason given").trim();
            return Err(Absent::new(format!("{host} cannot be used: {last}"), fix));
        }
        judge(&host, &String::from_utf8_lossy(&answer.stdout))
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // What is done once per run is no part of a box's start-up.
        let program = self.install(spec)?.program.clone();
        let requested = Instant::now();
        let mut command = self.command(&format!("exec {program} agent"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let start = Start {
            command,
            folder: spec.folder()?,
            name: &spec.name,
            limits: None,
            hello_within: HELLO_DEADLINE,
            requested,
        };
        // No seat: the CPUs there are others.
        Ok(Box::new(ChildBox::start(start, None, pipes)?))
    }

    fn has_host_files(&self) -> bool {
        true
    }

    fn is_host(&self) -> bool {
        true
    }

    fn cost(&self) -> (Duration, f64) {
        (Duration::from_millis(500), 1.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_script_holds_the_binary_until_its_input_ends() {
        let binary = b"#!/bin/sh\nexit 0\n";
        let child = Command::new("sh")
            .args(["-c", &keep("tare-test", binary.len())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut keeper = Keeper::new(child).unwrap();
        let program = told(&keeper.take(binary).unwrap()).unwrap();
        assert_eq!(fs::read(&program).unwrap(), binary);
        drop(keeper);
        assert!(!Path::new(&program).parent().unwrap().exists());
    }

    #[test]
    fn a_host_that_will_not_do_is_told_with_the_fix() {
        let version = judge("box", "Linux 6.1.0 x86_64\n0\n").unwrap();
        assert_eq!(version.version, "Linux 6.1.0 x86_64");
        for (answer, reason) in [
            ("Linux 6.1.0 aarch64\n0\n", "aarch64"),
            ("FreeBSD 14 amd64\n0\n", "FreeBSD"),
            ("Linux 6.1.0 x86_64\n1000\n", "without root"),
            ("Welcome\nLinux 6.1.0 x86_64\n0\n", "prints more"),
            ("", "less than"),
        ] {
            assert!(
                judge("box", answer).unwrap_err().reason.contains(reason),
                "{answer:?}"
            );
        }
    }

    #[test]
    fn nothing_is_asked_and_no_option_can_be_slipped_in() {
        let ssh = Ssh {
            host: Some("box".to_owned()),
            keeper: None,
        };
        let command = ssh.command("true");
        let args: Vec<_> = command
            .get_args()
            .map(|a| a.to_string_lossy().into_owned())
            .collect();
        assert!(args.contains(&"BatchMode=yes".to_owned()));
        assert_eq!(args[args.len() - 3..], ["--", "box", "true"]);
    }
}
