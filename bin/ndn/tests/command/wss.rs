//! WebSockets with TLS.

use crate::forwarder::{Folder, Forwarder, parse, produce, until};
use hashlane_ndn::wire::{Data, InterestBuilder};
use hashlane_rig::command::is_root;
use rcgen::{CertificateParams, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tungstenite::{Message, WebSocket};

/// An issuer of certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), root }
    }

    /// Writes the certificate and key of the forwarder.
    fn issue(&self, folder: &Folder) {
        let params = CertificateParams::new(["router.example".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        fs::write(folder.path("cert.pem"), params.signed_by(&key, &self.issuer).unwrap().pem()).unwrap();
        fs::write(folder.path("key.pem"), key.serialize_pem()).unwrap();
    }

    /// A WebSocket to the forwarder, or the reason for its failure.
    fn connect(&self, at: SocketAddr) -> Result<Secure, String> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(ring::default_provider().into());
        let builder = builder.with_protocol_versions(&[&TLS13]).unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let name = ServerName::try_from("router.example").unwrap();
        let session = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        let stream = StreamOwned::new(session, stream);
        let connected = tungstenite::client("wss://router.example/", stream);
        connected.map(|(socket, _)| socket).map_err(|error| error.to_string())
    }
}

type Secure = WebSocket<StreamOwned<ClientConnection, TcpStream>>;

/// Content of the Data that answers an Interest.
fn ask(socket: &mut Secure, uri: &str) -> Vec<u8> {
    let name = parse(uri);
    let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
    socket.send(Message::binary(interest)).unwrap();
    loop {
        if let Message::Binary(packet) = socket.read().unwrap() {
            return Data::parse(&packet).unwrap().content().to_vec();
        }
    }
}

/// A configuration with TLS, and more keys of `[server]`.
fn config(server: &str) -> String {
    let faces = "[faces.unix]\npath = [\"nfd.sock\"]\n[faces.udp]\nlisten = [\"127.0.0.1:0\"]\n[faces.tcp]\n\
                  listen = [\"127.0.0.1:0\"]\n[faces.websocket]\nlisten = []\n[faces.websocket.tls]\n\
                  listen = [\"127.0.0.1:0\"]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    format!("[server]\n{server}{faces}")
}

/// A forwarder that listens with TLS, and the address.
fn start(folder: &Folder, authority: &Authority) -> (Forwarder, SocketAddr) {
    authority.issue(folder);
    fs::write(folder.path("f.toml"), config("")).unwrap();
    run(folder)
}

/// A forwarder with the configuration of a folder, and its address.
fn run(folder: &Folder) -> (Forwarder, SocketAddr) {
    let forwarder = Forwarder::start(folder.command(&["run", "--config", "f.toml"]));
    forwarder.process.wait_for("channel=wss://", 1);
    let lines = forwarder.process.lines.lock().unwrap();
    let at = lines.iter().find_map(|line| line.split_once("channel=wss://")?.1.trim().parse().ok()).unwrap();
    drop(lines);
    (forwarder, at)
}

#[test]
fn packets_of_any_length_pass_over_tls() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let (forwarder, at) = start(&folder, &authority);
    produce(&folder, "/a", |incoming| {
        let length = incoming.interest().name().components().last().unwrap().value.len();
        vec![b'x'; 80 * length]
    });
    let mut socket = authority.connect(at).unwrap();
    for length in [1, 7, 100] {
        let content = ask(&mut socket, &format!("/a/{}", "n".repeat(length)));
        assert_eq!(content, vec![b'x'; 80 * length]);
    }
    // Many at once, before any is read.
    for number in 0..200 {
        let name = parse(&format!("/a/{number}/{}", "n".repeat(90)));
        let interest = InterestBuilder { nonce: Some(number), ..InterestBuilder::new(name.view()) }.build();
        socket.send(Message::binary(interest)).unwrap();
    }
    let mut answers = 0;
    while answers < 200 {
        if let Message::Binary(packet) = socket.read().unwrap() {
            assert_eq!(Data::parse(&packet).unwrap().content().len(), 7200);
            answers += 1;
        }
    }
    let faces = String::from_utf8(folder.run(&["face", "list", "--json"]).stdout).unwrap();
    assert!(faces.contains(&format!("wss://{at}")) && faces.contains("wsclient://127.0.0.1:"), "{faces}");
    assert!(faces.contains("non-local"), "{faces}");
    forwarder.process.signal("-TERM");
    assert_eq!(forwarder.process.end(), Some(0));
}

