//! A link against a scripted other end: every misbehaviour ends in an error
//! before its deadline.

use super::*;
use proptest::prelude::*;

/// Answers with given bytes and then ends, or falls silent.
struct Script {
    bytes: Vec<u8>,
    then_silent: bool,
}

impl Stream for Script {
    fn send(&mut self, _: &[u8], _: Instant) -> io::Result<()> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        if self.bytes.is_empty() && self.then_silent {
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
            return Err(io::ErrorKind::TimedOut.into());
        }
        let n = self.bytes.len().min(7);
        buffer.extend(self.bytes.drain(..n));
        Ok(n)
    }
}

fn hello_to(bytes: Vec<u8>, then_silent: bool) -> Result<(), LinkError> {
    Link::new(Script { bytes, then_silent }).hello(None, Duration::from_millis(20))
}

fn reply(reply: &Reply) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_parts(0, Kind::Reply, &serde_json::to_vec(reply).unwrap(), &mut bytes);
    bytes
}

#[test]
fn a_matching_hello_is_accepted() {
    let build = tare_model::BUILD_ID.to_owned();
    assert!(
        hello_to(
            reply(&Reply::Hello {
                protocol: VERSION,
                build,
                pid: 1
            }),
            false
        )
        .is_ok()
    );
}

#[test]
fn another_build_is_refused_by_name() {
    let answer = reply(&Reply::Hello {
        protocol: VERSION,
        build: "other".into(),
        pid: 1,
    });
    assert!(matches!(hello_to(answer, false), Err(LinkError::Mismatch { theirs, .. }) if theirs == "other"));
}

#[test]
fn silence_ends_in_a_timeout_and_an_end_in_an_error() {
    assert!(matches!(
        hello_to(Vec::new(), true),
        Err(LinkError::Timeout { .. })
    ));
    assert!(matches!(
        hello_to(Vec::new(), false),
        Err(LinkError::Ended { .. })
    ));
    let mut half = reply(&Reply::Bye);
    half.pop();
    assert!(matches!(hello_to(half, false), Err(LinkError::Ended { .. })));
}

#[test]
fn foreign_bytes_are_named() {
    let error = hello_to(b"/bin/sh: tare: not found\n".to_vec(), true).unwrap_err();
    assert!(
        error.to_string().contains("something else writes to the link"),
        "{error}"
    );
}

/// An agent that answers only when it is asked again, with two answers then.
#[derive(Default)]
struct Late {
    asked: u32,
    bytes: Vec<u8>,
}

impl Stream for Late {
    fn send(&mut self, _: &[u8], _: Instant) -> io::Result<()> {
        self.asked += 1;
        if self.asked == 2 {
            self.bytes = [reply(&Reply::FileWritten), reply(&Reply::ClockSet)].concat();
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, _: Instant) -> io::Result<usize> {
        if self.bytes.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        buffer.append(&mut self.bytes);
        Ok(buffer.len())
    }
}

#[test]
fn an_answer_that_is_late_is_never_taken_for_the_one_to_the_next_request() {
    let within = Duration::from_millis(20);
    let mut link = Link::new(Late::default());
    let clock = Request::SetClock { unix_ns: 1 };
    let first = link.write_file("file", 0o600, b"here", within);
    assert!(matches!(first, Err(LinkError::Timeout { .. })), "{first:?}");
    for _ in 0..2 {
        let second = link.request(&clock, within);
        assert!(matches!(second, Err(LinkError::Behind { .. })), "{second:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_of_an_agent_can_hang_or_panic_the_controller(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..120),
        prefix in 0usize..3,
    ) {
        let mut all = match prefix {
            0 => Vec::new(),
            1 => reply(&Reply::FileWritten),
            _ => vec![0xA7, b't', 2, 0, 0, 0, 0, 0, 0, 0, 0, 20],
        };
        all.append(&mut bytes);
        let _ = hello_to(all, false);
    }
}
