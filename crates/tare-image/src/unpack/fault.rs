//! Why an entry of an archive is refused.

use std::io;

/// Why an entry of an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Its path goes up.
    #[error("its path has a .. in it and could lead out of the image")]
    Outside,
    /// Its path holds a zero byte.
    #[error("its path holds a zero byte")]
    ZeroByte,
    /// It lies deeper than an image may.
    #[error("it lies deeper than {0} folders")]
    Deep(usize),
    /// Its path goes round in a circle.
    #[error("too many symbolic links lie on its path")]
    Links,
    /// Its path leads through a file.
    #[error("a part of its path is no folder")]
    NoFolder,
    /// Its path, or what it links to, is not there.
    #[error("what it leads to is not there")]
    Nothing,
    /// What was to be read is something else.
    #[error("it is no plain file")]
    NoFile,
    /// A hard link to a folder.
    #[error("it is a hard link to a folder")]
    FolderLink,
    /// The root of the image can be a folder alone.
    #[error("it would take the place of the image's root folder")]
    Top,
    /// A whiteout that names nothing that could be hidden.
    #[error("it is a whiteout of no name that a file can have")]
    Whiteout,
    /// A header that cannot be read.
    #[error("its header is broken: {0}")]
    Header(io::Error),
    /// A sparse file in the form that pax has for them.
    #[error(
        "it is a sparse file in pax form, which is not read: make the archive with tar --format=gnu or without --sparse"
    )]
    PaxSparse,
    /// Its data end before its size.
    #[error("the archive ends in the middle of it, or tells a wrong size")]
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
