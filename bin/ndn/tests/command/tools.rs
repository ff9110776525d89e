//! The tools of NDN as a user meets them, on the two sides of a forwarder that shares nothing with ours.

use hashlane_client::{Client, Library, Publication, Transport};
use hashlane_client_testing::Forwarder;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::security::Signer;
use hashlane_ndn::security::certificate::CertificateBuilder;
use hashlane_rig::children::{Lines, PROMPT, ended, output, start};
use hashlane_rig::command::hashlane;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A folder with the socket of a forwarder; both are removed when dropped.
struct Network {
    folder: PathBuf,
    forwarder: Option<Forwarder>,
}

impl Network {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("hashlane-ndn-{}-{number}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let forwarder = Some(Forwarder::start(&folder.join("nfd.sock")));
        Self { folder, forwarder }
    }

    fn forwarder(&self) -> &Forwarder {
        self.forwarder.as_ref().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// `hashlane ndn …`, with this forwarder and in this folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = hashlane(&[&["ndn"], arguments].concat());
        let transport = format!("unix://{}", self.path("nfd.sock").display());
        command.current_dir(&self.folder).env("NDN_CLIENT_TRANSPORT", transport);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        output(&mut self.command(arguments))
    }

    /// Starts a producer, and waits until it has registered its prefix.
    fn start(&self, arguments: &[&str]) -> Running {
        let before = self.registrations();
        let child = Running(start(&mut self.command(arguments)));
        self.wait_for_registration(before);
        child
    }

