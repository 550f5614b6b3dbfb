//! What sets a container apart from its host, as options of its path. Each can be
//! turned off or on by itself, so that a study can tell what it costs.

pub(super) use super::contract::security::{FIRST_USER, USERS};
use super::contract::security::{OF_OLD, capability_names, on_off};
use super::contract::{BoxError, BoxSpec, Capabilities, Seccomp, Security, Support};
use super::image_root;
use super::options::Options;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use tare_host::host;
use tare_host::net::Network;

/// The names of the options, which are also those of the details that tell of them.
pub(super) const OPTIONS: [&str; 4] = ["seccomp", "capabilities", "userns", "pidns"];

/// The first kernel whose overlays have layers with other owners.
const OTHER_OWNERS: (u32, u32) = (5, 19);

/// Capabilities that a container's first process needs to make containers in turn,
/// beyond those that containers usually have.
pub(super) const TO_HOLD_BOXES: [&str; 3] = ["CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_SYS_PTRACE"];

/// The values that a platform has, its own choice first; an option without values
/// does not exist.
pub(super) struct Offer {
    pub seccomp: &'static [Seccomp],
    pub capabilities: &'static [Capabilities],
    pub userns: bool,
    pub pidns: bool,
}

impl Security {
    /// Takes the three options out of those of a path.
    pub(super) fn take(options: &mut Options, offer: &Offer) -> Result<Self, String> {
        let of = |is_offered: bool, values: &'static [bool]| if is_offered { values } else { &[] };
        Ok(Self {
            seccomp: chosen(options, "seccomp", offer.seccomp, Seccomp::name)?.unwrap_or(Seccomp::Default),
            capabilities: chosen(options, "capabilities", offer.capabilities, Capabilities::name)?
                .unwrap_or(Capabilities::Default),
            userns: chosen(options, "userns", of(offer.userns, &[false, true]), on_off)?,
            pidns: chosen(options, "pidns", of(offer.pidns, &[true, false]), on_off)?,
        })
    }

    /// The same in a box with this network, which a link of tare's ties to the host: whoever may
    /// rule networks in the host's user namespace could rule the host's through it.
    #[must_use]
    pub(super) fn tied_by(mut self, network: Network) -> Self {
        let is_tied = matches!(network, Network::Bridge | Network::Macvlan);
        if is_tied && self.capabilities == Capabilities::All && !self.has_userns() {
            self.capabilities = Capabilities::AllButNetwork;
        }
        self
    }

    /// What a report is to tell of it.
    pub(super) fn details(&self) -> impl Iterator<Item = (String, String)> {
        let values = [
            Some(self.seccomp.name()),
            Some(self.capabilities.name()),
            self.userns.map(on_off),
            self.pidns.map(on_off),
        ];
        let told = OPTIONS.into_iter().zip(values);
        told.filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())))
    }

    /// Why such boxes cannot have an image as their root.
    pub(super) fn supports_image(&self) -> Support {
        if self.has_userns() && release(&host::facts().kernel) < OTHER_OWNERS {
            return Err(
                "the files of an image belong to the host's root, and other owners in an overlay need Linux 5.19: omit userns=on",
            );
        }
        Ok(())
    }

    /// Whether the box has a user namespace.
    pub(super) fn has_userns(&self) -> bool {
        self.userns == Some(true)
    }

    /// Whether the box sees the host's processes.
    pub(super) fn shares_processes(&self) -> bool {
        self.pidns == Some(false)
    }

    /// Gives a box's root to the user that is root in the box, and lets that user
    /// pass through the folders of the box and of the run.
    pub(super) fn own_root(&self, spec: &BoxSpec, rootfs: &Path) -> Result<(), BoxError> {
        let directory = spec.scratch.join(&spec.name);
        match spec.root_image() {
            Some(_) => self.give(spec, rootfs, |rootfs| image_root::give_made(&directory, rootfs)),
            None => self.own(spec, rootfs),
        }
    }

    /// The same of a folder that belongs to the host's root with all that is in it.
    pub(super) fn own(&self, spec: &BoxSpec, folder: &Path) -> Result<(), BoxError> {
        self.give(spec, folder, give_away)
    }

    fn give(
        &self,
        spec: &BoxSpec,
        folder: &Path,
        give: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), BoxError> {
        if !self.has_userns() {
            return Ok(());
        }
        free_users()?;
        give(folder).map_err(BoxError::host(format!(
            "change the owner of {}",
            folder.display()
        )))?;
        for folder in [&spec.scratch, &spec.scratch.join(&spec.name)] {
            // To the group of that user alone: what a box makes may change the user of whoever runs it.
            let mode = fs::Permissions::from_mode(0o710);
            chown(folder, None, Some(FIRST_USER))
                .and_then(|()| fs::set_permissions(folder, mode))
                .map_err(BoxError::host(format!("open {}", folder.display())))?;
        }
        spec.scratch.parent().map_or(Ok(()), passable)
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

/// Takes the details of these options out of those of a box around another: it has
/// the rights that it needs to hold one.
pub(super) fn forget(details: &mut BTreeMap<String, String>) {
    details.retain(|key, _| !OPTIONS.contains(&key.as_str()));
}

/// The first two numbers of a kernel's release.
fn release(kernel: &str) -> (u32, u32) {
    let mut numbers = kernel.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or_default();
    (next(), next())
}

/// Fails if users of a user namespace belong to a person of the host by `/etc/subuid`,
/// `/etc/subgid` (subuid(5)): root in the box would be at that person's hand.
fn free_users() -> Result<(), BoxError> {
    for file in ["/etc/subuid", "/etc/subgid"] {
        let text = fs::read_to_string(file).unwrap_or_default();
        if let Some(owner) = owner_of_users(&text) {
            let owner: String = owner.escape_debug().collect();
            let why = format!(
                "{file} gives users of {FIRST_USER} to {} to {owner}, who would control root of the box; give {owner} other ranges (usermod --del-subuids, --add-subuids, the same with subgids), or omit userns=on",
                FIRST_USER + USERS - 1
            );
            return Err(BoxError::host("make a box with a user namespace")(
                std::io::Error::other(why),
            ));
        }
    }
    Ok(())
}

/// Who has any of the users of a user namespace by the lines of such a file. Root has them
/// anyway, and nobody is `containers`, by whose name Podman takes users for root's containers.
fn owner_of_users(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let mut parts = line.trim().split(':');
        let (owner, first, count) = (parts.next()?, parts.next()?, parts.next()?);
        let (first, count): (u64, u64) = (first.parse().ok()?, count.parse().ok()?);
        let beyond = u64::from(FIRST_USER + USERS);
        let has_any = first < beyond && first.saturating_add(count) > u64::from(FIRST_USER);
        (has_any && !["root", "0", "containers"].contains(&owner)).then_some(owner)
    })
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
            "make a box with a user namespace: its root is user {FIRST_USER} of this host, which cannot enter {}; open it (chmod o+x) or choose another folder with --state-dir",
            above.display()
        ))(std::io::ErrorKind::PermissionDenied.into()))
    })
}

