//! What is asked of a registry, by HTTP.

use super::credentials::Credentials;
use super::error::RegistryError;
use super::patience::{Patient, wait_for};
use super::realm::Realm;
use super::reference::{Reference, is_loopback};
use crate::Stop;
use serde::Deserialize;
use std::cell::RefCell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use ureq::http::{Response, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::typestate::WithoutBody;
use ureq::{Agent, Body, RequestBuilder};

/// What a registry may answer with where an image is asked for, OCI's first.
const ACCEPT: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";
/// Where systems keep the certificates that they trust.
const CERTIFICATES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// A token takes a few hundred bytes, or a few thousand.
const TOKEN_BYTES: u64 = 64 * 1024;

/// For how long a registry is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until an answer begins, and between two pieces of it.
    pub silence: Duration,
    /// Until an answer has come whole.
    pub whole: Duration,
}

impl Default for Deadlines {
    /// What a registry far away and under load takes, several times.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            silence: Duration::from_secs(60),
            whole: Duration::from_secs(3600),
        }
    }
}

/// A registry, with what it was told by its user and told us.
pub struct Client {
    agent: Agent,
    reference: Reference,
    credentials: Credentials,
    /// What it wants to see with each question.
    authorization: RefCell<Option<String>>,
    /// The host of others that it wanted the user's password to be sent to.
    foreign_realm: RefCell<Option<String>>,
    deadlines: Deadlines,
    stop: Stop,
}

impl Client {
    pub fn new(
        reference: Reference,
        credentials: Credentials,
        deadlines: Deadlines,
        stop: Stop,
    ) -> Result<Self, RegistryError> {
        let is_here = is_loopback(&reference.registry);
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(!is_here)
            .timeout_connect(Some(deadlines.connect))
            .timeout_recv_response(Some(deadlines.silence))
            .timeout_per_read(Some(deadlines.silence))
            .timeout_recv_body(Some(deadlines.whole))
            .user_agent(concat!("tare/", env!("CARGO_PKG_VERSION")));
        // Also on loopback: a redirect or a realm may lead to https.
        config = config.tls_config(encryption(is_here)?);
        if is_here {
            config = config.proxy(None);
        }
        Ok(Self {
            agent: config.build().into(),
            reference,
            credentials,
            authorization: RefCell::new(None),
            foreign_realm: RefCell::new(None),
            deadlines,
            stop,
        })
    }

    /// A manifest or an index, by tag or digest.
    pub fn manifest(&self, version: &str) -> Result<impl Read + use<'_>, RegistryError> {
        self.get("manifests", version, ACCEPT)
    }

    /// Any other blob.
    pub fn blob(&self, digest: &str) -> Result<impl Read + use<'_>, RegistryError> {
        self.get("blobs", digest, "*/*")
    }

    fn get(&self, kind: &str, version: &str, accept: &str) -> Result<Answer<'_>, RegistryError> {
        let url = format!("{}/{kind}/{version}", self.reference.base());
        let what = format!("{kind}/{version} of {}", self.reference.repository);
        let mut answer = self.ask(&url, accept, &what)?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            self.authorize(&answer, &what)?;
            answer = self.ask(&url, accept, &what)?;
        }
        let registry = self.reference.registry.clone();
        match answer.status().as_u16() {
            200 => self.body(answer, what),
            401 | 403 => Err(self.password(&what)),
            404 => Err(RegistryError::NotFound { registry, what }),
            status => Err(RegistryError::Status {
                registry,
                what,
                status,
            }),
        }
    }

    fn ask(&self, url: &str, accept: &str, what: &str) -> Result<Response<Body>, RegistryError> {
        let mut request = self.agent.get(url).header("accept", accept);
        if let Some(authorization) = self.authorization.borrow().as_ref() {
            request = request.header("authorization", authorization);
        }
        self.call(request, what)
    }

    fn call(
        &self,
        request: RequestBuilder<WithoutBody>,
        what: &str,
    ) -> Result<Response<Body>, RegistryError> {
        let answer = wait_for(|| request.call(), self.stop);
        answer
            .map_err(|e| self.told(e))?
            .map_err(|e| self.failed(e, what))
    }

    fn body(&self, answer: Response<Body>, what: String) -> Result<Answer<'_>, RegistryError> {
        let body = Patient::new(answer.into_body().into_reader(), self.stop);
        Ok(Answer {
            client: self,
            body: body.map_err(|e| self.failed(e.into(), &what))?,
            what,
        })
    }

    /// Does what an answer asks for before it lets anybody in.
    fn authorize(&self, answer: &Response<Body>, what: &str) -> Result<(), RegistryError> {
        let header = answer
            .headers()
            .get("www-authenticate")
            .and_then(|value| value.to_str().ok());
        let unknown = || RegistryError::Challenge(self.reference.registry.clone());
        let (scheme, rest) = header
            .and_then(|header| header.split_once(' '))
            .ok_or_else(unknown)?;
        let authorization = match (scheme.to_ascii_lowercase().as_str(), &self.credentials) {
            ("basic", Credentials::Basic(basic)) => basic.clone(),
            ("basic", _) => return Err(self.password(what)),
            ("bearer", _) => self.token(rest, what)?,
            _ => return Err(unknown()),
        };
        *self.authorization.borrow_mut() = Some(authorization);
        Ok(())
    }

    /// A token from where the registry says, with the password if there is one and that place is the
    /// registry's own.
    fn token(&self, challenge: &str, what: &str) -> Result<String, RegistryError> {
        #[derive(Deserialize)]
        struct Token {
            #[serde(alias = "access_token")]
            token: String,
        }
        let unknown = || RegistryError::Challenge(self.reference.registry.clone());
        let realm = parameter(challenge, "realm").ok_or_else(unknown)?;
        let realm = Realm::parse(realm, &self.reference.registry).ok_or_else(unknown)?;
        let scope = format!("repository:{}:pull", self.reference.repository);
        let mut request = self.agent.get(realm.address()).query("scope", scope);
        if let Some(service) = parameter(challenge, "service") {
            request = request.query("service", service);
        }
        if let Some(password) = self.password_for(&realm) {
            request = request.header("authorization", password);
        }
        let answer = self.call(request, what)?;
        if answer.status() != StatusCode::OK {
            return Err(self.password(what));
        }
        let mut text = Vec::new();
        let body = self.body(answer, what.to_owned())?;
        body.take(TOKEN_BYTES)
            .read_to_end(&mut text)
            .map_err(|e| self.told(e))?;
        let token: Token = serde_json::from_slice(&text).map_err(|_| unknown())?;
        if token.token.is_empty() || !token.token.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(unknown());
        }
        Ok(format!("Bearer {}", token.token))
    }

    fn password_for(&self, realm: &Realm) -> Option<&str> {
        let Credentials::Basic(basic) = &self.credentials else {
            return None;
        };
        if realm.is_of(&self.reference.registry) {
            return Some(basic);
        }
        *self.foreign_realm.borrow_mut() = Some(realm.host().to_owned());
        None
    }

    fn password(&self, what: &str) -> RegistryError {
        let registry = self.reference.registry.clone();
        let foreign = self.foreign_realm.borrow();
        let hint = match (&self.credentials, &*foreign) {
            (_, Some(realm)) => format!(
                "it wants the password sent to {realm}, which is not its own host, so tare asked there without it; docker pull the image and take it from Docker, or save it to an archive"
            ),
            (Credentials::None, _) => format!("log in with: docker login {registry}"),
            (Credentials::Basic(_), _) => {
                format!("the password of docker login may be wrong or too old: docker login {registry}")
            }
            (Credentials::Helper(helper), _) => format!(
                "its password is kept by the credential helper {}, which tare does not run; docker pull the image and take it from Docker, or save it to an archive",
                helper.escape_debug()
            ),
        };
        RegistryError::Password {
            registry,
            what: what.to_owned(),
            hint,
        }
    }

    /// What an answer says that cannot be read.
    pub fn told(&self, error: io::Error) -> RegistryError {
        let other = |e: io::Error| self.failed(e.into(), &self.reference.to_string());
        error.downcast::<RegistryError>().unwrap_or_else(other)
    }

    fn failed(&self, error: ureq::Error, what: &str) -> RegistryError {
        let registry = self.reference.registry.clone();
        let what = what.to_owned();
        match error {
            ureq::Error::Timeout(at) => RegistryError::Slow {
                registry,
                what,
                seconds: match at {
                    ureq::Timeout::Connect => self.deadlines.connect.as_secs(),
                    ureq::Timeout::RecvBody => self.deadlines.whole.as_secs(),
                    _ => self.deadlines.silence.as_secs(),
                },
            },
            ureq::Error::Io(e) if is_end(&e) => RegistryError::Ended { registry, what },
            error => RegistryError::Connection {
                registry,
                what,
                source: Box::new(error),
            },
        }
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted
    )
}

