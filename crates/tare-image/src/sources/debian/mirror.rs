//! Where Debian's packages are: where this host's own apt has them from.

use super::{DebianSpec, NoMirror};
use crate::program;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Where apt keeps what archives say of themselves.
const LISTS: &str = "/var/lib/apt/lists";
/// The place of the date in the address of snapshots, as archives write it.
const DATE: &str = "@SNAPSHOTID@";

/// Where Debian's packages are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mirrors {
    /// The archive as it is now.
    pub present: Option<String>,
    /// Its snapshots, with `@SNAPSHOTID@` in the place of the date.
    pub snapshots: Option<String>,
}

impl Mirrors {
    /// Those of this host's apt, for a release if it has sources of that, else for any of Debian.
    pub fn of_host(suite: &str) -> Self {
        Self {
            present: present(suite),
            snapshots: snapshots(Path::new(LISTS)),
        }
    }

    pub(super) fn of(&self, spec: &DebianSpec) -> Result<String, NoMirror> {
        let Some(date) = &spec.snapshot else {
            return self
                .present
                .clone()
                .filter(|m| is_address(m))
                .ok_or(NoMirror::Present);
        };
        let address = self
            .snapshots
            .as_ref()
            .filter(|m| m.contains(DATE) && is_address(m));
        Ok(address.ok_or(NoMirror::Snapshots)?.replace(DATE, date))
    }
}

/// An address that apt takes for one: no option and no line of a list of sources.
fn is_address(text: &str) -> bool {
    let schemes = ["http://", "https://", "file:/"];
    schemes.iter().any(|scheme| text.starts_with(scheme)) && text.bytes().all(|b| b.is_ascii_graphic())
}

/// What apt says of its sources, however they are written.
fn present(suite: &str) -> Option<String> {
    let mut apt = program::command("apt-get".as_ref(), Path::new("/tmp"));
    apt.args([
        "indextargets",
        "--format",
        "$(REPO_URI) $(RELEASE) $(CODENAME)",
        "Created-By: Packages",
    ]);
    apt.stdout(Stdio::piped());
    let output = apt.output().ok()?;
    of_targets(&String::from_utf8_lossy(&output.stdout), suite)
}

fn of_targets(targets: &str, suite: &str) -> Option<String> {
    let mut alike = None;
    for target in targets.lines() {
        let mut words = target.split_whitespace();
        let address = words.next()?;
        if words.any(|name| name == suite) {
            return Some(address.to_owned());
        }
        // The archive has all releases under one address, which ends so everywhere.
        if alike.is_none() && address.trim_end_matches('/').ends_with("/debian") {
            alike = Some(address.to_owned());
        }
    }
    alike
}

/// What an archive says of its own snapshots.
fn snapshots(lists: &Path) -> Option<String> {
    let releases = fs::read_dir(lists).ok()?.flatten().map(|entry| entry.path());
    let mut releases: Vec<_> = releases
        .filter(|path| path.to_string_lossy().ends_with("Release"))
        .collect();
    releases.sort();
    releases.iter().find_map(|path| {
        let text = fs::read_to_string(path).ok()?;
        let address = text
            .lines()
            .find_map(|line| line.strip_prefix("Snapshots:"))?
            .trim();
        let is_debian = text.lines().any(|line| line == "Label: Debian");
        is_debian.then(|| address.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_that_of_the_hosts_own_sources() {
        let targets = "https://x.example/apt stable stable\nhttp://m.example/debian/ bookworm bookworm\n\
            http://m.example/debian-security/ bookworm-security bookworm-security\n";
        assert_eq!(
            of_targets(targets, "bookworm").unwrap(),
            "http://m.example/debian/"
        );
        assert_eq!(of_targets(targets, "trixie").unwrap(), "http://m.example/debian/");
        assert_eq!(
            of_targets("https://x.example/apt stable stable\n", "trixie"),
            None
        );
        assert_eq!(of_targets("", "trixie"), None);
    }

    #[test]
    fn snapshots_are_where_the_archive_says() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(snapshots(folder.path()), None);
        let text = "Origin: Debian\nLabel: Debian\nSnapshots: https://s.example/debian/@SNAPSHOTID@/\n";
        fs::write(folder.path().join("m_InRelease"), text).unwrap();
        let mirrors = Mirrors {
            present: None,
            snapshots: snapshots(folder.path()),
        };
        let mut spec = DebianSpec {
            suite: "bookworm".to_owned(),
            components: vec!["main".to_owned()],
            packages: Vec::new(),
            snapshot: Some("20250520T000000Z".to_owned()),
            prepare: None,
            maven: Vec::new(),
        };
        assert_eq!(
            mirrors.of(&spec).unwrap(),
            "https://s.example/debian/20250520T000000Z/"
        );
        spec.snapshot = None;
        assert!(matches!(mirrors.of(&spec), Err(NoMirror::Present)));
    }
}
