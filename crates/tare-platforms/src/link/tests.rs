//! A link against a scripted other end: every misbehaviour ends in an error
//! before its deadline.

use super::*;
use proptest::prelude::*;
use tare_model::protocol::{Bounds, CommandTask, Task};

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
    Link::new(Script { bytes, then_silent }).hello("ours", None, Duration::from_millis(20))
}

/// A reply to the greeting.
fn reply(reply: &Reply) -> Vec<u8> {
    reply_to(0, reply)
}

fn reply_to(number: u32, reply: &Reply) -> Vec<u8> {
    frame(Head::of(Kind::Reply, number), &serde_json::to_vec(reply).unwrap())
}

fn frame(head: Head, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(head, payload, &mut bytes);
    bytes
}

#[test]
fn a_matching_hello_is_accepted() {
    let build = "ours".to_owned();
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

/// Answers every request after the greeting with what `answer` makes of its number, and
/// says no more than that at a time.
struct Answering<F> {
    answer: F,
    decoder: Decoder,
    pieces: std::collections::VecDeque<Vec<u8>>,
}

impl<F: FnMut(u32) -> Vec<Vec<u8>>> Stream for Answering<F> {
    fn send(&mut self, bytes: &[u8], _: Instant) -> io::Result<()> {
        self.decoder.feed(bytes);
        while let Some(frame) = self.decoder.next_frame().unwrap() {
            if frame.head.kind == Kind::Request {
                self.pieces.extend((self.answer)(frame.head.number));
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, _: Instant) -> io::Result<usize> {
        let piece = self.pieces.pop_front().ok_or(io::ErrorKind::TimedOut)?;
        buffer.extend_from_slice(&piece);
        if piece.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(piece.len())
    }
}

fn answering(answer: impl FnMut(u32) -> Vec<Vec<u8>> + 'static) -> Link {
    Link::new(Answering {
        answer,
        decoder: Decoder::default(),
        pieces: std::collections::VecDeque::new(),
    })
}

/// Pieces of an answer to the request of this number.
type Made = fn(u32) -> Vec<Vec<u8>>;

const SOON: Duration = Duration::from_millis(200);

/// Asks a box for a file of at most 10 bytes that answers so, and then again.
fn read_ten_bytes(answer: impl FnMut(u32) -> Vec<Vec<u8>> + 'static) -> [Result<Vec<u8>, LinkError>; 2] {
    let mut link = answering(answer);
    [(); 2].map(|()| link.read_file("file", 10, SOON))
}

fn file(number: u32, bytes: &[u8]) -> Vec<u8> {
    frame(Head::of(Kind::File, number), bytes)
}

#[test]
fn every_request_has_a_number_that_the_answer_must_bear() {
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let told = std::rc::Rc::clone(&seen);
    let mut link = answering(move |number| {
        told.borrow_mut().push(number);
        vec![
            file(number, b"ab"),
            reply_to(number, &Reply::FileRead { bytes: 2 }),
        ]
    });
    for _ in 0..100 {
        assert_eq!(link.read_file("file", 10, SOON).unwrap(), b"ab");
    }
    let mut seen = seen.borrow().clone();
    assert_eq!(seen[0], 0, "agents of all versions can read the first");
    assert!(seen.iter().any(|number| *number > MAX_NUMBER / 2));
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 95, "{seen:?}");
}

#[test]
fn an_answer_with_another_number_is_an_error_and_nothing_is_asked_again() {
    let forged: [Made; 3] = [
        |number| vec![reply_to(number ^ 1, &Reply::FileRead { bytes: 0 })],
        |number| vec![file(number ^ 1, b"ab")],
        |number| {
            let mut head = Head::of(Kind::File, number);
            head.channel = 1;
            vec![frame(head, b"ab")]
        },
    ];
    for answer in forged {
        let [first, second] = read_ten_bytes(answer);
        assert!(matches!(first, Err(LinkError::Foreign { .. })), "{first:?}");
        assert!(matches!(second, Err(LinkError::GivenUp { .. })), "{second:?}");
    }
}

#[test]
fn what_was_written_after_an_answer_is_not_taken_for_the_next_one() {
    let [first, second] = read_ten_bytes(|number| {
        let empty = reply_to(number, &Reply::FileRead { bytes: 0 });
        vec![[empty.clone(), empty].concat()]
    });
    assert_eq!(first.unwrap(), b"");
    assert!(matches!(second, Err(LinkError::Foreign { .. })), "{second:?}");
}

#[test]
fn no_more_is_taken_than_was_asked_for() {
    let floods: [Made; 4] = [
        |number| vec![file(number, &[0; 11])],
        |number| vec![file(number, &[0; 5]); 3],
        |number| vec![file(number, b"")],
        |number| vec![frame(Head::of(Kind::Stderr, number), b"a")],
    ];
    for answer in floods {
        let [first, second] = read_ten_bytes(answer);
        assert!(matches!(first, Err(LinkError::TooMuch { .. })), "{first:?}");
        assert!(matches!(second, Err(LinkError::GivenUp { .. })), "{second:?}");
    }
}

#[test]
fn what_a_process_prints_is_bounded_by_what_it_was_started_with() {
    let mut link = answering(|number| {
        vec![
            frame(Head::of(Kind::Stdout, number), b"abc"),
            reply_to(number, &Reply::Started),
        ]
    });
    let bounds = Bounds {
        timeout_ns: 0,
        max_stdout_bytes: 3,
        max_stderr_bytes: 0,
        padding_bytes: 0,
    };
    let task = Task::Command(CommandTask {
        argv: Vec::new(),
        env: Vec::new(),
        cwd: None,
        user: None,
    });
    let start = Request::Start {
        process: 7,
        task,
        bounds,
    };
    let order = tare_model::gate::Order { units: 1, lead: 0 };
    let go = |process| Request::Go { process, order };
    for request in [start, go(7), Request::Stop { process: 7 }] {
        assert_eq!(link.request(&request, SOON).unwrap().stdout, b"abc");
    }
    let stopped = link.request(&go(7), SOON);
    assert!(
        matches!(stopped, Err(LinkError::TooMuch { max: 0, .. })),
        "{stopped:?}"
    );
}

#[test]
fn bytes_of_an_inner_box_that_is_not_there_end_the_link() {
    let [first, second] = read_ten_bytes(|_| vec![frame(Head::relay(1), b"ab")]);
    assert!(matches!(first, Err(LinkError::Unexpected { .. })), "{first:?}");
    assert!(matches!(second, Err(LinkError::GivenUp { .. })), "{second:?}");
}

#[test]
fn what_came_of_an_answer_before_the_deadline_is_not_lost() {
    let mut link = answering(|number| {
        vec![
            file(number, b"ab"),
            Vec::new(),
            [
                file(number, b"c"),
                reply_to(number, &Reply::FileRead { bytes: 3 }),
            ]
            .concat(),
        ]
    });
    let request = Request::ReadFile {
        path: "file".to_owned(),
        max_bytes: 10,
    };
    link.ask(&request, SOON).unwrap();
    let early = link.reply(&request, SOON);
    assert!(matches!(early, Err(LinkError::Timeout { .. })), "{early:?}");
    assert_eq!(link.reply(&request, SOON).unwrap().file, b"abc");
}

/// The time that a request takes which is answered by an endless row of this frame.
fn flooded(row: fn(u32) -> Vec<u8>) -> (Result<Answer, LinkError>, Duration) {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut link = Link::new(FdStream::over_socket(ours.into()).unwrap());
    let flood = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let mut theirs = theirs;
        let mut bytes = [0; 4096];
        let mut decoder = Decoder::default();
        let number = loop {
            let n = theirs.read(&mut bytes).unwrap();
            decoder.feed(&bytes[..n]);
            if let Some(frame) = decoder.next_frame().unwrap() {
                break frame.head.number;
            }
        };
        let row = row(number).repeat(1000);
        while theirs.write_all(&row).is_ok() {}
    });
    let begun = Instant::now();
    let request = Request::ReadFile {
        path: "file".to_owned(),
        max_bytes: u64::MAX,
    };
    let answer = link.request(&request, SOON);
    let took = begun.elapsed();
    drop(link);
    flood.join().unwrap();
    (answer, took)
}

#[test]
fn bytes_without_end_do_not_outlast_the_deadline() {
    let (answer, took) = flooded(|number| file(number, b"a"));
    assert!(matches!(answer, Err(LinkError::Timeout { .. })), "{answer:?}");
    assert!(took < SOON * 20, "{took:?}");
    let (answer, took) = flooded(|number| file(number, b""));
    assert!(matches!(answer, Err(LinkError::TooMuch { .. })), "{answer:?}");
    assert!(took < SOON * 20, "{took:?}");
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
