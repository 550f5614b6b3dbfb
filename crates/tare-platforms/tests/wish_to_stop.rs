//! The user's wish to stop ends a wait also where bytes are always there.
//!
//! A binary of its own: it interrupts its whole process, which would end the waits of other tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};
use tare_host::interrupt;
use tare_platforms::link::{FdStream, Stream};

/// What is received of a stream that never runs dry, until it is left.
fn drink(deadline: Instant) -> io::ErrorKind {
    let zeros = File::open("/dev/zero").unwrap();
    let mut stream = FdStream::new(zeros.try_clone().unwrap().into(), zeros.into()).unwrap();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if let Err(e) = stream.receive(&mut bytes, deadline) {
            return e.kind();
        }
        // Else the test would never end.
        assert!(
            Instant::now() < deadline + Duration::from_secs(5),
            "the deadline is past"
        );
    }
}

#[test]
fn a_flood_is_left_at_the_deadline_and_when_the_user_wishes_to_stop() {
    interrupt::install().unwrap();
    let soon = Instant::now() + Duration::from_millis(100);
    assert_eq!(drink(soon), io::ErrorKind::TimedOut);
    let wishing = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(100));
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT).unwrap();
    });
    let begun = Instant::now();
    assert_eq!(drink(begun + Duration::from_secs(20)), io::ErrorKind::Interrupted);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    wishing.join().unwrap();
}
