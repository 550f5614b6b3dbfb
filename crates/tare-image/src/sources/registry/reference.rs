//! The name of an image in a registry.

use crate::{Digest, NoDigest};
use std::net::IpAddr;

const DEFAULT_TAG: &str = "latest";
/// The one registry whose host is not the name that its images bear, and where images without
/// an owner belong to one of this name.
const HUB: (&str, &str, &str) = ("docker.io", "registry-1.docker.io", "library");
const LONGEST: usize = 300;

/// `registry.example/name:tag@digest`; the tag, the digest or both may be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The registry, with its port if there is one.
    pub registry: String,
    /// The name of the image there.
    pub repository: String,
    /// The tag: `latest` where neither tag nor digest is given.
    pub tag: Option<String>,
    /// The digest, which goes before the tag.
    pub digest: Option<Digest>,
}

/// What is no reference.
#[derive(Debug, thiserror::Error)]
pub enum NoReference {
    /// The registry is not said.
    #[error("\"{0}\" names no registry: write docker.io/library/{0} for Docker Hub")]
    Registry(String),
    /// Something else.
    #[error(
        "\"{0}\" is not an image of a registry: write registry.example/name:tag, with or without @sha256:..."
    )]
    Form(String),
    #[error(transparent)]
    Digest(#[from] NoDigest),
}

impl Reference {
    /// Reads a reference.
    ///
    /// # Errors
    /// [`NoReference`].
    pub fn parse(text: &str) -> Result<Self, NoReference> {
        let form = || {
            let brief = text.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
            NoReference::Form(brief)
        };
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(Digest::parse(digest)?)),
            None => (text, None),
        };
        let (path, tag) = match rest.rsplit_once(':') {
            Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
            _ => (rest, None),
        };
        if rest.len() > LONGEST || !tag.is_none_or(is_tag) {
            return Err(form());
        }
        let (registry, repository) = match path.split_once('/') {
            Some((host, rest)) if host == "localhost" || host.contains(['.', ':']) => (host, rest),
            _ if path.split('/').all(is_part) => return Err(NoReference::Registry(text.to_owned())),
            _ => return Err(form()),
        };
        if !is_host(registry) || !repository.split('/').all(is_part) {
            return Err(form());
        }
        let is_owned = registry != HUB.0 || repository.contains('/');
        Ok(Self {
            registry: registry.to_owned(),
            repository: if is_owned {
                repository.to_owned()
            } else {
                format!("{}/{repository}", HUB.2)
            },
            tag: tag
                .or_else(|| digest.is_none().then_some(DEFAULT_TAG))
                .map(str::to_owned),
            digest,
        })
    }

    /// What is asked of the registry: the digest, else the tag.
    pub fn version(&self) -> &str {
        let tag = self.tag.as_deref().unwrap_or(DEFAULT_TAG);
        self.digest.as_ref().map_or(tag, Digest::as_str)
    }

    /// Where the registry answers. Without encryption on this host alone.
    pub fn base(&self) -> String {
        let host = if self.registry == HUB.0 {
            HUB.1
        } else {
            &self.registry
        };
        format!(
            "{}://{host}/v2/{}",
            if is_loopback(host) { "http" } else { "https" },
            self.repository
        )
    }
}

/// Whether a host, with a port or without, is this one.
pub fn is_loopback(host: &str) -> bool {
    let bare = match host.rsplit_once(':') {
        Some((bare, port)) if port.bytes().all(|b| b.is_ascii_digit()) => bare,
        _ => host,
    };
    let address = bare
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>();
    bare == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn is_host(host: &str) -> bool {
    !host.is_empty()
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-.:[]".contains(&b))
}

fn is_part(part: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    let ends = part.bytes().next().into_iter().chain(part.bytes().last());
    !part.is_empty() && part.bytes().all(inner) && ends.into_iter().all(|b| b.is_ascii_alphanumeric())
}

fn is_tag(tag: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    !tag.is_empty() && tag.len() <= 128 && tag.bytes().all(inner)
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read() {
        let read = |text| Reference::parse(text).unwrap();
        let hub = read("docker.io/debian:12");
        assert_eq!(hub.base(), "https://registry-1.docker.io/v2/library/debian");
        assert_eq!(
            (hub.version(), hub.to_string().as_str()),
            ("12", "docker.io/library/debian:12")
        );
        assert_eq!(read("registry.example:5000/a/b").version(), "latest");
        assert_eq!(read("127.0.0.1:5000/a").base(), "http://127.0.0.1:5000/v2/a");
        assert_eq!(read("[::1]:5000/a:1").base(), "http://[::1]:5000/v2/a");
        assert_eq!(
            read("127.0.0.1.example/a").base(),
            "https://127.0.0.1.example/v2/a"
        );
        let digest = Digest::of(b"");
        let both = read(&format!("r.example/a:1@{digest}"));
        assert_eq!(
            (both.version(), both.tag.as_deref()),
            (digest.as_str(), Some("1"))
        );
        assert!(matches!(
            Reference::parse("debian:12"),
            Err(NoReference::Registry(_))
        ));
        for wrong in [
            "",
            "r.example/",
            "r.example/A",
            "r.example/a:",
            "r.example/a/../b",
            "r.example/a?x",
            "r@x.example/a",
            "r.example/a:1@sha256:0",
            "r.example/a b",
            "r.example/a:t/..",
        ] {
            assert!(Reference::parse(wrong).is_err(), "{wrong}");
        }
    }
}
