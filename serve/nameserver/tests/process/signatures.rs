//! Signed queries of another time than the server's (TSIG, RFC 8945 §5.2.3).

use crate::support::{Running, ZONE, ask_over, query as question, serial, summary, with_options};
use hashlane_dns::wire::{Message, Rcode, RecordType};
use hashlane_name::dns::{Name, text};
use hashlane_nameserver::config::{Config, TsigKey};
use hashlane_transfer::notify::soa_query;
use hashlane_transfer::tsig::{Key, SignatureError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Error of a time that differs (BADTIME).
const BADTIME: u16 = 18;

fn keys() -> Vec<TsigKey> {
    vec![TsigKey {
        name: "transfer.example".into(),
        algorithm: "hmac-sha256".into(),
        secret: "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0".into(),
        ..TsigKey::default()
    }]
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn query() -> Vec<u8> {
    soa_query(text::parse(b"example.com").unwrap().view(), 7)
}

fn rcode(response: &[u8]) -> Rcode {
    Message::parse(response).unwrap().header().flags.rcode()
}

/// Fields of the TSIG record of a response.
struct Tsig {
    signed: u64,
    mac: Vec<u8>,
    error: u16,
    /// The server's time, if it is there.
    other: Vec<u8>,
}

impl Tsig {
    /// The TSIG record that ends a response (RFC 8945 §4.2).
    fn of(response: &[u8]) -> Self {
        let (_, records) = Message::parse(response).unwrap().questions().unwrap();
        let last = records.map(Result::unwrap).last().unwrap();
        assert_eq!(last.rtype, RecordType(250));
        let data = &last.data[Name::parse_first(&last.data).unwrap().len()..];
        let be = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let (mac, rest) = data[10..].split_at(be(&data[8..10]) as usize);
        let other = rest[6..][..be(&rest[4..6]) as usize].to_vec();
        Self { signed: be(&data[..6]), mac: mac.to_vec(), error: be(&rest[2..4]) as u16, other }
    }
}

/// Asks with a signature of another time, and then of the time that the server has answered with.
fn exchange(key: &Key, signed: u64, ask: &mut dyn FnMut(&[u8]) -> Vec<u8>) {
    let mut message = query();
    let mut verifier = key.sign(&mut message, signed);
    let before = now();
    let mut response = ask(&message);
    assert_eq!(rcode(&response), Rcode::NOT_AUTHORITATIVE);
    let Tsig { signed: theirs, mac, error, other } = Tsig::of(&response);
    assert_eq!((theirs, error, mac.len(), other.len()), (signed, BADTIME, 32, 6));
    let mut forged = response.clone();
    let at = forged.windows(32).position(|bytes| bytes == mac).unwrap();
    forged[at] ^= 1;
    let Err(SignatureError::Clock { server: Some(server), is_signed: true, .. }) =
        verifier.check(&mut response, signed)
    else {
        panic!("no report that the key has signed")
    };
    assert_eq!(server.to_be_bytes()[2..], other);
    assert!((before..=now()).contains(&server), "{server}");
    // A report that anyone on the path can have made is told apart.
    let mut verifier = key.sign(&mut query(), signed);
    let checked = verifier.check(&mut forged, signed);
    assert!(matches!(checked, Err(SignatureError::Clock { is_signed: false, .. })), "{checked:?}");

    let mut message = query();
    let mut verifier = key.sign(&mut message, server);
    let mut response = ask(&message);
    verifier.check(&mut response, server).unwrap();
    assert_eq!((rcode(&response), serial(&response)), (Rcode::NO_ERROR, 7));
}

#[test]
fn a_query_of_another_time_is_answered_by_the_time_that_its_response_has() {
    let server = Running::start(|config| config.key = keys());
    let key = Config { key: keys(), ..Config::default() }.keys().unwrap().remove(0);
    let mut stream = server.tcp();
    // Behind and ahead by more than the 300 s that are allowed.
    for signed in [now() - 400, now() + 400, 1000] {
        exchange(&key, signed, &mut |message| server.ask(message));
        exchange(&key, signed, &mut |message| ask_over(&mut stream, message).unwrap());
    }
    let stats = server.handle.stats();
    assert_eq!((stats.udp.bad_signatures, stats.tcp.bad_signatures), (3, 3));
}

#[test]
fn a_signature_makes_no_response_longer_than_its_client_takes() {
    let server = Running::start(|config| {
        config.key = keys();
        let text = "x".repeat(210);
        std::fs::write(&config.zone[0].file, format!("{ZONE}long IN TXT {text} {text}\n")).unwrap();
    });
    let key = Config { key: keys(), ..Config::default() }.keys().unwrap().remove(0);
    let plain = question(7, "long.example.com", 16);
    let whole = server.ask(&plain);
    assert_eq!((summary(&whole), whole.len() + key.room() > 512), ((7, 0, false, 1), true));
    for (query, expected) in [(plain.clone(), (7, 0, true, 0)), (with_options(plain, &[]), (7, 0, false, 1))]
    {
        let limit = if query[11] == 0 { 512 } else { 1232 };
        let mut message = query;
        let mut verifier = key.sign(&mut message, now());
        let mut response = server.ask(&message);
        assert!(response.len() <= limit, "{} bytes", response.len());
        verifier.check(&mut response, now()).unwrap();
        assert_eq!(summary(&response), expected);
    }
}
