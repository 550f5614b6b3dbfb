//! A folder of results and the page over it.

use super::Tare;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server under way; stopped when dropped.
pub struct Served {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub address: String,
    pub token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    pub fn of(tare: &Tare) -> Self {
        let mut command = tare.command("serve all");
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("tare serves");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("an address");
        let rest = line
            .trim_end()
            .strip_prefix("http://")
            .unwrap_or_else(|| panic!("{line}"));
        let (address, token) = rest.split_once('/').expect("an address with a token");
        Self {
            address: address.to_owned(),
            token: token.trim_end_matches('/').to_owned(),
            child,
        }
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Status and body of what is asked by this host name.
    pub fn ask(&self, method: &str, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a server");
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("a request is sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        (
            head.split(' ')
                .nth(1)
                .expect("a status")
                .parse()
                .expect("a number"),
            body.to_owned(),
        )
    }

    pub fn get(&self, below: &str) -> (u16, String) {
        self.ask("GET", &format!("/{}/{below}", self.token), &self.address)
    }
}

/// Two runs, what is no result, and beside the folder `all` what is not in it.
#[track_caller]
pub fn folder() -> Tare {
    let tare = Tare::new();
    fs::create_dir(tare.path("all")).expect("a folder");
    for (name, seed) in [("a.jsonl", 1), ("b c.jsonl", 2)] {
        let study = "run -p fake,fake?cost=1.5 --cpus 1 -w syscall --no-settle --blocks 10";
        let mut command = tare.command(&format!("{study} --seed {seed} -o one.jsonl"));
        assert!(command.output().expect("tare runs").status.success());
        fs::rename(tare.path("one.jsonl"), tare.path("all").join(name)).expect("a file is moved");
    }
    fs::write(tare.path("all/<b>.jsonl"), "no results\n").expect("a file");
    fs::write(tare.path("secret.jsonl"), "not in the folder\n").expect("a file");
    tare
}
