//! An entry of an archive, as far as it matters here.

use super::Fault;
use rustix::fs::Timespec;
use std::io::{self, Read};
use tar::{Entry, EntryType};

/// Where pax keeps the one extended attribute that is kept: the rights of a program.
const PAX_CAPABILITY: &[u8] = b"SCHILY.xattr.security.capability";
const PAX_TIME: &[u8] = b"mtime";
const PAX_SPARSE: &[u8] = b"GNU.sparse.";
const NANOS_DIGITS: usize = 9;

/// What a header says of an entry beside its path.
#[derive(Debug, Clone)]
pub struct Head {
    pub kind: Kind,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub mtime: Timespec,
    /// The attribute `security.capability`.
    pub capability: Option<Vec<u8>>,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Symlink(Vec<u8>),
    HardLink(Vec<u8>),
    /// What is never made: devices, pipes, and what is unknown.
    LeftOut,
    /// Says something of the archive and is no file.
    Note,
}

impl Head {
    pub fn read<R: Read>(entry: &mut Entry<'_, R>) -> Result<Self, Fault> {
        let kind = kind(entry);
        let header = entry.header();
        let id = |id: io::Result<u64>| {
            let narrow = |id| u32::try_from(id).map_err(io::Error::other);
            id.and_then(narrow).map_err(Fault::Header)
        };
        let seconds = header.mtime().map_err(Fault::Header)?;
        let mut head = Self {
            kind,
            mode: header.mode().map_err(Fault::Header)? & 0o7777,
            uid: id(header.uid())?,
            gid: id(header.gid())?,
            mtime: Timespec {
                tv_sec: i64::try_from(seconds).unwrap_or_default(),
                tv_nsec: 0,
            },
            capability: None,
        };
        head.pax(entry)?;
        Ok(head)
    }

    /// What pax says beyond what the `tar` crate has taken from it. A record that cannot be
    /// read is passed over: the crate takes a line end within an attribute for its end.
    fn pax<R: Read>(&mut self, entry: &mut Entry<'_, R>) -> Result<(), Fault> {
        let Some(records) = entry.pax_extensions().map_err(Fault::Header)? else {
            return Ok(());
        };
        for record in records.flatten() {
            match record.key_bytes() {
                PAX_CAPABILITY => self.capability = Some(record.value_bytes().to_vec()),
                PAX_TIME => self.mtime = record.value().ok().and_then(time).unwrap_or(self.mtime),
                key if key.starts_with(PAX_SPARSE) => return Err(Fault::PaxSparse),
                _ => {}
            }
        }
        Ok(())
    }
}

fn kind<R: Read>(entry: &Entry<'_, R>) -> Kind {
    let target = || entry.link_name_bytes().unwrap_or_default().into_owned();
    match entry.header().entry_type() {
        // Old archives know folders by the end of their paths.
        EntryType::Regular if entry.path_bytes().ends_with(b"/") => Kind::Folder,
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => Kind::File,
        EntryType::Directory => Kind::Folder,
        EntryType::Symlink => Kind::Symlink(target()),
        EntryType::Link => Kind::HardLink(target()),
        EntryType::XGlobalHeader => Kind::Note,
        _ => Kind::LeftOut,
    }
}

/// A time as pax writes it: seconds with a fraction. Before 1970 is taken for 1970.
fn time(text: &str) -> Option<Timespec> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let nanos: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(NANOS_DIGITS)
        .collect();
    let seconds: i64 = whole.parse().ok()?;
    if seconds < 0 {
        return Some(Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        });
    }
    Some(Timespec {
        tv_sec: seconds,
        tv_nsec: nanos.parse().ok()?,
    })
}
