//! The client beside servers whose times are known.

use super::*;
use crate::arrivals::Arrivals;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use tare_stats::Latencies;
use tare_wire::gate::Slice;
use tare_wire::load::Asked;

fn spec(rate: Option<f64>) -> LoadSpec {
    LoadSpec {
        connections: 4,
        rate,
        seed: 1,
        ..LoadSpec::one_by_one("web", Asked::Http("/".to_owned()))
    }
}

/// A server of which each connection is served by this, in a thread of its own.
fn server(serve: impl Fn(BufReader<TcpStream>) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            thread::spawn(move || serve(BufReader::new(stream)));
        }
    });
    at
}

/// Reads a request up to its empty line; false at the end.
fn request(stream: &mut BufReader<TcpStream>) -> bool {
    let mut line = String::new();
    while stream.read_line(&mut line).is_ok_and(|read| read > 0) {
        if line == "\r\n" {
            return true;
        }
        line.clear();
    }
    false
}

/// Sends an answer; whether it was taken.
fn answer(stream: &mut BufReader<TcpStream>, text: &[u8]) -> bool {
    stream.get_mut().write_all(text).is_ok()
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn answering(mut stream: BufReader<TcpStream>) {
    while request(&mut stream) && answer(&mut stream, OK) {}
}

/// Orders, with so much time before each.
struct Paced<'a>(&'a [u64], Duration);

impl std::io::Read for Paced<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let Some((units, rest)) = self.0.split_first() else {
            return Ok(0);
        };
        thread::sleep(self.1);
        self.0 = rest;
        let order = format!("{{\"units\":{units},\"lead\":0}}\n");
        room[..order.len()].copy_from_slice(order.as_bytes());
        Ok(order.len())
    }
}

/// Does what is ordered of this server.
fn served(spec: &LoadSpec, at: SocketAddr, units: &[u64]) -> Result<(Vec<Slice>, LoadReport), KernelError> {
    served_after(Duration::ZERO, spec, at, units)
}

/// The same with so much time before each order.
fn served_after(
    pause: Duration,
    spec: &LoadSpec,
    at: SocketAddr,
    units: &[u64],
) -> Result<(Vec<Slice>, LoadReport), KernelError> {
    let mut answers = Vec::new();
    let report = serve(spec, at, &mut BufReader::new(Paced(units, pause)), &mut answers)?;
    let text = String::from_utf8(answers).unwrap();
    let slices = text.strip_prefix("ready\n").unwrap().lines();
    Ok((
        slices.map(|line| serde_json::from_str(line).unwrap()).collect(),
        report,
    ))
}

fn latencies(slice: &Slice) -> Latencies {
    Latencies::of_text(&slice.load.as_ref().unwrap().latencies).unwrap()
}

#[test]
fn every_request_is_answered_and_its_latency_kept() {
    let (slices, report) = served(&spec(None), server(answering), &[1, 100, 1000]).unwrap();
    for (slice, units) in slices.iter().zip([1, 100, 1000]) {
        assert_eq!(slice.parts[0].work, units as f64);
        assert_eq!(
            (latencies(slice).count(), slice.load.as_ref().unwrap().due),
            (units, units)
        );
    }
    assert_eq!((report.requests, report.reconnected), (1101, 0));
    assert!(report.check.passed());
}

#[test]
fn connections_that_the_server_closes_are_made_again_and_nothing_is_lost() {
    let at = server(|mut stream| {
        for _ in 0..7 {
            let _ = request(&mut stream) && answer(&mut stream, OK);
        }
        let last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        let _ = request(&mut stream) && answer(&mut stream, last.as_bytes());
    });
    let (slices, report) = served(&spec(None), at, &[500]).unwrap();
    assert_eq!((slices[0].parts[0].work, report.requests), (500.0, 500));
    assert!((50..=70).contains(&report.reconnected), "{}", report.reconnected);
}

#[test]
fn each_request_may_have_a_connection_of_its_own() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    let made = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&made);
    // One that would keep each connection, and serves one at a time.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            answering(BufReader::new(stream));
        }
    });
    let fresh = LoadSpec {
        keep: false,
        ..spec(None)
    };
    let report = served(&fresh, at, &[50]).unwrap().1;
    assert_eq!((report.requests, report.reconnected), (50, 0));
    assert_eq!(made.load(Ordering::SeqCst), 50);
}

