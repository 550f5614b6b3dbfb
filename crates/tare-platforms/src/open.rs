//! From a path to the platforms in it.

use super::architecture::Architecture;
use super::contract::{Platform, QuotaView, Storage};
use super::options::Options;
use super::registry::{Entry, entry, inner_names, meant};
use super::{native, nested, security};
use std::path::Path;
use tare_host::net::Network;
use tare_model::platform::{PlatformPath, PlatformSegment};

/// Why a platform path cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// No platform has this name.
    #[error("unknown platform '{name}': {} ('tare doctor' lists those that can run here)", meant(.0), name = .0)]
    Unknown(String),
    /// An inner platform that needs more than its programs.
    #[error(
        "platform '{path}': {inner} cannot run inside another box: those that can are {possible}",
        possible = inner_names()
    )]
    Nested {
        path: PlatformPath,
        /// The inner platform.
        inner: String,
    },
    /// A platform on another host, of which only its own host can tell the truth.
    #[error(
        "platform '{path}': the CPU limit of {inner} can only be proven by the counters of the remote host, which cannot be read from here: run tare on that host"
    )]
    Untold {
        path: PlatformPath,
        /// The inner platform.
        inner: String,
    },
    /// An option that the platform does not have, or a bad value.
    #[error("platform '{path}': {detail}")]
    Option {
        path: PlatformPath,
        /// What is wrong and what would be right.
        detail: String,
    },
}

impl OpenError {
    /// What is wrong, without the path where the path is at hand.
    pub fn detail(&self) -> String {
        match self {
            Self::Option { detail, .. } => detail.clone(),
            other => other.to_string(),
        }
    }
}

/// What is meant by a host alone.
const ON_HOST: &str = "native";

/// Whether boxes of this path are processes on this host which nothing keeps from it.
pub fn isolates_nothing(path: &PlatformPath) -> bool {
    matches!(path.segments(), [only] if only.name == ON_HOST)
}

/// The platform of what runs outside of the boxes that are compared: this host itself.
pub fn on_this_host() -> Box<dyn Platform> {
    Box::new(native::Native::OUTSIDE)
}

/// Opens the platform of a path, with its options checked. Touches nothing.
///
/// # Errors
/// [`OpenError`].
pub fn open(path: &PlatformPath, cache: &Path) -> Result<Box<dyn Platform>, OpenError> {
    let (outer_path, innermost) = path.split_last();
    let inner = single(path, innermost, cache)?;
    let Some(outer_path) = outer_path else {
        if !inner.is_host() {
            return Ok(inner);
        }
        let native: PlatformPath = ON_HOST.parse().expect("a name of the registry");
        let process = open(&native, cache)?;
        return nest(path, (inner, path.clone()), (process, native));
    };
    // A host by itself, not the process on it that its name alone stands for.
    let outer = match outer_path.segments() {
        [host] => single(path, host, cache)?,
        _ => open(&outer_path, cache)?,
    };
    nest(path, (outer, outer_path), (inner, innermost.clone().into()))
}

/// The inner platform in the outer one, if that can be.
fn nest(
    path: &PlatformPath,
    (outer, outer_path): (Box<dyn Platform>, PlatformPath),
    (inner, inner_path): (Box<dyn Platform>, PlatformPath),
) -> Result<Box<dyn Platform>, OpenError> {
    let name = inner_path.split_last().1.name.clone();
    let possible = |entry: &Entry| entry.inner || (outer.is_host() && entry.real && !inner.is_host());
    let path = path.clone();
    if !entry(&name).is_some_and(possible) {
        return Err(OpenError::Nested { path, inner: name });
    }
    let around = outer_path.split_last().1;
    let chosen = security::OPTIONS
        .into_iter()
        .chain([Storage::OPTION, Architecture::OPTION])
        .find(|key| around.options.contains_key(*key));
    if let Some(key) = chosen {
        let detail = format!(
            "option '{key}' is for boxes in which work runs: {} only contains another box and gets what it needs for that",
            around.name
        );
        return Err(OpenError::Option { path, detail });
    }
    let network = inner_path.split_last().1.options.get(Network::OPTION);
    let is_had = |value: &&String| Network::OF_INNER.iter().any(|able| able.name() == *value);
    if let Some(value) = network.filter(|value| !is_had(value)) {
        return Err(OpenError::Option {
            path,
            detail: format!(
                "{name} inside another box has no network={value}: choose network=none or network=host"
            ),
        });
    }
    if outer.is_host() && inner.quota_view() == QuotaView::HostOnly {
        return Err(OpenError::Untold { path, inner: name });
    }
    let shares_network = network.is_some_and(|value| value == Network::Host.name()) || name == ON_HOST;
    Ok(Box::new(nested::Nested {
        shares_network,
        outer,
        outer_path,
        inner,
        inner_path,
    }))
}

