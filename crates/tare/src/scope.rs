//! The cgroup that an ordinary user's tare makes boxes in. His service manager hands out such cgroups; tare asks for one by itself.

use crate::args::Command;
use std::os::unix::process::CommandExt;
use std::process::{self, Stdio};
use tare_host::cgroup;

/// What asks a user's service manager for a scope, a cgroup that his processes may make others in.
const ASKS: [&str; 6] = [
    "--user",
    "--scope",
    "--quiet",
    "--collect",
    "--property=Delegate=yes",
    "--",
];

/// Set for a tare that is in a scope: it asks for no other.
const ENTERED: &str = "TARE_IN_SCOPE";

/// Goes on in a scope of its own, where one is needed and can be had. What is missing elsewhere is told by whoever needs it.
pub fn enter(command: &Command) {
    let has_entered = std::env::var_os(ENTERED).is_some();
    let is_root = rustix::process::geteuid().is_root();
    if has_entered || is_root || !makes_boxes(command) || !cgroup::lacks_own() {
        return;
    }
    let (Ok(tare), true) = (std::env::current_exe(), is_to_be_had()) else {
        return;
    };
    // Returns only if it fails, and then all is as before.
    let _ = asking()
        .arg(tare)
        .args(std::env::args_os().skip(1))
        .env(ENTERED, "1")
        .exec();
}

fn is_to_be_had() -> bool {
    let tried = asking()
        .arg("true")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

fn asking() -> process::Command {
    let mut asking = process::Command::new("systemd-run");
    asking.args(ASKS);
    asking
}

const fn makes_boxes(command: &Command) -> bool {
    matches!(
        command,
        Command::Doctor(_)
            | Command::Pilot(_)
            | Command::Plan(_)
            | Command::Run(_)
            | Command::Why(_)
            | Command::Tune(_)
            | Command::Check(_)
            | Command::Density(_)
            | Command::Selftest(_)
            | Command::Workloads(_)
    )
}
