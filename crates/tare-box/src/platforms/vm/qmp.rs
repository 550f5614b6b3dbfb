//! The part of QEMU's machine protocol that stopping and continuing needs.

use super::super::BoxError;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Time that QEMU has to answer.
const DEADLINE: Duration = Duration::from_secs(10);

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

    /// Executes a command without arguments.
    pub(super) fn execute(&mut self, command: &str) -> Result<(), BoxError> {
        self.try_execute(command)
            .map_err(BoxError::host(format!("execute '{command}' in QEMU")))
    }

    fn try_execute(&mut self, command: &str) -> io::Result<()> {
        if !self.greeted {
            self.stream.get_ref().set_read_timeout(Some(DEADLINE))?;
            self.stream.get_ref().set_write_timeout(Some(DEADLINE))?;
            // The greeting is read as any line that is no answer.
            self.send("qmp_capabilities")?;
            self.greeted = true;
        }
        self.send(command)
    }

    fn send(&mut self, command: &str) -> io::Result<()> {
        let stream = self.stream.get_mut();
        stream.write_all(format!("{}\n", json!({ "execute": command })).as_bytes())?;
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let answer: Value = serde_json::from_str(&line)?;
            if answer.get("return").is_some() {
                return Ok(());
            }
            // Events and the greeting come in between.
            if let Some(error) = answer.get("error") {
                return Err(io::Error::other(error.to_string()));
            }
        }
    }
}
