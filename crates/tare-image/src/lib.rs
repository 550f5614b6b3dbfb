//! Root filesystems for boxes, the same for every platform: taken from a folder, an archive, an
//! engine, a registry or Debian's packages, kept in a store by the digest of what is in them.

#![forbid(unsafe_code)]

mod config;
mod digest;
mod error;
#[cfg(test)]
mod fixture;
mod oci;
mod output;
mod program;
mod sources;
pub mod store;
mod tree;
pub mod unpack;

pub use config::{ARCHITECTURE, Config, SYSTEM};
pub use digest::{Digest, NoDigest};
pub use error::ImageError;
pub use oci::OciError;
pub use output::layer_tar;
pub use sources::{
    Deadlines, DebianSpec, MavenSpec, Mirrors, NoMaven, NoMirror, NoReference, NoSpec, Reference,
    RegistryError, Take, from_archive, from_debian, from_directory, from_oci_layout, from_registry, from_tar,
    from_tarball,
};
pub use store::{Image, Store};
pub use unpack::UnpackError;

/// The user's wish to stop, as every long wait asks for it.
pub type Stop = fn() -> bool;
