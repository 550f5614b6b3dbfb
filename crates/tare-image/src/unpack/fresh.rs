//! What a layer has made so far. Paths are kept as hashes: a small archive can name thousands of
//! paths of 64 KiB each.

use super::beneath::Names;
use std::collections::HashSet;
use std::ffi::CStr;
use std::hash::{BuildHasher, RandomState};

/// A real path, from the root of the image. The hash has a random key, so that no archive can
/// choose two paths that share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PathHash(u64);

const TOP: PathHash = PathHash(0);

/// The real paths that a layer has made, and all folders above them.
#[derive(Default)]
pub struct Fresh {
    key: RandomState,
    made: HashSet<PathHash>,
    /// Folders in which nothing of the layers below is left.
    cleared: HashSet<PathHash>,
    /// Devices, pipes and other entries that were left out, by their paths as written.
    left_out: HashSet<PathHash>,
}

impl Fresh {
    pub fn path(&self, names: &Names) -> PathHash {
        names.iter().fold(TOP, |path, name| self.inner(path, name))
    }

    pub fn inner(&self, folder: PathHash, name: &CStr) -> PathHash {
        PathHash(self.key.hash_one((folder, name)))
    }

    pub fn remember(&mut self, folder: &Names, name: &CStr) {
        let mut path = TOP;
        for name in folder.iter().map(|name| &**name).chain([name]) {
            path = self.inner(path, name);
            self.made.insert(path);
        }
    }

    pub fn is_made(&self, path: PathHash) -> bool {
        self.made.contains(&path)
    }

    pub fn leave_out(&mut self, path: &Names) {
        self.left_out.insert(self.path(path));
    }

    pub fn is_left_out(&self, path: &Names) -> bool {
        self.left_out.contains(&self.path(path))
    }

    /// Whether this is the first time: a second look would find only what this layer made.
    pub fn begin_to_clear(&mut self, folder: PathHash) -> bool {
        self.cleared.insert(folder)
    }
}
