//! The host's packet filter. Where `br_netfilter` is in force, frames that a
//! bridge hands from one box to another pass the filter for what the host
//! forwards, which Docker sets to drop. One rule for our bridge alone lets them by.

use super::NetError;
use crate::{carry, program};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Whether frames on bridges pass the filter; absent without `br_netfilter`.
const SWITCH: &str = "/proc/sys/net/bridge/bridge-nf-call-iptables";
/// Time for the filter's program, which waits for others that use it.
const DEADLINE: Duration = Duration::from_secs(20);

/// Lets frames pass from box to box, if they are looked at.
pub(super) fn open(bridge: &str) -> Result<(), NetError> {
    let looked_at = fs::read_to_string(SWITCH).is_ok_and(|switch| switch.trim() == "1");
    if !looked_at {
        return Ok(());
    }
    let what = "let boxes reach one another through the host's packet filter";
    rule("--insert", bridge).map_err(|why| NetError {
        what: what.to_owned(),
        why,
        fix: "install iptables (Debian: apt-get install iptables), or ask for network=none",
    })
}

/// Removes the rule, if there is one: whether it was. To be asked while there is
/// the bridge, which outlives a crash as the rule does.
pub(super) fn close(bridge: &str) -> Result<bool, NetError> {
    // Without br_netfilter there was no rule to be made, and iptables is not to be
    // asked: that alone loads modules.
    if !Path::new(SWITCH).exists() || rule("--check", bridge).is_err() {
        return Ok(false);
    }
    let what = || format!("remove the rule for {bridge} from the packet filter");
    rule("--delete", bridge).map_err(|why| NetError::new(what(), why))?;
    Ok(true)
}

fn rule(action: &str, bridge: &str) -> Result<(), String> {
    let mut command = Command::new("iptables");
    command
        .env("PATH", carry::PATH)
        .args(["--wait", "10", action, "FORWARD"])
        .args(["--in-interface", bridge, "--out-interface", bridge])
        .args(["--jump", "ACCEPT"]);
    program::run(command, DEADLINE).map_err(|e| e.to_string())
}
