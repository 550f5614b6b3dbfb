//! Names of platforms and of the ways to grant CPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Why the name of a platform could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a platform: {why}; write NAME, NAME:HOST, NAME?key=value&key=value, or OUTER/INNER")]
pub struct PlatformPathError {
    text: String,
    why: &'static str,
}

/// One platform of a path: its name and its options.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlatformSegment {
    /// The platform's name, such as `docker`.
    pub name: String,
    /// Options of this platform, such as `runtime=crun`.
    pub options: BTreeMap<String, String>,
}

/// The option that is written behind the name, `ssh:HOST`, rather than as `host=HOST`.
const HOST: &str = "host";

/// Where a workload runs: a platform, or platforms nested in one another,
/// outermost first (`vm/docker` is Docker inside a VM).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PlatformPath {
    segments: Vec<PlatformSegment>,
}

impl PlatformPath {
    /// The platforms of the path, outermost first; never empty.
    pub fn segments(&self) -> &[PlatformSegment] {
        &self.segments
    }

    /// The path around the innermost platform, if there is one, and that platform.
    pub fn split_last(&self) -> (Option<Self>, &PlatformSegment) {
        let (last, around) = self.segments.split_last().expect("a path has a segment");
        let around = (!around.is_empty()).then(|| Self {
            segments: around.to_vec(),
        });
        (around, last)
    }

    /// The same path with an option of the innermost platform.
    #[must_use]
    pub fn with_option(&self, key: &str, value: &str) -> Self {
        let mut path = self.clone();
        if let Some(last) = path.segments.last_mut() {
            last.options.insert(key.to_owned(), value.to_owned());
        }
        path
    }

    /// Whether the innermost platform has an option of its own here.
    pub fn has_option(&self, key: &str) -> bool {
        self.split_last().1.options.contains_key(key)
    }

    /// The other host that it names, if it names one.
    pub fn host(&self) -> Option<&str> {
        let mut segments = self.segments.iter();
        segments
            .find_map(|segment| segment.options.get(HOST))
            .map(String::as_str)
    }

    /// A form with letters, digits and dashes only, for names of boxes: it is safe in file names.
    pub fn slug(&self) -> String {
        self.to_string()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect()
    }
}

impl fmt::Display for PlatformPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.segments.iter().enumerate() {
            if i > 0 {
                f.write_str("/")?;
            }
            f.write_str(&segment.name)?;
            if let Some(host) = segment.options.get(HOST) {
                write!(f, ":{host}")?;
            }
            let others = segment.options.iter().filter(|(key, _)| *key != HOST);
            for (j, (key, value)) in others.enumerate() {
                write!(f, "{}{key}={value}", if j == 0 { '?' } else { '&' })?;
            }
        }
        Ok(())
    }
}

impl FromStr for PlatformPath {
    type Err = PlatformPathError;

    fn from_str(text: &str) -> Result<Self, PlatformPathError> {
        let segments = text.split('/').map(segment).collect::<Result<Vec<_>, _>>();
        segments
            .map(|segments| Self { segments })
            .map_err(|why| PlatformPathError {
                text: text.to_owned(),
                why,
            })
    }
}

fn segment(text: &str) -> Result<PlatformSegment, &'static str> {
    let (head, options) = text.split_once('?').map_or((text, None), |(n, o)| (n, Some(o)));
    let (name, host) = head.split_once(':').map_or((head, None), |(n, h)| (n, Some(h)));
    if !is_word(name) {
        return Err("a name is lower-case letters, digits and dashes, at most 32");
    }
    let mut map = BTreeMap::new();
    map.extend(host.map(|host| (HOST.to_owned(), host.to_owned())));
    for pair in options.into_iter().flat_map(|o| o.split('&')) {
        let (key, value) = pair.split_once('=').ok_or("an option is key=value")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "._:+-".contains(c);
        if !is_word(key) || value.is_empty() || value.len() > 128 || !value.chars().all(plain) {
            return Err("an option is key=value, of letters, digits and . _ : + -");
        }
        if map.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err("an option is given twice");
        }
    }
    if map.get(HOST).is_some_and(|host| !is_host(host)) {
        return Err(
            "a host is HOST or USER@HOST, each of letters, digits and . _ -, beginning with a letter or digit",
        );
    }
    Ok(PlatformSegment {
        name: name.to_owned(),
        options: map,
    })
}

fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    text.len() <= 32
        && chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

impl From<PlatformSegment> for PlatformPath {
    fn from(segment: PlatformSegment) -> Self {
        Self {
            segments: vec![segment],
        }
    }
}

/// Whether a text is a host, or a user at one. It becomes an argument of a
/// program: neither part may look like an option.
fn is_host(text: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let (user, host) = text.split_once('@').map_or((None, text), |(u, h)| (Some(u), h));
    text.len() <= 128 && is_name(host) && user.is_none_or(is_name)
}

impl From<PlatformPath> for String {
    fn from(path: PlatformPath) -> Self {
        path.to_string()
    }
}

impl TryFrom<String> for PlatformPath {
    type Error = PlatformPathError;

    fn try_from(text: String) -> Result<Self, PlatformPathError> {
        text.parse()
    }
}

/// How CPUs are granted to a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provisioning {
    /// A quota of CPU time on any of the host's CPUs.
    Vanilla,
    /// A fixed set of CPUs, without a quota.
    Pinned,
}

impl Provisioning {
    /// Every way to grant CPUs.
    pub const ALL: [Self; 2] = [Self::Vanilla, Self::Pinned];
}

impl fmt::Display for Provisioning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vanilla => "vanilla",
            Self::Pinned => "pinned",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_read_and_printed_alike() {
        for text in [
            "native",
            "vm/docker",
            "fake?cost=1.1&hang=hello",
            "docker?runtime=crun",
            "ssh:box",
            "ssh:me@box-1.example.org/docker?runtime=crun",
            "ssh:box?a=1&z=2",
        ] {
            assert_eq!(text.parse::<PlatformPath>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_option_is_that_of_the_innermost_platform() {
        let path: PlatformPath = "vm/docker?runtime=crun".parse().unwrap();
        let other = path.with_option("network", "host");
        assert_eq!(other.to_string(), "vm/docker?network=host&runtime=crun");
        assert!(other.has_option("network") && !path.has_option("network"));
    }

    #[test]
    fn hostile_names_are_refused() {
        for text in [
            "",
            "/",
            "../x",
            "a;b",
            "a\nb",
            "A",
            "docker?",
            "docker?x",
            "docker?x=a b",
            "a//b",
            "docker?x=1&x=2",
            "ssh:",
            "ssh:-oProxyCommand=x",
            "ssh:me@-oProxyCommand",
            "ssh:-l@box",
            "ssh:../x",
            "ssh:a;b",
            "ssh:a b",
            "ssh:a\nb",
            "ssh:a:22",
            "ssh:a@b@c",
            "ssh:$(x)",
            "ssh?host=-x",
            "ssh:a?host=b",
        ] {
            assert!(text.parse::<PlatformPath>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_host_is_an_option_that_is_written_behind_the_name() {
        let path: PlatformPath = "ssh?host=box".parse().unwrap();
        assert_eq!(path.to_string(), "ssh:box");
        assert_eq!(path.split_last().1.options["host"], "box");
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_survives_a_round_trip(text in "[a-z/?=&.;:@A-Z0-9-]{0,40}") {
            if let Ok(path) = text.parse::<PlatformPath>() {
                prop_assert_eq!(path.to_string().parse::<PlatformPath>().unwrap(), path);
            }
        }
    }
}
