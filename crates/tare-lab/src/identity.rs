//! Which programs and files are measured, by their contents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use tare_image::Digest;
use tare_model::study::Study;

/// The SHA-256 of every file of this host that the study runs or copies into boxes, by path. One
/// that cannot be read is left out: the trials that need it fail.
pub(crate) fn files(study: &Study) -> BTreeMap<String, String> {
    let roles = study.workloads.iter().flat_map(|workload| &workload.roles);
    let paths: BTreeSet<&String> = roles.flat_map(|role| &role.files).collect();
    let read = |path: &String| Some((path.clone(), digest(Path::new(path))?));
    paths.into_iter().filter_map(read).collect()
}

fn digest(path: &Path) -> Option<String> {
    let (digest, _) = Digest::of_reader(File::open(path).ok()?).ok()?;
    Some(digest.hex().to_owned())
}

/// The programs of a run, watched for changes while it runs. Data may change: a command may write
/// its own.
#[derive(Clone)]
pub(crate) struct Watch(Vec<Watched>);

#[derive(Clone)]
struct Watched {
    path: String,
    digest: String,
    stamp: Option<Stamp>,
}

/// Inode, size and time of the last change in s and ns: the contents are read only where it differs.
type Stamp = (u64, u64, i64, i64);

impl Watch {
    /// Those of these files that can be executed.
    pub fn of(files: &BTreeMap<String, String>) -> Self {
        let programs = files.iter().filter(|(path, _)| is_program(path));
        let watched = |(path, digest): (&String, &String)| Watched {
            path: path.clone(),
            digest: digest.clone(),
            stamp: stamp(path),
        };
        Self(programs.map(watched).collect())
    }

    /// The first program that is another than at the beginning.
    pub fn changed(&mut self) -> Option<&str> {
        let mut files = self.0.iter_mut();
        let changed = files.find_map(|file| (!file.is_as_it_was()).then_some(file))?;
        Some(&changed.path)
    }
}

impl Watched {
    fn is_as_it_was(&mut self) -> bool {
        let now = stamp(&self.path);
        if now == self.stamp {
            return true;
        }
        let is_same = digest(Path::new(&self.path)).as_ref() == Some(&self.digest);
        if is_same {
            self.stamp = now;
        }
        is_same
    }
}

fn is_program(path: &str) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

fn stamp(path: &str) -> Option<Stamp> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.ino(), file.size(), file.ctime(), file.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;

    #[test]
    fn a_program_is_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let [program, data] = ["app", "data"].map(|name| folder.path().join(name));
        std::fs::write(&program, "abc").unwrap();
        std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        std::fs::write(&data, "abc").unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&program).unwrap(), sha256);
        let files = [&program, &data].map(|path| (path.display().to_string(), sha256.to_owned()));
        let mut watch = Watch::of(&files.into());
        std::fs::write(&data, "changed").unwrap();
        std::fs::write(&program, "abc").unwrap();
        assert_eq!(
            watch.changed(),
            None,
            "data, and a program with the same contents"
        );
        std::fs::write(&program, "abd").unwrap();
        assert_eq!(watch.changed(), program.to_str());
        std::fs::remove_file(&program).unwrap();
        assert_eq!(watch.changed(), program.to_str());
    }
}
