//! What sets a container apart from its host, as options of its path: the filter
//! of system calls, capabilities and the user namespace. Each can be turned off or
//! on by itself, so that a study can tell what it costs.

use super::registry::Options;
use super::{BoxError, BoxSpec, copy_binary};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

/// The names of the options, which are also those of the details that tell of them.
pub(super) const OPTIONS: [&str; 3] = ["seccomp", "capabilities", "userns"];

/// The first user of the host that a user namespace is mapped to: beyond those that
/// distributions give to people, and a multiple of the number of users, which nspawn asks for.
pub(super) const FIRST_USER: u32 = 16 * USERS;
/// Users of a user namespace: as many as 16 bits can tell apart, as everywhere.
pub(super) const USERS: u32 = 1 << 16;

/// Names of capabilities, by number.
const NAMES: [&str; 41] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
];

/// The capabilities that every engine knows, as a set: those before Linux 5.8.
const OF_OLD: u64 = (1 << 38) - 1;

/// A filter of system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seccomp {
    /// The engine's own.
    Default,
    /// The profile that LXC brings for its containers, which boxes do not use by default.
    Common,
    /// None.
    Off,
}

impl Seccomp {
    const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Common => "common",
            Self::Off => "off",
        }
    }
}

/// What the first process of a box may do as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capabilities {
    /// The engine's choice.
    Default,
    /// Whatever root has on this host.
    All,
    /// Nothing.
    None,
}

impl Capabilities {
    const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::All => "all",
            Self::None => "none",
        }
    }
}

/// The values that a platform has, its own choice first; an option without values
/// does not exist.
pub(super) struct Offer {
    pub seccomp: &'static [Seccomp],
    pub capabilities: &'static [Capabilities],
    pub userns: bool,
}

/// What is in force in a platform's boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Security {
    /// The filter of system calls.
    pub seccomp: Seccomp,
    /// Capabilities of the first process.
    pub capabilities: Capabilities,
    /// Whether root in the box is another user of the host; `None` where the engine
    /// decides.
    pub userns: Option<bool>,
}

impl Security {
    /// Takes the three options out of those of a path.
    pub(super) fn take(options: &mut Options, offer: &Offer) -> Result<Self, String> {
        let switch: &[bool] = if offer.userns { &[false, true] } else { &[] };
        Ok(Self {
            seccomp: chosen(options, "seccomp", offer.seccomp, Seccomp::name)?.unwrap_or(Seccomp::Default),
            capabilities: chosen(options, "capabilities", offer.capabilities, Capabilities::name)?
                .unwrap_or(Capabilities::Default),
            userns: chosen(options, "userns", switch, on_off)?,
        })
    }

    /// What a report is to tell of it.
    pub(super) fn details(&self) -> impl Iterator<Item = (String, String)> {
        let values = [
            Some(self.seccomp.name()),
            Some(self.capabilities.name()),
            self.userns.map(on_off),
        ];
        let told = OPTIONS.into_iter().zip(values);
        told.filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())))
    }

    /// Whether the box has a user namespace.
    pub(super) fn has_userns(&self) -> bool {
        self.userns == Some(true)
    }

    /// Gives a box's root to the user that is root in the box, and lets that user
    /// pass through the folders of the box and of the run.
    pub(super) fn own(&self, spec: &BoxSpec, rootfs: &Path) -> Result<(), BoxError> {
        if !self.has_userns() {
            return Ok(());
        }
        let binary = rootfs.join("tare");
        if binary.exists() {
            // It may be a link, which would change hands in every box.
            fs::remove_file(&binary).map_err(BoxError::host(format!("remove {}", binary.display())))?;
            copy_binary(&spec.binary, &binary)?;
        }
        give_away(rootfs).map_err(BoxError::host(format!(
            "change the owner of {}",
            rootfs.display()
        )))?;
        for folder in [&spec.scratch, &spec.scratch.join(&spec.name)] {
            let mode = fs::Permissions::from_mode(0o711);
            fs::set_permissions(folder, mode)
                .map_err(BoxError::host(format!("open {}", folder.display())))?;
        }
        passable(&spec.scratch)
    }
}

/// Takes an option out of those of a path; its first value where it is not given.
fn chosen<T: Copy>(
    options: &mut Options,
    key: &'static str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Option<T>, String> {
    let Some(first) = all.first() else {
        return Ok(None);
    };
    Ok(Some(options.choose(key, all, name)?.unwrap_or(*first)))
}

const fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Takes the details of these options out of those of a box around another: it has
/// the rights that it needs to hold one.
pub(super) fn forget(details: &mut BTreeMap<String, String>) {
    details.retain(|key, _| !OPTIONS.contains(&key.as_str()));
}

/// Changes the owner of a folder and of what is in it.
fn give_away(path: &Path) -> std::io::Result<()> {
    chown(path, Some(FIRST_USER), Some(FIRST_USER))?;
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            give_away(&entry?.path())?;
        }
    }
    Ok(())
}

/// Fails if a folder on the way is closed to other users. None that is not the
/// run's own is opened without being asked.
fn passable(folder: &Path) -> Result<(), BoxError> {
    let closed = folder
        .ancestors()
        .find(|above| fs::metadata(above).is_ok_and(|m| m.mode() & 0o001 == 0));
    closed.map_or(Ok(()), |above| {
        Err(BoxError::host(format!(
            "make a box with a user namespace: its root is user {FIRST_USER} of this host, to which {} is closed; \
             open it (chmod o+x) or choose another folder by --state-dir",
            above.display()
        ))(std::io::ErrorKind::PermissionDenied.into()))
    })
}

/// The capabilities that root has on this host, as a set: hosts that are
/// containers lack some.
pub(crate) fn of_host() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapBnd:"));
    line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .unwrap_or(u64::MAX)
}

