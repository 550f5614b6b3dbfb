//! containerd, by its program `ctr`: a shim for each box, and runc below it.

use super::super::contract::{Absent, BoxError};
use super::super::probe::not_run;
use super::config::CONFIG;
use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tare_host::{cgroup, footprint, program, remove};

/// Its program, which comes with the engine.
const CTR: &str = "ctr";
/// Names its socket, as for `ctr`.
const ADDRESS: &str = "CONTAINERD_ADDRESS";
/// Its socket unless named.
const SOCKET: &str = "/run/containerd/containerd.sock";
/// The shim of every box.
const RUNTIME: &str = "io.containerd.runc.v2";
/// Folder in a bundle for the pipes between `ctr` and the shim; where it is, the engine may keep the container.
const PIPES: &str = "fifo";
/// Time for one command.
const DEADLINE: Duration = Duration::from_secs(10);
/// Time for the engine to see that a container whose processes were killed has ended.
const END: Duration = Duration::from_secs(10);
/// Time for a shim to end by itself once its container is removed.
const SHIM: Duration = Duration::from_secs(2);

fn address() -> String {
    let named = std::env::var(ADDRESS).ok().filter(|address| !address.is_empty());
    named.unwrap_or_else(|| SOCKET.to_owned())
}

/// `ctr` in the namespace that users' containers are in too: one of tare's own would stay in the engine.
fn ctr() -> Command {
    let mut command = Command::new(CTR);
    command.args(["--address", &address(), "--namespace", "default"]);
    command
}

/// Runs the bundle in a folder as the container of this name, in the foreground.
pub(super) fn run(bundle: &Path, name: &str) -> Result<Command, BoxError> {
    let pipes = bundle.join(PIPES);
    fs::create_dir(&pipes).map_err(BoxError::host(format!("make {}", pipes.display())))?;
    let mut command = ctr();
    command
        .args(["run", "--rm", "--runtime", RUNTIME, "--fifo-dir"])
        .arg(pipes)
        .arg("--config")
        .arg(bundle.join(CONFIG))
        .arg(name);
    Ok(command)
}

/// That the cgroup which was made for a container is not its own.
pub(super) fn elsewhere() -> BoxError {
    BoxError::Engine {
        engine: "containerd",
        message: "it put the container into another cgroup than the spec names: is it in a container itself?"
            .to_owned(),
    }
}

