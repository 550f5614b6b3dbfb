//! What happened to the memory of a cgroup and of those below it: its limit was reached, and
//! the kernel killed processes in it.

use super::{keyed, read, tree};
use std::path::{Path, PathBuf};

/// Counts since the cgroup was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryEvents {
    /// Processes that the kernel killed since there was no memory.
    pub killed: u64,
    /// Times that nothing was left below its limit; `None` in version 1, which no longer counts them.
    exhausted: Option<u64>,
}

/// The folder of a cgroup where they are counted.
#[derive(Debug, Clone)]
pub struct MemoryFolder {
    folder: PathBuf,
    v2: bool,
}

/// Share of a limit, one of so many, that may have been free when it was in the way of what a
/// process wanted at once.
const SLACK: u64 = 64;

impl MemoryFolder {
    pub(super) const fn new(folder: PathBuf, v2: bool) -> Self {
        Self { folder, v2 }
    }

    /// The counts now; `None` where the kernel does not tell them, and when the cgroup is gone.
    pub fn events(&self) -> Option<MemoryEvents> {
        if self.v2 {
            of_v2(&self.folder)
        } else {
            of_v1(&self.folder)
        }
    }

    /// Numbers of `memory.stat` by their keys, in one reading, of the cgroup and those below it; `None`
    /// where the kernel does not tell one.
    pub fn stats<const N: usize>(&self, keys: [&str; N]) -> [Option<u64>; N] {
        let text = read(&self.folder.join("memory.stat")).unwrap_or_default();
        let prefix = if self.v2 { "" } else { "total_" };
        keys.map(|key| keyed(&text, &format!("{prefix}{key}")))
    }

    /// Whether its limit was reached between two counts, in version 1: ever.
    pub fn was_full(&self, first: MemoryEvents, last: MemoryEvents) -> bool {
        match first.exhausted.zip(last.exhausted) {
            Some((first, last)) => last > first,
            None => self.had_peak_at_limit(),
        }
    }

    /// Whether it, or one below it, such as that of a box within the box, ever had as much as it may have.
    fn had_peak_at_limit(&self) -> bool {
        let of_each = |file| -> Vec<u64> {
            let texts = tree::texts(&self.folder, file);
            texts.iter().filter_map(|text| text.trim().parse().ok()).collect()
        };
        let limits = of_each(c"memory.limit_in_bytes");
        let is_near = |(peak, limit): (&u64, &u64)| *peak >= limit - limit / SLACK;
        // With swap, where the kernel accounts for it: then its limit is reached first.
        [c"memory.max_usage_in_bytes", c"memory.memsw.max_usage_in_bytes"]
            .iter()
            .any(|file| of_each(file).iter().zip(&limits).any(is_near))
    }

    /// The name of the cgroup, which is that of no other on the host.
    pub fn name(&self) -> Option<&str> {
        self.folder.file_name()?.to_str()
    }
}

/// In version 2 a cgroup counts for those below it too.
fn of_v2(folder: &Path) -> Option<MemoryEvents> {
    let text = read(&folder.join("memory.events")).ok()?;
    Some(MemoryEvents {
        killed: keyed(&text, "oom_kill")?,
        exhausted: keyed(&text, "oom"),
    })
}

/// In version 1 each counts for itself alone. Kernels before 4.13 count nobody who was killed.
fn of_v1(folder: &Path) -> Option<MemoryEvents> {
    let killed: Vec<u64> = tree::texts(folder, c"memory.oom_control")
        .iter()
        .filter_map(|text| keyed(text, "oom_kill"))
        .collect();
    (!killed.is_empty()).then(|| MemoryEvents {
        killed: killed.iter().sum(),
        exhausted: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const EVENTS: &str = "low 0\nhigh 0\nmax 35\noom 1\noom_kill 1\noom_group_kill 0\n";
    /// Of the one below it, at the same limit, of which the process was.
    const EVENTS_BELOW: &str = "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 0\n";
    const CONTROL: &str = "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n";

    fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn version_2_counts_for_those_below_too() {
        let made = folder_with(&[("memory.events", EVENTS), ("box/memory.events", EVENTS_BELOW)]);
        let folder = MemoryFolder::new(made.path().to_owned(), true);
        let events = folder.events().unwrap();
        assert_eq!((events.killed, events.exhausted), (1, Some(1)));
        let of = |exhausted| MemoryEvents {
            exhausted: Some(exhausted),
            ..events
        };
        assert!(folder.was_full(of(0), events) && !folder.was_full(of(1), events));
    }

    #[test]
    fn version_1_is_summed_over_those_below() {
        let made = folder_with(&[
            ("memory.oom_control", CONTROL),
            ("memory.limit_in_bytes", "67108864\n"),
            ("memory.max_usage_in_bytes", "67100672\n"),
            (
                "box/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
            ),
        ]);
        let folder = MemoryFolder::new(made.path().to_owned(), false);
        let events = folder.events().unwrap();
        assert_eq!((events.killed, events.exhausted), (5, None));
        assert!(folder.was_full(events, events));
        fs::write(made.path().join("memory.limit_in_bytes"), "134217728\n").unwrap();
        assert!(!folder.was_full(events, events));
        fs::write(made.path().join("memory.memsw.max_usage_in_bytes"), "134217728\n").unwrap();
        assert!(folder.was_full(events, events));
    }

    #[test]
    fn what_the_kernel_does_not_count_is_not_none_killed() {
        let old = folder_with(&[("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n")]);
        let gone = old.path().join("gone");
        for (folder, v2) in [
            (old.path(), false),
            (old.path(), true),
            (&gone, false),
            (&gone, true),
        ] {
            assert_eq!(MemoryFolder::new(folder.to_owned(), v2).events(), None);
        }
    }
}
