//! Properties of signed messages, and of NOTIFY.

use crate::steps::Steps;
use hashlane_dns::query::signature;
use hashlane_dns::wire::{Flags, Message, Rcode, RecordType};
use hashlane_name::dns::NameBuf;
use hashlane_transfer::notify;
use hashlane_transfer::tsig::{ALGORITHMS, Checked, Key, Keys};

/// Time of the signatures in seconds since 1970.
pub const NOW: u64 = 1_000_000;

/// Seconds by which clocks may differ.
const FUDGE: u64 = 300;

/// Keys of all algorithms under one name.
pub fn keys() -> [Key; 4] {
    let name: NameBuf = "k.example".parse().expect("a name");
    ALGORITHMS.map(|algorithm| Key::new(name.view(), algorithm, "c2l4dGVlbiBieXRlcyBsb25n").expect("a key"))
}

/// A query, signed by a key or as it is, and responses, signed by the server or as they are. A message whose
/// signature is accepted comes back without it, and one without a signature as it was; a refusal is a
/// response to the query. Well-formed messages that were signed are accepted, unless the clocks differ.
pub fn check_signed(octets: &[u8]) {
    let mut steps = Steps(octets);
    let (how, offset) = (steps.octet(), steps.number());
    let part = |steps: &mut Steps<'_>| {
        let len = steps.number() as usize;
        steps.octets(len).to_vec()
    };
    let keys = keys();
    let key = &keys[usize::from(how >> 6)];
    let plain = part(&mut steps);
    let has_header = plain.len() >= 12;
    let mut query = plain.clone();
    let mut verifier = (how & 1 == 0 && has_header).then(|| key.sign(&mut query, NOW));
    let sent = query.clone();
    let checked = keys.iter().cloned().collect::<Keys>().check(&mut query, NOW + offset);
    let is_late = offset > FUDGE;
    if verifier.is_some() && !is_late && is_well_formed(&plain) {
        assert!(matches!(checked, Checked::Signed(_)));
    }
    let mut signer = match checked {
        Checked::Unsigned => {
            assert_eq!(query, sent);
            None
        }
        Checked::Signed(signer) => {
            assert_without_signature(&query, &sent);
            if verifier.is_some() && is_well_formed(&plain) {
                assert_eq!(query, plain);
            }
            Some(signer)
        }
        Checked::Refused { response, .. } => {
            let is_response = |response: &[u8]| response[2] & 0x80 != 0 && response[..2] == sent[..2];
            assert!(response.is_empty() || is_response(&response));
            None
        }
    };
    while !steps.is_empty() {
        let before = part(&mut steps);
        let mut response = before.clone();
        // A server signs what it has written.
        if how & 2 == 0
            && is_well_formed(&before)
            && let Some(signer) = &mut signer
        {
            signer.sign(&mut response, NOW + offset);
        }
        let Some(verifier) = &mut verifier else { continue };
        let sent = response.clone();
        match verifier.check(&mut response, NOW) {
            Ok(()) if signature(&sent).is_some() => assert_without_signature(&response, &sent),
            Ok(()) => assert_eq!(response, sent),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    if let Some(verifier) = verifier {
        let _ = verifier.done();
    }
}

/// Asserts that a message is another one without its last record.
fn assert_without_signature(message: &[u8], signed: &[u8]) {
    assert!(message.len() < signed.len() && message[12..] == signed[12..message.len()]);
    let count = |message: &[u8]| u16::from_be_bytes([message[10], message[11]]);
    assert_eq!(count(message) + 1, count(signed));
}

/// Returns true for a whole message without a signature, and without OPT records, which may be malformed
/// themselves.
fn is_well_formed(octets: &[u8]) -> bool {
    let Ok(message) = Message::parse(octets) else { return false };
    let Ok((_, mut records)) = message.questions() else { return false };
    let is_plain = records.by_ref().all(|record| {
        record
            .is_ok_and(|record| !matches!(record.rtype, RecordType::TSIG | RecordType::SIG | RecordType::OPT))
    });
    is_plain && records.at() == octets.len() && octets[10..12] != [0xff; 2]
}

/// A message is a NOTIFY or none; the response to it has its identifier, opcode and question. A NOTIFY that
/// is sent on says the same.
pub fn check_notify(octets: &[u8]) {
    let parsed = notify::parse(octets);
    for rcode in [Rcode::NO_ERROR, Rcode::REFUSED] {
        let response = notify::response(octets, rcode);
        let Ok(message) = Message::parse(octets) else {
            assert!(parsed.is_none() && response.is_empty());
            continue;
        };
        let answer = Message::parse(&response).expect("a response");
        let (sent, received) = (message.header(), answer.header());
        assert_eq!((sent.id, sent.flags.opcode()), (received.id, received.flags.opcode()));
        assert!(received.flags.contains(Flags::RESPONSE) && received.flags.rcode() == rcode);
        assert!(notify::parse(&response).is_none(), "a response is not answered");
        let (questions, records) = answer.questions().expect("a question at most");
        assert!(questions.len() <= 1 && records.at() == response.len());
        if let Some(parsed) = &parsed {
            assert!(questions[0].name.view().eq_ignore_case(parsed.apex.view()));
        }
    }
    if let Some(parsed) = parsed {
        let numbers = parsed.serial.map(|serial| [&[0, 0], &serial.to_be_bytes()[..], &[0; 16]].concat());
        let soa = numbers.as_deref().map(|data| (300, data));
        let request = notify::request(parsed.apex.view(), 3, soa);
        assert_eq!(notify::parse(&request), Some(parsed));
    }
}
