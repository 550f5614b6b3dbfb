//! The root filesystem as one layer, for engines to import.

use crate::unpack::Limits;
use crate::{Image, ImageError, tree};
use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// Where pax keeps the rights of a program.
const CAPABILITY: &str = "SCHILY.xattr.security.capability";

impl Image {
    /// Writes the root filesystem as a tar archive in GNU's form: the layer of an image of its
    /// own, or what `docker import` takes. The same image gives the same bytes, but for the
    /// times of its files.
    ///
    /// # Errors
    /// [`ImageError::Layer`] if it cannot be read or written.
    pub fn layer_tar(&self, to: &mut impl Write) -> Result<(), ImageError> {
        layer_tar(&self.rootfs(), to)
    }
}

/// As [`Image::layer_tar`], where the image is seen as its files alone.
///
/// # Errors
/// [`ImageError::Layer`] if it cannot be read or written.
pub fn layer_tar(rootfs: &Path, to: &mut impl Write) -> Result<(), ImageError> {
    let mut layer = Layer {
        builder: Builder::new(to),
        rootfs,
        links: HashMap::new(),
    };
    let written = layer
        .folder(Path::new(""), 0)
        .and_then(|()| layer.builder.finish());
    written.map_err(ImageError::Layer)
}

struct Layer<'a, W: Write> {
    builder: Builder<W>,
    rootfs: &'a Path,
    /// Files of several names, by number: the name that has the data.
    links: HashMap<u64, PathBuf>,
}

impl<W: Write> Layer<'_, W> {
    fn folder(&mut self, inner: &Path, depth: usize) -> io::Result<()> {
        if depth > Limits::default().depth {
            return Err(io::Error::other("the image's path is too long"));
        }
        let at = self.rootfs.join(inner);
        let mut header = header(&fs::symlink_metadata(&at)?, EntryType::Directory);
        let name = if depth == 0 { Path::new("./") } else { inner };
        self.builder.append_data(&mut header, name, io::empty())?;
        let mut names = Vec::new();
        for entry in fs::read_dir(&at)? {
            names.push(entry?.file_name());
        }
        names.sort_unstable();
        for name in names {
            self.entry(&inner.join(name), depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, inner: &Path, depth: usize) -> io::Result<()> {
        let at = self.rootfs.join(inner);
        let meta = fs::symlink_metadata(&at)?;
        if meta.is_dir() {
            return self.folder(inner, depth + 1);
        }
        if meta.is_symlink() {
            let mut header = header(&meta, EntryType::Symlink);
            return self.builder.append_link(&mut header, inner, fs::read_link(&at)?);
        }
        if meta.is_file() {
            return self.file(inner, &at, &meta);
        }
        Ok(())
    }

    fn file(&mut self, inner: &Path, at: &Path, meta: &Metadata) -> io::Result<()> {
        if meta.nlink() > 1 {
            if let Some(first) = self.links.get(&meta.ino()) {
                let mut header = header(meta, EntryType::Link);
                return self.builder.append_link(&mut header, inner, first);
            }
            self.links.insert(meta.ino(), inner.to_owned());
        }
        let file = File::open(at)?;
        let capability = tree::capability(&file)?;
        if !capability.is_empty() {
            self.builder
                .append_pax_extensions([(CAPABILITY, &capability[..])])?;
        }
        let mut header = header(meta, EntryType::Regular);
        header.set_size(meta.len());
        self.builder.append_data(&mut header, inner, file)
    }
}

fn header(meta: &Metadata, kind: EntryType) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(meta.mode() & 0o7777);
    header.set_uid(meta.uid().into());
    header.set_gid(meta.gid().into());
    header.set_mtime(u64::try_from(meta.mtime()).unwrap_or_default());
    header.set_size(0);
    header
}
