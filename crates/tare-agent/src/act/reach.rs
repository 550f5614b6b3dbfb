//! Commands that reach for what is the host's, lend to others what is a box's, or try what was lent.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What the files hold by which a box is found to see the host's.
pub const MARK: &str = "a file of the host";
/// What a box adds to them, and to names beside them.
pub const TRACE: &str = ".reached";
/// What a box leaves for others of the host.
pub const LENT: &str = "lent";
/// Where the file systems of the host's that a guest's kernel knows are mounted, and from where.
const PLACE: &str = "/reached";
const FROM: [&str; 2] = ["/", "/../../../../../.."];
/// The part of a disk by which it is known: behind the first kilobyte, where file systems
/// keep their names and partitions begin.
const KNOWN_BY: (u64, usize) = (1024, 1024);
const SET_USER: u32 = 0o4000;

/// The name beside a file that a box tries to make.
pub fn beside(mark: &Path) -> PathBuf {
    let mut name = mark.as_os_str().to_owned();
    name.push(TRACE);
    name.into()
}

/// The part of a disk by which it is known.
///
/// # Errors
/// Those of the disk.
pub fn known_part(disk: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(disk)?;
    file.seek(SeekFrom::Start(KNOWN_BY.0))?;
    let mut part = vec![0; KNOWN_BY.1];
    file.read_exact(&mut part)?;
    Ok(part)
}

/// Tries to get at files of the host and at its disks, and prints a line about each of which
/// something was seen. What cannot even be tried is as good as refused.
pub fn reach(wanted: &[&str]) -> io::Result<()> {
    let mut said = String::new();
    let is_number = |word: &&&str| !word.starts_with('/');
    let files: Vec<&str> = wanted.iter().filter(|word| !is_number(word)).copied().collect();
    reach_files(Path::new("/"), &files, &mut said);
    let _ = fs::create_dir(PLACE);
    for from in FROM {
        let from = CString::new(from).unwrap_or_default();
        if mount(
            "none",
            PLACE,
            "hostfs",
            MountFlags::empty(),
            Some(from.as_c_str()),
        )
        .is_ok()
        {
            reach_files(Path::new(PLACE), &files, &mut said);
            let _ = unmount(PLACE, UnmountFlags::DETACH);
        }
    }
    for number in wanted.iter().filter(is_number) {
        if let Some(part) = reach_disk(number) {
            let hex: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
            said.push_str(&format!("disk {number} {hex}\n"));
        }
    }
    io::stdout().write_all(said.as_bytes())
}

fn reach_files(root: &Path, files: &[&str], said: &mut String) {
    for file in files {
        let path = root.join(file.trim_start_matches('/'));
        if fs::read_to_string(&path).is_ok_and(|content| content.contains(MARK)) {
            said.push_str(&format!("read {}\n", path.display()));
        }
        if let Ok(mut opened) = File::options().append(true).open(&path) {
            let _ = opened.write_all(TRACE.as_bytes());
        }
        let _ = fs::write(beside(&path), TRACE);
    }
}

fn reach_disk(number: &str) -> Option<Vec<u8>> {
    let (major, minor) = number.split_once(':')?;
    let device = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
    let name = format!("{PLACE}-{number}");
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, &name, FileType::BlockDevice, mode, device).ok()?;
    let part = known_part(Path::new(&name)).ok();
    let _ = fs::remove_file(name);
    part
}

/// Copies this program as one that runs as its owner, wherever it may.
pub fn lend(folders: &[&str]) -> io::Result<()> {
    for folder in folders {
        let target = Path::new(folder).join(LENT);
        let _ = fs::create_dir_all(folder);
        let lent = fs::copy("/proc/self/exe", &target)
            .and_then(|_| fs::set_permissions(&target, fs::Permissions::from_mode(SET_USER | 0o755)));
        if lent.is_err() {
            let _ = fs::remove_file(target);
        }
    }
    Ok(())
}

/// Prints those of these paths that can be opened, or that are there at all.
pub fn try_paths(paths: &[&str]) -> io::Result<()> {
    let mut said = String::new();
    for path in paths {
        let opened = if Path::new(path).is_dir() {
            fs::read_dir(path).map(drop)
        } else {
            File::open(path).map(drop)
        };
        if opened.is_ok() {
            said.push_str(&format!("{path}\n"));
        }
    }
    io::stdout().write_all(said.as_bytes())
}