/// The names of a set of capabilities.
pub(super) fn names(set: u64) -> Vec<&'static str> {
    let named = NAMES.into_iter().enumerate();
    named
        .filter(|(number, _)| set & (1 << number) != 0)
        .map(|(_, name)| name)
        .collect()
}

/// What to ask an engine for that shall grant all: its word for it, unless the host
/// lacks one, which engines take for a failure. Then by name those that every engine knows.
pub(super) fn all_by_engine(of_host: u64) -> Vec<String> {
    if of_host & OF_OLD == OF_OLD {
        return vec!["ALL".to_owned()];
    }
    let names = names(of_host & OF_OLD).into_iter();
    names
        .map(|name| name.trim_start_matches("CAP_").to_owned())
        .collect()
}

/// What is seen in a box that is not as was asked for; `host` are capabilities and
/// map of users of the host.
pub(crate) fn broken(asked: Security, seen: &Seen<'_>, host: &Seen<'_>) -> Option<String> {
    let filter = match asked.seccomp {
        Seccomp::Default => None,
        Seccomp::Common => Some(true),
        Seccomp::Off => Some(false),
    };
    if filter.is_some_and(|due| seen.filtered != Some(due)) {
        return Some(format!(
            "seccomp={} was asked for, and a filter is there: {:?}",
            asked.seccomp.name(),
            seen.filtered
        ));
    }
    let missing = host.capabilities.unwrap_or(0) & OF_OLD & !seen.capabilities.unwrap_or(0);
    let granted = match asked.capabilities {
        Capabilities::Default => true,
        Capabilities::All => missing == 0,
        Capabilities::None => seen.capabilities == Some(0),
    };
    if !granted {
        return Some(format!(
            "capabilities={} was asked for, and the agent has {:?} where the host has {:?}",
            asked.capabilities.name(),
            seen.capabilities.map(names),
            host.capabilities.map(names)
        ));
    }
    let mapped = seen.uid_map != host.uid_map;
    asked.userns.filter(|due| *due != mapped).map(|due| {
        format!(
            "userns={} was asked for, and the map of users is {:?} where the host's is {:?}",
            on_off(due),
            seen.uid_map,
            host.uid_map
        )
    })
}

/// What a process sees of these mechanisms.
pub(crate) struct Seen<'a> {
    pub filtered: Option<bool>,
    pub capabilities: Option<u64>,
    pub uid_map: Option<&'a str>,
}

impl fmt::Display for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filter = self.filtered.map_or("unknown", on_off);
        let capabilities = self.capabilities.map_or_else(
            || "unknown".to_owned(),
            |set| format!("{} capabilities", set.count_ones()),
        );
        let users = self.uid_map.unwrap_or("unknown");
        write!(f, "seccomp {filter}, {capabilities}, users {users}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: Offer = Offer {
        seccomp: &[Seccomp::Default, Seccomp::Off],
        capabilities: &[Capabilities::Default, Capabilities::All, Capabilities::None],
        userns: false,
    };

    fn options(given: &[(&str, &str)]) -> Options {
        let owned = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Options::new(owned.collect())
    }

    #[test]
    fn what_is_not_given_is_the_platforms_own_choice() {
        let security = Security::take(&mut options(&[]), &OFFER).unwrap();
        let told: BTreeMap<_, _> = security.details().collect();
        let due = [("seccomp", "default"), ("capabilities", "default")];
        assert_eq!(told, due.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    }

    #[test]
    fn unknown_values_are_refused_with_those_that_there_are() {
        let refused = Security::take(&mut options(&[("seccomp", "no")]), &OFFER).unwrap_err();
        assert!(refused.contains("default, off"), "{refused}");
    }

    #[test]
    fn an_option_that_is_not_offered_is_refused_with_those_that_there_are() {
        let mut given = options(&[("userns", "on")]);
        assert!(Security::take(&mut given, &OFFER).is_ok());
        let refused = given.none().unwrap_err();
        assert!(refused.contains("capabilities, seccomp"), "{refused}");
    }

    #[test]
    fn capabilities_have_their_names() {
        assert_eq!(
            names(1 << 21 | 1 << 40),
            ["CAP_SYS_ADMIN", "CAP_CHECKPOINT_RESTORE"]
        );
        assert_eq!(all_by_engine(u64::MAX), ["ALL"]);
        let short = all_by_engine((1 << 41) - 1 - (1 << 24));
        assert!(short.len() == 37 && short.iter().all(|name| name != "SYS_RESOURCE" && name != "BPF"));
    }

    #[test]
    fn what_is_seen_is_held_against_what_was_asked() {
        let host = Seen {
            filtered: Some(false),
            capabilities: Some(0b111),
            uid_map: Some("0 0 4294967295"),
        };
        let asked = |given: &[(&str, &str)], userns| {
            Security::take(&mut options(given), &Offer { userns, ..OFFER }).unwrap()
        };
        let kept = |asked, seen: &Seen<'_>| broken(asked, seen, &host).is_none();
        let seen = Seen {
            filtered: Some(true),
            capabilities: Some(0b011),
            uid_map: Some("0 1048576 65536"),
        };
        assert!(kept(asked(&[], false), &seen));
        assert!(!kept(asked(&[("seccomp", "off")], false), &seen));
        assert!(!kept(asked(&[("capabilities", "all")], false), &seen));
        assert!(!kept(asked(&[("capabilities", "none")], false), &seen));
        assert!(kept(asked(&[("userns", "on")], true), &seen) && !kept(asked(&[], true), &seen));
        assert!(kept(
            asked(&[("capabilities", "all"), ("seccomp", "off")], true),
            &host
        ));
    }
}