/// What to ask an engine for that shall grant all: its word for it, unless the host
/// lacks one, which engines take for a failure. Then by name those that every engine knows.
pub(super) fn all_by_engine(of_host: u64) -> Vec<String> {
    if of_host & OF_OLD == OF_OLD {
        return vec!["ALL".to_owned()];
    }
    let names = capability_names(of_host & OF_OLD).into_iter();
    names
        .map(|name| name.trim_start_matches("CAP_").to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::contract::security::{ObservedSecurity, broken};
    use super::*;

    #[test]
    fn a_kernel_is_old_by_its_first_two_numbers() {
        assert_eq!(release("6.18.44-fc-v509"), (6, 18));
        assert!(release("5.4.0-200-generic") < OTHER_OWNERS && release("5.19-rc1") >= OTHER_OWNERS);
        assert_eq!(release("unknown"), (0, 0));
    }

    const OFFER: Offer = Offer {
        seccomp: &[Seccomp::Default, Seccomp::Off],
        capabilities: &[Capabilities::Default, Capabilities::All, Capabilities::None],
        userns: false,
        pidns: false,
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
            capability_names(1 << 21 | 1 << 40),
            ["CAP_SYS_ADMIN", "CAP_CHECKPOINT_RESTORE"]
        );
        assert_eq!(all_by_engine(u64::MAX), ["ALL"]);
        let short = all_by_engine((1 << 41) - 1 - (1 << 24));
        assert!(short.len() == 37 && short.iter().all(|name| name != "SYS_RESOURCE" && name != "BPF"));
    }

    #[test]
    fn users_of_a_person_are_not_given_to_boxes() {
        let kept = "root:1048576:65536\n0:0:4294967295\ncontainers:1048576:1048576\n\
                    ann:100000:65536\nbob:1114112:65536\nbroken\nx:y:z\n:::\n";
        assert_eq!(owner_of_users(kept), None);
        assert_eq!(owner_of_users(&format!("{kept}ann:1000000:65536")), Some("ann"));
        assert_eq!(owner_of_users("1000:1114111:1"), Some("1000"));
        assert_eq!(owner_of_users("eve:1:18446744073709551615"), Some("eve"));
    }

    #[test]
    fn what_is_seen_is_held_against_what_was_asked() {
        let host = ObservedSecurity {
            filtered: Some(false),
            capabilities: Some(0b111),
            uid_map: Some("0 0 4294967295"),
            own_processes: None,
        };
        let asked = |given: &[(&str, &str)], userns| {
            Security::take(&mut options(given), &Offer { userns, ..OFFER }).unwrap()
        };
        let kept = |asked, seen: &ObservedSecurity<'_>| broken(asked, seen, &host).is_none();
        let seen = ObservedSecurity {
            filtered: Some(true),
            capabilities: Some(0b011),
            uid_map: Some("0 1048576 65536"),
            own_processes: Some(true),
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
