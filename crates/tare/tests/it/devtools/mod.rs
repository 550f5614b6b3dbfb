//! A headless Chromium, driven over the pipe of its DevTools protocol.
//!
//! The protocol is JSON messages, each ended by a zero byte, which Chromium reads from descriptor 3
//! and writes to descriptor 4. That takes no crate, no port that others could reach, and a browser
//! whose pipe is gone ends by itself, even if the test was killed.

use crate::common::{on_path, skipped};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// So often it is started at most.
const STARTS: usize = 3;

/// Names under which distributions install it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser that says nothing for so long hangs.
const SILENCE: Duration = Duration::from_secs(60);

/// Puts the pipes of standard input and output where Chromium looks for them.
const LAUNCH: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

/// It may run as root and without a GPU, and asks for nothing for itself: no updates, no extensions.
const OPTIONS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
    "about:blank",
];

/// A browser with one page, ended when dropped.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    events: Vec<Value>,
    session: String,
    calls: u64,
    /// Its profile, which nobody else uses, with what it said.
    profile: TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.child.wait();
    }
}

impl Browser {
    /// A browser, unless none is installed: then why the test is skipped is printed.
    pub fn start() -> Option<Self> {
        let Some(name) = NAMES.into_iter().find(|name| on_path(name)) else {
            skipped(&format!("none of {} is installed", NAMES.join(", ")));
            return None;
        };
        // On a busy machine one may end before it has said anything.
        let started = (0..STARTS).find_map(|_| Self::begin(name).awake());
        let mut browser = started.unwrap_or_else(|| panic!("{name} ended at its start {STARTS} times"));
        browser.attach();
        Some(browser)
    }

    fn begin(name: &str) -> Self {
        let profile = tempfile::Builder::new().prefix("tare-test-browser-").tempdir();
        let profile = profile.expect("a folder for the profile");
        let log = profile.path().join("said");
        let mut child = Command::new("sh")
            .args(["-c", LAUNCH, "sh", name])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(OPTIONS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).expect("a file for what it says"))
            // Its helpers end with it, as one group.
            .process_group(0)
            .spawn()
            .expect("a browser starts");
        let to = child.stdin.take().expect("a pipe to the browser");
        let from = messages(child.stdout.take().expect("a pipe from the browser"));
        Self {
            child,
            to,
            from,
            events: Vec::new(),
            session: String::new(),
            calls: 0,
            profile,
        }
    }

    /// The browser, if it answers.
    fn awake(mut self) -> Option<Self> {
        let asked = write!(self.to, "{}\0", json!({"id": 0, "method": "Browser.getVersion"}));
        asked.and_then(|()| self.to.flush()).ok()?;
        self.from.recv_timeout(SILENCE).ok()?;
        Some(self)
    }

    /// Makes a page of its own, and listens to all that the page says.
    fn attach(&mut self) {
        let page = self.call("Target.createTarget", json!({"url": "about:blank"}));
        let page = json!({"targetId": page["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", page);
        self.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// What a method of the protocol answers. Events that come before the answer are kept.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        let sent = write!(self.to, "{message}\0").and_then(|()| self.to.flush());
        sent.unwrap_or_else(|error| panic!("{method}: the browser is gone: {error}"));
        loop {
            let answer = self.next(method);
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn next(&self, awaited: &str) -> Value {
        let message = self.from.recv_timeout(SILENCE);
        message.unwrap_or_else(|why| {
            let said = std::fs::read_to_string(self.profile.path().join("said"));
            panic!("{awaited}: no answer from the browser: {why}; it said: {said:?}")
        })
    }

    /// Opens an address and waits until it is loaded; the status of its answer, where it has one.
    pub fn open(&mut self, address: &str) -> Option<u64> {
        self.events.clear();
        let opened = self.call("Page.navigate", json!({"url": address}));
        assert!(opened["errorText"].is_null(), "{address}: {opened}");
        self.loaded();
        let responses = self.all("Network.responseReceived");
        let page = responses.iter().find(|r| r["type"] == "Document")?;
        page["response"]["status"].as_u64()
    }

    /// Clicks what a selector names, and waits until the page that this leads to is loaded.
    pub fn follow(&mut self, selector: &str) {
        self.events.clear();
        self.evaluate(&format!("document.querySelector({}).click()", json!(selector)));
        self.loaded();
    }

    /// Loads the page again.
    pub fn reload(&mut self) {
        self.events.clear();
        self.call("Page.reload", json!({}));
        self.loaded();
    }

    fn loaded(&mut self) {
        while self.all("Page.loadEventFired").is_empty() {
            let event = self.next("the end of loading");
            self.events.push(event);
        }
    }

    /// The value of an expression of JavaScript in the page; of a promise, what it ends with.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let how = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let evaluated = self.call("Runtime.evaluate", how);
        let thrown = &evaluated["exceptionDetails"];
        assert!(thrown.is_null(), "{expression}: {thrown}");
        evaluated["result"]["value"].clone()
    }

    /// The same as lines of text.
    pub fn lines(&mut self, expression: &str) -> Vec<String> {
        let value = self.evaluate(expression);
        serde_json::from_value(value).expect("a list of texts")
    }

    /// Types into what a selector names, in place of what it holds.
    pub fn type_into(&mut self, selector: &str, text: &str) {
        let input = format!("document.querySelector({})", json!(selector));
        self.evaluate(&format!("{input}.focus(); {input}.select()"));
        if text.is_empty() {
            self.press_delete();
        } else {
            self.call("Input.insertText", json!({"text": text}));
        }
        assert_eq!(self.evaluate(&format!("{input}.value")), text, "{selector}");
    }

    fn press_delete(&mut self) {
        for kind in ["keyDown", "keyUp"] {
            let key = json!({"type": kind, "key": "Delete", "code": "Delete", "windowsVirtualKeyCode": 46});
            self.call("Input.dispatchKeyEvent", key);
        }
    }

    /// Makes the window so wide.
    pub fn resize(&mut self, width: u32) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Shows the page as on this medium, to somebody who prefers this scheme of colours.
    pub fn show_as(&mut self, medium: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let shown = json!({"media": medium, "features": features});
        self.call("Emulation.setEmulatedMedia", shown);
    }

    /// What events of a kind told since the last page was asked for.
    fn all(&self, method: &str) -> Vec<&Value> {
        let of_kind = self.events.iter().filter(|event| event["method"] == method);
        of_kind.map(|event| &event["params"]).collect()
    }

    /// The addresses that were asked for since the last page was.
    pub fn requests(&self) -> Vec<String> {
        let sent = self.all("Network.requestWillBeSent").into_iter();
        sent.map(|event| event["request"]["url"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Whatever the page complained of since it was asked for: exceptions, what it or the browser
    /// wrote to the console.
    pub fn complaints(&self) -> Vec<String> {
        let exceptions = self.all("Runtime.exceptionThrown").into_iter();
        let written = self.all("Runtime.consoleAPICalled").into_iter();
        let entries = self.all("Log.entryAdded").into_iter();
        exceptions
            .chain(written)
            .chain(entries)
            .map(ToString::to_string)
            .collect()
    }
}

/// What comes from the browser, read aside: a browser that hangs must not hang the test.
fn messages(from: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let pieces = BufReader::new(from).split(0).map_while(Result::ok);
        for piece in pieces {
            let message = serde_json::from_slice(&piece).expect("a message is JSON");
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
