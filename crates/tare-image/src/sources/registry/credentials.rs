//! The user's passwords for registries, as `docker login` keeps them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Under which key Docker Hub's is kept.
const HUB: (&str, &str) = ("docker.io", "https://index.docker.io/v1/");

/// What there is of a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    None,
    /// The value of an `Authorization` header.
    Basic(String),
    /// A program has it, which is not run here.
    Helper(String),
}

/// Tells no password.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Basic(_) => f.write_str("Basic(..)"),
            Self::Helper(name) => write!(f, "Helper({name})"),
        }
    }
}

/// Why a file of passwords cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum NoCredentials {
    /// As the system says.
    #[error(transparent)]
    File(std::io::Error),
    /// It is no such file. What is in it is not told.
    #[error("line {0} is not as docker login writes it")]
    Form(usize),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    auths: BTreeMap<String, Auth>,
    #[serde(default)]
    creds_store: Option<String>,
    #[serde(default)]
    cred_helpers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Auth {
    #[serde(default)]
    auth: Option<String>,
}

impl Credentials {
    /// Those for a registry in a file; none if there is no file.
    ///
    /// # Errors
    /// [`NoCredentials`].
    pub fn read(path: &Path, registry: &str) -> Result<Self, NoCredentials> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::None),
            Err(e) => return Err(NoCredentials::File(e)),
        };
        let file: File = serde_json::from_slice(&text).map_err(|e| NoCredentials::Form(e.line()))?;
        Ok(file.of(registry))
    }
}

impl File {
    fn of(&self, registry: &str) -> Credentials {
        let key = if registry == HUB.0 { HUB.1 } else { registry };
        if let Some(helper) = self.cred_helpers.get(key) {
            return Credentials::Helper(helper.clone());
        }
        let bare = |key: &str| {
            let host = key.trim_start_matches("https://").trim_start_matches("http://");
            host.split('/').next().unwrap_or_default().to_owned()
        };
        let by_host = || {
            self.auths
                .iter()
                .find(|(kept, _)| bare(kept) == registry)
                .map(|(_, auth)| auth)
        };
        let auth = self
            .auths
            .get(key)
            .or_else(by_host)
            .and_then(|auth| auth.auth.as_ref());
        // Both are written so alike; a line end in it would end the header.
        let is_sound = |auth: &&String| STANDARD.decode(auth).is_ok_and(|plain| plain.contains(&b':'));
        match auth.filter(is_sound) {
            Some(auth) => Credentials::Basic(format!("Basic {auth}")),
            None => self
                .creds_store
                .clone()
                .map_or(Credentials::None, Credentials::Helper),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_by_registry() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        let of = |registry| Credentials::read(&path, registry).unwrap();
        assert_eq!(of("r.example"), Credentials::None);
        let text = r#"{"auths": {"r.example": {"auth": "dTpw"}, "https://s.example/v1/": {"auth": "dTpw"},
            "https://index.docker.io/v1/": {"auth": "dTpw"}, "t.example": {}, "u.example": {"auth": "dT\npw"}},
            "credsStore": "desktop", "credHelpers": {"h.example": "ecr-login"}}"#;
        fs::write(&path, text).unwrap();
        let basic = Credentials::Basic("Basic dTpw".to_owned());
        for registry in ["r.example", "s.example", "docker.io"] {
            assert_eq!(of(registry), basic);
        }
        assert_eq!(format!("{basic:?}"), "Basic(..)");
        assert_eq!(of("h.example"), Credentials::Helper("ecr-login".to_owned()));
        for registry in ["t.example", "u.example", "x.example"] {
            assert_eq!(
                of(registry),
                Credentials::Helper("desktop".to_owned()),
                "{registry}"
            );
        }
        fs::write(&path, "{\n\"auths\": 1}").unwrap();
        assert!(matches!(
            Credentials::read(&path, "r"),
            Err(NoCredentials::Form(2))
        ));
    }
}
