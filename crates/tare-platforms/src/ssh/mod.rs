//! Another host, by ssh: the agent runs there without limits, and makes the box
//! that has them.

mod keeper;

use super::child::{ChildBox, Said, Start, pipes};
use super::contract::{Absent, BoxError, BoxSpec, HELLO_DEADLINE, Platform, RunningBox, Support};
use super::directory::BoxDirectory;
use super::options::Options;
use super::probe::not_run;
use keeper::Keeper;
use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::ffi::OsString;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tare_host::program as programs;
use tare_model::results::PlatformVersion;

/// Names the program to use instead of `ssh`, such as a script that adds options.
const PROGRAM: &str = "TARE_SSH";

/// The key agent's socket: the one variable of ours that ssh needs.
const KEY_AGENT: &str = "SSH_AUTH_SOCK";

/// Each option's reason is in `docs/drivers.md`.
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

/// What is asked of a host: its kernel, and who we are there.
const QUESTION: &str = "uname -srm; id -u";

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

    /// Brings the binary to the host, unless it is there.
    fn install(&mut self, spec: &BoxSpec) -> Result<&Keeper, BoxError> {
        if self.keeper.is_none() {
            let size = fs::metadata(&spec.binary)
                .map_err(BoxError::host("look at the binary"))?
                .len();
            let script = keeper::script(&spec.run, size);
            self.keeper = Some(Keeper::start(self.host(), self.command(&script), spec)?);
        }
        Ok(self.keeper.as_ref().expect("made just now"))
    }
}

fn program() -> OsString {
    std::env::var_os(PROGRAM).unwrap_or_else(|| "ssh".into())
}

/// Version of the host by its answer to the question, or why it will not do.
fn judge(host: &str, answer: &str) -> Result<PlatformVersion, Absent> {
    let unfit = |reason: String, fix: &str| Err(Absent::new(reason, fix));
    let lines: Vec<&str> = answer.lines().collect();
    let [system, user] = lines[..] else {
        let reason = format!("the login shell on {host} prints more or less than expected");
        return unfit(reason, "let its start files print nothing without a terminal");
    };
    // The agent that is sent there is this host's.
    let is_fit = system.starts_with("Linux ") && system.split(' ').next_back() == Some(ARCH);
    if !is_fit {
        let reason = format!("{host} is {system}, and this host Linux on {ARCH}");
        return unfit(reason, "choose a host with Linux on a CPU of this one's kind");
    }
    if user != "0" {
        let reason =
            format!("ssh logs in on {host} without root, so tare cannot create cgroups to set limits");
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
        let absent = |e| {
            not_run(
                &program,
                &e,
                "install it (Debian: apt-get install openssh-client)",
            )
        };
        programs::output(Command::new(&program).arg("-V"), ANSWER_WITHIN).map_err(absent)?;
        let Some(host) = self.host.clone() else {
            return Err(Absent::new(
                "no host is given",
                "write ssh:HOST, with a host name or an entry in ~/.ssh/config",
            ));
        };
        let fix = format!("make 'ssh {host} true' work without a prompt");
        let answer = programs::output(&mut self.command(QUESTION), ANSWER_WITHIN)
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
            directory: BoxDirectory::make(spec)?,
            limits: None,
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        // No control CPU: the CPUs there are others.
        Ok(Box::new(ChildBox::start(
            start,
            Said::by_engine()?,
            None,
            |child, _| pipes(child),
        )?))
    }

    fn supports_weight(&self) -> Support {
        Err("a login on another host may have its own cgroup, which keeps everything it starts")
    }

    fn is_in_own_cgroup(&self) -> bool {
        false
    }

    fn supports_held_image(&self) -> Support {
        Err("images are in the store of this host: run tare on that host, or omit this platform or the image")
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
    fn a_host_that_will_not_do_is_told_with_the_fix() {
        let ours = format!("Linux 6.1.0 {ARCH}");
        assert_eq!(judge("box", &format!("{ours}\n0\n")).unwrap().version, ours);
        for (answer, reason) in [
            ("Linux 6.1.0 riscv64\n0\n", "riscv64"),
            ("FreeBSD 14 amd64\n0\n", "FreeBSD"),
            (&format!("{ours}\n1000\n"), "without root"),
            (&format!("Welcome\n{ours}\n0\n"), "prints more"),
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
