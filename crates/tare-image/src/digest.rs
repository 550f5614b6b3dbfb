//! Digests: SHA-256 as OCI writes them, and readers that take or check one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Read};

const SHA256: &str = "sha256:";

/// A SHA-256 digest, written `sha256:` and 64 small hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

/// What is no digest of the kind that is read here.
#[derive(Debug, thiserror::Error)]
#[error("\"{0}\" is not a SHA-256 digest: write sha256: and 64 lower-case hexadecimal digits")]
pub struct NoDigest(String);

impl Digest {
    /// Reads a digest.
    ///
    /// # Errors
    /// [`NoDigest`] for all but SHA-256 in its one way of writing.
    pub fn parse(text: &str) -> Result<Self, NoDigest> {
        let hex = text.strip_prefix(SHA256).unwrap_or_default();
        if hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Ok(Self(text.to_owned()));
        }
        let brief: String = text.chars().filter(|c| !c.is_control()).take(80).collect();
        Err(NoDigest(brief))
    }

    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hash(Sha256::new_with_prefix(bytes))
    }

    /// The digest of all that a reader has, and the number of its bytes.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn of_reader(reader: impl Read) -> io::Result<(Self, u64)> {
        let mut reader = Digesting::new(reader);
        io::copy(&mut reader, &mut io::sink())?;
        Ok(reader.so_far())
    }

    pub(crate) fn from_hash(hash: Sha256) -> Self {
        let mut text = SHA256.to_owned();
        for byte in hash.finalize() {
            text.push_str(&format!("{byte:02x}"));
        }
        Self(text)
    }

    /// The 64 hexadecimal digits.
    pub fn hex(&self) -> &str {
        self.0.get(SHA256.len()..).unwrap_or_default()
    }

    /// The same as a value of `oci-spec`'s.
    pub(crate) fn to_oci(&self) -> Result<oci_spec::image::Digest, NoDigest> {
        self.0.parse().map_err(|_| NoDigest(self.0.clone()))
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Digest {
    type Error = NoDigest;
    fn try_from(text: String) -> Result<Self, NoDigest> {
        Self::parse(&text)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

/// A reader that takes the digest of what is read through it.
pub(crate) struct Digesting<R> {
    inner: R,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> Digesting<R> {
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            hash: Sha256::new(),
            bytes: 0,
        }
    }

    /// The reader below.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// The digest and the number of all bytes up to here.
    pub fn so_far(&self) -> (Digest, u64) {
        (Digest::from_hash(self.hash.clone()), self.bytes)
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        let new = into.get(..read).unwrap_or_default();
        self.hash.update(new);
        self.bytes += new.len() as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_one_way_of_writing() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").as_str(), empty);
        assert_eq!(Digest::parse(empty).unwrap().hex().len(), 64);
        for wrong in [
            "",
            "sha256:",
            &empty.to_uppercase(),
            "sha512:00",
            &empty[7..],
            &format!("{empty}0"),
        ] {
            assert!(Digest::parse(wrong).is_err(), "{wrong}");
        }
        let mut reader = Digesting::new(&b"abc"[..]);
        io::copy(&mut reader, &mut io::sink()).unwrap();
        assert_eq!(reader.so_far(), (Digest::of(b"abc"), 3));
    }
}
