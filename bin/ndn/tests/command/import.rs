//! `hashlane ndn import-nfd-conf`, and forwarders under its result.

use crate::forwarder::{Folder, Forwarder, parse};
use hashlane_name::component::Component;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, Record, Scope};
use hashlane_ndn::security::Signer;
use hashlane_ndn::security::certificate::CertificateBuilder;
use hashlane_ndn::wire::{Data, KeyLocator, LpPacket, SignatureInfo, SignatureType};
use hashlane_rig::command::holds;
use std::fs;
use std::net::UdpSocket;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The shape of a router of the global NDN testbed.
const ROUTER: &str = include_str!("../../../../serve/forwarder/tests/nfd_conf/router.conf");

fn signer(number: u8) -> Signer {
    Signer::ecdsa_p256(&[number; 32]).unwrap()
}

/// A certificate in Base64, as ndnsec writes it, valid for as long as tests run.
fn certificate(identity: &str, number: u8, issuer: Option<(&str, u8)>) -> String {
    let identity = parse(identity);
    let key = Component::generic(b"1");
    let (valid_from, valid_until) = (0, 4_000_000_000);
    let builder = CertificateBuilder { identity: identity.view(), key, version: 1, valid_from, valid_until };
    let bytes = match issuer {
        None => builder.self_signed(&signer(number)),
        Some((key, by)) => {
            let public_key = signer(number).public_key().unwrap();
            builder.issued(&public_key, Component::generic(b"ca"), parse(key).view(), &signer(by))
        }
    };
    data_encoding::BASE64.encode(&bytes.unwrap())
}

fn milliseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

/// The answer to a registration over UDP, under /localhop, signed by a key that the KeyLocator names.
fn register(forwarder: &Forwarder, prefix: &str, key: &str, number: u8) -> ControlResponse {
    let target = Target { scope: Scope::Localhop, module: b"rib", verb: b"register" };
    let parameters = ControlParameters { name: Some(parse(prefix)), ..ControlParameters::default() };
    let (signature_nonce, time) = (*b"register", milliseconds());
    let builder =
        CommandBuilder { target, parameters: &parameters, nonce: 1, lifetime: 4000, signature_nonce, time };
    let (key, signer) = (parse(key), signer(number));
    let locator = Some(KeyLocator::Name(key.view()));
    let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::SHA256_WITH_ECDSA) };
    let packet = builder.build_signed(info, |pieces| signer.sign(&pieces)).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    socket.send_to(&packet, forwarder.udp).unwrap();
    let mut bytes = [0; 9000];
    let length = socket.recv(&mut bytes).unwrap();
    let data = Data::parse(LpPacket::parse(&bytes[..length]).unwrap().fragment);
    ControlResponse::parse(data.unwrap().content()).unwrap()
}

