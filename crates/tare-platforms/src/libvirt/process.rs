//! The QEMU process of a domain, by the file in which libvirt keeps its number: what a
//! process calls itself anybody can choose.

use super::virsh::uri;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use tare_host::footprint;

/// Sockets of libvirt's daemons in its folder, the one for QEMU alone first.
const SOCKETS: [&str; 2] = ["virtqemud-sock", "libvirt-sock"];
/// The folder of the daemon of the system.
const SYSTEM: &str = "/run/libvirt";

/// The process of a domain.
pub(super) fn qemu_of(name: &str) -> Option<u32> {
    let (folder, numbers) = folders(&uri())?;
    // As the daemon sees it, which may have other folders in the places of the host's.
    let root = daemon(&folder).map_or_else(PathBuf::new, |pid| format!("/proc/{pid}/root").into());
    let file = format!("{}{}/{name}.pid", root.display(), numbers.display());
    let pid = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    is_qemu(pid, name).then_some(pid)
}

/// The folder of a connection's daemon, and that in which it keeps the numbers of processes.
fn folders(uri: &str) -> Option<(PathBuf, PathBuf)> {
    if uri.starts_with("qemu:///session") {
        let folder = Path::new(&std::env::var_os("XDG_RUNTIME_DIR")?).join("libvirt");
        return Some((folder.clone(), folder.join("qemu/run")));
    }
    Some((SYSTEM.into(), Path::new(SYSTEM).join("qemu")))
}

/// The process that listens on the socket of the connection.
fn daemon(folder: &Path) -> Option<i32> {
    let uri = uri();
    let named = uri.split_once("socket=").map(|(_, path)| path);
    let named = named.map(|path| PathBuf::from(path.split('&').next().unwrap_or(path)));
    let usual = SOCKETS.map(|socket| folder.join(socket));
    let socket = named
        .into_iter()
        .chain(usual)
        .find_map(|path| UnixStream::connect(path).ok())?;
    let peer = rustix::net::sockopt::socket_peercred(&socket).ok()?;
    Some(peer.pid.as_raw_nonzero().get())
}

/// Whether a process is the QEMU of this domain, and not another that has its number by now.
pub(super) fn is_qemu(pid: u32, name: &str) -> bool {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let program = fs::read_link(process.join("exe")).unwrap_or_default();
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    let called = program.file_name().unwrap_or_default().to_string_lossy();
    called.contains("qemu") && footprint::holds(&String::from_utf8_lossy(&line), &format!("guest={name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_that_bears_the_name_of_a_domain_is_not_its_qemu() {
        let mut command = Command::new("sh");
        command.args(["-c", "read line", "qemu", "guest=tare-00c0ffee-1"]);
        let mut liar = command.stdin(Stdio::piped()).spawn().unwrap();
        assert!(!is_qemu(liar.id(), "tare-00c0ffee-1"));
        assert_eq!(qemu_of("tare-00c0ffee-1"), None);
        drop(liar.stdin.take());
        liar.wait().unwrap();
    }

    #[test]
    fn the_numbers_of_processes_lie_in_the_folder_of_the_connection() {
        let (folder, numbers) = folders("qemu:///system?socket=/tmp/socket").unwrap();
        assert_eq!(
            (folder, numbers),
            ("/run/libvirt".into(), "/run/libvirt/qemu".into())
        );
    }
}