    /// Waits for a registration after so many.
    #[track_caller]
    fn wait_for_registration(&self, before: usize) {
        let begun = Instant::now();
        while self.registrations() == before {
            assert!(begun.elapsed() < PROMPT, "no prefix was registered within {PROMPT:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn registrations(&self) -> usize {
        self.forwarder().commands().iter().filter(|verb| *verb == "rib/register").count()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.forwarder = None;
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A process, stopped when dropped.
struct Running(Child);

impl Running {
    /// Sends the signal. Returns the exit code and the standard output.
    fn stop(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let lines = Lines::of(self.0.stdout.take()).rest();
        (ended(&mut self.0).code(), lines.iter().map(|line| format!("{line}\n")).collect())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[track_caller]
fn out(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn complaint(output: &Output, code: i32) -> String {
    out(output, code);
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn octets(path: &Path, len: usize) -> Vec<u8> {
    let octets: Vec<u8> = (0..len).map(|at| (at * 37 / 11) as u8).collect();
    fs::write(path, &octets).unwrap();
    octets
}

#[test]
fn pings_are_answered_and_summed_up_on_both_sides() {
    let network = Network::new();
    let server = network.start(&["ping-server", "/a", "-s", "100"]);
    let text = out(&network.run(&["ping", "/a", "-c", "3", "-i", "10", "-n", "7"]), 0);
    for number in 7..10 {
        assert!(text.contains(&format!("content from /a: seq={number} time=")), "{text}");
    }
    assert!(text.contains("3 packets transmitted, 3 received, 0 lost, 0 nacked, 0.0% packet loss"), "{text}");
    assert!(text.contains("rtt min/avg/max/mdev = "), "{text}");
    let (code, text) = server.stop("-INT");
    assert_eq!(code, Some(0));
    assert!(text.contains("interest received: seq=8\n") && text.ends_with("3 packets processed\n"), "{text}");
    assert_eq!(network.forwarder().commands(), ["rib/register", "rib/unregister"]);
}

#[test]
fn a_ping_that_is_not_answered_is_a_failure() {
    let network = Network::new();
    let text = out(&network.run(&["ping", "/nobody", "-c", "2", "-i", "10"]), 1);
    assert!(text.contains("nack from /nobody: seq=") && text.contains("reason=NoRoute"), "{text}");
    assert!(
        text.contains("2 packets transmitted, 0 received, 0 lost, 2 nacked, 100.0% packet loss"),
        "{text}"
    );
}

#[test]
fn a_ping_that_is_stopped_sums_up() {
    for signal in ["-INT", "-TERM"] {
        let network = Network::new();
        let _server = network.start(&["ping-server", "/a"]);
        let mut ping = Running(start(&mut network.command(&["ping", "/a", "-i", "10"])));
        let mut lines = Lines::of(ping.0.stdout.take());
        assert_eq!(lines.line(), "PING /a");
        assert!(lines.line().starts_with("content from /a"));
        assert!(Command::new("kill").args([signal, &ping.0.id().to_string()]).status().unwrap().success());
        let rest = lines.rest();
        assert!(rest.iter().any(|line| line == "--- /a ping statistics ---"), "{rest:?}");
        assert_eq!(ended(&mut ping.0).code(), Some(0));
    }
}

#[test]
fn a_ping_server_ends_after_so_many_answers() {
    let network = Network::new();
    let mut server = network.start(&["ping-server", "/a", "-p", "2", "-q"]);
    out(&network.run(&["ping", "/a", "-c", "2", "-i", "10", "-q"]), 0);
    assert_eq!(ended(&mut server.0).code(), Some(0));
}

#[test]
fn a_file_is_got_as_it_was_put() {
    let network = Network::new();
    let sent = octets(&network.path("sent"), 500_000);
    let producer = network.start(&["put", "/a/file", "sent"]);
    network.forwarder().lose_one_of(30);
    let output = network.run(&["get", "/a/file", "-o", "got"]);
    let message = complaint(&output, 0);
    assert!(
        message.starts_with("fetched /a/file/v=") && message.contains(": 500000 bytes, 63 segments in "),
        "{message}"
    );
    assert!(fs::read(network.path("got")).unwrap() == sent);
    assert_eq!(producer.stop("-TERM").0, Some(0));
}

#[test]
fn standard_input_is_put_and_peeked_at() {
    let network = Network::new();
    fs::write(network.path("text"), "hello\n").unwrap();
    let before = network.registrations();
    let mut command = network.command(&["put", "/a/hello/v=3"]);
    let _producer = Running(start(command.stdin(fs::File::open(network.path("text")).unwrap())));
    network.wait_for_registration(before);
    assert_eq!(out(&network.run(&["peek", "-P", "/a/hello"]), 0), "hello\n");
    assert_eq!(out(&network.run(&["get", "/a/hello", "-q"]), 0), "hello\n");
    let raw = network.run(&["peek", "/a/hello/v=3/seg=0", "--raw", "-v"]);
    assert_eq!(hashlane_ndn::wire::Data::parse(&raw.stdout).unwrap().content(), b"hello\n");
    let message = String::from_utf8(raw.stderr).unwrap();
    assert!(message.contains("Data /a/hello/v=3/seg=0") && message.contains("DigestSha256"), "{message}");
}

/// Publishes an object that is signed with a key, until the network ends; writes the key's certificate to
/// `file`.
fn publish_signed(network: &Network, uri: &str, content: &[u8], seed: u8, file: &str) {
    let (name, identity) = (parse(uri), parse("/owner"));
    let signer = Signer::ed25519(&[seed; 32]);
    let certificate = CertificateBuilder {
        identity: identity.view(),
        key: Component::generic(b"1"),
        version: 1,
        valid_from: 0,
        valid_until: 4_000_000_000,
    };
    fs::write(network.path(file), certificate.self_signed(&signer).unwrap()).unwrap();
    let object = Publication::new(name.view(), content.to_vec()).unwrap();
    let object = object.signed(signer, parse("/owner/KEY/1").view()).unwrap();
    let transport = Transport::Unix(network.path("nfd.sock"));
    let before = network.registrations();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = Client::connect(&transport).await.unwrap();
            let mut registration = client.register(object.name()).await.unwrap();
            let mut library = Library::new();
            library.insert(object);
            library.serve(&mut registration, |_| {}).await.unwrap();
        });
    });
    while network.registrations() == before {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn parse(uri: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).unwrap()
}

#[test]
fn only_what_a_trusted_key_signed_is_accepted() {
    let network = Network::new();
    publish_signed(&network, "/a", b"right", 1, "right.cert");
    publish_signed(&network, "/b", b"wrong", 2, "wrong.cert");
    assert_eq!(out(&network.run(&["get", "/a", "-q", "--trust", "right.cert"]), 0), "right");
    assert_eq!(out(&network.run(&["peek", "-P", "/a", "--trust", "right.cert"]), 0), "right");
    for arguments in [&["get", "/b", "-q"][..], &["peek", "-P", "/b"]] {
        let told = complaint(&network.run(&[arguments, &["--trust", "right.cert"]].concat()), 1);
        assert!(told.contains("the Data was refused: wrong signature"), "{told}");
    }
    fs::write(network.path("text"), "this is none").unwrap();
    let message = complaint(&network.run(&["peek", "/a", "--trust", "text"]), 1);
    assert!(message.contains("text: ") && message.contains("certificate"), "{message}");
}

#[test]
fn a_folder_is_served_with_what_is_in_it() {
    let network = Network::new();
    fs::create_dir_all(network.path("site/deep")).unwrap();
    let sent = octets(&network.path("site/deep/file"), 20_000);
    fs::write(network.path("site/.hidden"), "secret").unwrap();
    let _server = network.start(&["serve", "/s", "site"]);
    assert!(network.run(&["get", "/s/deep/file", "-q"]).stdout == sent);
    let missing = network.run(&["get", "/s/.hidden", "-q", "-l", "100"]);
    assert!(complaint(&missing, 1).contains("/s/.hidden: no answer to 2 Interests"), "{missing:?}");
}

#[test]
fn a_route_goes_to_the_face_that_is_there() {
    let network = Network::new();
    let text = out(&network.run(&["route", "add", "/a", "udp://127.0.0.1", "--cost", "5"]), 0);
    assert_eq!(text, "route-added prefix=/a face=77 origin=static cost=5\n");
    let text = out(&network.run(&["face", "create", "udp4://127.0.0.1:6363"]), 0);
    assert_eq!(text, "face-exists id=77 remote=udp4://127.0.0.1:6363\n");
}

#[test]
fn a_face_that_exists_gets_the_options_that_are_given() {
    let network = Network::new();
    let create = |options: &[&str]| {
        let uri = ["face", "create", "udp4://127.0.0.1:6363"];
        network.run(&[&uri[..], options].concat())
    };
    let done = |what: &str| format!("{what} id=77 remote=udp4://127.0.0.1:6363\n");
    let updates = || network.forwarder().commands().iter().filter(|verb| *verb == "faces/update").count();
    for options in [&[][..], &["--persistency", "persistent"], &["--mtu", "8800"]] {
        assert_eq!(out(&create(options), 0), done("face-exists"), "{options:?}");
    }
    assert_eq!(updates(), 0);
    for options in [&["--mtu", "1400"][..], &["--persistency", "permanent"]] {
        assert_eq!(out(&create(options), 0), done("face-updated"), "{options:?}");
    }
    assert_eq!(updates(), 2);
    let message = complaint(&create(&["--mtu", "1"]), 1);
    assert!(message.contains("face 77 exists, and its options could not be updated"), "{message}");
    assert!(message.contains("409 Invalid properties"), "{message}");
    let message = complaint(&create(&["--local", "udp4://127.0.0.2:6363"]), 1);
    assert!(message.contains("face 77 exists with the local end"), "{message}");
}

/// The list of faces is outdated here, as NFD's is for up to a second.
#[test]
fn one_face_is_asked_for_and_not_looked_for_in_the_list() {
    let network = Network::new();
    assert_eq!(out(&network.run(&["face", "list", "--json"]), 0).trim(), "[]");
    for face in ["77", "udp4://127.0.0.1:6363", "udp://127.0.0.1"] {
        let shown = out(&network.run(&["face", "show", face]), 0);
        assert!(shown.contains("udp4://127.0.0.1:16363"), "{face}: {shown}");
    }
    out(&network.run(&["route", "add", "/a", "77"]), 0);
    let removed = out(&network.run(&["route", "remove", "/a", "udp4://127.0.0.1:6363"]), 0);
    assert_eq!(removed, "route-removed prefix=/a face=77 origin=static\n");
    let destroyed = out(&network.run(&["face", "destroy", "udp4://127.0.0.1:6363"]), 0);
    assert_eq!(destroyed, "face-destroyed id=77 remote=udp4://127.0.0.1:6363\n");
    for face in ["78", "udp4://127.0.0.1:6364"] {
        let message = complaint(&network.run(&["face", "show", face]), 1);
        assert!(message.contains(&format!("no face {face}; ")), "{message}");
    }
}

#[test]
fn a_command_that_is_refused_says_why() {
    let network = Network::new();
    let output = network.run(&["strategy", "set", "/a", "multicast"]);
    assert!(complaint(&output, 1).contains("the forwarder refuses: 501 no such command"), "{output:?}");
}

#[test]
fn mistakes_are_named() {
    let network = Network::new();
    let elsewhere = format!("unix://{}", network.path("none.sock").display());
    let output = network.run(&["peek", "/a", "--connect", &elsewhere]);
    let message = complaint(&output, 1);
    assert!(message.contains("no such file") && message.contains("`hashlane ndn run`"), "{message}");
    assert_eq!(message.lines().count(), 1);
    for (arguments, rule) in [
        (&["peek", "a"][..], "expected \"/\" at offset 0"),
        (&["peek", "/a", "--connect", "pigeon://x"], "not one of unix, tcp and udp"),
        (&["route", "add", "/a", "nowhere"], "a face URI starts with a scheme"),
        (&["ping", "/a", "-i", "soon"], "expected milliseconds"),
        (&["cs", "config"], "--capacity"),
    ] {
        let message = complaint(&network.run(arguments), 2);
        assert!(message.contains(rule), "{arguments:?}: {message}");
    }
    let message = complaint(&network.run(&["put", "/a", "missing.txt"]), 1);
    assert!(message.contains("missing.txt: cannot read the file"), "{message}");
    let message = complaint(&network.run(&["peek", "/nobody"]), 1);
    assert!(message.contains("no route for this name"), "{message}");
}
