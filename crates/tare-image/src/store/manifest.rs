//! What the store knows of an image.

use crate::{Digest, ImageError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

const MANIFEST: &str = "manifest.json";
const BESIDE: &str = ".manifest.partial";

/// What the store knows of an image.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Manifest {
    /// Its names; none if another image took them.
    pub names: Vec<String>,
    /// Where it came from, in words.
    pub source: String,
    /// The digest of its root filesystem and configuration.
    pub digest: Digest,
    /// What its root filesystem occupies on the disk, in bytes.
    pub bytes: u64,
    /// Files, folders and links.
    pub entries: u64,
    /// Devices, pipes and sockets of the source, which were left out.
    pub left_out: u64,
    /// When it was made: seconds since 1970.
    pub made_seconds: u64,
    /// In which state the source was, by the name that it was made for: an engine's id of the
    /// image, say. Names whose source cannot change have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, String>,
}

impl Manifest {
    /// Adds a name, whose source is in this state.
    pub(super) fn give(&mut self, name: String, state: Option<&str>) {
        match state {
            Some(state) => self.states.insert(name.clone(), state.to_owned()),
            // What was known of an older source says nothing of this one.
            None => self.states.remove(&name),
        };
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    pub(super) fn read(folder: &Path) -> Result<Self, ImageError> {
        let path = folder.join(MANIFEST);
        let text = fs::read(&path).map_err(ImageError::file("read", &path))?;
        serde_json::from_slice(&text).map_err(|source| ImageError::Damaged {
            path: folder.to_owned(),
            source,
        })
    }

    /// Whole or not at all: beside the old one, then in its place.
    pub(super) fn write(&self, folder: &Path) -> Result<(), ImageError> {
        let text = serde_json::to_vec_pretty(self).map_err(ImageError::Write)?;
        let beside = folder.join(BESIDE);
        let write = || {
            let mut file = fs::File::create(&beside)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&beside, folder.join(MANIFEST))
        };
        write().map_err(ImageError::file("write", folder.join(MANIFEST)))
    }
}