fn single(
    path: &PlatformPath,
    segment: &PlatformSegment,
    cache: &Path,
) -> Result<Box<dyn Platform>, OpenError> {
    let option = |detail: String| OpenError::Option {
        path: path.clone(),
        detail,
    };
    let entry = entry(&segment.name).ok_or_else(|| OpenError::Unknown(segment.name.clone()))?;
    (entry.open)(Options::new(segment.options.clone()), cache).map_err(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_do_not_exist_are_refused() {
        for path in [
            "firecracker?x=1",
            "cloud-hypervisor?kernel=6.1",
            "vmware?type=esx",
            "vmware?types=ws",
        ] {
            let opened = open(&path.parse().unwrap(), Path::new("/none"));
            assert!(matches!(opened, Err(OpenError::Option { .. })), "{path}");
        }
        assert!(open(&"vmware?type=player".parse().unwrap(), Path::new("/none")).is_ok());
    }

    #[test]
    fn a_guest_of_another_cpu_is_emulated_on_its_own_machine() {
        let refused = |path: &str| match open(&path.parse().unwrap(), Path::new("/none")) {
            Err(OpenError::Option { detail, .. }) => detail,
            other => panic!("{path}: {:?}", other.err()),
        };
        let [here, other] = Architecture::ALL.map(Architecture::name);
        assert!(refused(&format!("vm?arch={other}&accel=kvm")).ends_with("omit accel"));
        assert!(
            refused(&format!("vm?arch={other}&machine=fast")).contains("is not a value of option 'machine'")
        );
        assert!(
            refused(&format!("vm?arch={other}/runc"))
                .starts_with("option 'arch' is for boxes in which work runs")
        );
        assert!(refused("vm?arch=mips").ends_with(&format!("choose one of {here}, {other}")));
        for path in [
            format!("vm?arch={other}&accel=tcg"),
            format!("vm?arch={here}"),
            format!("libvirt?arch={other}"),
        ] {
            assert!(open(&path.parse().unwrap(), Path::new("/none")).is_ok(), "{path}");
        }
    }

    #[test]
    fn a_network_that_a_platform_cannot_give_is_refused_with_those_that_it_can() {
        let refused = |path: &str, able: &str| match open(&path.parse().unwrap(), Path::new("/none")) {
            Err(OpenError::Option { detail, .. }) => assert!(detail.ends_with(able), "{path}: {detail}"),
            other => panic!("{path}: {:?}", other.err()),
        };
        refused(
            "runc?network=internet",
            "choose one of none, host, bridge, macvlan",
        );
        refused(
            "docker?network=macvlan",
            "choose one of none, host, bridge, published",
        );
        refused("native?network=none", "choose one of host, bridge");
        refused("runsc?network=bridge", "choose one of none, host");
        refused("vm?network=host", "choose one of none, bridge");
        refused("libvirt?network=bridge", "choose one of none");
        refused("vm/runc?network=bridge", "choose network=none or network=host");
        for path in [
            "native?network=host",
            "native?network=bridge",
            "docker?network=bridge",
            "vm?network=bridge/runc?network=host",
        ] {
            assert!(open(&path.parse().unwrap(), Path::new("/none")).is_ok(), "{path}");
        }
    }
}
