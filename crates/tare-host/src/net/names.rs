//! Names of what is made in the host's network. A name of a link has 15
//! characters at most: that of a run fits, that of a box does not.

/// The hex digits of a run's name.
fn id_of(run: &str) -> Option<&str> {
    let id = run.strip_prefix("tare-")?;
    (id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit())).then_some(id)
}

/// The number that marks the routing rules of a run.
pub(super) fn mark_of(run: &str) -> Option<u32> {
    u32::from_str_radix(id_of(run)?, 16).ok()
}

/// The link of the host that leads to a box of this name; `None` if it is no
/// name that a run gives.
pub(super) fn port_of(name: &str) -> Option<String> {
    let number = number_of(name)?;
    let id = id_of(name.rsplit_once('-')?.0)?;
    (number <= 0xf_ffff).then(|| format!("t{id}-{number:x}"))
}

/// The two links that give a run's bridge a carrier.
pub(super) fn carrier_of(run: &str) -> Option<[String; 2]> {
    let id = id_of(run)?;
    Some([format!("u{id}-in"), format!("u{id}-out")])
}

/// The link that leads from the host into the network that a check of a run makes beside
/// the bridge.
pub(super) fn beside_of(run: &str) -> Option<String> {
    Some(format!("w{}", id_of(run)?))
}

/// Whether a link of the host leads to the box of this name, or to one of the run
/// of this name.
pub fn leads_to(link: &str, name: &str) -> bool {
    let of_run = || Some(format!("t{}-", id_of(name)?));
    port_of(name).is_some_and(|port| port == link) || of_run().is_some_and(|ports| link.starts_with(&ports))
}

/// The number of a box within its run, by its name.
pub(super) fn number_of(name: &str) -> Option<u32> {
    name.rsplit_once('-')?.1.parse().ok()
}

/// Those of these links that are a run's.
pub(super) fn of_run(run: &str, links: Vec<String>) -> Vec<String> {
    links.into_iter().filter(|link| is_of_run(run, link)).collect()
}

/// Whether a link is a run's: its bridge with its carrier, what leads to its boxes, or beside.
pub(super) fn is_of_run(run: &str, link: &str) -> bool {
    let Some(carrier) = carrier_of(run) else {
        return false;
    };
    let is_beside = beside_of(run).is_some_and(|beside| beside == link);
    link == run || is_beside || carrier.iter().any(|end| end == link) || leads_to(link, run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_tell_the_run_and_the_box() {
        assert_eq!(port_of("tare-1234abcd-12").as_deref(), Some("t1234abcd-c"));
        assert_eq!(port_of("tare-1234abcd-1048575").map(|name| name.len()), Some(15));
        for name in [
            "tare-1234abcd-1048576",
            "tare-probe12",
            "tare-1234abcd",
            "tare-12-1",
            "",
        ] {
            assert_eq!(port_of(name), None, "{name}");
        }
    }

    #[test]
    fn only_links_of_the_run_are_taken() {
        let links = [
            "lo",
            "tare-1234abcd",
            "t1234abcd-1",
            "t1234abce-1",
            "tare-1234abce",
            "t1234abcd",
            "u1234abcd-out",
            "u1234abce-in",
            "w1234abcd",
            "w1234abce",
        ];
        let found = of_run("tare-1234abcd", links.map(str::to_owned).to_vec());
        assert_eq!(
            found,
            ["tare-1234abcd", "t1234abcd-1", "u1234abcd-out", "w1234abcd"]
        );
        assert_eq!(of_run("tare-", vec!["t-".to_owned()]), Vec::<String>::new());
    }

    #[test]
    fn a_link_leads_to_one_box_and_its_run() {
        assert!(leads_to("t1234abcd-c", "tare-1234abcd-12") && leads_to("t1234abcd-c", "tare-1234abcd"));
        assert!(!leads_to("t1234abcd-c", "tare-1234abcd-1") && !leads_to("tare-1234abcd", "tare-1234abcd"));
    }
}
