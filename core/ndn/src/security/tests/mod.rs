//! Published vectors, and packets that other implementations signed.

mod certificates;
mod keys;
mod packets;
mod safe_bags;
mod trust;

use super::certificate::CertificateBuilder;
use super::{Certificate, Refusal, Signer, TrustAnchors};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use std::vec::Vec;

const SECRET: &[u8] = b"secret key of thirty-two octets!";
/// 2026-01-02T03:04:05 and 2036-06-07T08:09:10.
const FROM: u64 = 1_767_323_045;
const UNTIL: u64 = 2_096_438_950;

fn hex(digits: &str) -> Vec<u8> {
    data_encoding::HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).expect("hexadecimal digits")
}

/// A row of the vectors.
fn vector(name: &str) -> Vec<u8> {
    let file = include_str!("../../../../../vectors/ndn-signed.txt");
    let row = file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    hex(row.expect("a vector of this name"))
}

fn named(uri: &str) -> OwnedName<Ndn> {
    parse_uri(uri.as_bytes()).expect("a name")
}

fn anchors(certificates: &[&str]) -> TrustAnchors {
    let mut anchors = TrustAnchors::new();
    for certificate in certificates {
        anchors.add(&Certificate::parse(&vector(certificate)).unwrap()).unwrap();
    }
    anchors
}

/// Runs `check` on the packet, and on it with each byte changed in turn.
fn refuses_each_change(bytes: &[u8], check: impl Fn(&[u8]) -> Option<Result<(), Refusal>>) {
    assert_eq!(check(bytes), Some(Ok(())));
    for at in 0..bytes.len() {
        let mut other = bytes.to_vec();
        other[at] ^= 1;
        assert_ne!(check(&other), Some(Ok(())), "byte {at}");
    }
}

/// A certificate of `signer` for /me, of times FROM to UNTIL.
fn own(signer: &Signer, version: u64) -> Vec<u8> {
    let identity = named("/me");
    let key = Component::generic(b"1");
    CertificateBuilder { identity: identity.view(), key, version, valid_from: FROM, valid_until: UNTIL }
        .self_signed(signer)
        .unwrap()
}
