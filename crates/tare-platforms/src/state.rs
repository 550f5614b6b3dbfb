//! The state folder: which runs are alive, what belongs to dead ones, and the
//! sweep of what those left.

use crate::open;
use crate::registry::REGISTRY;
use crate::{BoxError, agent_file};
use rand::{Rng, SeedableRng};
use rustix::fs::{FlockOperation, flock};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tare_host::{cgroup, footprint, net, owner, remove};
use tare_model::platform::PlatformPath;
use tare_sys::private::{self, Others};

/// For how long the lock of a run that was killed may be held by a child of it that
/// was just being started.
const LAST_BREATH: Duration = Duration::from_millis(500);

/// How long processes of a dead run are watched, and from how many ticks of CPU time on they
/// work: of the 50 in this time, 2 are told from none although a tick is all that is counted.
const WATCH: Duration = Duration::from_millis(500);
const WORKING_TICKS: u64 = 2;

/// The agent's file in the folder of a run.
const AGENT: &str = "tare-agent";

/// Why the state folder or a sweep failed.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A file of the state folder.
    #[error("cannot {what} {path}: {source}; choose another folder with --state-dir")]
    File {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// Others can change what is in the state folder.
    #[error(
        "cannot use the state folder {path}, which is not yours alone: {why}; choose a folder with --state-dir that only you can write to or rename"
    )]
    Open {
        /// The folder.
        path: PathBuf,
        /// Who can do what.
        why: String,
    },
    /// Another run measures on this host.
    #[error(
        "another run ({0}) is measuring on this host, and both would disturb each other: wait until it ends, or stop it"
    )]
    Busy(String),
    /// What a dead run left works on.
    #[error(
        "leftover processes of a dead run use the CPU and would disturb a measurement: {}; {left}; end them with: kill -9 {}",
        listed(.pids, ", "),
        listed(.pids, " ")
    )]
    Works {
        /// Their numbers.
        pids: Vec<u32>,
        /// Why they were not ended.
        left: Left,
    },
}

fn listed(pids: &[u32], between: &str) -> String {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    pids.join(between)
}

/// What a sweep did.
#[derive(Debug, Default)]
pub struct Swept {
    /// What was removed, each with the run that left it.
    pub removed: Vec<String>,
    /// Runs that live.
    pub alive: Vec<String>,
    /// What could not be removed. The next sweep tries again.
    pub left: Vec<Left>,
}

/// Something of a dead run that could not be removed.
#[derive(Debug, thiserror::Error)]
#[error("cannot remove what the dead run {run} left: {source}")]
pub struct Left {
    pub run: String,
    pub source: BoxError,
}

/// The folder for runs' files unless the user names another: below /var/lib for
/// root (boxes run programs from it, which /run often forbids), else below the
/// user's home.
pub fn default_folder() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/lib/tare");
    }
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    home.join(".local/state/tare")
}

/// Sweeps what dead runs left, and waits a moment for one that was killed just now: a process that
/// it was about to start has its lock until then.
///
/// # Errors
/// As [`sweep`].
pub fn sweep_patiently(state: &Path) -> Result<Swept, StateError> {
    let mut swept = sweep(state)?;
    let deadline = Instant::now() + LAST_BREATH;
    while !swept.alive.is_empty() && Instant::now() < deadline {
        std::thread::sleep(LAST_BREATH / 10);
        let mut again = sweep(state)?;
        again.removed.splice(0..0, swept.removed);
        swept = again;
    }
    Ok(swept)
}

/// A live run: its name, its folder and the lock that says it lives.
#[derive(Debug)]
pub struct Run {
    name: String,
    folder: PathBuf,
    lock_path: PathBuf,
    /// Locked as long as the run lives; closed on exec, so that no child keeps it locked.
    _lock: File,
    /// Whether a box could not be removed.
    left: Cell<bool>,
}