#[test]
fn a_server_of_one_connection_at_a_time_is_told() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answering(BufReader::new(stream));
        }
    });
    let error = served(&spec(None), at, &[1, 50]).unwrap_err().to_string();
    assert!(error.contains("it may serve one at a time; set keep"), "{error}");
}

/// A server that says this before it closes a connection over which nothing was asked for 30 ms.
fn impatient(farewell: &'static [u8]) -> SocketAddr {
    server(move |mut stream| {
        let patience = Some(Duration::from_millis(30));
        stream.get_mut().set_read_timeout(patience).unwrap();
        while request(&mut stream) && answer(&mut stream, OK) {}
        answer(&mut stream, farewell);
    })
}

#[test]
fn connections_that_were_closed_between_slices_are_made_again() {
    let timeout = b"HTTP/1.1 408 Request Time-out\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let pause = Duration::from_millis(80);
    for farewell in [&b""[..], timeout] {
        // The first slice asks over one connection alone: the others are closed without an answer.
        let (slices, report) = served_after(pause, &spec(None), impatient(farewell), &[1, 100, 100]).unwrap();
        assert_eq!((slices[2].parts[0].work, report.requests), (100.0, 201));
        let of_slices = slices.iter().map(|slice| slice.load.as_ref().unwrap().reconnects);
        assert_eq!(of_slices.collect::<Vec<_>>(), [4, 4, 4]);
        assert_eq!((report.reconnected, report.check.found), (12, 0.0));
    }
}

/// A server that answers by this the first request of each connection, and closes it at the second.
fn answering_one(text: &'static [u8]) -> SocketAddr {
    server(move |mut stream| {
        let _ = request(&mut stream) && answer(&mut stream, text) && request(&mut stream);
    })
}

#[test]
fn a_request_that_was_not_answered_is_repeated_once_if_that_does_no_harm() {
    let report = served(&spec(None), answering_one(OK), &[100]).unwrap().1;
    assert_eq!(report.requests, 100);
    assert!((92..=100).contains(&report.reconnected), "{}", report.reconnected);
    let silent = server(|mut stream| {
        request(&mut stream);
    });
    // The empty word ends with what is the end of a request.
    let words = vec!["INCR".to_owned(), String::new()];
    let first = Vec::new();
    for (asked, at) in [
        (Asked::Http("/".to_owned()), silent),
        (Asked::Resp { words, first }, answering_one(b":1\r\n")),
    ] {
        let load = LoadSpec { asked, ..spec(None) };
        let error = served(&load, at, &[100]).unwrap_err().to_string();
        assert!(
            error.ends_with("the server closed the connection without an answer"),
            "{error}"
        );
    }
}

#[test]
fn answers_may_end_with_their_connections() {
    for head in [
        "1.1 200 OK",
        "1.1 200 OK\r\nConnection: Upgrade, close",
        "1.0 200 OK",
    ] {
        let text = format!("HTTP/{head}\r\n\r\nhello");
        let at = server(move |mut stream| {
            let _ = request(&mut stream) && answer(&mut stream, text.as_bytes());
        });
        let report = served(&spec(None), at, &[50]).unwrap().1;
        assert_eq!((report.requests, report.check.found), (50, 0.0), "{head}");
    }
}

#[test]
fn answers_that_are_errors_are_counted_and_the_first_is_told() {
    let at = server(|mut stream| {
        let wrong = b"HTTP/1.1 500 Oh no\r\nContent-Length: 0\r\n\r\n";
        while request(&mut stream) && answer(&mut stream, wrong) {}
    });
    let report = served(&spec(None), at, &[10]).unwrap().1;
    assert_eq!(report.check.found, 10.0);
    assert_eq!(report.first_wrong.as_deref(), Some("status 500 Oh no"));
}

