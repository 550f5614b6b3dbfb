//! Against a registry on this host that does as it is told.

use super::*;
use crate::fixture::{Blobs as Made, WorkFolder, blobs};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How a registry behaves.
#[derive(Clone, Copy, Default)]
struct Ways {
    /// It wants a token, which it gives for this password, or for none.
    token: Option<&'static str>,
    /// It wants this password with each question.
    basic: Option<&'static str>,
    /// Layers come half.
    half: bool,
    /// Layers come late.
    late: bool,
    /// Layers come byte by byte.
    dribble: bool,
    /// Nothing comes.
    silent: bool,
    /// It answers so to everything.
    status: Option<u16>,
    /// It says that manifests are there, at its port.
    redirect: Option<&'static str>,
    /// It says that tokens come from there, at its port.
    realm: Option<&'static str>,
}

/// A registry, with all that it was asked.
struct Fake {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    fn start(made: Made, ways: Ways) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (made, log) = (Arc::new(made), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (made, log) = (Arc::clone(&made), Arc::clone(&log));
                std::thread::spawn(move || serve(stream.unwrap(), port, &made, ways, &log));
            }
        });
        Self { port, asked }
    }
    fn name(&self, rest: &str) -> String {
        format!("127.0.0.1:{}/{rest}", self.port)
    }
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, port: u16, made: &Made, ways: Ways, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            head.push(line.trim().to_owned());
        }
        let path = head[0].split(' ').nth(1).unwrap().to_owned();
        log.lock().unwrap().push(path.clone());
        let sent = head.iter().find_map(|line| line.strip_prefix("authorization: "));
        if ways.silent {
            std::thread::sleep(Duration::from_secs(20));
            return;
        }
        let (status, more, body) = answer(&path, sent, port, made, ways);
        let length = body.len();
        let begin = format!("HTTP/1.1 {status} X\r\n{more}content-length: {length}\r\n\r\n");
        stream.write_all(begin.as_bytes()).unwrap();
        let is_layer = body.starts_with(&[0x1f, 0x8b]);
        if is_layer && (ways.half || ways.late) {
            stream.write_all(&body[..length / 2]).unwrap();
            std::thread::sleep(Duration::from_millis(if ways.late { 1500 } else { 0 }));
            return;
        }
        if is_layer && ways.dribble {
            for byte in body {
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            return;
        }
        stream.write_all(&body).unwrap();
    }
}

fn answer(path: &str, sent: Option<&str>, port: u16, made: &Made, ways: Ways) -> (u16, String, Vec<u8>) {
    if let Some(status) = ways.status {
        return (status, String::new(), Vec::new());
    }
    if let Some(redirect) = ways.redirect {
        return (307, format!("Location: {redirect}{port}/\r\n"), Vec::new());
    }
    if path.starts_with("/token?") {
        let is_right = ways.token == Some("") || sent == ways.token;
        let body = br#"{"token": "t0ken"}"#.to_vec();
        return (if is_right { 200 } else { 401 }, String::new(), body);
    }
    let here = format!("http://127.0.0.1:{port}/token");
    let realm = ways.realm.map_or(here, |begin| format!("{begin}{port}/token"));
    let realm = format!("Bearer realm=\"{realm}\",service=\"s\",scope=\"x\"");
    let wanted = match (ways.token, ways.basic) {
        (Some(_), _) => Some(("Bearer t0ken", realm.as_str())),
        (_, Some(basic)) => Some((basic, "Basic realm=\"r\"")),
        _ => None,
    };
    if let Some((_, challenge)) = wanted.filter(|(right, _)| sent != Some(*right)) {
        return (401, format!("WWW-Authenticate: {challenge}\r\n"), Vec::new());
    }
    let top = made.top["digest"].as_str().unwrap().to_owned();
    let version = path.rsplit('/').next().unwrap();
    let digest = if version == "1.0" { top.as_str() } else { version };
    let is_manifest = path.starts_with("/v2/a/b/manifests/");
    let blob = made.all.iter().find(|(d, _)| d.as_str() == digest);
    let blob = blob.filter(|_| is_manifest || path.starts_with("/v2/a/b/blobs/"));
    match blob {
        Some((_, body)) => (200, String::new(), body.clone()),
        None => (404, String::new(), Vec::new()),
    }
}