impl Run {
    /// Begins a run: sweeps what dead runs left, then takes a new name. Returns also what
    /// was swept. What could not be is in no new run's way, whose names are all new, unless
    /// it works on beside it.
    ///
    /// # Errors
    /// [`StateError`]; `Busy` if another run lives, `Works` if a dead one does.
    pub fn begin(state: &Path) -> Result<(Self, Swept), StateError> {
        make(state)?;
        let mut swept = sweep_patiently(state)?;
        if let Some(other) = swept.alive.pop() {
            return Err(StateError::Busy(other));
        }
        let runs: Vec<String> = swept.left.iter().map(|left| left.run.clone()).collect();
        let pids = working(&runs);
        if let Some(left) = swept.left.pop_if(|_| !pids.is_empty()) {
            return Err(StateError::Works { pids, left });
        }
        Ok((Self::beside(state)?, swept))
    }

    /// The state folder that it is in.
    pub fn state(&self) -> &Path {
        self.lock_path.parent().unwrap_or_else(|| Path::new("/"))
    }

    /// Begins a run beside those that live, which a check needs that kills it. Sweeps nothing.
    ///
    /// # Errors
    /// [`StateError::File`].
    pub fn beside(state: &Path) -> Result<Self, StateError> {
        loop {
            let mut random = [0; 4];
            rand_chacha::ChaCha8Rng::from_rng(&mut rand_seed()).fill_bytes(&mut random);
            let name = format!("tare-{:08x}", u32::from_ne_bytes(random));
            if let Some(run) = Self::create(state, name)? {
                return Ok(run);
            }
        }
    }

    /// `None` if the name is taken or was swept under our hands.
    fn create(state: &Path, name: String) -> Result<Option<Self>, StateError> {
        let lock_path = state.join(format!("{name}.run"));
        let failed = |what| {
            let path = lock_path.clone();
            move |source| StateError::File { what, path, source }
        };
        // Who can open it can lock it, and so keep a dead run alive.
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        let lock = match options.open(&lock_path) {
            Ok(lock) => lock,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(e) => return Err(failed("make")(e)),
        };
        // Another start may have seen the file before it was locked, and removed it.
        let locked = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !locked || lock.metadata().map_err(failed("look at"))?.nlink() == 0 {
            return Ok(None);
        }
        let folder = state.join(&name);
        // The state folder itself may be open to others (see `Security::own`).
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .map_err(|source| StateError::File {
                what: "make",
                path: folder.clone(),
                source,
            })?;
        Ok(Some(Self {
            name,
            folder,
            lock_path,
            _lock: lock,
            left: Cell::new(false),
        }))
    }

    /// The run's name, with which those of all its boxes begin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The run's folder for its boxes' files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The agent's file in the run's folder, which boxes share; copied there for the first.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn agent(&self) -> io::Result<PathBuf> {
        let copy = self.folder.join(AGENT);
        if !copy.exists() {
            agent_file::copy(&agent_file::path()?, &copy)?;
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
        }
        Ok(copy)
    }

    /// Tells that a box could not be removed: the next start's sweep tries again.
    pub fn leave_for_sweep(&self) {
        self.left.set(true);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next start's sweep, which needs the lock's file.
        let network = net::clear(&self.name);
        let cgroups = cgroup::sweep(&self.name);
        let cleared = network.is_ok() && cgroups.is_ok();
        if cleared && !self.left.get() && remove::folder(&self.folder).is_ok() {
            let _ = fs::remove_file(&self.lock_path);
        }
    }
}

fn rand_seed() -> impl Rng {
    // The run's name need not be secret, only unlikely to occur twice.
    let seed = tare_host::host::unix_ns() ^ (u64::from(std::process::id()) << 40);
    rand_chacha::ChaCha8Rng::seed_from_u64(seed)
}