#[test]
fn a_router_of_nfd_takes_registrations_by_its_rules_and_refuses_others() {
    let folder = Folder::new();
    fs::create_dir(folder.path("anchors")).unwrap();
    fs::write(folder.path("anchors/root.ndncert"), certificate("/net", 1, None)).unwrap();
    fs::write(folder.path("anchors/.gitkeep"), "").unwrap();
    fs::create_dir(folder.path("certificates")).unwrap();
    for (file, certificate) in [
        ("site", certificate("/net/site", 2, Some(("/net/KEY/1", 1)))),
        ("user", certificate("/net/site/user", 3, Some(("/net/site/KEY/1", 2)))),
        // A key of the network, for an identity beside the issuer's.
        ("stranger", certificate("/other", 4, Some(("/net/site/KEY/1", 2)))),
    ] {
        fs::write(folder.path("certificates").join(file), certificate).unwrap();
    }
    // Faces of links need a capability, and would be on the interfaces of this machine.
    let conf = ROUTER.replace("dir /keys/anchors", "dir anchors").replace("mcast yes", "mcast no");
    fs::write(folder.path("nfd.conf"), conf).unwrap();
    let imported = folder.run(&["import-nfd-conf", "nfd.conf", "--out", "forwarder.toml"]);
    assert_eq!(imported.status.code(), Some(0), "{imported:?}");
    let report = String::from_utf8(imported.stderr).unwrap();
    holds(
        &report,
        &[
            "rib.localhop_security: → [trust.localhop], trust.fetch\n",
            "rib.readvertise_nlsr: → rib.readvertise_nlsr\n",
            "face_system.ether: default here: no Ethernet faces",
        ],
    );
    let toml = fs::read_to_string(folder.path("forwarder.toml")).unwrap();
    let fetching = "[trust]\nfetch = true\n";
    let toml = toml.replace(fetching, &format!("{fetching}certificates = [\"certificates\"]\n"));
    fs::write(folder.path("forwarder.toml"), toml).unwrap();
    let forwarder = folder.forwarder(&["--config", "forwarder.toml"]);
    let ask = |prefix: &str, key: &str, number| register(&forwarder, prefix, key, number);

    let accepted = ask("/net/site/user/app", "/net/site/user/KEY/1", 3);
    assert_eq!(accepted.code, 200, "{}", accepted.text);
    let routes = folder.run(&["route", "list"]);
    holds(&String::from_utf8_lossy(&routes.stdout), &["/net/site/user/app"]);
    assert_eq!(ask("/net/anything", "/net/KEY/1", 1).code, 200, "the anchor itself");

    for (key, number, reason) in [
        ("/net/site/user/KEY/1", 9, "wrong signature (key /net/site/user/KEY/1)"),
        ("/net/nobody/KEY/1", 3, "no certificate of the key /net/nobody/KEY/1"),
        (
            "/other/KEY/1",
            4,
            "the rule \"certificates\" does not let the key /net/site/KEY/1 sign /other/KEY/1/ca/v=1",
        ),
        ("/net/site/user", 3, "the rule \"commands\" does not let the key /net/site/user sign"),
    ] {
        let refused = ask("/net/site/user/app2", key, number);
        assert_eq!(refused.code, 403, "{key}: {}", refused.text);
        assert!(refused.text.contains(reason), "{key}: {}", refused.text);
    }
    let routes = folder.run(&["route", "list"]);
    assert!(!String::from_utf8_lossy(&routes.stdout).contains("app2"));
    // Without a time, the folder of anchors is read again at SIGHUP.
    fs::write(folder.path("anchors/second.ndncert"), certificate("/second", 5, None)).unwrap();
    assert_eq!(ask("/second/app", "/second/KEY/1", 5).code, 403);
    forwarder.process.signal("-HUP");
    forwarder.process.wait_for("configuration read again", 1);
    assert_eq!(ask("/second/app", "/second/KEY/1", 5).code, 200);
    // No command of the configuration was refused.
    let log = forwarder.process.lines.lock().unwrap().join("\n");
    assert!(!log.contains("cannot "), "{log}");
}

#[test]
fn the_result_goes_to_standard_output_and_never_over_a_file() {
    let folder = Folder::new();
    fs::write(folder.path("nfd.conf"), "face_system { unix { path a.sock } }\nrib { readvertise_nlsr no }\n")
        .unwrap();
    let printed = folder.run(&["import-nfd-conf", "nfd.conf"]);
    assert_eq!(printed.status.code(), Some(0), "{printed:?}");
    let socket = fs::canonicalize(&folder.0).unwrap().join("a.sock");
    let (out, report) =
        (String::from_utf8(printed.stdout).unwrap(), String::from_utf8(printed.stderr).unwrap());
    holds(&out, &[&format!("path = [\"{}\"]\n", socket.display()), "own_faces = false\n"]);
    holds(
        &report,
        &[
            "line 1: face_system.unix.path: → faces.unix.path\n",
            "nfd.conf: 4 keys kept, 1 default here, 0 ignored, 0 not supported; 0 blank lines and comments\n",
        ],
    );
    fs::write(folder.path("there.toml"), "").unwrap();
    let refused = folder.run(&["import-nfd-conf", "nfd.conf", "--out", "there.toml"]);
    assert_eq!(refused.status.code(), Some(1));
    holds(&String::from_utf8_lossy(&refused.stderr), &["cannot write there.toml: File exists"]);
    fs::write(folder.path("broken.conf"), "general {\n").unwrap();
    let broken = folder.run(&["import-nfd-conf", "broken.conf"]);
    assert_eq!((broken.status.code(), broken.stdout.len()), (Some(1), 0));
    holds(
        &String::from_utf8_lossy(&broken.stderr),
        &["broken.conf: line 1: a section without its closing brace"],
    );
}
