//! Where images come from. Each function here leaves an image in the store, and nothing if it
//! fails.

mod archive;
mod debian;
mod directory;
mod layout;
mod maven;
mod registry;
mod tarball;
#[cfg(test)]
mod tests;

pub use archive::{from_archive, from_tar};
pub use debian::{DebianSpec, Mirrors, NoMirror, NoSpec, from_debian};
pub use directory::from_directory;
pub use layout::from_oci_layout;
pub use maven::{MavenSpec, NoMaven, Take};
pub use registry::{Deadlines, NoReference, Reference, RegistryError, from_registry};
pub use tarball::from_tarball;
