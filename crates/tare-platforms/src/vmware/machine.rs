//! Machines as `vmrun` knows them: by the path of their description.

use super::super::contract::BoxError;
use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tare_host::footprint;
use tare_host::program::run;

/// VMware's program for machines.
pub(super) const VMRUN: &str = "vmrun";

/// The process that is a machine.
pub(super) const PROCESS: &str = "vmware-vmx";

/// Ending of the files that describe machines.
pub(super) const DESCRIPTION: &str = "vmx";

/// Time that vmrun has for a command; starting a machine takes seconds.
const DEADLINE: Duration = Duration::from_secs(60);

/// Which of VMware's programs `vmrun` is to speak to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Product {
    Workstation,
    Player,
}

impl Product {
    pub(super) const ALL: [Self; 2] = [Self::Workstation, Self::Player];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Workstation => "ws",
            Self::Player => "player",
        }
    }

    /// The descriptions of all machines that run.
    pub(super) fn running(self) -> Result<Vec<PathBuf>, BoxError> {
        let failed = |e| BoxError::host("list VMware's machines")(e);
        let mut list = tempfile::tempfile().map_err(failed)?;
        let mut command = Command::new(VMRUN);
        command
            .args(["-T", self.name(), "list"])
            .stdin(Stdio::null())
            .stdout(list.try_clone().map_err(failed)?);
        run(command, DEADLINE)?;
        let mut text = String::new();
        list.rewind()
            .and_then(|()| list.read_to_string(&mut text))
            .map_err(failed)?;
        // Their number comes first, in words.
        let paths = text.lines().filter(|line| line.starts_with('/'));
        Ok(paths.map(PathBuf::from).collect())
    }
}

/// A machine by its description.
pub(super) struct Machine {
    pub product: Product,
    pub path: PathBuf,
}

impl Machine {
    /// Has `vmrun` do something with it.
    pub(super) fn vmrun(&self, what: &str, more: &[&str]) -> Result<(), BoxError> {
        let mut command = Command::new(VMRUN);
        command
            .args(["-T", self.product.name(), what])
            .arg(&self.path)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        Ok(run(command, DEADLINE)?)
    }

    /// Its processes, which are no children of ours.
    pub(super) fn processes(&self) -> Vec<u32> {
        let marks = [self.path.display().to_string()];
        let is_machine = |process: &PathBuf| {
            fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim_end() == PROCESS)
        };
        footprint::processes(&marks)
            .filter(is_machine)
            .filter_map(|process| process.file_name()?.to_str()?.parse().ok())
            .collect()
    }
}

/// Whether a run's folder holds a description of a machine, in its boxes' folders.
pub(super) fn holds_machines(run: &Path) -> bool {
    let folders = fs::read_dir(run).into_iter().flatten().flatten();
    folders
        .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .any(|file| file.path().extension().is_some_and(|kind| kind == DESCRIPTION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_hold_a_machine_ask_vmrun() {
        let state = tempfile::tempdir().unwrap();
        let boxed = state.path().join("tare-0/tare-0-1");
        fs::create_dir_all(&boxed).unwrap();
        fs::write(boxed.join("console"), "").unwrap();
        assert!(!holds_machines(&state.path().join("tare-0")));
        assert!(!holds_machines(&state.path().join("none")));
        fs::write(boxed.join("tare-0-1.vmx"), "").unwrap();
        assert!(holds_machines(&state.path().join("tare-0")));
    }
}
