//! Why a registry gives no image.

use super::credentials::NoCredentials;
use super::reference::NoReference;
use std::io;
use std::path::PathBuf;

/// Why a registry gives no image.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// What is no reference.
    #[error(transparent)]
    Reference(#[from] NoReference),
    /// It wants a password, or another, or has no such image and does not say so to strangers.
    #[error("{registry} gives {what} to no stranger, or has no such image: {hint}")]
    Password {
        /// The registry.
        registry: String,
        /// What was asked for.
        what: String,
        /// What to do.
        hint: String,
    },
    /// It has no such image.
    #[error("{registry} has no {what}: look at its name and tag")]
    NotFound {
        /// The registry.
        registry: String,
        /// What was asked for.
        what: String,
    },
    /// It answers too slowly.
    #[error(
        "{registry} was too slow with {what}: it was given {seconds} s; try again later, or take an archive of the image"
    )]
    Slow {
        /// The registry.
        registry: String,
        /// What was asked for.
        what: String,
        /// The deadline.
        seconds: u64,
    },
    /// Its answer ended too early.
    #[error("the answer of {registry} ended in the middle of {what}: try again")]
    Ended {
        /// The registry.
        registry: String,
        /// What was asked for.
        what: String,
    },
    /// It cannot be reached.
    #[error("cannot reach {registry} for {what}: {source}")]
    Connection {
        /// The registry.
        registry: String,
        /// What was asked for.
        what: String,
        /// The cause.
        source: Box<ureq::Error>,
    },
    /// It answers with another status.
    #[error("{registry} answers with the status {status} to {what}{}", match .status { 429 => ": it has had too many requests from here; try again later", 500.. => ": it is out of order; try again later", _ => "" })]
    Status {
        /// The registry.
        registry: String,
        /// What was asked for.
        what: String,
        /// The status of HTTP.
        status: u16,
    },
    /// It asks for a password in a way that is unknown or not encrypted.
    #[error(
        "{0} asks for a password in a way that is not known or not encrypted: take an archive of the image"
    )]
    Challenge(String),
    /// There are no certificates to check it by.
    #[error(
        "there are no certificates to check a registry by: install the package ca-certificates, or name a file of them in SSL_CERT_FILE"
    )]
    NoCertificates,
    /// Certificates that cannot be read.
    #[error("cannot read the certificates in {path}: {source}")]
    Certificates {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The user's passwords.
    #[error("cannot read the passwords in {path}: {source}")]
    Credentials {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: NoCredentials,
    },
}
