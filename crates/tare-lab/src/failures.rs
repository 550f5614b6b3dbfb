//! Why a trial has no result.

use tare_model::finding::Reason;
use tare_model::protocol::{ErrorCode, ExitStatus, Exited};
use tare_model::results::{Failure, Outcome};
use tare_platforms::link::LinkError;

/// A trial without a result: one that cannot run here will not the next time either.
pub(crate) fn without_result(failure: Failure) -> Outcome {
    if failure.reason == Reason::CannotRun {
        Outcome::Skipped(failure)
    } else {
        Outcome::Failed(failure)
    }
}

/// What a link that failed means for a trial.
pub(crate) fn failure(error: &LinkError) -> Failure {
    let detail = match error {
        // The agent's words alone say what is wrong.
        LinkError::Refused {
            code: ErrorCode::Taken | ErrorCode::CannotStart,
            message,
            ..
        } => message.clone(),
        _ => error.to_string(),
    };
    Failure::new(reason(error), detail)
}

fn reason(error: &LinkError) -> Reason {
    match error {
        LinkError::Timeout { .. } => Reason::Timeout,
        LinkError::Refused {
            code: ErrorCode::CannotStart | ErrorCode::Unsupported,
            ..
        } => Reason::CannotRun,
        LinkError::Refused {
            code: ErrorCode::Taken,
            ..
        } => Reason::ExitStatus,
        LinkError::Refused { .. } | LinkError::Unexpected { .. } => Reason::BadReport,
        LinkError::Mismatch { .. } => Reason::Handshake,
        LinkError::Behind { .. }
        | LinkError::GivenUp { .. }
        | LinkError::Foreign { .. }
        | LinkError::TooMuch { .. }
        | LinkError::Ended { .. }
        | LinkError::Interrupted
        | LinkError::Io { .. }
        | LinkError::Frame { .. } => Reason::LinkLost,
    }
}

/// Of a process that ran over its time, before its own last words.
pub(crate) const TIME_OVER: &str = "killed when its time was over";

/// Whether processes ended as they should.
pub(crate) fn ended_well(exited: &Exited, stderr: &[u8]) -> Result<(), Failure> {
    let failure = |reason, what: String| Err(Failure::new(reason, what + &last_words(stderr)));
    match exited.status {
        ExitStatus::Code(0) => Ok(()),
        ExitStatus::Code(tare_model::kernel::UNSUPPORTED) => {
            failure(Reason::CannotRun, "unsupported here".to_owned())
        }
        ExitStatus::Code(code) => failure(Reason::ExitStatus, format!("exit status {code}")),
        ExitStatus::Signal(signal) => failure(Reason::Killed, format!("signal {signal}")),
        ExitStatus::TimedOut => failure(Reason::Timeout, TIME_OVER.to_owned()),
    }
}

/// The last line of messages, behind a colon, before the stack of a Java program: its frames do not say what went wrong.
fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let is_frame = |line: &&str| {
        line.starts_with("at ") && line.ends_with(')') || line.starts_with("... ") && line.ends_with(" more")
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.clone().rfind(|line| !is_frame(line));
    let line = line.or_else(|| lines.next_back());
    line.map_or_else(String::new, |line| format!(": {line}"))
}

/// A process, or the agent for it, that said what it should not.
pub(crate) fn bad_report(detail: String) -> Failure {
    Failure::new(Reason::BadReport, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_java_program_are_not_its_stack() {
        let java = b"INFO start\nException in thread \"main\" x.E: huge\n\tat a.B.c(B.java:1)\nCaused by: y.F: no\n\tat a.B.d(B.java:2)\n\t... 3 more\n";
        assert_eq!(last_words(java), ": Caused by: y.F: no");
        assert_eq!(last_words(b"what went wrong\n\n"), ": what went wrong");
        assert_eq!(last_words(b"\tat a.B.c(B.java:1)\n"), ": at a.B.c(B.java:1)");
        assert_eq!(last_words(b""), "");
    }
}