#[test]
fn a_server_that_goes_away_is_an_error() {
    for last in [
        &b""[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
        b"no http at all\r\n\r\n",
    ] {
        let at = server(move |mut stream| {
            let _ = request(&mut stream) && answer(&mut stream, last);
        });
        let error = served(&spec(None), at, &[10]).unwrap_err().to_string();
        assert!(error.starts_with("asking the server failed: "), "{error}");
    }
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap();
    let error = served(&spec(None), gone, &[1]).unwrap_err().to_string();
    assert!(error.starts_with("cannot connect to 127.0.0.1:"), "{error}");
}

/// Of a server that stands still for a second in the middle, an open loop tells what follows
/// from that: whoever comes then waits for the rest of the second, evenly from 0 to 1 s.
#[test]
fn a_second_of_standstill_is_charged_to_all_requests_of_that_second() {
    use std::sync::{Arc, Mutex};
    use std::time::Instant;
    let standstill = Arc::new(Mutex::new(None::<Instant>));
    let at = server(move |mut stream| {
        while request(&mut stream) {
            let begun = *standstill.lock().unwrap().get_or_insert_with(Instant::now);
            let (since, second) = (begun.elapsed(), Duration::from_secs(1));
            if (second..2 * second).contains(&since) {
                thread::sleep(2 * second - since);
            }
            if !answer(&mut stream, OK) {
                return;
            }
        }
    });
    // All requests of the second can be under way, as users could.
    let load = LoadSpec {
        connections: 64,
        keep: true,
        pipeline: 16,
        ..spec(Some(500.0))
    };
    let (slices, report) = served(&load, at, &[2000]).unwrap();
    let all = latencies(&slices[0]);
    assert_eq!((all.count(), report.requests), (2000, 2000));
    let (mean, p99) = expected(&load, 2000);
    let told = (all.mean().unwrap(), all.percentile(0.99).unwrap());
    // Never less, but more where others use the CPU. Were latencies to count from when a request
    // could be sent, both would be some milliseconds.
    assert!(
        (0.98..1.25).contains(&(told.0 / mean)),
        "mean {} of {mean}",
        told.0
    );
    assert!((0.98..1.1).contains(&(told.1 / p99)), "p99 {} of {p99}", told.1);
}

/// Mean and 99th percentile of latencies that follow from a standstill between 1 and 2 s behind
/// the first request, and from nothing else.
fn expected(load: &LoadSpec, requests: usize) -> (f64, f64) {
    let mut arrivals = Arrivals::new(load.rate.unwrap(), load.seed);
    let mut since_first = 0.0;
    let mut latencies = Vec::new();
    let _ = arrivals.gap_ns();
    for _ in 0..requests {
        let within = (1.0..2.0).contains(&since_first);
        latencies.push(if within { 2.0 - since_first } else { 0.0 });
        since_first += arrivals.gap_ns() as f64 / 1e9;
    }
    latencies.sort_by(f64::total_cmp);
    let mean = latencies.iter().sum::<f64>() / requests as f64;
    (mean, latencies[requests * 99 / 100 - 1])
}

#[test]
fn requests_of_a_burst_come_at_once_and_a_unit_is_all_of_them() {
    // A server of which 4 connections are served one request each 5 ms: 40 take 50 ms.
    let at = server(|mut stream| {
        while request(&mut stream) {
            thread::sleep(Duration::from_millis(5));
            if !answer(&mut stream, OK) {
                return;
            }
        }
    });
    let burst = LoadSpec {
        burst: Some(40),
        ..spec(None)
    };
    let (slices, report) = served(&burst, at, &[1, 2]).unwrap();
    let works: Vec<f64> = slices.iter().map(|slice| slice.parts[0].work).collect();
    assert_eq!((works, report.requests), (vec![40.0, 80.0], 120));
    // The last of ten on a connection has waited for the nine before it, from the beginning.
    assert!(latencies(&slices[1]).percentile(0.8).unwrap() >= 0.035);
    assert!(slices[0].parts[0].wall_ns >= 50_000_000);
}

#[test]
fn an_overload_is_seen_in_what_was_achieved() {
    // One request at a time takes 2 ms at least: 4 connections get 2000 a second at most.
    let at = server(|mut stream| {
        while request(&mut stream) {
            thread::sleep(Duration::from_millis(2));
            if !answer(&mut stream, OK) {
                return;
            }
        }
    });
    for (rate, requests, is_overload) in [(300.0, 150, false), (4000.0, 2000, true)] {
        let slices = served(&spec(Some(rate)), at, &[requests]).unwrap().0;
        let load = slices[0].load.as_ref().unwrap();
        let share = load.due_ns as f64 / slices[0].parts[0].wall_ns as f64;
        assert_eq!(share < 0.7, is_overload, "{rate}/s: {share}");
    }
}
