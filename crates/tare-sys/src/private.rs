//! Whether a folder is its user's alone. Programs in such a folder are run, as root where root
//! runs tare, so that whoever can change it can do all that root can.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// What others may do in a folder that is its user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// Read what is in it.
    Read,
    /// Nothing: there are files with the setuid bit in it.
    Nothing,
}

/// Links that are followed on one way, as many as Linux follows.
const MOST_LINKS: u32 = 40;

/// Why a folder is not this user's alone: who beside him and root can do more in it than others
/// may, or put another in its place. `None` if it is. Every folder and every link on the way to it counts, as it is
/// given: what leads to it today may lead elsewhere tomorrow.
///
/// # Errors
/// If it, or what is on the way, cannot be looked at.
pub fn exposed(folder: &Path, others: Others) -> io::Result<Option<String>> {
    let mut way = Vec::new();
    let end = walk(folder, &mut way)?;
    let meta = fs::symlink_metadata(&end)?;
    let on_way = way.iter().find_map(|(at, meta)| changeable(at, meta));
    Ok(on_way.or_else(|| open_itself(&end, &meta, others)))
}

/// Who can lead a path elsewhere, as far as it is there: before a folder is made at its end.
///
/// # Errors
/// If what is on the way cannot be looked at.
pub fn misleading(path: &Path) -> io::Result<Option<String>> {
    let mut way = Vec::new();
    match walk(path, &mut way) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(way.iter().find_map(|(at, meta)| changeable(at, meta))),
    }
}

/// Goes to a path and adds all that is met, links by themselves and not what is behind them. Returns its end.
fn walk(path: &Path, way: &mut Vec<(PathBuf, Metadata)>) -> io::Result<PathBuf> {
    let mut at = PathBuf::new();
    let mut links = 0;
    let mut ahead = names(&std::path::absolute(path)?);
    while let Some(name) = ahead.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(name);
        let meta = next.symlink_metadata()?;
        if meta.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return Err(rustix::io::Errno::LOOP.into());
            }
            ahead.extend(names(&fs::read_link(&next)?));
        } else {
            at.clone_from(&next);
        }
        way.push((next, meta));
    }
    Ok(at)
}

/// The names of a path, the last one first. That of the root is absolute: joined to any, it is the root.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().filter(|name| *name != Component::CurDir);
    names.rev().map(|name| name.as_os_str().to_owned()).collect()
}

/// Who can put another in the place of what lies in this folder, or lead this link elsewhere.
fn changeable(at: &Path, meta: &Metadata) -> Option<String> {
    let us = rustix::process::geteuid().as_raw();
    let (mode, shown) = (meta.mode() & 0o7777, at.display());
    if ![0, us].contains(&meta.uid()) {
        let what = if meta.is_symlink() { "the link " } else { "" };
        return Some(format!("{what}{shown} {}", owned_by(meta.uid(), us)));
    }
    // In a sticky folder, such as /tmp, only the owner renames what is there.
    let keeps_names = meta.is_symlink() || mode & 0o1000 != 0;
    (mode & 0o022 != 0 && !keeps_names).then(|| others_write(at, mode))
}

/// What of the folder itself, whose way is this user's and root's, is not this user's alone.
fn open_itself(at: &Path, meta: &Metadata, others: Others) -> Option<String> {
    let us = rustix::process::geteuid().as_raw();
    let (mode, shown) = (meta.mode() & 0o7777, at.display());
    if meta.uid() != us {
        return Some(format!("{shown} {}", owned_by(meta.uid(), us)));
    }
    if others == Others::Nothing && mode & 0o077 != 0 {
        return Some(format!("others can reach {shown} (mode {mode:o}): chmod 700 it"));
    }
    (mode & 0o022 != 0).then(|| others_write(at, mode))
}

fn owned_by(owner: u32, us: u32) -> String {
    let name = |uid| match uid {
        0 => "root".to_owned(),
        uid => format!("user {uid}"),
    };
    format!("belongs to {}, not to you ({})", name(owner), name(us))
}

fn others_write(at: &Path, mode: u32) -> String {
    format!("others can write to {} (mode {mode:o})", at.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};

    #[test]
    fn an_owner_is_named_beside_who_asks() {
        assert_eq!(owned_by(0, 1000), "belongs to root, not to you (user 1000)");
        assert_eq!(owned_by(1001, 0), "belongs to user 1001, not to you (root)");
    }

    #[test]
    fn a_way_that_another_user_can_lead_elsewhere_is_told() {
        let made = tempfile::tempdir().unwrap();
        let at = |name: &str| made.path().join(name);
        for folder in ["real/state", "his"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for (link, target) in [("ours", "real"), ("twice", "ours/../ours"), ("loop", "loop")] {
            symlink(target, at(link)).unwrap();
        }
        symlink(at("real"), at("his/link")).unwrap();
        symlink(at("his/link"), at("through")).unwrap();
        let told = |name: &str| {
            (
                exposed(&at(name), Others::Read).unwrap(),
                misleading(&at(name)).unwrap(),
            )
        };
        for name in [
            "real/state",
            "ours/state",
            "twice/state",
            "his/link/state",
            "through/state",
        ] {
            assert_eq!(told(name), (None, None), "{name}");
        }
        assert!(exposed(&at("loop"), Others::Read).is_err());
        assert_eq!(misleading(&at("ours/new/folder")).unwrap(), None);
        // Only root can make what is another user's.
        if lchown(at("ours"), Some(65534), None).is_ok() {
            for name in ["ours/state", "twice/state", "ours/new"] {
                let why = misleading(&at(name)).unwrap().unwrap();
                assert!(
                    why.contains("the link") && why.contains("belongs to user 65534"),
                    "{why}"
                );
            }
            assert!(told("ours/state").0.is_some() && told("twice/state").0.is_some());
            lchown(at("his"), Some(65534), None).unwrap();
            for name in ["his/link/state", "through/state"] {
                assert!(told(name).0.is_some() && told(name).1.is_some(), "{name}");
            }
        }
        fs::set_permissions(at("real"), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(told("through/state").0.is_some() && told("real/state").1.is_some());
    }
}
