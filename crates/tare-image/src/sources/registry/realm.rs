//! Where a registry says that its tokens come from, and whether the user's password may go there.

use super::reference::is_loopback;
use ureq::http::Uri;

/// Longer than the last-but-one label of a public suffix such as `co.uk` or `com.au`.
const LONGEST_SECOND_LEVEL: usize = 3;
/// Countries have two letters.
const COUNTRY: usize = 2;

/// The address that tokens come from.
pub struct Realm(Uri);

impl Realm {
    /// `None` for what is no address, and for one without encryption, except between registries and
    /// realms that are both on loopback.
    pub fn parse(realm: &str, registry: &str) -> Option<Self> {
        let uri: Uri = realm.parse().ok()?;
        let is_here = is_loopback(uri.host()?) && is_loopback(registry);
        let is_safe = match uri.scheme_str()? {
            "https" => true,
            "http" => is_here,
            _ => false,
        };
        is_safe.then_some(Self(uri))
    }

    pub fn address(&self) -> String {
        self.0.to_string()
    }

    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// Whether it belongs to whoever runs the registry: the same host, one above or below it, or one
    /// beside it, such as `auth.docker.io` and `registry-1.docker.io`.
    pub fn is_of(&self, registry: &str) -> bool {
        let (host, registry) = (self.host().to_ascii_lowercase(), bare(registry));
        if host == registry || (is_loopback(&host) && is_loopback(&registry)) {
            return true;
        }
        let is_address =
            |host: &str| host.starts_with('[') || host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if is_address(&host) || is_address(&registry) {
            return false;
        }
        let is_below =
            |inner: &str, outer: &str| inner.strip_suffix(outer).is_some_and(|rest| rest.ends_with('.'));
        let shared = registry.split_once('.').map_or("", |(_, parent)| parent);
        [&*registry, &*host, shared]
            .into_iter()
            .filter(|domain| is_owned(domain))
            .any(|domain| {
                let is_in = |host: &str| host == domain || is_below(host, domain);
                is_in(&host) && is_in(&registry)
            })
    }
}

/// A registry's host without its port.
fn bare(registry: &str) -> String {
    let bare = match registry.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => registry,
    };
    bare.to_ascii_lowercase()
}

/// Whether a domain has one owner, rather than being one that names are sold in (`io`, `co.uk`).
fn is_owned(domain: &str) -> bool {
    let labels: Vec<&str> = domain.split('.').collect();
    match labels[..] {
        [second, country] => second.len() > LONGEST_SECOND_LEVEL || country.len() != COUNTRY,
        [] | [_] => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_go_to_the_registrys_own_realm() {
        let is_of =
            |realm: &str, registry: &str| Realm::parse(realm, registry).map(|realm| realm.is_of(registry));
        for (realm, registry) in [
            ("https://auth.docker.io/token", "docker.io"),
            ("https://ghcr.io/token", "ghcr.io"),
            ("https://quay.io/v2/auth", "quay.io"),
            ("https://gitlab.com/jwt/auth", "registry.gitlab.com"),
            ("https://gitlab.example.com/jwt/auth", "registry.example.com:5050"),
            (
                "https://api.digitalocean.com/v2/registry/auth",
                "registry.digitalocean.com",
            ),
            ("https://R.example:8443/token", "r.example:5000"),
            ("http://127.0.0.1:5001/token", "localhost:5000"),
            ("https://10.0.0.1/token", "10.0.0.1:5000"),
        ] {
            assert_eq!(is_of(realm, registry), Some(true), "{realm} {registry}");
        }
        for (realm, registry) in [
            ("https://evil.io/token", "docker.io"),
            ("https://auth.docker.io.evil.example/token", "docker.io"),
            ("https://evildocker.io/token", "docker.io"),
            ("https://auth.docker.io@evil.example/token", "docker.io"),
            ("https://evil.co.uk/token", "registry.co.uk"),
            ("https://11.0.0.1/token", "10.0.0.1:5000"),
            ("https://evil.example/token", "localhost:5000"),
            ("https://127.0.0.1/token", "r.example"),
        ] {
            assert_eq!(is_of(realm, registry), Some(false), "{realm} {registry}");
        }
        for realm in [
            "http://r.example/token",
            "http://127.0.0.1/token",
            "ftp://r.example/",
            "/token",
            "",
        ] {
            assert_eq!(is_of(realm, "r.example"), None, "{realm}");
        }
    }
}