#[test]
fn a_new_certificate_is_for_new_connections_and_a_wrong_one_changes_nothing() {
    let (folder, first, second) = (Folder::new(), Authority::new(), Authority::new());
    let (forwarder, at) = start(&folder, &first);
    produce(&folder, "/a", |_| b"hello".to_vec());
    let mut old = first.connect(at).unwrap();
    assert_eq!(ask(&mut old, "/a/1"), b"hello");
    assert!(second.connect(at).is_err(), "of another issuer");

    second.issue(&folder);
    forwarder.process.signal("-HUP");
    forwarder.process.wait_for("configuration read again", 1);
    until(|| second.connect(at).is_ok(), || "the new certificate".to_owned());
    assert!(first.connect(at).is_err());
    assert_eq!(ask(&mut old, "/a/2"), b"hello", "a connection stays");

    fs::write(folder.path("key.pem"), KeyPair::generate().unwrap().serialize_pem()).unwrap();
    forwarder.process.signal("-HUP");
    forwarder
        .process
        .wait_for("`faces.websocket.tls.key` key.pem is not the key of the first certificate", 1);
    assert!(second.connect(at).is_ok());
    let refused = folder.run(&["check-config", "f.toml"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is not the key of the first certificate"));
}

#[test]
fn a_key_that_the_process_may_not_read_again_stays_and_all_else_is_reloaded() {
    if !is_root() {
        return;
    }
    let (folder, first, second) = (Folder::new(), Authority::new(), Authority::new());
    let private = |mode| {
        fs::set_permissions(folder.path("key.pem"), std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap();
    };
    first.issue(&folder);
    private(0o600);
    let config = config("user = \"nobody\"\n");
    fs::write(folder.path("f.toml"), &config).unwrap();
    let (forwarder, at) = run(&folder);
    let log = &forwarder.process;
    assert!(first.connect(at).is_ok());

    second.issue(&folder);
    private(0o600);
    fs::write(folder.path("f.toml"), format!("{config}[cs]\npackets = 77\n")).unwrap();
    log.signal("-HUP");
    log.wait_for("configuration read again", 1);
    log.wait_for("`faces.websocket.tls.key` key.pem cannot be read: Permission denied", 1);
    log.wait_for("the certificate and key of TLS stay as they are", 1);
    log.wait_for("readable for a group of the forwarder's user, or restart", 1);
    assert_eq!(log.count("certificate and key of TLS read again"), 0);
    let store = String::from_utf8(folder.run(&["cs", "info"]).stdout).unwrap();
    assert!(store.contains("77"), "{store}");
    assert!(first.connect(at).is_ok(), "the loaded certificate stays");

    private(0o644);
    log.signal("-HUP");
    log.wait_for("certificate and key of TLS read again: in effect for new connections", 1);
    log.wait_for("configuration read again", 2);
    until(|| second.connect(at).is_ok(), || "the new certificate".to_owned());
}

#[test]
fn an_expired_certificate_is_warned_of_by_check_config_and_at_the_start() {
    let folder = Folder::new();
    let mut params = CertificateParams::new(["router.example".to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    let key = KeyPair::generate().unwrap();
    fs::write(folder.path("cert.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    fs::write(folder.path("key.pem"), key.serialize_pem()).unwrap();
    fs::write(folder.path("f.toml"), config("")).unwrap();
    let checked = folder.run(&["check-config", "f.toml"]);
    let said = String::from_utf8([checked.stdout, checked.stderr].concat()).unwrap();
    let warning = "`faces.websocket.tls.certificate` cert.pem: the certificate has expired; renew it";
    assert!(checked.status.success() && said.contains(&format!("warning: {warning}")), "{said}");
    assert!(said.contains("f.toml is a valid configuration"), "{said}");
    let (forwarder, _) = run(&folder);
    forwarder.process.wait_for(warning, 1);
}

#[test]
fn hosts_that_break_the_rules_of_tls_or_say_nothing_delay_no_other() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let (forwarder, at) = start(&folder, &authority);
    produce(&folder, "/a", |_| b"hello".to_vec());
    let silent: Vec<_> = (0..40).map(|_| TcpStream::connect(at).unwrap()).collect();
    let garbage: [&[u8]; 4] =
        [b"GET / HTTP/1.1\r\n\r\n", &[0x16, 3, 1, 0xff, 0xff], &[0; 5000], &[0x16, 3, 1, 0, 4, 1, 0, 0, 0]];
    for bytes in garbage {
        let mut stream = TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // An alert, or the end.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.len() < 100 && !answer.starts_with(b"HTTP"), "{answer:?}");
    }
    // A handshake that comes byte by byte, while another one is whole.
    let mut whole = authority.connect(at).unwrap();
    assert_eq!(ask(&mut whole, "/a/1"), b"hello");
    drop(silent);
    forwarder.process.signal("-TERM");
    assert_eq!(forwarder.process.end(), Some(0));
}

#[test]
fn files_without_an_address_to_listen_on_are_warned_of() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let unused = "[faces.websocket.tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    fs::write(folder.path("f.toml"), unused).unwrap();
    let warns = |text: &str| {
        let checked = folder.run(&["check-config", "f.toml"]);
        let said = String::from_utf8([checked.stdout, checked.stderr].concat()).unwrap();
        assert!(
            checked.status.success() && said.contains("warning: ") && said.contains(text),
            "{text}: {said}"
        );
    };
    warns("cert.pem cannot be read");
    authority.issue(&folder);
    warns("`faces.websocket.tls.certificate` is unused");
    fs::write(folder.path("key.pem"), KeyPair::generate().unwrap().serialize_pem()).unwrap();
    warns("is not the key of the first certificate");
}

#[test]
fn files_that_are_missing_are_named() {
    let folder = Folder::new();
    let check = |text: &str| {
        fs::write(
            folder.path("f.toml"),
            format!("[faces.websocket.tls]\nlisten = [\"127.0.0.1:0\"]\n{text}"),
        )
        .unwrap();
        String::from_utf8_lossy(&folder.run(&["check-config", "f.toml"]).stderr).into_owned()
    };
    assert!(check("").contains("faces.websocket.tls.certificate` is missing"), "{}", check(""));
    let named = "certificate = \"none.pem\"\nkey = \"none.key\"\n";
    assert!(
        check(named).contains("`faces.websocket.tls.certificate` none.pem cannot be read"),
        "{}",
        check(named)
    );
}
