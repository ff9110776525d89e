//! The commands for Named Data Networking, run in a shell as they stand, and the configurations of their
//! reference.

use super::shell::Shell;
use super::{blocks, page};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_ndn::security::Signer;
use hashlane_ndn::security::certificate::CertificateBuilder;
use hashlane_rig::command::Folder;
use std::fs::File;
use std::path::Path;

#[test]
fn the_commands_of_the_readme_ping_across_two_forwarders() {
    // The ports are the page's: one run at a time.
    let lock = File::create(std::env::temp_dir().join("hashlane-readme.lock")).expect("a file to lock");
    lock.lock().expect("the lock");
    let page = page("ndn.md");
    let blocks = blocks(page, "sh");
    let [forwarders, server, ping, manage, configure] = blocks[..] else { panic!("{blocks:?}") };
    let folder = Folder::new();
    let mut shell = Shell::new(&folder.path(""));

    // Pasted as one block: no command may depend on a pause before it.
    let said = shell.run(&[forwarders, server, ping].concat());
    assert!(said.contains("route-added prefix=/example "), "{said}");
    assert!(said.contains("3 packets transmitted, 3 received, 0 lost"), "{said}");
    let said = shell.run("hashlane ndn face list --connect unix://$PWD/b.sock");
    let from_a = said.lines().find(|face| face.contains("remote=udp4://127.0.0.1:16363 ")).expect("a face");
    assert!(from_a.contains(" in-interests=3 ") && from_a.contains(" out-data=3 "), "{from_a}");

    let said = shell.run(manage);
    let message =
        ["version", "remote=udp4://127.0.0.1:16364 ", "prefix=/example ", "strategy/multicast", "\"hits\""];
    message.iter().for_each(|part| assert!(said.contains(part), "{part} in\n{said}"));
    assert!(shell.run(configure).contains("forwarder.toml is a valid configuration"));
    assert!(page.contains("`kill %1 %2 %3` ends it all"));
    shell.run("kill %1 %2 %3\nwait");
    assert!(!folder.path("a.sock").exists(), "it takes its socket away");
}

#[test]
fn the_package_is_where_the_readme_installs_it_from() {
    let (_, rest) =
        page("README.md").split_once("(or `bin/ndn`, `bin/flow`, `bin/names`, `").expect("how to install it");
    let (path, _) = rest.split_once('`').expect("a path");
    assert_eq!(Path::new("../..").join(path).canonicalize().ok(), Path::new(".").canonicalize().ok());
}

#[test]
fn the_configurations_of_the_page_are_some() {
    let folder = Folder::new();
    let key = rcgen::KeyPair::generate().expect("a key");
    let router = rcgen::CertificateParams::new(["router.example".to_owned()]).expect("a name");
    folder.write("router.pem", router.self_signed(&key).expect("a certificate").pem());
    folder.write("router.key", key.serialize_pem());
    let operator = OwnedName::from_components([Component::generic(b"op")]).expect("a name");
    let certificate = CertificateBuilder {
        identity: operator.view(),
        key: Component::generic(b"1"),
        version: 1,
        valid_from: 0,
        valid_until: u64::from(u32::MAX),
    };
    let certificate = certificate.self_signed(&Signer::ed25519(&[7; 32])).expect("a certificate");
    for below in ["keys", "certificates", "anchors"] {
        std::fs::create_dir(folder.path(below)).expect("a folder");
    }
    folder.write("keys/operator.ndncert", &certificate);
    folder.write("site.ndncert", certificate);
    folder.write("alice.safebag", safe_bag());
    folder.write("alice.passphrase", "passphrase\n");
    let folder_of_files = format!("{}/", folder.path("").display());
    let pages = [
        include_str!("../../../../../docs/ndn/access.md"),
        include_str!("../../../../../docs/ndn/operate.md"),
        include_str!("../../../../../docs/ndn/internals.md"),
    ];
    for configuration in pages.map(|page| blocks(page, "toml")).concat() {
        // The files of a page's system are in the folder here.
        let [ours, shared] = ["/etc/hashlane/", "/etc/ndn/"];
        let configuration = configuration.replace(ours, &folder_of_files).replace(shared, &folder_of_files);
        folder.write("forwarder.toml", configuration);
        folder.run(&["ndn", "check-config", "forwarder.toml"]).ok();
    }
}

/// A safe bag, whose passphrase is `passphrase`.
fn safe_bag() -> Vec<u8> {
    let vectors = include_str!("../../../../../vectors/ndn-signed.txt");
    let row = vectors.lines().find_map(|line| line.strip_prefix("ndnts-safe-bag-ecdsa "));
    let digits = row.expect("a safe bag").trim().as_bytes().chunks(2);
    let octet = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    digits.map(|digits| octet(digits).expect("hexadecimal digits")).collect()
}
