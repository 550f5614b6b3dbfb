//! The places of a workload in which an address or a port of one of its servers stands:
//! `{address}` and `{port}` are of the server itself, `{db.address}` and `{db.port}` of the
//! server `db`, and `{worker.addresses}` and `{worker.endpoints}` are those of all workers.

use crate::placement::Placement;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use tare_model::workload::{Ready, Role, Run, Workload};

/// One such place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blank<'a> {
    /// The server; `None`: the one in whose words it stands.
    pub role: Option<&'a str>,
    /// What of it.
    pub part: AddressPart,
}

/// What is put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressPart {
    /// The IP address, without brackets.
    Address,
    /// The TCP port.
    Port,
    /// The IP addresses of several servers, with commas between.
    Addresses,
    /// The same with their ports, as `10.0.0.3:80`.
    Endpoints,
}

impl AddressPart {
    /// How they are written.
    pub const NAMES: [&'static str; 4] = ["address", "port", "addresses", "endpoints"];

    fn named(name: &str) -> Option<Self> {
        match name {
            "address" => Some(Self::Address),
            "port" => Some(Self::Port),
            "addresses" => Some(Self::Addresses),
            "endpoints" => Some(Self::Endpoints),
            _ => None,
        }
    }

    /// Whether it is of all servers of a role.
    pub const fn is_of_several(self) -> bool {
        matches!(self, Self::Addresses | Self::Endpoints)
    }

    /// What the servers there have; `None` without any.
    fn of(self, at: &[SocketAddr]) -> Option<String> {
        let first = at.first()?;
        let joined = |each: fn(&SocketAddr) -> String| at.iter().map(each).collect::<Vec<_>>().join(",");
        Some(match self {
            Self::Address => first.ip().to_string(),
            Self::Port => first.port().to_string(),
            Self::Addresses => joined(|at| at.ip().to_string()),
            Self::Endpoints => joined(SocketAddr::to_string),
        })
    }
}

impl<'a> Blank<'a> {
    /// What stands between two braces, if it is one.
    pub fn of(words: &'a str) -> Option<Self> {
        let (role, part) = match words.split_once('.') {
            Some((role, part)) => (Some(role), part),
            None => (None, words),
        };
        let part = AddressPart::named(part)?;
        // Of itself a server has one address.
        let is_one = role.map_or_else(|| !part.is_of_several(), is_name);
        is_one.then_some(Self { role, part })
    }
}

/// What stands before the next pair of braces around words that `is_one` takes, those words, and
/// what stands behind. Other braces are those of a script.
pub fn next_braces(word: &str, is_one: impl Fn(&str) -> bool) -> Option<(&str, &str, &str)> {
    let mut opens = word.match_indices('{').map(|(at, _)| at);
    opens.find_map(|at| {
        let (words, after) = word[at + 1..].split_once('}')?;
        is_one(words).then_some((&word[..at], words, after))
    })
}

/// The blanks of a word.
pub fn blanks(word: &str) -> impl Iterator<Item = Blank<'_>> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (_, words, after) = next_braces(rest, |words| Blank::of(words).is_some())?;
        rest = after;
        Blank::of(words)
    })
}

/// A word with its blanks filled; one of a server without an address is left as it is.
pub fn filled(word: &str, at: impl Fn(Option<&str>) -> Vec<SocketAddr>) -> String {
    let value = |words: &str| {
        let blank = Blank::of(words)?;
        blank.part.of(&at(blank.role))
    };
    let mut filled = String::new();
    let mut rest = word;
    while let Some((before, words, after)) = next_braces(rest, |words| value(words).is_some()) {
        filled += before;
        filled += &value(words).unwrap_or_default();
        rest = after;
    }
    filled + rest
}

/// The servers of a trial that serve.
#[derive(Debug, Default)]
pub struct Book(Vec<Entry>);

/// One of them.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The role that serves.
    pub name: String,
    /// The role of the workload file of which it is one of several.
    pub one_of: Option<String>,
    /// The box in which it serves.
    pub placement: Placement,
    /// Where it listens, which is where those in boxes find it.
    pub listens: SocketAddr,
    /// Where those on the host find it.
    pub found: SocketAddr,
}

