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
    #[error("{registry} denies access to {what}, or has no such image: {hint}")]
    Password {
        /// Host name of the registry, with its port if given.
        registry: String,
        /// What was asked for.
        what: String,
        /// Advice for the user.
        hint: String,
    },
    /// It has no such image.
    #[error("{registry} has no {what}: check its name and tag")]
    NotFound {
        /// Host name of the registry, with its port if given.
        registry: String,
        /// What was asked for.
        what: String,
    },
    /// It answers too slowly.
    #[error(
        "{registry} did not send {what} within {seconds} s: try again later, or import an archive of the image"
    )]
    Slow {
        /// Host name of the registry, with its port if given.
        registry: String,
        /// What was asked for.
        what: String,
        /// Deadline in seconds.
        seconds: u64,
    },
    /// Its answer ended too early.
    #[error("the response of {registry} ended in the middle of {what}: try again")]
    Ended {
        /// Host name of the registry, with its port if given.
        registry: String,
        /// What was asked for.
        what: String,
    },
    /// It cannot be reached.
    #[error("cannot reach {registry} for {what}: {source}")]
    Connection {
        /// Host name of the registry, with its port if given.
        registry: String,
        /// What was asked for.
        what: String,
        source: Box<ureq::Error>,
    },
    /// It answers with another status.
    #[error("{registry} answers with the status {status} to {what}{}", match .status { 429 => ": too many requests from here; try again later", 500.. => ": the registry has a problem; try again later", _ => "" })]
    Status {
        /// Host name of the registry, with its port if given.
        registry: String,
        /// What was asked for.
        what: String,
        /// The status of HTTP.
        status: u16,
    },
    /// It asks for a password in a way that is unknown or not encrypted.
    #[error("{0} uses an unknown or unencrypted authentication method: import an archive of the image")]
    Challenge(String),
    /// The user wishes to stop.
    #[error("stopped by the user")]
    Stopped,
    /// There are no certificates to check it by.
    #[error(
        "there are no certificates to verify a registry: install the package ca-certificates, or set SSL_CERT_FILE to a file of them"
    )]
    NoCertificates,
    /// Certificates that cannot be read.
    #[error("cannot read the certificates in {path}: {source}")]
    Certificates { path: PathBuf, source: io::Error },
    /// The user's passwords.
    #[error("cannot read the passwords in {path}: {source}")]
    Credentials { path: PathBuf, source: NoCredentials },
}
