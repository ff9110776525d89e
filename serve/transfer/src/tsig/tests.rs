//! Tests of signatures.

use super::*;
use crate::incoming::Query;
use crate::notify::transfer_query;
use hashlane_dns::wire::{Message, Rcode};
use hashlane_name::dns::{NameBuf, text};

fn name(text: &str) -> NameBuf {
    text::parse(text.as_bytes()).unwrap()
}

fn key(algorithm: &str, secret: &[u8]) -> Key {
    Key::new(name("transfer.example").view(), algorithm, &BASE64.encode(secret)).unwrap()
}

fn query() -> Vec<u8> {
    transfer_query(name("example.com").view(), 7, Query::Since(3))
}

#[test]
fn a_conversation_of_several_messages_is_verified() {
    for algorithm in ALGORITHMS {
        let key = key(algorithm, b"a secret of 20 bytes");
        let mut query = query();
        let plain = query.clone();
        let mut verifier = key.sign(&mut query, 1_000_000);
        assert_eq!(query.len(), plain.len() + key.room());
        let keys: Keys = [key.clone()].into_iter().collect();
        let Checked::Signed(mut signer) = keys.check(&mut query, 1_000_100) else { panic!() };
        assert_eq!(query, plain, "without its signature");
        assert!(signer.key().is(&key));
        for _ in 0..3 {
            let mut response = crate::notify::response(&plain, Rcode::NO_ERROR);
            let before = response.clone();
            signer.sign(&mut response, 1_000_100);
            assert_eq!(response.len(), before.len() + key.room());
            verifier.check(&mut response, 1_000_101).unwrap();
            assert_eq!(response, before);
        }
        verifier.done().unwrap();
    }
}

/// The rcode of the response, and the error in its TSIG record.
fn refused(keys: &Keys, query: &mut Vec<u8>, now: u64) -> (Rcode, u16) {
    let Checked::Refused { response, .. } = keys.check(query, now) else { panic!("accepted") };
    let start = signature(&response).expect("a TSIG record");
    let message = Message::parse(&response).unwrap();
    let records: Vec<_> = message.questions().unwrap().1.map(Result::unwrap).collect();
    let data = &records.last().unwrap().data;
    // After the algorithm: time, fudge, length of the MAC, MAC, identifier, error, length, other data.
    let algorithm = Name::parse_first(data).unwrap().len();
    let mac = usize::from(u16::from_be_bytes([data[algorithm + 8], data[algorithm + 9]]));
    let error = &data[algorithm + 12 + mac..];
    assert!(start < response.len());
    (message.header().flags.rcode(), u16::from_be_bytes([error[0], error[1]]))
}

#[test]
fn signatures_that_are_not_valid_are_told_apart() {
    let own = key("hmac-sha256", b"a secret of 20 bytes");
    let keys: Keys = [own.clone()].into_iter().collect();
    let signed = |key: &Key, now| {
        let mut query = query();
        key.sign(&mut query, now);
        query
    };
    let denied = Rcode::NOT_AUTHORITATIVE;
    let wrong = key("hmac-sha256", b"another of 20 bytes!");
    assert_eq!(refused(&keys, &mut signed(&wrong, 1000), 1000), (denied, 16), "BADSIG");
    let unknown = key("hmac-sha512", b"a secret of 20 bytes");
    assert_eq!(refused(&keys, &mut signed(&unknown, 1000), 1000), (denied, 17), "BADKEY");
    assert_eq!(refused(&keys, &mut signed(&own, 1000), 1301), (denied, 18), "BADTIME");
    assert_eq!(refused(&Keys::default(), &mut signed(&own, 1000), 1000), (denied, 17), "no keys");
    let mut changed = signed(&own, 1000);
    changed[14] ^= 0x20;
    assert_eq!(refused(&keys, &mut changed, 1000), (denied, 16), "a changed question");
    let mut plain = query();
    assert!(matches!(keys.check(&mut plain, 1000), Checked::Unsigned));
    assert_eq!(plain, query(), "unchanged");
}

#[test]
fn responses_that_are_not_signed_are_refused() {
    let key = key("hmac-sha256", b"a secret of 20 bytes");
    let mut verifier = key.sign(&mut query(), 1000);
    let mut response = crate::notify::response(&query(), Rcode::NO_ERROR);
    let checked = verifier.check(&mut response, 1000);
    assert!(matches!(checked, Err(SignatureError::Other(_, ValidationError::ServerUnsigned))), "{checked:?}");
}

