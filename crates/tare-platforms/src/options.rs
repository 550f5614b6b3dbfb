//! The options of a platform in a path: `docker?network=bridge` has one.

use std::collections::{BTreeMap, BTreeSet};
use tare_host::net::Network;
use tare_model::suggest;

/// Options of a path's segment, taken one by one; what is left is unknown.
pub(super) struct Options {
    given: BTreeMap<String, String>,
    /// Those that the platform has asked for.
    known: BTreeSet<String>,
}

impl Options {
    pub(super) const fn new(given: BTreeMap<String, String>) -> Self {
        Self {
            given,
            known: BTreeSet::new(),
        }
    }

    fn remove(&mut self, key: &str) -> Option<String> {
        self.known.insert(key.to_owned());
        self.given.remove(key)
    }

    /// Takes an option and reads it.
    pub(super) fn take<T: std::str::FromStr>(&mut self, key: &str) -> Result<Option<T>, String> {
        let Some(value) = self.remove(key) else {
            return Ok(None);
        };
        value
            .parse()
            .map(Some)
            .map_err(|_| format!("'{value}' is not a value of option '{key}'"))
    }

    /// Takes an option that has a few values, each known by its name.
    pub(super) fn choose<T: Copy>(
        &mut self,
        key: &str,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.remove(key) else {
            return Ok(None);
        };
        let found = all.iter().find(|one| name(**one) == value);
        found.copied().map(Some).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
            let advice = match suggest::nearest(&value, &names) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("choose one of {}", names.join(", ")),
            };
            format!("'{value}' is not a value of option '{key}': {advice}")
        })
    }

    /// Takes the network, one of those that the platform can give.
    pub(super) fn take_network(&mut self, able: &[Network]) -> Result<Network, String> {
        let wanted = self.choose(Network::OPTION, able, Network::name)?;
        Ok(wanted.unwrap_or_default())
    }

    /// Takes the network of a platform that has no other option.
    pub(super) fn network(mut self, able: &[Network]) -> Result<Network, String> {
        let network = self.take_network(able)?;
        self.none().map(|()| network)
    }

    /// Checks that nothing is left.
    pub(super) fn none(self) -> Result<(), String> {
        let Some(key) = self.given.into_keys().next() else {
            return Ok(());
        };
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        Err(if known.is_empty() {
            format!("there is no option '{key}': the platform has none")
        } else {
            format!(
                "there is no option '{key}': {}",
                suggest::among(&key, &known, "there")
            )
        })
    }
}