impl Book {
    /// Adds a server that serves from now on.
    pub fn add(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Where the only server of a kernel is, as seen from its client's box.
    pub fn first(&self, from: &Placement) -> Option<SocketAddr> {
        self.seen(&self.0.first()?.name, from).pop()
    }

    /// Words of this role, which listens there if it is a server.
    pub fn filled(&self, words: &[String], role: &Role, own: Option<SocketAddr>) -> Vec<String> {
        let from = Placement::of(role);
        let at = |name: Option<&str>| match name {
            None => own.into_iter().collect(),
            Some(name) => self.seen(name, &from),
        };
        words.iter().map(|word| filled(word, at)).collect()
    }

    /// The environment of this role, likewise.
    pub fn environment(&self, role: &Role, own: Option<SocketAddr>) -> Vec<(String, String)> {
        let (names, values): (Vec<String>, Vec<String>) = role.env.iter().cloned().unzip();
        names.into_iter().zip(self.filled(&values, role, own)).collect()
    }

    /// Where the servers of this name are, as seen from this box.
    pub fn seen(&self, name: &str, from: &Placement) -> Vec<SocketAddr> {
        let at = |entry: &Entry| match from {
            Placement::Host if entry.placement != Placement::Host => entry.found,
            _ => entry.listens,
        };
        let named = |entry: &&Entry| entry.name == name || entry.one_of.as_deref() == Some(name);
        self.0.iter().filter(named).map(at).collect()
    }
}

/// The boxes other than its own out of which a server is talked to.
pub fn talked_to_from(workload: &Workload, server: &Role) -> BTreeSet<Placement> {
    let others = workload.roles.iter().filter(|role| talks_to(role, server));
    let mut placements: BTreeSet<Placement> = others.map(Placement::of).collect();
    placements.remove(&Placement::of(server));
    placements
}

/// Whether a role has to do with a server, as far as its words tell.
fn talks_to(role: &Role, server: &Role) -> bool {
    match &role.run {
        Run::Command(run) => {
            let asked = match &role.ready {
                Some(Ready::Command(argv)) => &argv[..],
                _ => &[],
            };
            let values = role.env.iter().map(|(_, value)| value);
            let words = run.argv.iter().chain(asked).chain(values);
            let mut blanks = words.flat_map(|word| blanks(word));
            let name = server.one_of.as_ref().unwrap_or(&server.name);
            blanks.any(|blank| blank.role == Some(name))
        }
        Run::Load(spec) => spec.server == server.name,
        Run::Kernel(_) | Run::Later(_) => true,
    }
}

/// Whether this can be the name of a parameter or of a role.
pub fn is_name(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    !text.is_empty() && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_filled_with_what_is_known_and_scripts_are_left_alone() {
        let at = |role: Option<&str>| match role {
            None => vec![SocketAddr::from(([10, 0, 0, 1], 7))],
            Some("db") => vec![SocketAddr::from(([10, 0, 0, 2], 80))],
            Some("worker") => [3, 4].map(|last| SocketAddr::from(([10, 0, 0, last], 80))).into(),
            Some(_) => Vec::new(),
        };
        for (word, wanted) in [
            ("{address}:{port}", "10.0.0.1:7"),
            ("-h{db.address} -p {db.port}", "-h10.0.0.2 -p 80"),
            (
                "{worker.addresses} {x.addresses}",
                "10.0.0.3,10.0.0.4 {x.addresses}",
            ),
            ("{worker.endpoints}", "10.0.0.3:80,10.0.0.4:80"),
            ("f() { {x.port}; }; {db.port}", "f() { {x.port}; }; 80"),
            (
                "{a.b.port} {} {db.ports} {{port}}",
                "{a.b.port} {} {db.ports} {7}",
            ),
        ] {
            assert_eq!(filled(word, at), wanted, "{word}");
        }
        let roles: Vec<_> = blanks("{port} {db.address} {x}").map(|b| b.role).collect();
        assert_eq!(roles, [None, Some("db")]);
        let v6 = |_: Option<&str>| vec!["[fd00::1]:9".parse().unwrap()];
        assert_eq!(filled("{address} {port}", v6), "fd00::1 9");
    }
}
