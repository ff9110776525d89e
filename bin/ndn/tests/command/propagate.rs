//! Prefixes of applications that a forwarder registers at another one, its gateway.

use crate::forwarder::{Folder, Forwarder, block_on, fetch, parse, until};
use hashlane_client::Client;
use hashlane_ndn::security::SafeBag;
use hashlane_ndn::wire::DataBuilder;
use std::fs;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const GATEWAY: &str = "[management]\nlocalhop = true\n";
const RULES: &str = "[[trust.localhop.anchors]]
file = \"bob.ndncert\"
[[trust.localhop.rules]]
id = \"the key of the identity\"
for = \"interest\"
checkers = [{ type = \"customized\", signature = \"ed25519\", key = { regex = \"^<test><bob><KEY><>{1,3}$\" } }]
";

const HOST: &str = "[rib.propagate]
refresh_s = 2
timeout_ms = 1000
base_retry_wait_s = 1
max_retry_wait_s = 2
[[rib.propagate.identities]]
safe_bag = \"bob.safebag\"
passphrase = \"passphrase\"
[[routes]]
prefix = \"/localhop/nfd\"
";

/// A safe bag of the identity `/test/bob`, whose passphrase is `passphrase`.
fn safe_bag() -> Vec<u8> {
    let vectors = include_str!("../../../../vectors/ndn-signed.txt");
    let row = vectors.lines().find_map(|line| line.strip_prefix("ndnts-safe-bag-ed25519 ")).unwrap();
    data_encoding::HEXLOWER.decode(row.trim().as_bytes()).unwrap()
}

/// The folder of a gateway, with a configuration that has the rules or has none.
fn gateway_folder(has_rules: bool) -> Folder {
    let folder = Folder::new();
    let bag = safe_bag();
    let certificate = SafeBag::parse(&bag).unwrap().certificate().data().as_bytes().to_vec();
    fs::write(folder.path("bob.ndncert"), certificate).unwrap();
    configure_gateway(&folder, has_rules);
    folder
}

fn configure_gateway(folder: &Folder, has_rules: bool) {
    fs::write(folder.path("f.toml"), [GATEWAY, if has_rules { RULES } else { "" }].concat()).unwrap();
}

/// A forwarder with the identity, and a route to the gateway at a face URI.
fn host(folder: &Folder, gateway: &str, shards: &str) -> Forwarder {
    let bag = data_encoding::BASE64.encode(&safe_bag());
    fs::write(folder.path("bob.safebag"), bag + "\n").unwrap();
    fs::write(folder.path("passphrase"), "passphrase\n").unwrap();
    fs::write(folder.path("f.toml"), format!("{HOST}to = \"{gateway}\"\n")).unwrap();
    folder.forwarder(&["--config", "f.toml", "--shards", shards])
}

/// An application that serves a prefix until it is dropped.
struct Application {
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Application {
    fn new(folder: &Folder, prefix: &str) -> Self {
        let (transport, prefix) = (folder.transport(), parse(prefix));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (ready, is_ready) = mpsc::channel();
        let serve = move || {
            block_on(async {
                let client = Client::connect(&transport).await.unwrap();
                let mut registration = client.register(prefix.view()).await.unwrap();
                ready.send(()).unwrap();
                let serve = async {
                    while let Some(incoming) = registration.next().await {
                        let data = DataBuilder::new(incoming.interest().name(), b"content").build();
                        incoming.reply(&data).await.unwrap();
                    }
                };
                tokio::select! { _ = stopped => {} () = serve => {} }
                registration.close().await;
            });
        };
        let thread = Some(std::thread::spawn(serve));
        is_ready.recv_timeout(Duration::from_secs(15)).expect("the prefix is registered");
        Self { stop: Some(stop), thread }
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

/// Routes of a forwarder below `/test`.
fn routes(folder: &Folder) -> String {
    let list = folder.run(&["route", "list"]).stdout;
    let list = String::from_utf8(list).unwrap();
    list.lines().filter(|line| line.contains("/test")).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn wait_for_route(gateway: &Folder, is_there: bool) {
    let has_route = || routes(gateway).contains("/test/bob ") || routes(gateway).contains("/test/bob\n");
    until(|| has_route() == is_there, || format!("a route {is_there}: {}", routes(gateway)));
}

fn check(shards: &str) {
    let (near, far) = (Folder::new(), gateway_folder(true));
    let start = |udp: &str| {
        let run = ["run", "--unix", "nfd.sock", "--udp", udp, "--tcp", "127.0.0.1:0", "--ws", "none"];
        Forwarder::start(far.command(&[&run[..], &["--config", "f.toml", "--shards", shards]].concat()))
    };
    let gateway = start("127.0.0.1:0");
    let udp = gateway.udp;
    let to = format!("udp4://{udp}");
    let host = host(&near, &to, shards);
    let application = Application::new(&near, "/test/bob/app");
    let other = Application::new(&near, "/test/bob/other");
    wait_for_route(&far, true);
    let line = routes(&far);
    assert!(line.lines().count() == 1 && line.contains("15") && line.contains("client"), "{line}");
    // A consumer at the gateway reaches the application.
    block_on(async {
        let client = Client::connect(&far.transport()).await.unwrap();
        assert!(fetch(&client, "/test/bob/app/x").await);
    });
    // The gateway is started again, at the same port.
    gateway.process.signal("-TERM");
    assert_eq!(gateway.process.end(), Some(0));
    let gateway = start(&udp.to_string());
    let begun = Instant::now();
    wait_for_route(&far, true);
    println!("{shards} shards: registered again after {:?}", begun.elapsed());
    drop(application);
    std::thread::sleep(Duration::from_millis(300));
    wait_for_route(&far, true);
    drop(other);
    wait_for_route(&far, false);
    for forwarder in [host, gateway] {
        forwarder.process.signal("-TERM");
        assert_eq!(forwarder.process.end(), Some(0));
    }
}

#[test]
fn prefixes_of_applications_are_registered_at_a_gateway_that_restarts() {
    check("1");
}

#[test]
fn prefixes_are_registered_by_and_at_forwarders_of_two_shards() {
    check("2");
}

fn check_refusals(shards: &str) {
    let (near, far) = (Folder::new(), gateway_folder(false));
    let gateway = far.forwarder(&["--config", "f.toml", "--shards", shards]);
    let host = host(&near, &format!("udp4://{}", gateway.udp), shards);
    let _application = Application::new(&near, "/test/bob/app");
    host.process.wait_for("a prefix was not advertised", 1);
    let log = host.process.lines.lock().unwrap().join("\n");
    for part in ["destination=\"gateway\"", "prefix=/test/bob", "code=403", "retry_s=1", "not authorized"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert_eq!(routes(&far), "");
    configure_gateway(&far, true);
    gateway.process.signal("-HUP");
    wait_for_route(&far, true);
}

#[test]
fn refused_prefixes_are_logged_and_tried_again() {
    check_refusals("1");
}

#[test]
fn refused_prefixes_are_tried_again_by_two_shards() {
    check_refusals("2");
}

#[test]
fn a_wrong_passphrase_or_file_is_an_error_of_the_configuration() {
    let folder = Folder::new();
    let bag = safe_bag();
    fs::write(folder.path("bob.safebag"), &bag).unwrap();
    fs::write(folder.path("bob.ndncert"), SafeBag::parse(&bag).unwrap().certificate().data().as_bytes())
        .unwrap();
    fs::write(folder.path("passphrase"), "passphrase").unwrap();
    fs::write(folder.path("other"), "passphrasf").unwrap();
    for (bag, passphrase, why) in [
        ("bob.safebag", "passphrase", ""),
        ("bob.safebag", "other", "bob.safebag: wrong passphrase for the safe bag"),
        ("bob.ndncert", "passphrase", "bob.ndncert: not a safe bag"),
        ("missing", "passphrase", "missing: No such file"),
    ] {
        let text =
            format!("[[rib.propagate.identities]]\nsafe_bag = \"{bag}\"\npassphrase = \"{passphrase}\"\n");
        fs::write(folder.path("f.toml"), text).unwrap();
        let output = folder.run(&["check-config", "f.toml"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.success(), why.is_empty(), "{error}");
        assert!(error.contains(why), "{error}");
    }
}