const PATIENCE: Deadlines = Deadlines {
    connect: Duration::from_secs(5),
    silence: Duration::from_secs(1),
    whole: Duration::from_secs(20),
};

fn pull(site: &WorkFolder, reference: &str) -> Result<Image, ImageError> {
    from_registry(&site.store(), "a", reference, &site.at("config.json"), PATIENCE)
}

fn refused(site: &WorkFolder, fake: &Fake) -> RegistryError {
    match pull(site, &fake.name("a/b:1.0")) {
        Err(ImageError::Registry(error)) => {
            assert!(site.is_clean());
            error
        }
        other => panic!("{other:?}"),
    }
}

fn passwords(site: &WorkFolder, fake: &Fake, auth: &str) {
    let text = format!(
        r#"{{"auths": {{"127.0.0.1:{}": {{"auth": "{auth}"}}}}}}"#,
        fake.port
    );
    fs::write(site.at("config.json"), text).unwrap();
}

#[test]
fn an_image_is_pulled_by_tag_and_by_digest() {
    let site = WorkFolder::new();
    let made = blobs(&site.tar(&[]));
    made.write(&site.at("layout"));
    let top = made.top["digest"].as_str().unwrap().to_owned();
    let fake = Fake::start(made, Ways::default());
    let image = pull(&site, &fake.name("a/b:1.0")).unwrap();
    let layout = crate::from_oci_layout(&site.store(), "l", &site.at("layout"), None).unwrap();
    assert_eq!(image.manifest().digest, layout.manifest().digest);
    assert!(
        image
            .manifest()
            .source
            .ends_with(&format!("a/b:1.0, manifest {top}"))
    );
    pull(&site, &fake.name(&format!("a/b:old@{top}"))).unwrap();
    // Each part once: index, manifest, configuration, layer.
    assert_eq!(fake.asked().len(), 8, "{:?}", fake.asked());
}

#[test]
fn passwords_are_given_where_they_are_asked_for() {
    let site = WorkFolder::new();
    let made = || blobs(&site.tar(&[]));
    // A token for strangers, one for a password, a password by itself.
    let stranger = Fake::start(
        made(),
        Ways {
            token: Some(""),
            ..Ways::default()
        },
    );
    pull(&site, &stranger.name("a/b:1.0")).unwrap();
    let token = stranger
        .asked()
        .into_iter()
        .find(|path| path.starts_with("/token?"))
        .unwrap();
    assert!(
        token.contains("scope=repository") && token.contains("service=s"),
        "{token}"
    );
    let by_token = Fake::start(
        made(),
        Ways {
            token: Some("Basic dTpw"),
            ..Ways::default()
        },
    );
    passwords(&site, &by_token, "dTpw");
    pull(&site, &by_token.name("a/b:1.0")).unwrap();
    let basic = Fake::start(
        made(),
        Ways {
            basic: Some("Basic dTpw"),
            ..Ways::default()
        },
    );
    passwords(&site, &basic, "dTpw");
    pull(&site, &basic.name("a/b:1.0")).unwrap();
}

