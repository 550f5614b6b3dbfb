//! The cgroup that an ordinary user's processes make boxes in. His service manager hands out such cgroups, as scopes.

use crate::cgroup;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What asks a user's service manager for a scope, a cgroup that his processes may make others in.
const ASKS: [&str; 6] = [
    "--user",
    "--scope",
    "--quiet",
    "--collect",
    "--property=Delegate=yes",
    "--",
];

/// Set for a program that is in a scope: it asks for no other.
const ENTERED: &str = "TARE_IN_SCOPE";

/// Has this program go on in a scope of its own, where it needs one and can have it. What is missing elsewhere is told by whoever needs it.
pub fn enter() {
    let has_entered = std::env::var_os(ENTERED).is_some();
    if has_entered || rustix::process::geteuid().is_root() || !cgroup::lacks_own() {
        return;
    }
    let (Ok(program), true) = (std::env::current_exe(), is_to_be_had()) else {
        return;
    };
    // Returns only if it fails, and then all is as before.
    let _ = asking()
        .arg(program)
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

fn asking() -> Command {
    let mut asking = Command::new("systemd-run");
    asking.args(ASKS);
    asking
}