#[test]
fn bytes_after_a_signature_are_refused() {
    let key = key("hmac-sha256", b"a secret of 20 bytes");
    let keys: Keys = [key.clone()].into_iter().collect();
    let mut query = query();
    let mut verifier = key.sign(&mut query, 1000);
    let mut longer = [&query[..], b"more"].concat();
    // A server takes it for a query without a signature, which then is malformed.
    assert!(matches!(keys.check(&mut longer, 1000), Checked::Unsigned));
    let Checked::Signed(mut signer) = keys.check(&mut query, 1000) else { panic!() };
    let mut response = crate::notify::response(&query, Rcode::NO_ERROR);
    signer.sign(&mut response, 1000);
    response.extend_from_slice(b"more");
    let checked = verifier.check(&mut response, 1000);
    assert!(matches!(checked, Err(SignatureError::Other(_, ValidationError::FormErr))), "{checked:?}");
}

#[test]
fn keys_say_what_is_wrong_with_them() {
    let of = |algorithm, secret| Key::new(name("k").view(), algorithm, secret).map(drop);
    assert_eq!(of("hmac-md5", "AAAA"), Err(KeyError::Algorithm));
    assert_eq!(of("hmac-sha256", "*"), Err(KeyError::Base64));
    assert_eq!(of("hmac-sha256", "AAAA"), Err(KeyError::Short));
    let key = key("HMAC-SHA256", b"a secret of 20 bytes");
    assert_eq!(format!("{key:?}"), "Key(transfer.example)");
}

/// HMAC-SHA256 of the parts of a response in the order of RFC 8945 §4.3, without the code under test.
/// `response` is the message before its TSIG record, with the records counted without it.
fn independent_mac(query_mac: &[u8], response: &[u8], times: [u64; 2]) -> Vec<u8> {
    use ::hmac::{Hmac, Mac};
    let [signed, server] = times.map(u64::to_be_bytes);
    let mut mac = <Hmac<sha2::Sha256> as Mac>::new_from_slice(b"a secret of 20 bytes").unwrap();
    mac.update(&[0, 32]);
    mac.update(query_mac);
    mac.update(response);
    mac.update(b"\x08transfer\x07example\0");
    mac.update(b"\0\xff\0\0\0\0\x0bhmac-sha256\0");
    mac.update(&signed[2..]);
    // Fudge, error, length of the other data.
    mac.update(&[300_u16, 18, 6].map(u16::to_be_bytes).concat());
    mac.update(&server[2..]);
    mac.finalize().into_bytes().to_vec()
}

/// A query of second 1000, its verifier and MAC, and the response of a server of second `server`.
fn asked_late(key: &Key, server: u64) -> (Verifier, Vec<u8>, Vec<u8>) {
    let mut query = query();
    let verifier = key.sign(&mut query, 1000);
    let mac = query[query.len() - 38..query.len() - 6].to_vec();
    let keys: Keys = [key.clone()].into_iter().collect();
    let Checked::Refused { response, .. } = keys.check(&mut query, server) else { panic!("accepted") };
    (verifier, mac, response)
}

/// A response as of a server with this MAC and other data.
fn reported(response: &[u8], mac: &[u8], other: &[u8]) -> Vec<u8> {
    let start = signature(response).unwrap();
    // The name, ten bytes, the algorithm, time and fudge.
    let data = start + 18 + 10;
    let until_mac = data + 13 + 8;
    let mut made = response[..until_mac].to_vec();
    made.extend_from_slice(&(mac.len() as u16).to_be_bytes());
    made.extend_from_slice(mac);
    made.extend_from_slice(&[response[0], response[1], 0, 18, 0, other.len() as u8]);
    made.extend_from_slice(other);
    let len = (made.len() - data) as u16;
    made[data - 2..data].copy_from_slice(&len.to_be_bytes());
    made
}

#[test]
fn a_report_of_another_time_has_the_signature_of_the_rfc() {
    let key = key("hmac-sha256", b"a secret of 20 bytes");
    for server in [1301, 5000, 0xffff_ffff_fff0] {
        let (_, query_mac, response) = asked_late(&key, server);
        let start = signature(&response).unwrap();
        let mut unsigned = response[..start].to_vec();
        unsigned[11] -= 1;
        let mac = independent_mac(&query_mac, &unsigned, [1000, server]);
        // After the MAC: identifier, error, length and the time of the server.
        assert_eq!(response[response.len() - 44..response.len() - 12], mac);
        let time = &server.to_be_bytes()[2..];
        assert_eq!(response, reported(&response, &mac, time), "the record of the RFC");
    }
}

