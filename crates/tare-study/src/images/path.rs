//! Folders and archives on this host.

use super::progress::{Progress, Told};
use super::{ImageSources, NoImage, Wish};
use std::fs::{self, DirEntry, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tare_image::Image;
use tare_sys::regular;

/// What is in a folder or an archive, taken anew if that changed since.
pub(super) fn take(
    path: &Path,
    wish: &Wish<'_>,
    site: &ImageSources,
    say: &mut dyn FnMut(Progress),
) -> Result<Image, NoImage> {
    let unreadable = |source: io::Error| NoImage::Path {
        path: path.to_owned(),
        source,
    };
    let real = path.canonicalize().map_err(unreadable)?;
    let meta = fs::metadata(&real).map_err(unreadable)?;
    if site.path().starts_with(&real) {
        return Err(NoImage::HoldsStore {
            path: path.to_owned(),
            store: site.path().to_owned(),
        });
    }
    let name = match wish.part {
        Some(part) => format!("{}#{part}", real.display()),
        None => real.display().to_string(),
    };
    say(Progress::Step(format!("looking at {}", path.display())));
    let state = state(&real, &meta).map_err(unreadable)?;
    if let Some(image) = site.store().get_as(&name, &state)? {
        return Ok(image);
    }
    say(Progress::Step(format!("taking {}", path.display())));
    let image = made(&real, &meta, &name, wish, site, say)?;
    Ok(site.store().call(&image, &name, Some(&state))?)
}

fn made(
    real: &Path,
    meta: &Metadata,
    name: &str,
    wish: &Wish<'_>,
    site: &ImageSources,
    say: &mut dyn FnMut(Progress),
) -> Result<Image, NoImage> {
    let store = site.store();
    if meta.is_dir() {
        let image = if real.join("oci-layout").is_file() {
            tare_image::from_oci_layout(store, name, real, wish.part)
        } else {
            tare_image::from_directory(store, name, real)
        };
        return Ok(image?);
    }
    let file = regular::open(real).map_err(|source| NoImage::Path {
        path: real.to_owned(),
        source,
    })?;
    let file = file.ok_or_else(|| NoImage::Kind(real.to_owned()))?;
    let what = real.display().to_string();
    Ok(tare_image::from_tar(
        store,
        name,
        &what,
        wish.part,
        Told::new(file, say),
    )?)
}

/// What changes with a file, or with anything in a folder: numbers, sizes, times. Not their bytes, which take
/// as long to read as to take anew.
fn state(path: &Path, meta: &Metadata) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    let mut files = 0_u64;
    let mut folders = Vec::new();
    note(&mut hasher, meta);
    if meta.is_dir() {
        folders.push(path.to_owned());
    }
    while let Some(folder) = folders.pop() {
        let mut entries = fs::read_dir(&folder)?.collect::<io::Result<Vec<DirEntry>>>()?;
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let found = entry.metadata()?;
            entry.file_name().as_bytes().hash(&mut hasher);
            note(&mut hasher, &found);
            files += 1;
            // What is mounted there is not taken along.
            if found.is_dir() && found.dev() == meta.dev() {
                folders.push(entry.path());
            }
        }
    }
    Ok(format!("{files} files, {:016x}", hasher.finish()))
}

/// The time of the last change is the system's: a program that sets a file's own times back
/// does not hide what it wrote.
fn note(hasher: &mut DefaultHasher, meta: &Metadata) {
    let numbers = [
        meta.dev(),
        meta.ino(),
        meta.size(),
        meta.mode().into(),
        meta.uid().into(),
        meta.gid().into(),
    ];
    (numbers, meta.ctime(), meta.ctime_nsec()).hash(hasher);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn of(path: &Path) -> String {
        state(path, &fs::metadata(path).unwrap()).unwrap()
    }

    #[test]
    fn a_changed_tree_has_another_state() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("inner/file");
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(&file, "1").unwrap();
        let first = of(folder.path());
        assert_eq!(of(folder.path()), first);
        let mut seen = vec![first];
        let mut check = |what: &str| {
            // The system's clock for files may tick as seldom as 100 times a second.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let now = of(folder.path());
            assert!(!seen.contains(&now), "{what}");
            seen.push(now);
        };
        fs::write(&file, "2").unwrap();
        // Told apart from the first by the clock alone, which had time to tick.
        check("other bytes");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
        check("another mode");
        fs::write(folder.path().join("more"), "").unwrap();
        check("another file");
        fs::remove_file(&file).unwrap();
        check("a file less");
    }
}
