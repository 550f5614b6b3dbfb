//! The host itself: a process in a cgroup with the same limits as every box.

use super::child::{ChildBox, Start};
use super::contract::{Absent, BoxError, BoxSpec, HELLO_DEADLINE, Platform, RunningBox};
use super::directory::BoxDirectory;
use super::probe::limits_usable;
use crate::net::Network;
use std::process::Command;
use std::time::Instant;
use tare_model::results::PlatformVersion;

pub(super) struct Native;

impl Platform for Native {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        let layout = limits_usable()?;
        let kernel = crate::host::facts().kernel;
        Ok(PlatformVersion {
            version: format!("Linux {kernel}"),
            details: [("cgroup".to_owned(), layout.name().to_owned())].into(),
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        let requested = Instant::now();
        let mut command = Command::new(&spec.binary);
        command.arg("agent");
        let limits = spec.limits();
        let start = Start {
            command,
            directory: BoxDirectory::make(spec)?,
            limits: Some(&limits),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut made = ChildBox::over_pipes(start)?;
        made.connect(Network::Host, spec)?;
        Ok(Box::new(made))
    }

    fn has_host_files(&self) -> bool {
        true
    }
}
