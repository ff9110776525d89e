//! Prefix announcements to a forwarder, from an application and from a neighbour.

use crate::forwarder::{Folder, block_on, fetch, parse};
use hashlane_client::Client;
use hashlane_name::component::Component;
use hashlane_ndn::mgmt::{AnnouncementBuilder, ControlResponse, Record};
use hashlane_ndn::security::Signer;
use hashlane_ndn::security::certificate::CertificateBuilder;
use hashlane_ndn::wire::{
    Data, DataBuilder, Interest, InterestBuilder, KeyLocator, LpPacket, SignatureInfo, SignatureType,
};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const PATIENCE: Duration = Duration::from_secs(15);

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

pub(crate) fn operator() -> Signer {
    Signer::ed25519(&[7; 32])
}

/// Writes the certificate of the operator's key into the folder, and a configuration that trusts it.
pub(crate) fn configure(folder: &Folder, more: &str) {
    let identity = parse("/op");
    let certificate = CertificateBuilder {
        identity: identity.view(),
        key: Component::generic(b"1"),
        version: 1,
        valid_from: now() / 1000 - 60,
        valid_until: now() / 1000 + 3600,
    };
    fs::write(folder.path("anchor"), certificate.self_signed(&operator()).unwrap()).unwrap();
    let config = format!("[management]\ntrust_anchors = [\"anchor\"]\nlocalhop = true\n{more}");
    fs::write(folder.path("f.toml"), config).unwrap();
}

pub(crate) const TRUSTED: &str = "[rib]\nprefix_announcements = \"trusted\"\nannouncements_per_face = 1\n";

/// An announcement of a prefix for a minute.
pub(crate) fn announcement(prefix: &str, signer: &Signer) -> Vec<u8> {
    let (prefix, key) = (parse(prefix), parse("/op/KEY/1"));
    let builder = AnnouncementBuilder { prefix: &prefix, version: 1, expiration: 60_000, validity: None };
    let locator = Some(KeyLocator::Name(key.view()));
    let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::ED25519) };
    builder.build_signed(signer, info).unwrap()
}

/// The command with an announcement, signed by the operator.
pub(crate) fn command(scope: &str, announcement: &[u8]) -> Vec<u8> {
    let (target, key) = (parse(&format!("/{scope}/nfd/rib/announce")), parse("/op/KEY/1"));
    let interest = InterestBuilder {
        nonce: Some(now() as u32),
        parameters: Some(announcement),
        ..InterestBuilder::new(target.view())
    };
    let (locator, nonce) = (Some(KeyLocator::Name(key.view())), now().to_be_bytes());
    let info = SignatureInfo {
        key_locator: locator,
        time: Some(now()),
        nonce: Some(&nonce),
        ..SignatureInfo::of(SignatureType::ED25519)
    };
    // Times of signing differ.
    std::thread::sleep(Duration::from_millis(2));
    operator().interest(&interest, info)
}

/// A peer of the forwarder that sends and receives one packet at a time.
pub(crate) enum Peer {
    Unix(UnixStream),
    Udp(UdpSocket),
}

impl Peer {
    pub(crate) fn application(folder: &Folder) -> Self {
        let stream = UnixStream::connect(folder.path("nfd.sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self::Unix(stream)
    }

    pub(crate) fn send(&mut self, packet: &[u8]) {
        match self {
            Self::Unix(stream) => stream.write_all(packet).unwrap(),
            Self::Udp(socket) => assert_eq!(socket.send(packet).unwrap(), packet.len()),
        }
    }

    /// The next packet, without its link header.
    pub(crate) fn receive(&mut self) -> Vec<u8> {
        let mut bytes = [0; 10_000];
        let len = match self {
            Self::Unix(stream) => stream.read(&mut bytes).unwrap(),
            Self::Udp(socket) => socket.recv(&mut bytes).unwrap(),
        };
        LpPacket::parse(&bytes[..len]).unwrap().fragment.to_vec()
    }

    /// Code and text of the response to a command.
    pub(crate) fn asks(&mut self, command: &[u8]) -> (u64, String) {
        self.send(command);
        let answer = self.receive();
        let response = ControlResponse::parse(Data::parse(&answer).unwrap().content()).unwrap();
        (response.code, response.text)
    }

    /// Answers one Interest below a name.
    fn serves(&mut self, uri: &str) {
        let interest = self.receive();
        let interest = Interest::parse(&interest).unwrap();
        assert!(interest.name().to_string().starts_with(uri), "{}", interest.name());
        self.send(&DataBuilder::new(interest.name(), b"hello").build());
    }
}

/// Fetches a name while `peer` serves it.
fn fetches_from(folder: &Folder, mut peer: Peer, uri: &'static str) -> Peer {
    let serving = std::thread::spawn(move || {
        peer.serves(uri);
        peer
    });
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        assert!(fetch(&client, uri).await, "{uri}");
    });
    serving.join().unwrap()
}

#[test]
fn an_application_announces_its_prefix() {
    let folder = Folder::new();
    configure(&folder, TRUSTED);
    let _forwarder = folder.forwarder(&["--config", "f.toml"]);
    let mut peer = Peer::application(&folder);
    let good = announcement("/net/app", &operator());
    assert_eq!(peer.asks(&command("localhost", &good)), (200, "OK".into()));
    let routes = String::from_utf8(folder.run(&["route", "list"]).stdout).unwrap();
    assert!(routes.contains("/net/app") && routes.contains("prefixann"), "{routes}");
    let mut peer = fetches_from(&folder, peer, "/net/app/x");
    let (code, text) = peer.asks(&command("localhost", &announcement("/net/other", &operator())));
    assert_eq!(code, 507);
    assert!(text.contains("has 1 announced routes, the limit of a face"), "{text}");
    let stranger = announcement("/net/app", &Signer::ed25519(&[8; 32]));
    let (code, text) = peer.asks(&command("localhost", &stranger));
    assert_eq!(code, 403);
    assert!(text.contains("the signature of the prefix announcement is not trusted"), "{text}");
}

#[test]
fn a_neighbour_announces_its_prefix_with_a_trusted_key() {
    let folder = Folder::new();
    configure(&folder, TRUSTED);
    let forwarder = folder.forwarder(&["--config", "f.toml", "--shards", "2"]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(forwarder.udp).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut peer = Peer::Udp(socket);
    let stranger = announcement("/net/site", &Signer::ed25519(&[8; 32]));
    assert_eq!(peer.asks(&command("localhop", &stranger)).0, 403);
    let good = announcement("/net/site", &operator());
    assert_eq!(peer.asks(&command("localhop", &good)), (200, "OK".into()));
    fetches_from(&folder, peer, "/net/site/x");
}

#[test]
fn announcements_are_off_by_default_and_a_reload_turns_them_on() {
    let folder = Folder::new();
    configure(&folder, "");
    let forwarder = folder.forwarder(&["--config", "f.toml"]);
    let mut peer = Peer::application(&folder);
    let good = announcement("/net/app", &operator());
    let (code, text) = peer.asks(&command("localhost", &good));
    assert_eq!(code, 403);
    assert!(text.ends_with("set rib.prefix_announcements = \"trusted\""), "{text}");
    configure(&folder, TRUSTED);
    forwarder.process.signal("-HUP");
    forwarder.process.wait_for("configuration read again", 1);
    assert_eq!(peer.asks(&command("localhost", &good)), (200, "OK".into()));
}
