//! A program of the host's that sees nothing of the host but what it is made of, one folder and
//! at most one file that it cannot write, as a user that nobody else is: for engines that let what runs in them reach
//! whatever they reach themselves.

use crate::carry::{self, CarryError};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, mount_remount, unmount,
};
use rustix::process::umask;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The name of the subcommand that enters a jail.
pub const SUBCOMMAND: &str = "run-jailed";

/// The folder, as it is called within.
pub const FOLDER: &str = "/box";

/// The file that it may read beside the folder, as it is called within: in a folder, since User-Mode
/// Linux goes to that of a disk.
pub const FILE: &str = "/shared/file";

/// Where the program keeps what is its own, in memory.
pub const OWN: &str = "/tmp";

/// Files of the host that the program may read.
const READ: [&str; 1] = ["/proc/cpuinfo"];

/// The only device.
const NOTHING: &str = "/dev/null";

/// The first user of jails: from here on systemd's table of users has none (UIDS-GIDS), nor
/// has any engine of ours. The process id of the jail is added, which no two have that live.
const FIRST_USER: u32 = 0x7000_0000;

/// What may be written of the program's own beside the memory that it was asked for.
const SLACK_BYTES: u64 = 16 << 20;

/// What is never to be had from a mount in a jail: other rights, and devices.
const PLAIN: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// Why a program does not run in a jail.
#[derive(Debug, thiserror::Error)]
pub enum JailError {
    /// The program, or what it is made of.
    #[error(transparent)]
    Program(#[from] CarryError),
    /// A step on the way in.
    #[error("cannot {what}: {source}")]
    Step { what: String, source: io::Error },
}

fn step<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> JailError {
    move |source| JailError::Step {
        what: what.into(),
        source: source.into(),
    }
}

/// A jail that is to be entered.
#[derive(Debug)]
pub struct Jail {
    /// The one folder, which the jail's user comes to own with all that is in it.
    pub folder: PathBuf,
    /// A file that it may read, as anybody may: others use it too.
    pub file: Option<PathBuf>,
    /// An empty folder of the host on which the jail is mounted, seen by nobody else.
    pub place: PathBuf,
    /// Bytes that the program may keep in memory as files of its own.
    pub own_bytes: u64,
}

impl Jail {
    /// Runs a program of the host's in it to its end; what is open stays open for it. This
    /// process is of no other use from then on. Needs root, and to be the only thread.
    ///
    /// # Errors
    /// [`JailError`].
    pub fn run(&self, program: &str, words: &[String]) -> Result<ExitStatus, JailError> {
        let files = carry::program_files(program)?;
        let user = FIRST_USER + std::process::id();
        give(&self.folder, user).map_err(step(format!("give {} away", self.folder.display())))?;
        tare_sys::leave_namespaces().map_err(step("leave the host's namespaces"))?;
        // Who may not ask, or whose kernel has no keys, can have none either.
        let without = [Errno::NOSYS, Errno::PERM].map(|errno| Some(errno.raw_os_error()));
        tare_sys::leave_keyring()
            .or_else(|e| {
                if without.contains(&e.raw_os_error()) {
                    Ok(())
                } else {
                    Err(e)
                }
            })
            .map_err(step("leave the host's keys"))?;
        // Whoever started us may keep its files from others.
        let usual = umask(Mode::from_raw_mode(0o022));
        self.build(&files, user)?;
        umask(usual);
        enter(&self.place).map_err(step("enter the jail"))?;
        let mut command = Command::new(&files[0]);
        command.args(words).env_clear().env("TMPDIR", OWN);
        tare_sys::confine(&mut command, user).map_err(step("confine the program"))?;
        let mut child = command.spawn().map_err(step(format!("start {program}")))?;
        child.wait().map_err(step(format!("wait for {program}")))
    }

    fn build(&self, files: &[PathBuf], user: u32) -> Result<(), JailError> {
        let all = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", all).map_err(step("keep mounts apart from the host's"))?;
        in_memory(&self.place, "size=1m,nr_inodes=1k,mode=755")?;
        let own = self.place.join(&OWN[1..]);
        fs::create_dir(&own).map_err(step("make a folder in the jail"))?;
        let size = self.own_bytes.saturating_add(SLACK_BYTES);
        in_memory(&own, &format!("size={size},mode=700,uid={user},gid={user}"))?;
        let folder = self.place.join(&FOLDER[1..]);
        fs::create_dir(&folder).map_err(step("make a folder in the jail"))?;
        show(&self.folder, &folder, PLAIN)?;
        for file in files.iter().map(PathBuf::as_path).chain(READ.map(Path::new)) {
            show(file, &self.below(file)?, PLAIN | MountFlags::RDONLY)?;
        }
        if let Some(file) = &self.file {
            show(file, &self.below(Path::new(FILE))?, PLAIN | MountFlags::RDONLY)?;
        }
        let nothing = Path::new(NOTHING);
        show(
            nothing,
            &self.below(nothing)?,
            MountFlags::NOSUID | MountFlags::RDONLY,
        )?;
        mount_remount(&self.place, PLAIN | MountFlags::RDONLY, "").map_err(step("close the jail's root"))
    }

    /// The place of a file of the host's in the jail, made.
    fn below(&self, file: &Path) -> Result<PathBuf, JailError> {
        let path = self.place.join(file.strip_prefix("/").unwrap_or(file));
        let above = path.parent().unwrap_or(&self.place);
        fs::create_dir_all(above)
            .and_then(|()| File::create(&path))
            .map_err(step(format!("make {}", path.display())))?;
        Ok(path)
    }
}

fn in_memory(on: &Path, options: &str) -> Result<(), JailError> {
    let options = CString::new(options).unwrap_or_default();
    mount("tmpfs", on, "tmpfs", PLAIN, Some(options.as_c_str()))
        .map_err(step(format!("mount a tmpfs on {}", on.display())))
}

/// Mounts a file or a folder of the host once more.
fn show(file: &Path, on: &Path, flags: MountFlags) -> Result<(), JailError> {
    let what = || format!("mount {} in the jail", file.display());
    mount_bind(file, on).map_err(step(what()))?;
    mount_remount(on, MountFlags::BIND | flags, "").map_err(step(what()))
}

/// Makes this folder, on which something is mounted, the root of this mount namespace; the one
/// before is gone.
pub fn enter(place: &Path) -> io::Result<()> {
    std::env::set_current_dir(place)?;
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir("/")
}

/// Gives a file or a folder with all that is in it to this user.
fn give(path: &Path, user: u32) -> io::Result<()> {
    lchown(path, Some(user), Some(user))?;
    if path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}
