//! A platform as an example: a process in a root of its own, by `unshare`.
//!
//! The same text is the example of `docs/adding-a-platform.md`; a test holds the two
//! together, and others run it.

use super::child::{ChildBox, Start};
use super::contract::{Absent, BoxError, BoxSpec, HELLO_DEADLINE, Platform, RunningBox};
use super::directory::BoxDirectory;
use super::probe::{cgroups_usable, installed};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{fs, io};
use tare_model::results::PlatformVersion;

pub(super) struct OwnRoot;

impl Platform for OwnRoot {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        cgroups_usable()?;
        let version = installed("unshare", "install it (Debian: apt-get install util-linux)")?;
        Ok(PlatformVersion {
            version,
            ..PlatformVersion::default()
        })
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // Start-up latency begins here, before anything is made for the box.
        let requested = Instant::now();
        // The box's name is taken, and its directory made; dropped, it removes both, whatever fails below.
        let directory = BoxDirectory::make(spec)?;
        // A root that holds the binary alone, as the roots of all boxes do.
        let rootfs = directory.rootfs(spec)?;
        furnish(&rootfs).map_err(BoxError::host("make /proc and /dev of the box"))?;
        let mut command = Command::new("unshare");
        command
            .arg("--mount-proc")
            .arg("--root")
            .arg(&rootfs)
            .args(["/tare", "agent"]);
        // The cgroup has these limits before the process is in it.
        let limits = spec.limits();
        let start = Start {
            command,
            directory,
            limits: Some(&limits),
            build_id: spec.build_id(),
            hello_within: HELLO_DEADLINE,
            requested,
        };
        // Starts it, greets its agent, and removes all of it if that fails.
        Ok(Box::new(ChildBox::over_pipes(start)?))
    }
}

/// What the agent needs beside the binary: a place for /proc, where it looks for
/// processes, and the devices that what it starts reads from and prints to.
fn furnish(root: &Path) -> io::Result<()> {
    fs::create_dir(root.join("proc"))?;
    fs::create_dir(root.join("dev"))?;
    for (name, minor) in [("dev/null", 3), ("dev/zero", 5)] {
        mknodat(
            CWD,
            root.join(name),
            FileType::CharacterDevice,
            Mode::from_raw_mode(0o666),
            makedev(1, minor),
        )?;
    }
    Ok(())
}
