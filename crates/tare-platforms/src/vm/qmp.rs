//! The part of QEMU's machine protocol that stopping, continuing and pinning need.

use super::super::contract::BoxError;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Time that QEMU has to answer.
const DEADLINE: Duration = Duration::from_secs(10);

/// Bytes that QEMU may say until it has answered: a vCPU takes some 200, and of events there
/// are few.
const MAX_ANSWER: u64 = 1 << 20;

/// A connection to QEMU's monitor; capabilities are negotiated when first used.
pub(super) struct Qmp {
    stream: BufReader<UnixStream>,
    greeted: bool,
}

impl Qmp {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream: BufReader::new(stream),
            greeted: false,
        }
    }

    /// Executes a command without arguments; what it returns.
    pub(super) fn execute(&mut self, command: &str) -> Result<Value, BoxError> {
        self.try_execute(command)
            .map_err(BoxError::host(format!("execute '{command}' in QEMU")))
    }

    /// Thread of each vCPU, by its number.
    pub(super) fn vcpu_threads(&mut self) -> Result<Vec<i32>, BoxError> {
        let vcpus = self.execute("query-cpus-fast")?;
        let mut threads: Vec<(i64, i32)> = vcpus
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|vcpu| {
                let thread = i32::try_from(vcpu["thread-id"].as_i64()?).ok()?;
                Some((vcpu["cpu-index"].as_i64()?, thread))
            })
            .collect();
        threads.sort_unstable();
        Ok(threads.into_iter().map(|(_, thread)| thread).collect())
    }

    fn try_execute(&mut self, command: &str) -> io::Result<Value> {
        if !self.greeted {
            self.stream.get_ref().set_read_timeout(Some(DEADLINE))?;
            self.stream.get_ref().set_write_timeout(Some(DEADLINE))?;
            // The greeting is read as any line that is no answer.
            self.send("qmp_capabilities")?;
            self.greeted = true;
        }
        self.send(command)
    }

    fn send(&mut self, command: &str) -> io::Result<Value> {
        let stream = self.stream.get_mut();
        stream.write_all(format!("{}\n", json!({ "execute": command })).as_bytes())?;
        let deadline = Instant::now() + DEADLINE;
        let mut lines = (&mut self.stream).take(MAX_ANSWER);
        loop {
            let mut line = String::new();
            if Instant::now() > deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if lines.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut answer: Value = serde_json::from_str(&line)?;
            if let Some(returned) = answer.get_mut("return") {
                return Ok(returned.take());
            }
            // Events and the greeting come in between.
            if let Some(error) = answer.get("error") {
                return Err(io::Error::other(error.to_string()));
            }
        }
    }
}
