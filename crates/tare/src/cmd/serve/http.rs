//! The little of HTTP that a page on the loopback needs.

use super::folder::{Folder, NoPage, Served};
use crate::out;
use anyhow::Context;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tare_host::interrupt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How often a wish to stop is looked at.
const STEP: Duration = Duration::from_millis(100);
/// No request takes longer.
const LONGEST: Duration = Duration::from_secs(60);
/// Nor does a browser wait longer before it asks: every user of the host may connect.
const ASKED_WITHIN: Duration = Duration::from_secs(5);
/// Connections at a time; a browser opens 6. One more ends the oldest, which another user may hold idle.
const MOST_CONNECTIONS: usize = 64;

/// What is served.
struct ServedFolder {
    folder: Folder,
    token: String,
    address: SocketAddr,
}

/// Serves a folder until the user stops it.
pub(super) fn serve(folder: Folder, token: &str, port: u16) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot serve")?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener =
            listener.with_context(|| format!("cannot listen on port {port}: choose another with --port"))?;
        let address = listener.local_addr().context("cannot serve")?;
        out::print(&format!("http://{address}/{token}/\n"))?;
        let site = Arc::new(ServedFolder {
            folder,
            token: token.to_owned(),
            address,
        });
        let mut connections = VecDeque::new();
        while !interrupt::requested() {
            let Ok(accepted) = timeout(STEP, listener.accept()).await else {
                continue;
            };
            let Ok((stream, _)) = accepted else {
                // Without descriptors it fails at once, again and again.
                sleep(STEP).await;
                continue;
            };
            connections.retain(|one: &JoinHandle<_>| !one.is_finished());
            if connections.len() >= MOST_CONNECTIONS
                && let Some(oldest) = connections.pop_front()
            {
                oldest.abort();
            }
            let answered = timeout(LONGEST, answer(Arc::clone(&site), stream));
            connections.push_back(tokio::spawn(answered));
        }
        Ok(())
    })
}

/// One request of one connection.
async fn answer(site: Arc<ServedFolder>, stream: TcpStream) {
    let service = service_fn(|request: Request<Incoming>| {
        let response = site.respond(
            request.method(),
            request.headers().get(HOST),
            request.uri().path(),
            request.uri().query(),
        );
        async { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKED_WITHIN)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // A browser that goes away is no matter.
    let _ = connection.await;
}

impl ServedFolder {
    fn respond(
        &self,
        method: &Method,
        host: Option<&HeaderValue>,
        path: &str,
        query: Option<&str>,
    ) -> Response<Full<Bytes>> {
        // Another name that leads here is that of a page of somebody else's.
        let is_here = host.is_some_and(|host| host.as_bytes() == self.address.to_string().as_bytes());
        if !is_here {
            return plain(
                StatusCode::MISDIRECTED_REQUEST,
                "this is not the address that tare printed",
            );
        }
        if method != Method::GET {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "this server only answers GET");
        }
        let below = path
            .strip_prefix('/')
            .and_then(|path| path.strip_prefix(&self.token)?.strip_prefix('/'));
        let Some(below) = below.and_then(unescaped) else {
            return plain(
                StatusCode::NOT_FOUND,
                "nothing here: use the address that tare printed",
            );
        };
        match self.folder.page(&below, query.unwrap_or_default()) {
            Ok(Served::Page(page)) => with_type(StatusCode::OK, "text/html; charset=utf-8", page),
            Ok(Served::Data(lines)) => with_type(StatusCode::OK, "application/jsonl", lines),
            Err(NoPage::NotFound) => plain(StatusCode::NOT_FOUND, "no such page"),
            Err(NoPage::Failed(why)) => plain(StatusCode::UNPROCESSABLE_ENTITY, &out::one_line(&why)),
        }
    }
}

fn plain(status: StatusCode, words: &str) -> Response<Full<Bytes>> {
    with_type(status, "text/plain; charset=utf-8", format!("{words}\n"))
}

fn with_type(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A part of an address as text (RFC 3986, 2.1; `+` is a space, as forms send it); nothing of one
/// that is no UTF-8.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            b'+' => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_read_and_what_is_broken_is_not() {
        assert_eq!(unescaped("a%20b+c%2Fd").as_deref(), Some("a b c/d"));
        for broken in ["%", "%2", "%zz", "%ff", "%+1"] {
            assert_eq!(unescaped(broken), None, "{broken}");
        }
    }
}
