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

/// What iptables ends with where there is no such rule.
const NO_SUCH_RULE: i32 = 1;

/// Lets frames pass from box to box, if they are looked at.
pub(super) fn open(bridge: &str) -> Result<(), NetError> {
    if !looks_at_frames() {
        return Ok(());
    }
    let what = "let boxes reach one another through the host's packet filter";
    change("--insert", bridge).map_err(|why| NetError {
        what: what.to_owned(),
        why,
        fix: "install iptables (Debian: apt-get install iptables), or use network=none",
    })
}

fn looks_at_frames() -> bool {
    fs::read_to_string(SWITCH).is_ok_and(|switch| switch.trim() == "1")
}

/// Removes the rule, if there is one: whether it was. To be asked while there is
/// the bridge, which outlives a crash as the rule does.
pub(super) fn close(bridge: &str) -> Result<bool, NetError> {
    // Without br_netfilter there was no rule to be made, and iptables is not to be
    // asked: that alone loads modules.
    if !Path::new(SWITCH).exists() {
        return Ok(false);
    }
    let failed = |why| {
        let what = format!("remove the rule for {bridge} from the packet filter");
        NetError::new(what, why)
    };
    match is_there(&mut rule("--check", bridge)) {
        Ok(false) => Ok(false),
        Ok(true) => change("--delete", bridge).map(|()| true).map_err(failed),
        // A filter that cannot be asked and looks at no frames made no rule when the bridge was
        // made, unless it was switched off since; a rule for a link that is gone does nothing.
        Err(_) if !looks_at_frames() => Ok(false),
        Err(why) => Err(failed(why)),
    }
}

/// Whether the check for a rule finds it; an answer that is neither is none.
fn is_there(check: &mut Command) -> Result<bool, String> {
    let asked = program::output(check, DEADLINE);
    let answer = asked.map_err(|e| format!("cannot run iptables: {e}"))?;
    if answer.status.success() {
        return Ok(true);
    }
    if answer.status.code() == Some(NO_SUCH_RULE) {
        return Ok(false);
    }
    let words = String::from_utf8_lossy(&answer.stderr);
    Err(format!(
        "cannot ask iptables for it: it ended with {}: {}",
        answer.status,
        words.trim()
    ))
}

fn change(action: &str, bridge: &str) -> Result<(), String> {
    program::run(rule(action, bridge), DEADLINE).map_err(|e| e.to_string())
}

fn rule(action: &str, bridge: &str) -> Command {
    let mut command = Command::new("iptables");
    command
        .env("PATH", carry::PATH)
        .args(["--wait", "10", action, "FORWARD"])
        .args(["--in-interface", bridge, "--out-interface", bridge])
        .args(["--jump", "ACCEPT"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a check that ends with this code and these words.
    fn checked(code: u8) -> Result<bool, String> {
        let mut check = Command::new("sh");
        let script = "echo 'Another app is currently holding the xtables lock' >&2; exit \"$1\"";
        check.args(["-c", script, "iptables"]).arg(code.to_string());
        is_there(&mut check)
    }

    #[test]
    fn only_the_word_that_there_is_no_rule_counts_as_none() {
        assert_eq!((checked(0), checked(1)), (Ok(true), Ok(false)));
        // 3: no right to ask, or no table; 4: the lock is held.
        for code in [2, 3, 4] {
            let why = checked(code).unwrap_err();
            assert!(
                why.contains(&format!("exit status: {code}")) && why.contains("lock"),
                "{why}"
            );
        }
        assert!(is_there(&mut Command::new("/there is none")).is_err());
    }
}
