//! A headless Chromium, driven over its DevTools protocol.

use hashlane_rig::process::{Process, until};
use hashlane_rig::program::find;
use serde_json::{Value, json};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tungstenite::{Message, WebSocket};

/// Path of the browser, if it is installed. In continuous integration it must be.
pub(crate) fn installed() -> Option<std::path::PathBuf> {
    let found = find("chromium");
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "tests of pages need chromium");
    if found.is_none() {
        eprintln!("skipped: tests of pages in a browser need chromium: `apt-get install chromium`");
    }
    found
}

/// A browser with one page.
pub(crate) struct Browser {
    process: Process,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    number: u64,
}

impl Browser {
    /// Starts a browser, with its profile in `folder`.
    pub(crate) fn start(program: &Path, folder: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]);
        command.args(["--remote-debugging-port=0", "--enable-logging=stderr", "about:blank"]);
        command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("chromium starts");
        let log = child.stderr.take().expect("a pipe");
        let process = Process::new(child, log);
        let listening = "DevTools listening on ";
        process.wait_for(listening, 1);
        let url = process
            .lines
            .lock()
            .expect("no panic")
            .iter()
            .find_map(|line| line.split_once(listening).map(|(_, url)| url.trim().to_owned()));
        let url = url.expect("the line that was waited for");
        let address = url.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).expect("an address");
        let stream = TcpStream::connect(address).expect("the browser listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
        let (socket, _) = tungstenite::client(url.as_str(), stream).expect("a WebSocket");
        let mut browser = Self { process, socket, session: None, number: 0 };
        let target =
            browser.call("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        browser
    }

    /// Calls a method of the protocol. Returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut request = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(request.to_string())).expect("the browser runs");
        loop {
            // Events come between the answers.
            let message = self.socket.read().expect("an answer");
            let Ok(answer) = serde_json::from_str::<Value>(message.to_text().unwrap_or_default()) else {
                continue;
            };
            if answer["id"] == json!(self.number) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Opens a page in a viewport of this width, in light or dark colours.
    pub(crate) fn open(&mut self, url: &str, width: u32, is_dark: bool) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &media);
        self.call("Page.navigate", &json!({ "url": url }));
        until(
            || {
                self.evaluate("document.readyState === 'complete' && location.href !== 'about:blank'")
                    == json!(true)
            },
            || format!("{url} in the browser"),
        );
    }

    /// Value of a JavaScript expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true });
        self.call("Runtime.evaluate", &parameters)["result"]["value"].clone()
    }

    /// Lines that the console of the pages has printed, such as violations of a policy.
    pub(crate) fn console(&self) -> Vec<String> {
        let lines = self.process.lines.lock().expect("no panic");
        lines.iter().filter(|line| line.contains("CONSOLE")).cloned().collect()
    }
}
