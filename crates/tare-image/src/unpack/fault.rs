//! Why an entry of an archive is refused.

use std::io;

/// Why an entry of an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Its path goes up.
    #[error("its path contains .. and could lead out of the image")]
    Outside,
    /// Its path holds a zero byte.
    #[error("its path contains a NUL byte")]
    ZeroByte,
    /// It lies deeper than an image may.
    #[error("it is nested deeper than {0} folders")]
    Deep(usize),
    /// Its path goes round in a circle.
    #[error("its path has too many symbolic links")]
    Links,
    /// Its path leads through a file.
    #[error("a part of its path is not a folder")]
    NoFolder,
    /// Its path, or what it links to, is not there.
    #[error("its target does not exist")]
    Nothing,
    /// What was to be read is something else.
    #[error("it is not a regular file")]
    NoFile,
    /// A hard link to a folder.
    #[error("it is a hard link to a folder")]
    FolderLink,
    /// The root of the image can be a folder alone.
    #[error("it would replace the image's root folder")]
    Top,
    /// A whiteout that names nothing that could be hidden.
    #[error("it is a whiteout without a valid file name")]
    Whiteout,
    /// A header that cannot be read.
    #[error("its header is broken: {0}")]
    Header(io::Error),
    /// A sparse file in the form that pax has for them.
    #[error(
        "it is a sparse file in pax format, which tare does not read: create the archive with tar --format=gnu or without --sparse"
    )]
    PaxSparse,
    /// Its data end before its size.
    #[error("the archive ends in the middle of it, or states a wrong size")]
    Short,
    /// The system's refusal.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<rustix::io::Errno> for Fault {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::System(errno.into())
    }
}