/// Version of the engine that answers.
pub(super) fn version() -> Result<String, Absent> {
    reachable().map_err(|e| {
        Absent::new(
            format!("no containerd at {}: {e}", address()),
            format!("install and start it (Debian: apt-get install containerd; sudo systemctl start containerd), name its socket by {ADDRESS}, or run a private one for a command, by scripts/with-engines in tare's sources"),
        )
    })?;
    let output = program::output(ctr().arg("version"), DEADLINE).map_err(|e| match e.kind() {
        io::ErrorKind::TimedOut => silent(&format!("no answer within {} s", DEADLINE.as_secs())),
        _ => not_run(CTR, &e, "install it (Debian: apt-get install containerd)"),
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    engine_version(&text).ok_or_else(|| silent(&last_line(&output.stderr)))
}

fn silent(why: &str) -> Absent {
    let what = format!("containerd does not answer: {why}");
    Absent::new(what, "look at its log: journalctl -u containerd")
}

fn reachable() -> io::Result<()> {
    UnixStream::connect(address()).map(drop)
}

/// The version behind `Server:` in what `ctr version` prints.
fn engine_version(text: &str) -> Option<String> {
    let (_, server) = text.split_once("Server:")?;
    let version = server
        .lines()
        .find_map(|line| line.trim().strip_prefix("Version:"))?;
    Some(format!("containerd {}", version.trim()))
}

fn last_line(words: &[u8]) -> String {
    let words = String::from_utf8_lossy(words);
    words.lines().next_back().unwrap_or_default().trim().to_owned()
}

/// Runs a command to its end; its last words where it failed.
fn execute(arguments: &[&str]) -> Result<Result<(), String>, BoxError> {
    let doing = format!("{CTR} {}", arguments.join(" "));
    let ended =
        program::output(ctr().args(arguments), DEADLINE).map_err(BoxError::host(format!("run '{doing}'")))?;
    Ok(match ended.status.success() {
        true => Ok(()),
        false => Err(format!("'{doing}': {}", last_line(&ended.stderr))),
    })
}

/// Removes a container whose processes were killed, and says whether the engine kept it. It sees their end a moment later.
pub(super) fn remove(name: &str) -> Result<bool, BoxError> {
    reachable().map_err(BoxError::host(format!("connect to containerd at {}", address())))?;
    let deadline = Instant::now() + END;
    loop {
        let task = execute(&["tasks", "delete", "--force", name])?;
        let Err(container) = execute(&["containers", "delete", name])? else {
            return Ok(true);
        };
        if is_absent(&container, name) {
            return Ok(false);
        }
        if Instant::now() > deadline {
            let task = task.err().map_or_else(String::new, |words| format!("{words}; "));
            return Err(BoxError::Engine {
                engine: "containerd",
                message: format!("{task}{container}"),
            });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether these words of `ctr` say that there is no container of this name; those about its task say less.
fn is_absent(words: &str, name: &str) -> bool {
    // It quotes the name in words that it quotes.
    let words = words.replace('\\', "");
    words.contains(&format!("container \"{name}\"")) && words.contains("not found")
}

/// Removes the containers of a run whose bundles are in this folder, and names those that the engine kept.
pub(super) fn sweep(run: &str, folder: &Path) -> Result<Vec<String>, BoxError> {
    let bundles = fs::read_dir(folder).into_iter().flatten().flatten();
    let bundles: Vec<PathBuf> = bundles.map(|entry| entry.path()).collect();
    let ours = bundles.iter().filter(|bundle| bundle.join(PIPES).is_dir());
    let names: Vec<&str> = ours.filter_map(|bundle| bundle.file_name()?.to_str()).collect();
    // An engine that is gone for good, as a private one, would keep the rest from being removed.
    if names.is_empty() || reachable().is_err() {
        return Ok(Vec::new());
    }
    // What is frozen does not die.
    cgroup::sweep(run)?;
    let mut removed = Vec::new();
    for name in names {
        if remove(name)? {
            removed.push(format!("containerd's container {name}"));
        }
        end_shim(name)?;
    }
    Ok(removed)
}

/// Ends the shim of a container that the engine forgot: containerd 1.6 was seen to leave one, with its bundle.
fn end_shim(name: &str) -> Result<(), BoxError> {
    let deadline = Instant::now() + SHIM;
    while !footprint::container(name).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    for shim in footprint::container(name) {
        let bundle = fs::read_link(shim.join("cwd")).unwrap_or_default();
        footprint::kill(&shim);
        if bundle.file_name().is_some_and(|folder| folder == name) {
            remove::folder(&bundle).map_err(BoxError::host(format!("remove {}", bundle.display())))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_engines() {
        let both =
            "Client:\n  Version:  1.6.20\n  Revision: \n\nServer:\n  Version:  1.7.24~ds1\n  UUID: x\n";
        assert_eq!(engine_version(both).unwrap(), "containerd 1.7.24~ds1");
        let client = "Client:\n  Version:  1.6.20\n";
        assert_eq!(engine_version(client), None);
    }

    #[test]
    fn only_a_container_that_is_not_there_is_removed() {
        let absent = r#"time="x" level=error msg="failed to delete container \"tare-0-1\"" error="container \"tare-0-1\" in namespace \"default\": not found""#;
        assert!(is_absent(absent, "tare-0-1"));
        for other in [
            r#"ctr: task tare-0-1 not found: not found"#,
            r#"exec: "runc": executable file not found in $PATH"#,
            r#"cannot delete a non stopped container: {running 0 0001-01-01}"#,
        ] {
            assert!(!is_absent(other, "tare-0-1"), "{other}");
        }
    }

    #[test]
    fn an_engine_without_boxes_of_a_run_is_not_asked() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tare-0-1")).unwrap();
        assert!(sweep("tare-0", folder.path()).unwrap().is_empty());
    }
}