/// Removes all that dead runs left: containers, processes, cgroups, mounts,
/// files. What cannot be removed does not keep it from the rest.
///
/// # Errors
/// As [`is_ours_alone`].
pub fn sweep(state: &Path) -> Result<Swept, StateError> {
    if state.exists() {
        is_ours_alone(state)?;
    }
    let mut swept = Swept::default();
    for run in runs(state) {
        let lock_path = state.join(format!("{run}.run"));
        match File::open(&lock_path) {
            Ok(lock) if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() => {
                swept.alive.push(run);
                continue;
            }
            Ok(_) => {}
            // A run makes its folder after its lock and removes it before: it is dead, and someone removed the lock.
            Err(e) if e.kind() == io::ErrorKind::NotFound && state.join(&run).exists() => {}
            Err(_) => continue,
        }
        let (removed, failed) = sweep_run(state, &run);
        let told = removed.into_iter().map(|what| format!("{run}: {what}"));
        swept.removed.extend(told);
        if failed.is_empty() {
            let _ = fs::remove_file(&lock_path);
        }
        swept.left.extend(failed.into_iter().map(|source| Left {
            run: run.clone(),
            source,
        }));
    }
    Ok(swept)
}

/// The runs of which a state folder has the lock's file or the folder.
fn runs(state: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(state).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let run = |name: String| {
        let run = name.strip_suffix(".run").unwrap_or(&name);
        is_run(run).then(|| run.to_owned())
    };
    names.filter_map(run).collect()
}

/// The runs of any state folder that live, as far as this user may look: those of his own and root's whose
/// locked file one of their processes has open. What others lock keeps nothing.
pub fn alive_anywhere() -> Vec<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = processes.filter(|process| owner::is_ours(&process.path()));
    let open = ours.flat_map(|process| fs::read_dir(process.path().join("fd")).into_iter().flatten());
    let mut alive: Vec<String> = open
        .flatten()
        .filter_map(|entry| locked_run(&entry.path()))
        .collect();
    alive.sort();
    alive.dedup();
    alive
}

/// The run whose locked file is open as this descriptor in /proc.
fn locked_run(descriptor: &Path) -> Option<String> {
    let file = fs::read_link(descriptor).ok()?;
    let run = file.file_name()?.to_str()?.strip_suffix(".run")?;
    let lock = is_run(run).then(|| File::open(descriptor).ok())??;
    // Another user's, which a program of root's was started with.
    if !owner::is_us_or_root(lock.metadata().ok()?.uid()) {
        return None;
    }
    let is_dead = flock(&lock, FlockOperation::NonBlockingLockShared).is_ok();
    (!is_dead).then(|| run.to_owned())
}

/// The processes of these runs that use the CPU.
fn working(runs: &[String]) -> Vec<u32> {
    let seen: Vec<(PathBuf, u64)> = footprint::processes(runs)
        .filter_map(|process| Some((process.clone(), ticks(&process)?)))
        .collect();
    if seen.is_empty() || runs.is_empty() {
        return Vec::new();
    }
    std::thread::sleep(WATCH);
    let works =
        |(process, before): &(PathBuf, u64)| ticks(process).is_some_and(|now| now >= before + WORKING_TICKS);
    let number = |process: &PathBuf| process.file_name()?.to_str()?.parse().ok();
    seen.iter()
        .filter(|seen| works(seen))
        .filter_map(|(process, _)| number(process))
        .collect()
}

/// CPU time that a process by its folder in /proc has used, in ticks of the clock.
fn ticks(process: &Path) -> Option<u64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // `pid (name) state ...`, and the name may hold anything; utime and stime are 14th and 15th.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// Makes the state folder, if it is not there.
///
/// # Errors
/// As [`is_ours_alone`].
pub fn make(state: &Path) -> Result<(), StateError> {
    judged(state, private::misleading(state))?;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(state)
        .map_err(|source| StateError::File {
            what: "make",
            path: state.to_owned(),
            source,
        })?;
    is_ours_alone(state)
}

