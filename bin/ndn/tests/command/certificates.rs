//! Certificates that a forwarder fetches from a producer, for registrations by neighbours.

use crate::forwarder::{Folder, Forwarder, block_on, parse};
use hashlane_client::Client;
use hashlane_name::component::Component;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, Record, Scope};
use hashlane_ndn::security::Signer;
use hashlane_ndn::security::certificate::CertificateBuilder;
use hashlane_ndn::wire::{Data, KeyLocator, LpPacket, SignatureInfo, SignatureType};
use std::fs;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const CONFIG: &str = "[management]
localhop = true
[trust]
fetch = true
[[trust.localhop.anchors]]
file = \"root.ndncert\"
[[trust.localhop.rules]]
id = \"commands\"
for = \"interest\"
checkers = [{ type = \"customized\", signature = \"ed25519\", key = { regex = \"^<net><>*<KEY><>{1,3}$\" } }]
[[trust.localhop.rules]]
id = \"certificates\"
for = \"data\"
filters = [{ regex = \"^<net><>*<KEY><>{3}$\" }]
checkers = [{ type = \"customized\", signature = \"ed25519\", key = { regex = \"^<net><>*<KEY><>{1,3}$\" } }]
";

fn signer(number: u8) -> Signer {
    Signer::ed25519(&[number; 32])
}

/// The certificate of the key of an identity with this number, signed by the key of another one.
fn certificate(identity: &str, number: u8, issuer: &str, by: u8) -> Vec<u8> {
    let (identity, issuer) = (parse(identity), parse(&format!("{issuer}/KEY/1")));
    let builder = CertificateBuilder {
        identity: identity.view(),
        key: Component::generic(b"1"),
        version: 1,
        valid_from: 0,
        valid_until: 4_000_000_000,
    };
    let public_key = signer(number).public_key().unwrap();
    builder.issued(&public_key, Component::generic(b"ca"), issuer.view(), &signer(by)).unwrap()
}

/// A host at an address of the loopback network, which registers prefixes.
struct Neighbour(UdpSocket);

impl Neighbour {
    fn new(address: &str, forwarder: &Forwarder) -> Self {
        let socket = UdpSocket::bind((address, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.connect(forwarder.udp).unwrap();
        Self(socket)
    }

    fn sends(&self, prefix: &str, key: &str, number: u8) {
        let milliseconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let parameters = ControlParameters { name: Some(parse(prefix)), ..ControlParameters::default() };
        let builder = CommandBuilder {
            target: Target { scope: Scope::Localhop, module: b"rib", verb: b"register" },
            parameters: &parameters,
            nonce: milliseconds as u32,
            lifetime: 8000,
            signature_nonce: *b"register",
            time: milliseconds,
        };
        let (key, signer) = (parse(key), signer(number));
        let locator = Some(KeyLocator::Name(key.view()));
        let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::ED25519) };
        let packet = builder.build_signed(info, |pieces| signer.sign(&pieces)).unwrap();
        assert_eq!(self.0.send(&packet).unwrap(), packet.len());
    }

    fn receives(&self) -> (u64, String) {
        let mut bytes = [0; 9000];
        let length = self.0.recv(&mut bytes).unwrap();
        let data = Data::parse(LpPacket::parse(&bytes[..length]).unwrap().fragment);
        let response = ControlResponse::parse(data.unwrap().content()).unwrap();
        (response.code, response.text)
    }

    fn registers(&self, prefix: &str, key: &str, number: u8) -> (u64, String) {
        self.sends(prefix, key, number);
        self.receives()
    }
}

/// Serves certificates below `/net`, and answers no other Interest. Returns the number of Interests.
fn serve(folder: &Folder, certificates: Vec<Vec<u8>>) -> Arc<AtomicU64> {
    let count = Arc::<AtomicU64>::default();
    let (transport, counted) = (folder.transport(), count.clone());
    let (ready, is_ready) = mpsc::channel();
    std::thread::spawn(move || {
        block_on(async {
            let client = Client::connect(&transport).await.unwrap();
            let prefix = parse("/net");
            let mut registration = client.register(prefix.view()).await.unwrap();
            ready.send(()).unwrap();
            while let Some(incoming) = registration.next().await {
                counted.fetch_add(1, Ordering::Relaxed);
                let asked = incoming.interest().name().to_string();
                let found = certificates.iter().find(|bytes| {
                    Data::parse(bytes).unwrap().name().to_string().starts_with(&format!("{asked}/"))
                });
                if let Some(certificate) = found
                    && incoming.reply(certificate).await.is_err()
                {
                    return;
                }
            }
        });
    });
    is_ready.recv().unwrap();
    count
}

fn start(folder: &Folder, shards: &str) -> Forwarder {
    fs::write(folder.path("root.ndncert"), certificate("/net", 1, "/net", 1)).unwrap();
    fs::write(folder.path("f.toml"), CONFIG).unwrap();
    folder.forwarder(&["--config", "f.toml", "--shards", shards])
}

fn check_chains(shards: &str) {
    let folder = Folder::new();
    let forwarder = start(&folder, shards);
    let mut certificates = vec![
        certificate("/net/site", 2, "/net", 1),
        certificate("/net/site/user", 3, "/net/site", 2),
        // A loop, and a key of nobody.
        certificate("/net/x", 5, "/net/y", 6),
        certificate("/net/y", 6, "/net/x", 5),
        certificate("/net/z", 7, "/other", 8),
    ];
    // A chain that is too long.
    for link in 20..30 {
        certificates.push(certificate(
            &format!("/net/{link}"),
            link,
            &format!("/net/{}", link + 1),
            link + 1,
        ));
    }
    let asked = serve(&folder, certificates);
    let neighbour = Neighbour::new("127.0.0.2", &forwarder);
    let user = "/net/site/user/KEY/1";
    assert_eq!(neighbour.registers("/net/site/user/app", user, 3), (200, "OK".into()));
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    assert_eq!(neighbour.registers("/net/site/user/more", user, 3), (200, "OK".into()));
    assert_eq!(asked.load(Ordering::Relaxed), 2, "the chain is kept");
    let routes = String::from_utf8(folder.run(&["route", "list"]).stdout).unwrap();
    assert!(routes.contains("/net/site/user/app") && routes.contains("/net/site/user/more"), "{routes}");
    for (key, number, reason) in [
        (user, 9, "wrong signature"),
        ("/net/x/KEY/1", 5, "up to a trust anchor"),
        ("/net/z/KEY/1", 7, "does not let the key /other/KEY/1 sign"),
        ("/net/20/KEY/1", 20, "5 certificates were fetched for the command"),
        ("/other/KEY/1", 9, "does not let the key /other/KEY/1 sign"),
    ] {
        let (code, text) = neighbour.registers("/net/bad", key, number);
        assert!(code == 403 && text.contains(reason), "{key}: {code} {text}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 2 + 2 + 1 + 5);
    let routes = String::from_utf8(folder.run(&["route", "list"]).stdout).unwrap();
    assert!(!routes.contains("/net/bad"), "{routes}");
    forwarder.process.signal("-TERM");
    assert_eq!(forwarder.process.end(), Some(0));
}

#[test]
fn a_chain_of_certificates_is_fetched_once_and_bad_chains_are_refused() {
    check_chains("1");
}

#[test]
fn certificates_arrive_at_any_of_several_threads() {
    check_chains("3");
}

#[test]
fn a_flood_of_keys_that_nobody_serves_leaves_other_neighbours_alone() {
    let folder = Folder::new();
    let forwarder = start(&folder, "2");
    let asked = serve(&folder, vec![certificate("/net/site", 2, "/net", 1)]);
    let flooder = Neighbour::new("127.0.0.3", &forwarder);
    for number in 0..200 {
        flooder.sends("/net/app", &format!("/net/{number}/KEY/1"), 9);
    }
    let begun = Instant::now();
    let neighbour = Neighbour::new("127.0.0.4", &forwarder);
    assert_eq!(neighbour.registers("/net/site/app", "/net/site/KEY/1", 2), (200, "OK".into()));
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
    let asked = asked.load(Ordering::Relaxed);
    assert!(asked <= 30, "{asked} Interests for 200 commands");
}