/// The body of an answer.
struct Answer<'a> {
    client: &'a Client,
    what: String,
    body: Patient,
}

impl Read for Answer<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let failed = |e: io::Error| match e.downcast::<RegistryError>() {
            Ok(stopped) => stopped,
            Err(e) => self.client.failed(e.into(), &self.what),
        };
        self.body.read(into).map_err(|e| io::Error::other(failed(e)))
    }
}

/// The value of a parameter of a challenge: `name="value"`.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    challenge.split(&[',', ' '][..]).find_map(|one| {
        let (key, value) = one.split_once('=')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim_matches('"'))
    })
}

/// TLS by the certificates that this host trusts: those of a company's own registry are among
/// them, which a list of ours would not have. A registry on loopback may need none.
fn encryption(is_optional: bool) -> Result<TlsConfig, RegistryError> {
    let path = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let known = || CERTIFICATES.iter().map(PathBuf::from).find(|path| path.exists());
    let certificates = match path.or_else(known) {
        Some(path) => read_certificates(&path)?,
        None if is_optional => Vec::new(),
        None => return Err(RegistryError::NoCertificates),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(certificates)))
        .unversioned_rustls_crypto_provider(provider)
        .build())
}

fn read_certificates(path: &Path) -> Result<Vec<Certificate<'static>>, RegistryError> {
    let failed = |source| RegistryError::Certificates {
        path: path.to_owned(),
        source,
    };
    let text = std::fs::read(path).map_err(failed)?;
    let mut all = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|e| failed(io::Error::other(e)))? {
            all.push(certificate);
        }
    }
    if all.is_empty() {
        return Err(RegistryError::NoCertificates);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_goes_to_another_host() {
        let reference = Reference::parse("127.0.0.1:5000/a").unwrap();
        let basic = Credentials::Basic("Basic dTpw".to_owned());
        let client = Client::new(reference, basic, Deadlines::default(), || false).unwrap();
        let realm = |realm| Realm::parse(realm, "127.0.0.1:5000").unwrap();
        let own = realm("http://127.0.0.1:5001/token");
        assert_eq!(client.password_for(&own), Some("Basic dTpw"));
        assert_eq!(client.password_for(&realm("https://auth.example/token")), None);
        let hint = client.password("manifests/1 of a").to_string();
        assert!(
            hint.contains("sent to auth.example, which is not its own host"),
            "{hint}"
        );
    }
}
