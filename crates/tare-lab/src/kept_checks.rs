//! Limit checks that are kept from run to run: what was found of a kind of box holds for
//! the same boot of the host, build of the agent, engine and size.

use crate::safe_file;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tare_model::results::{EarlierCheck, PlatformVersion, ProofRecord};
use tare_model::study::Instance;

/// The file in the state folder.
const FILE: &str = "limit-checks.json";
/// Checks that are kept: the newest.
const MOST: usize = 256;

/// What a check depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Basis {
    /// The boot of the host.
    pub boot_id: String,
    /// Build of the agent, which has the drivers of platforms in it too.
    pub agent: String,
    /// The engine and what else its platform tells of itself.
    pub engine: PlatformVersion,
    /// Size, pinned set, and CPUs of the host.
    pub instance: Instance,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    basis: Basis,
    check: EarlierCheck,
    proof: ProofRecord,
}

/// The checks of earlier runs.
#[derive(Debug)]
pub(crate) struct KeptChecks {
    path: PathBuf,
    entries: Vec<Entry>,
}

impl KeptChecks {
    /// Those of this state folder. A file that cannot be read holds none: boxes are then
    /// checked again.
    pub fn of(state: &Path) -> Self {
        let path = state.join(FILE);
        let entries = fs::read(&path)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok());
        Self {
            path,
            entries: entries.unwrap_or_default(),
        }
    }

    /// What an earlier check found of such a box, if one was taken on the same basis.
    pub fn find(&self, basis: &Basis, of: &ProofRecord) -> Option<ProofRecord> {
        let same = |entry: &&Entry| entry.basis == *basis && entry.proof.kind == of.kind;
        let entry = self.entries.iter().rev().find(same)?;
        Some(ProofRecord {
            rests_on: Some(entry.check.clone()),
            ..entry.proof.clone()
        })
    }

    /// Keeps a check that found the limits in force and nothing to doubt it.
    ///
    /// # Errors
    /// If the file cannot be written; the check then counts for this run alone.
    pub fn keep(&mut self, basis: Basis, proof: &ProofRecord, check: EarlierCheck) -> io::Result<()> {
        if !proof.proven || !proof.findings.is_empty() {
            return Ok(());
        }
        // Another boot or build will not come back.
        self.entries.retain(|entry| {
            let same = (&entry.basis.boot_id, &entry.basis.agent) == (&basis.boot_id, &basis.agent);
            same && (entry.basis != basis || entry.proof.kind != proof.kind)
        });
        let surplus = (self.entries.len() + 1).saturating_sub(MOST);
        self.entries.drain(..surplus);
        self.entries.push(Entry {
            basis,
            check,
            proof: proof.clone(),
        });
        // A reader sees the old file or the new one.
        safe_file::replace(&self.path, 0o600, &serde_json::to_vec(&self.entries)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::platform::Provisioning;
    use tare_model::size::{Cpus, InstanceType};
    use tare_model::study::BoxKind;

    fn proof(platform: &str) -> ProofRecord {
        let kind = BoxKind {
            platform: platform.parse().unwrap(),
            provisioning: Provisioning::Pinned,
            instance: None,
        };
        ProofRecord {
            proven: true,
            ..ProofRecord::unproven(&kind, (1.0, 4), 1 << 30)
        }
    }

    fn basis(agent: &str) -> Basis {
        Basis {
            boot_id: "boot".to_owned(),
            agent: agent.to_owned(),
            engine: PlatformVersion::default(),
            instance: Instance {
                name: None,
                size: InstanceType {
                    cpus: Cpus::from_milli(1000),
                    memory_bytes: 1 << 30,
                },
                pinned_set: vec![1],
                host_cpus: None,
                host_set: Vec::new(),
            },
        }
    }

    fn check() -> EarlierCheck {
        EarlierCheck {
            run: "tare-0".to_owned(),
            unix_ns: 7,
        }
    }

    #[test]
    fn a_check_is_found_again_on_the_same_basis_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = KeptChecks::of(folder.path());
        kept.keep(basis("a"), &proof("native"), check()).unwrap();
        let again = KeptChecks::of(folder.path());
        let found = again.find(&basis("a"), &proof("native")).unwrap();
        assert_eq!(found.rests_on, Some(check()));
        assert!(again.find(&basis("b"), &proof("native")).is_none());
        assert!(again.find(&basis("a"), &proof("lxc")).is_none());
        let smaller = Basis {
            instance: Instance {
                pinned_set: vec![0],
                ..basis("a").instance
            },
            ..basis("a")
        };
        assert!(again.find(&smaller, &proof("native")).is_none());
        let on_less = Basis {
            instance: Instance {
                host_set: vec![1],
                ..basis("a").instance
            },
            ..basis("a")
        };
        assert!(again.find(&on_less, &proof("native")).is_none());
    }

    #[test]
    fn what_was_not_proven_and_a_damaged_file_are_worth_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = KeptChecks::of(folder.path());
        let unproven = ProofRecord {
            proven: false,
            ..proof("native")
        };
        kept.keep(basis("a"), &unproven, check()).unwrap();
        assert!(kept.find(&basis("a"), &unproven).is_none());
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(KeptChecks::of(folder.path()).entries.is_empty());
    }

    #[test]
    fn what_another_user_put_beside_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("notes");
        fs::write(&notes, "kept").unwrap();
        for name in ["limit-checks.new", FILE] {
            std::os::unix::fs::symlink("notes", folder.path().join(name)).unwrap();
        }
        let mut kept = KeptChecks::of(folder.path());
        kept.keep(basis("a"), &proof("native"), check()).unwrap();
        assert_eq!(fs::read(&notes).unwrap(), b"kept");
        assert_eq!(KeptChecks::of(folder.path()).entries.len(), 1);
    }

    #[test]
    fn the_file_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = KeptChecks::of(folder.path());
        for i in 0..MOST + 5 {
            kept.keep(basis("a"), &proof(&format!("fake?seed={i}")), check())
                .unwrap();
        }
        assert_eq!(KeptChecks::of(folder.path()).entries.len(), MOST);
    }
}