#[test]
fn who_has_no_password_is_told_what_to_do() {
    let site = WorkFolder::new();
    for ways in [
        Ways {
            token: Some("Basic dTpw"),
            ..Ways::default()
        },
        Ways {
            basic: Some("Basic dTpw"),
            ..Ways::default()
        },
    ] {
        let fake = Fake::start(blobs(&site.tar(&[])), ways);
        let hint = |expected: &str| {
            let error = refused(&site, &fake);
            assert!(matches!(error, RegistryError::Password { .. }), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!error.to_string().contains("dT"), "{error}");
        };
        hint("log in with: docker login 127.0.0.1:");
        passwords(&site, &fake, "dTpx");
        hint("may be wrong or too old");
        fs::write(site.at("config.json"), r#"{"credsStore": "pass"}"#).unwrap();
        hint("the credential helper pass, which tare does not run");
        fs::remove_file(site.at("config.json")).unwrap();
    }
}

#[test]
fn each_failure_is_told_from_others() {
    let site = WorkFolder::new();
    let made = || blobs(&site.tar(&[]));
    let fake = Fake::start(made(), Ways::default());
    let absent = pull(&site, &fake.name("a/b:2.0")).unwrap_err();
    assert!(
        matches!(absent, ImageError::Registry(RegistryError::NotFound { .. })),
        "{absent}"
    );
    let wanted = Digest::of(b"another");
    let other = pull(&site, &fake.name(&format!("a/b@{wanted}"))).unwrap_err();
    assert!(
        matches!(other, ImageError::Registry(RegistryError::NotFound { .. })),
        "{other}"
    );
    let half = refused(
        &site,
        &Fake::start(
            made(),
            Ways {
                half: true,
                ..Ways::default()
            },
        ),
    );
    assert!(matches!(half, RegistryError::Ended { .. }), "{half:?}");
    let late = refused(
        &site,
        &Fake::start(
            made(),
            Ways {
                late: true,
                ..Ways::default()
            },
        ),
    );
    assert!(matches!(late, RegistryError::Slow { seconds: 1, .. }), "{late:?}");
    for status in [429, 503] {
        let error = refused(
            &site,
            &Fake::start(
                made(),
                Ways {
                    status: Some(status),
                    ..Ways::default()
                },
            ),
        );
        assert!(error.to_string().contains("try again later"), "{error}");
    }
    let closed = refused(
        &site,
        &Fake {
            port: 1,
            asked: Arc::default(),
        },
    );
    assert!(matches!(closed, RegistryError::Connection { .. }), "{closed:?}");
}

#[test]
fn a_registry_on_loopback_may_lead_to_https() {
    let site = WorkFolder::new();
    for ways in [
        Ways {
            redirect: Some("https://127.0.0.1:"),
            ..Ways::default()
        },
        Ways {
            token: Some(""),
            realm: Some("https://127.0.0.1:"),
            ..Ways::default()
        },
    ] {
        let error = refused(&site, &Fake::start(blobs(&site.tar(&[])), ways));
        // It speaks no TLS.
        let is_told = matches!(
            error,
            RegistryError::Connection { .. } | RegistryError::Ended { .. }
        );
        assert!(is_told, "{error:?}");
    }
}

#[test]
fn the_user_can_stop_while_a_registry_is_slow() {
    static WISH: AtomicBool = AtomicBool::new(false);
    let wish = |is_wished| WISH.store(is_wished, Ordering::Relaxed);
    let deadlines = Deadlines {
        silence: Duration::from_secs(15),
        ..PATIENCE
    };
    let site = WorkFolder::new();
    for ways in [
        Ways {
            silent: true,
            ..Ways::default()
        },
        Ways {
            dribble: true,
            ..Ways::default()
        },
    ] {
        let fake = Fake::start(blobs(&site.tar(&[])), ways);
        let begin = Instant::now();
        wish(false);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            wish(true);
        });
        let store = site.store().with_stop(|| WISH.load(Ordering::Relaxed));
        let reference = fake.name("a/b:1.0");
        let stopped = from_registry(&store, "a", &reference, &site.at("config.json"), deadlines);
        assert!(matches!(stopped, Err(ImageError::Stopped)), "{stopped:?}");
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        assert!(site.is_clean());
    }
}

#[test]
fn what_was_changed_on_its_way_is_refused() {
    let site = WorkFolder::new();
    for begins in [&b"{\"architecture"[..], &[0x1f, 0x8b], b"{\"config"] {
        let mut made = blobs(&site.tar(&[]));
        made.damage(begins);
        let fake = Fake::start(made, Ways::default());
        let error = pull(&site, &fake.name("a/b:1.0")).unwrap_err();
        assert!(
            matches!(error, ImageError::Oci(crate::OciError::Digest { .. })),
            "{error}"
        );
    }
    // The index itself bears no digest under a tag, but under its own.
    let mut made = blobs(&site.tar(&[]));
    let top = made.top["digest"].as_str().unwrap().to_owned();
    made.damage(b"{\"manifests");
    let fake = Fake::start(made, Ways::default());
    let error = pull(&site, &fake.name(&format!("a/b@{top}"))).unwrap_err();
    assert!(
        matches!(error, ImageError::Oci(crate::OciError::Digest { .. })),
        "{error}"
    );
    assert!(site.is_clean());
}
