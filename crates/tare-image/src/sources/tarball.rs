//! A root filesystem packed by tar.

use crate::store::{Filled, ROOTFS};
use crate::unpack::Unpacker;
use crate::{Config, Image, ImageError, Store};
use std::io::Read;

/// A root filesystem as a tar archive, plain or packed by gzip or zstd. `what` says which, in
/// messages.
///
/// # Errors
/// [`ImageError`].
pub fn from_tarball(store: &Store, name: &str, what: &str, tar: impl Read) -> Result<Image, ImageError> {
    store.make(
        name,
        || None,
        |at| {
            let unpack = || {
                let mut unpacker = Unpacker::new(&at.join(ROOTFS), store.limits(), store.stop())?;
                unpacker.layer(tar)?;
                unpacker.finish()
            };
            let counts = unpack().map_err(ImageError::unpack(what))?;
            Ok(Filled {
                config: Config::default(),
                source: format!("tarball {what}"),
                left_out: counts.left_out,
            })
        },
    )
}