#[test]
fn a_signed_report_of_another_time_is_verified() {
    for algorithm in ALGORITHMS {
        let key = key(algorithm, b"a secret of 20 bytes");
        let (mut verifier, _, mut response) = asked_late(&key, 5000);
        let error = verifier.check(&mut response, 1001).unwrap_err();
        let text = "the server's clock is 3999 s ahead of ours (BADTIME for key transfer.example, signed); \
                    set both clocks by NTP";
        assert_eq!(error.to_string(), text, "{algorithm}");
    }
}

#[test]
fn a_report_of_another_time_without_a_valid_signature_is_said_to_be_unproven() {
    let key = key("hmac-sha256", b"a secret of 20 bytes");
    let time = &400_u64.to_be_bytes()[2..];
    let named = "the server's clock is 600 s behind ours";
    let unnamed = "the server's clock differs from ours, by a time that it does not name";
    let cases: [(&[u8], &[u8], &str); 5] = [
        (&[], time, named),
        (&[], &[], unnamed),
        (&[7; 32], time, named),
        (&[7; 32], &[1, 2], unnamed),
        (&[7; 10], time, named),
    ];
    for (mac, other, expected) in cases {
        let (mut verifier, _, response) = asked_late(&key, 5000);
        let mut response = reported(&response, mac, other);
        let error = verifier.check(&mut response, 1000).unwrap_err();
        let text = format!(
            "{expected} (BADTIME for key transfer.example, not signed, so not proven); set both clocks by NTP"
        );
        assert_eq!(error.to_string(), text, "{mac:?}, {other:?}");
    }
    // The name of the key in another case, and another name.
    let (mut verifier, _, mut response) = asked_late(&key, 5000);
    let start = signature(&response).unwrap();
    response[start + 1] = b'T';
    let error = verifier.check(&mut response.clone(), 1000).unwrap_err();
    assert!(matches!(error, SignatureError::Clock { is_signed: true, .. }), "case: {error}");
    response[start + 1] = b'x';
    let error = verifier.check(&mut response, 1000).unwrap_err();
    assert!(matches!(error, SignatureError::Clock { is_signed: false, .. }), "{error}");
}

#[test]
fn errors_of_a_server_name_the_key() {
    let own = key("hmac-sha256", b"a secret of 20 bytes");
    let other = key("hmac-sha256", b"another of 20 bytes!");
    let answered = |keys: &Keys| {
        let mut query = query();
        let mut verifier = own.sign(&mut query, 1000);
        let Checked::Refused { mut response, .. } = keys.check(&mut query, 1000) else { panic!() };
        verifier.check(&mut response, 1000).unwrap_err().to_string()
    };
    assert_eq!(
        answered(&Keys::default()),
        "the server does not know key transfer.example with hmac-sha256 (BADKEY); compare name and algorithm"
    );
    assert_eq!(
        answered(&[other].into_iter().collect()),
        "the server has another secret for key transfer.example, or got a changed message (BADSIG); compare the secrets"
    );
    let mut plain = crate::notify::response(&query(), Rcode::NO_ERROR);
    let error = own.sign(&mut query(), 1000).check(&mut plain, 1000).unwrap_err();
    assert_eq!(error.to_string(), "unsigned answer (key transfer.example)");
}

#[test]
fn refusals_name_the_cause_and_the_key() {
    let own = key("hmac-sha256", b"a secret of 20 bytes");
    let reason = |signed_by: &Key, now| {
        let mut query = query();
        signed_by.sign(&mut query, 1000);
        let keys: Keys = [own.clone()].into_iter().collect();
        let Checked::Refused { reason, .. } = keys.check(&mut query, now) else { panic!("accepted") };
        reason.to_string()
    };
    let unknown = key("hmac-sha512", b"a secret of 20 bytes");
    assert_eq!(reason(&unknown, 1000), "unknown key transfer.example with hmac-sha512");
    let name = |text: &str| Key::new(name(text).view(), "hmac-sha256", "c2VjcmV0IHNlY3JldA==").unwrap();
    assert_eq!(reason(&name("other.example"), 1000), "unknown key other.example with hmac-sha256");
    assert_eq!(
        reason(&name("transfer.example"), 1000),
        "another secret for key transfer.example, or a changed message"
    );
    assert_eq!(
        reason(&own, 1301),
        "the sender's clock is 301 s behind ours, key transfer.example allows 300 s"
    );
    assert_eq!(
        reason(&own, 1),
        "the sender's clock is 999 s ahead of ours, key transfer.example allows 300 s"
    );
}
