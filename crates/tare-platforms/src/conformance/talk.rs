//! Commands in boxes: the tare binary itself, as the only program that every
//! box has.

use super::{Broken, expect};
use crate::contract::{ANSWER_DEADLINE, RunningBox};
use crate::link::unexpected;
use std::time::Duration;
use tare_model::protocol::{Bounds, CommandRequest, CommandTask, ExitStatus, Exited, Reply, Request};
use tare_model::time::nanoseconds;

/// Time for a command, on the slowest box of a busy host.
const COMMAND_DEADLINE: Duration = Duration::from_secs(60);

/// What a command did.
pub(super) struct Ended {
    pub exited: Exited,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Ended {
    /// Its standard output, if it succeeded.
    pub(super) fn words(self) -> Result<String, Broken> {
        expect(self.exited.status == ExitStatus::Code(0), || {
            format!(
                "a command ended with {:?}: {}",
                self.exited.status,
                String::from_utf8_lossy(&self.stderr).trim()
            )
        })?;
        Ok(String::from_utf8_lossy(&self.stdout).into_owned())
    }
}

/// A command that acts a part (see [`super::act`]).
pub(super) fn acting(words: &[&str]) -> CommandRequest {
    let program = ["/proc/self/exe", "run-act"].iter().chain(words);
    CommandRequest {
        task: CommandTask {
            argv: program.map(|word| (*word).to_owned()).collect(),
            env: Vec::new(),
            cwd: None,
            user: None,
        },
        bounds: Bounds {
            timeout_ns: nanoseconds(COMMAND_DEADLINE),
            max_stdout_bytes: 1 << 20,
            max_stderr_bytes: 4096,
            padding_bytes: 0,
        },
        min_wall_ns: 0,
        max_repetitions: 1,
    }
}

/// Time for a command and its answer.
pub(super) fn patience(command: &CommandRequest) -> Duration {
    Duration::from_nanos(command.bounds.timeout_ns) + ANSWER_DEADLINE
}

pub(super) fn run(made: &mut dyn RunningBox, command: CommandRequest) -> Result<Ended, Broken> {
    let within = patience(&command);
    let answer = made.link().request(&Request::Command(command), within)?;
    match answer.reply {
        Reply::Exited(exited) => Ok(Ended {
            exited,
            stdout: answer.stdout,
            stderr: answer.stderr,
        }),
        other => Err(unexpected("run command", &other).into()),
    }
}

/// Acts a part in the box.
pub(super) fn act(made: &mut dyn RunningBox, words: &[&str]) -> Result<Ended, Broken> {
    run(made, acting(words))
}

/// Greets the agent: its process id in the box.
pub(super) fn greet(made: &mut dyn RunningBox) -> Result<u32, Broken> {
    let build_id = made.link().build_id().unwrap_or_default();
    let request = Request::Hello {
        protocol: tare_model::protocol::VERSION,
        build: build_id.to_owned(),
        control_cpu: None,
    };
    match made.link().request(&request, ANSWER_DEADLINE)?.reply {
        Reply::Hello {
            protocol: tare_model::protocol::VERSION,
            build,
            pid,
        } if build == build_id => Ok(pid),
        other => Err(unexpected("hello", &other).into()),
    }
}