/// Whether nobody but this user and root can change what is in a folder, or put another in its
/// place: programs in it are run, and what it says of dead runs is removed.
///
/// # Errors
/// [`StateError::Open`], and `File` where it cannot be looked at.
pub fn is_ours_alone(folder: &Path) -> Result<(), StateError> {
    judged(folder, private::exposed(folder, Others::Read))
}

fn judged(folder: &Path, exposed: io::Result<Option<String>>) -> Result<(), StateError> {
    let path = folder.to_owned();
    match exposed {
        Ok(None) => Ok(()),
        Ok(Some(why)) => Err(StateError::Open { path, why }),
        Err(source) => Err(StateError::File {
            what: "look at",
            path,
            source,
        }),
    }
}

/// Only names that we give are ever swept.
fn is_run(name: &str) -> bool {
    name.strip_prefix("tare-")
        .is_some_and(|id| id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// What was removed of a run, and what could not be.
fn sweep_run(state: &Path, run: &str) -> (Vec<String>, Vec<BoxError>) {
    let mut removed = Vec::new();
    let mut failed = Vec::new();
    let mut note = |done: Result<Vec<String>, BoxError>| match done {
        Ok(more) => removed.extend(more),
        Err(e) => failed.push(e),
    };
    for entry in REGISTRY {
        let path: PlatformPath = entry.name.parse().expect("names in the registry are well formed");
        let mut platform = open(&path, state).expect("a platform in the registry opens without options");
        note(platform.sweep(run));
    }
    let cgroups = cgroup::sweep(run).map_err(BoxError::from);
    note(cgroups.map(|names| names.iter().map(|name| format!("cgroup {name}")).collect()));
    note(net::clear(run).map_err(BoxError::from));
    // What is left may work in them, and its engine may keep there what it is removed by.
    if failed.is_empty() {
        for folder in folders(state, run) {
            match remove::folder(&folder) {
                Ok(()) => removed.push(format!("folder {}", folder.display())),
                Err(e) => failed.push(BoxError::host(format!("remove {}", folder.display()))(e)),
            }
        }
        // Not while another run's folder is in it.
        let _ = fs::remove_dir(tare_host::places::INNER_BOXES);
    }
    (removed, failed)
}

/// The folders of a run: its own, and those of boxes that an agent on this host made.
fn folders(state: &Path, run: &str) -> Vec<PathBuf> {
    let own = state.join(run);
    let mut folders: Vec<PathBuf> = own.exists().then_some(own).into_iter().collect();
    let inner = fs::read_dir(tare_host::places::INNER_BOXES)
        .into_iter()
        .flatten()
        .flatten();
    let is_of_run = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(run).is_some_and(|rest| rest.starts_with('-'))
    };
    folders.extend(inner.map(|entry| entry.path()).filter(is_of_run));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_is_refused_and_a_dead_one_is_swept() {
        let state = tempfile::tempdir().unwrap();
        let (run, swept) = Run::begin(state.path()).unwrap();
        assert_eq!(swept.removed, Vec::<String>::new());
        assert!(matches!(Run::begin(state.path()), Err(StateError::Busy(name)) if name == run.name()));
        // As if killed: the lock goes, the files stay.
        let (name, folder) = (run.name().to_owned(), run.folder().to_owned());
        drop(run);
        fs::write(state.path().join(format!("{name}.run")), "").unwrap();
        fs::create_dir_all(folder.join("box")).unwrap();
        let (_next, swept) = Run::begin(state.path()).unwrap();
        assert!(swept.removed.iter().any(|what| what.contains(&name)), "{swept:?}");
        assert!(!folder.exists());
    }

    #[test]
    fn what_a_run_could_not_remove_is_swept_by_the_next() {
        let state = tempfile::tempdir().unwrap();
        let (run, _) = Run::begin(state.path()).unwrap();
        let (name, folder) = (run.name().to_owned(), run.folder().to_owned());
        run.leave_for_sweep();
        drop(run);
        assert!(folder.exists());
        let (_next, swept) = Run::begin(state.path()).unwrap();
        assert!(swept.removed.iter().any(|what| what.contains(&name)), "{swept:?}");
        assert!(!folder.exists());
    }

    #[test]
    fn a_dead_run_whose_lock_was_removed_is_swept() {
        let state = tempfile::tempdir().unwrap();
        let (run, _) = Run::begin(state.path()).unwrap();
        let lost = state.path().join("tare-0a1b2c3d");
        let other = state.path().join("tare-images");
        fs::create_dir(&lost).unwrap();
        fs::create_dir(&other).unwrap();
        let swept = sweep(state.path()).unwrap();
        assert_eq!(swept.alive, [run.name()]);
        assert!(!lost.exists() && other.exists() && run.folder().exists());
    }

    #[test]
    fn the_agent_is_copied_once_and_as_it_is() {
        let state = tempfile::tempdir().unwrap();
        let (run, _) = Run::begin(state.path()).unwrap();
        let kept = run.agent().unwrap();
        assert_eq!(kept.parent(), Some(run.folder()));
        assert_eq!(run.agent().unwrap(), kept);
        assert_eq!(
            fs::read(kept).unwrap(),
            fs::read(agent_file::path().unwrap()).unwrap()
        );
    }

    #[test]
    fn a_state_folder_that_others_can_change_is_refused() {
        let made = tempfile::tempdir().unwrap();
        let state = made.path().join("below/state");
        fs::create_dir_all(&state).unwrap();
        is_ours_alone(&state).unwrap();
        let refused = |mode: u32, at: &Path| {
            fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
            let refused = [sweep(&state).err(), Run::begin(&state).err()];
            fs::set_permissions(at, fs::Permissions::from_mode(0o755)).unwrap();
            refused
                .iter()
                .all(|error| matches!(error, Some(StateError::Open { .. })))
        };
        assert!(refused(0o777, &state) && refused(0o1777, &state) && refused(0o775, &state));
        let above = made.path().join("below");
        assert!(refused(0o777, &above) && !refused(0o1777, &above) && !refused(0o711, &state));
        if std::os::unix::fs::lchown(&above, Some(65534), None).is_ok() {
            assert!(matches!(Run::begin(&state), Err(StateError::Open { .. })));
        }
    }

    #[test]
    fn a_state_folder_behind_a_link_of_another_user_is_neither_used_nor_made() {
        let made = tempfile::tempdir().unwrap();
        let real = made.path().join("real");
        fs::create_dir(&real).unwrap();
        let link = made.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        Run::begin(&link.join("state")).unwrap();
        if std::os::unix::fs::lchown(&link, Some(65534), None).is_ok() {
            for state in ["state", "new"].map(|name| link.join(name)) {
                assert!(matches!(Run::begin(&state), Err(StateError::Open { .. })));
            }
            assert!(!real.join("new").exists());
        }
    }

    #[test]
    fn what_another_user_locks_keeps_no_run_alive() {
        let folder = tempfile::tempdir().unwrap();
        let lock = |name: &str| {
            let file = File::create(folder.path().join(name)).unwrap();
            flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
            file
        };
        let (_ours, his) = (lock("tare-0123abcd.run"), lock("tare-deadbeef.run"));
        if std::os::unix::fs::fchown(&his, Some(65534), None).is_ok() {
            let alive = alive_anywhere();
            assert!(alive.contains(&"tare-0123abcd".to_owned()), "{alive:?}");
            assert!(!alive.contains(&"tare-deadbeef".to_owned()), "{alive:?}");
        }
    }

    #[test]
    fn foreign_names_are_left_alone() {
        let state = tempfile::tempdir().unwrap();
        fs::write(state.path().join("tare-notours.run"), "").unwrap();
        fs::write(state.path().join("other.run"), "").unwrap();
        let swept = sweep(state.path()).unwrap();
        assert!(swept.removed.is_empty() && swept.alive.is_empty(), "{swept:?}");
        assert!(state.path().join("tare-notours.run").exists());
    }
}
