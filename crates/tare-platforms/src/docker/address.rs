//! Where the engine listens that `docker` itself would use: `DOCKER_HOST`, else the context in use (docs.docker.com, "Docker contexts").

use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tare_image::Digest;

/// Where it listens unless something says otherwise.
const SOCKET: &str = "unix:///var/run/docker.sock";
/// Where that of a context listens that is not there.
const NOWHERE: &str = "nowhere";
/// The context that nobody made.
const DEFAULT: &str = "default";

/// An engine's address, and what says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub url: String,
    /// Such as `DOCKER_HOST`; absent: nothing did.
    pub by: Option<String>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "currentContext")]
    current_context: Option<String>,
}

#[derive(Deserialize)]
struct Context {
    #[serde(rename = "Endpoints")]
    endpoints: Endpoints,
}

#[derive(Deserialize)]
struct Endpoints {
    docker: Endpoint,
}

#[derive(Deserialize)]
struct Endpoint {
    #[serde(rename = "Host")]
    host: String,
}

/// The address of this host's engine.
pub(super) fn address() -> Address {
    let folder = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| Some(std::env::home_dir()?.join(".docker")));
    find(|name| std::env::var_os(name), folder.as_deref())
}

fn find(variable: impl Fn(&str) -> Option<OsString>, folder: Option<&Path>) -> Address {
    let named = |name: &str| {
        let value = variable(name)?.into_string().ok()?;
        (!value.is_empty()).then_some(value)
    };
    if let Some(url) = named("DOCKER_HOST") {
        let by = Some("DOCKER_HOST".to_owned());
        return Address { url, by };
    }
    let context = named("DOCKER_CONTEXT").or_else(|| current(folder?));
    match context.filter(|name| name != DEFAULT) {
        Some(name) => Address {
            url: folder
                .and_then(|folder| host(folder, &name))
                .unwrap_or_else(|| NOWHERE.to_owned()),
            by: Some(format!("docker's context '{name}'")),
        },
        None => Address {
            url: SOCKET.to_owned(),
            by: None,
        },
    }
}

fn current(folder: &Path) -> Option<String> {
    let text = fs::read(folder.join("config.json")).ok()?;
    serde_json::from_slice::<Config>(&text).ok()?.current_context
}

/// The folder of a context, which is named by the digest of its name.
fn metadata(folder: &Path, context: &str) -> PathBuf {
    let digest = Digest::of(context.as_bytes());
    folder.join("contexts/meta").join(digest.hex())
}

fn host(folder: &Path, context: &str) -> Option<String> {
    let text = fs::read(metadata(folder, context).join("meta.json")).ok()?;
    let context: Context = serde_json::from_slice(&text).ok()?;
    Some(context.endpoints.docker.host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], folder: &Path) -> (String, Option<String>) {
        let variable = |name: &str| {
            let mut all = variables.iter();
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(value))
        };
        let address = find(variable, Some(folder));
        (address.url, address.by)
    }

    #[test]
    fn the_engine_is_that_of_the_docker_command() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let usual = (SOCKET.to_owned(), None);
        assert_eq!(found(&[], folder), usual);
        let far = metadata(folder, "far");
        fs::create_dir_all(&far).unwrap();
        let meta =
            r#"{"Name":"far","Metadata":{},"Endpoints":{"docker":{"Host":"ssh://x","SkipTLSVerify":false}}}"#;
        fs::write(far.join("meta.json"), meta).unwrap();
        assert_eq!(found(&[], folder), usual);
        let of_far = ("ssh://x".to_owned(), Some("docker's context 'far'".to_owned()));
        assert_eq!(found(&[("DOCKER_CONTEXT", "far")], folder), of_far);
        fs::write(
            folder.join("config.json"),
            r#"{"auths":{},"currentContext":"far"}"#,
        )
        .unwrap();
        assert_eq!(found(&[], folder), of_far);
        assert_eq!(found(&[("DOCKER_CONTEXT", "default")], folder), usual);
        let gone = ("nowhere".to_owned(), Some("docker's context 'gone'".to_owned()));
        assert_eq!(found(&[("DOCKER_CONTEXT", "gone")], folder), gone);
        let own = ("unix:///a".to_owned(), Some("DOCKER_HOST".to_owned()));
        let both = [("DOCKER_HOST", "unix:///a"), ("DOCKER_CONTEXT", "far")];
        assert_eq!(found(&both, folder), own);
        fs::write(folder.join("config.json"), "{").unwrap();
        assert_eq!(found(&[], folder), usual);
    }
}
