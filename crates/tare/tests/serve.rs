//! The page over a folder: who may read it, and what it shows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::Tare;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server under way; stopped when dropped.
struct Served {
    child: Child,
    /// `127.0.0.1:PORT`.
    address: String,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    fn of(tare: &Tare) -> Self {
        let mut command = tare.command("serve all");
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let rest = line
            .trim_end()
            .strip_prefix("http://")
            .unwrap_or_else(|| panic!("{line}"));
        let (address, token) = rest.split_once('/').unwrap();
        Self {
            address: address.to_owned(),
            token: token.trim_end_matches('/').to_owned(),
            child,
        }
    }

    /// Status and body of what is asked by this host name.
    fn ask(&self, method: &str, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn get(&self, below: &str) -> (u16, String) {
        self.ask("GET", &format!("/{}/{below}", self.token), &self.address)
    }
}

fn folder() -> Tare {
    let tare = Tare::new();
    fs::create_dir(tare.path("all")).unwrap();
    for (name, seed) in [("a.jsonl", 1), ("b c.jsonl", 2)] {
        let study = "run -p fake,fake?cost=1.5 --cpus 1 -w syscall --no-settle --blocks 10";
        let mut command = tare.command(&format!("{study} --seed {seed} -o one.jsonl"));
        assert!(command.output().unwrap().status.success());
        fs::rename(tare.path("one.jsonl"), tare.path("all").join(name)).unwrap();
    }
    fs::write(tare.path("all/<b>.jsonl"), "no results\n").unwrap();
    fs::write(tare.path("secret.jsonl"), "not in the folder\n").unwrap();
    tare
}

#[test]
fn files_are_listed_opened_compared_and_followed_over_time() {
    let tare = folder();
    let served = Served::of(&tare);
    let (status, list) = served.get("");
    assert_eq!(status, 200);
    assert!(
        list.contains("href=\"report/b%20c.jsonl\"") && list.contains("&#60;b&#62;.jsonl"),
        "{list}"
    );
    let (status, page) = served.get("report/b%20c.jsonl");
    assert_eq!(status, 200);
    assert!(page.contains("costs with 95") && page.contains("<a href=\"../\">all results</a>"));
    assert!(served.get("advise/a.jsonl").1.contains("What was not measured"));
    assert!(served.get("trend").1.contains("2 files"));
    let (status, change) = served.get("compare?before=a.jsonl&after=b+c.jsonl");
    assert_eq!(status, 200, "{change}");
    assert!(change.contains("What changed from the first file to the second"));
    assert_eq!(served.get("compare?before=a.jsonl").0, 422);
    assert_eq!(served.get("report/%3Cb%3E.jsonl").0, 422);
}

#[test]
fn nobody_reads_without_the_token_and_nothing_but_the_folder() {
    let tare = folder();
    let served = Served::of(&tare);
    let here = served.address.clone();
    let root = format!("/{}/", served.token);
    assert_eq!(served.ask("GET", "/", &here).0, 404);
    assert_eq!(
        served.ask("GET", "/0123456789abcdef0123456789abcdef/", &here).0,
        404
    );
    assert_eq!(served.ask("GET", &root, "rebound.example").0, 421);
    assert_eq!(served.ask("POST", &root, &here).0, 405);
    for away in [
        "report/../secret.jsonl",
        "report/..%2fsecret.jsonl",
        "report//etc/passwd",
        "report/%",
        "nothing",
    ] {
        let (status, body) = served.get(away);
        assert_eq!(status, 404, "{away}: {body}");
    }
    assert!(here.starts_with("127.0.0.1:"), "{here}");
}
