//! What an engine is able to do, before a container is asked of it.

use super::super::contract::Absent;
use super::engine::Engine;
use crate::net::Network;
use bollard::query_parameters as query;
use std::collections::HashMap;

/// Whether an engine knows a runtime: by a name that was configured, or one of
/// containerd's, which are not listed.
pub(super) fn knows<T>(name: &str, runtimes: Option<&HashMap<String, T>>) -> Result<(), Absent> {
    let Some(runtimes) = runtimes.filter(|r| !r.contains_key(name) && !name.contains('.')) else {
        return Ok(());
    };
    let mut names: Vec<&str> = runtimes.keys().map(String::as_str).collect();
    names.sort_unstable();
    Err(Absent::new(
        format!("the engine knows no runtime '{name}', but {}", names.join(", ")),
        "name one of these, or add it to \"runtimes\" in the engine's daemon.json",
    ))
}

/// Whether the engine has the network that its containers have by default: `bridge`,
/// or as Podman may call it.
pub(super) fn has_bridge(engine: &Engine) -> Result<(), Absent> {
    let call = engine.api.list_networks(None::<query::ListNetworksOptions>);
    let networks = engine
        .wait(call)
        .map_err(|e| Absent::new(e.to_string(), "look at the engine's log"))?;
    let mut names = networks.into_iter().filter_map(|network| network.name);
    if names.any(|name| name == Network::Bridge.name() || name == engine.name) {
        return Ok(());
    }
    Err(Absent::new(
        format!("{} has no bridge of its own (as with --bridge=none)", engine.name),
        "start it with one, or ask for network=none or network=host",
    ))
}
