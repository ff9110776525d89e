//! Signatures of messages (TSIG, RFC 8945), by the crate `domain`.
//!
//! The newest time of a key's signatures is not kept, so that a message can be repeated within its 300
//! seconds: a repeated query for a transfer, or NOTIFY, changes nothing.

mod prefilled;

use data_encoding::BASE64;
use domain::base::Message;
use domain::base::iana::TsigRcode;
use domain::base::message_builder::MessageBuilder;
use domain::base::name::ToName as _;
use domain::rdata::tsig::Time48;
use domain::tsig::{self, Algorithm, ClientSequence, KeyName, ServerSequence};
use hashlane_dns::query::signature;
use hashlane_name::dns::Name;
use prefilled::Prefilled;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use domain::tsig::ValidationError;

/// Shortest secret in bytes: half of the shortest hash is no secret.
const SHORTEST: usize = 10;

/// Names of the algorithms.
pub const ALGORITHMS: [&str; 4] = ["hmac-sha256", "hmac-sha384", "hmac-sha512", "hmac-sha1"];

/// Reasons for which a key is not usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Unknown algorithm.
    #[error("unknown algorithm; name hmac-sha256, hmac-sha384, hmac-sha512 or hmac-sha1")]
    Algorithm,
    /// The secret is not written in Base64.
    #[error("the secret is not in Base64, as tsig-keygen and keymgr write it")]
    Base64,
    /// The secret is short.
    #[error("the secret has less than {SHORTEST} bytes")]
    Short,
    /// The name is not a domain name.
    #[error("the name is no domain name")]
    Name,
}

/// A key that two servers share.
#[derive(Clone)]
pub struct Key(Arc<tsig::Key>);

impl Key {
    /// The key of this name, algorithm, and secret in Base64.
    ///
    /// # Errors
    /// One of the three is not valid.
    pub fn new(name: Name<'_>, algorithm: &str, secret: &str) -> Result<Self, KeyError> {
        let algorithm: Algorithm = algorithm.to_ascii_lowercase().parse().map_err(|_| KeyError::Algorithm)?;
        let secret = BASE64.decode(secret.trim().as_bytes()).map_err(|_| KeyError::Base64)?;
        if secret.len() < SHORTEST {
            return Err(KeyError::Short);
        }
        let name = domain::base::Name::from_octets(name.as_bytes())
            .ok()
            .and_then(|name| name.try_to_name().ok())
            .ok_or(KeyError::Name)?;
        let key = tsig::Key::new(algorithm, &secret, name, None, None).map_err(|_| KeyError::Algorithm)?;
        Ok(Self(Arc::new(key)))
    }

    /// Bytes of a signature.
    pub fn room(&self) -> usize {
        self.0.compose_len().into()
    }

    /// Signs a query, and gives what verifies the responses. `now` is in seconds since 1970.
    pub fn sign(&self, query: &mut Vec<u8>, now: u64) -> Verifier {
        let mut message = MessageBuilder::from_target(Prefilled::new(std::mem::take(query)))
            .unwrap_or_else(|never| match never {})
            .additional();
        // A query is short, and has room for one record more.
        let sequence = ClientSequence::request(Arc::clone(&self.0), &mut message, time(now));
        *query = message.finish().into_bytes();
        Verifier(sequence.ok())
    }

    /// True if both are the same key.
    pub fn is(&self, other: &Self) -> bool {
        self.0.name() == other.0.name() && self.0.algorithm() == other.0.algorithm()
    }
}

/// The name of the key.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.name().fmt(f)
    }
}

/// The name of the key, and no secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// The keys of a server, by name and algorithm.
#[derive(Clone, Default)]
pub struct Keys(HashMap<(KeyName, Algorithm), Arc<tsig::Key>>);

impl FromIterator<Key> for Keys {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        Self(keys.into_iter().map(|Key(key)| ((key.name().clone(), key.algorithm()), key)).collect())
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.values().cloned().map(Key)).finish()
    }
}

/// A received query after its signature was looked at.
pub enum Checked {
    /// It has none.
    Unsigned,
    /// It is signed by the key. The signature was removed.
    Signed(Box<Signer>),
    /// Its signature is not valid: the response that says so.
    Refused(Vec<u8>),
}

impl Keys {
    /// Verifies the signature of a query, and removes it. `now` is in seconds since 1970.
    pub fn check(&self, query: &mut Vec<u8>, now: u64) -> Checked {
        let Some(start) = signature(query) else { return Checked::Unsigned };
        let Ok(mut message) = Message::from_octets(std::mem::take(query)) else {
            return Checked::Unsigned;
        };
        let checked = ServerSequence::request(&self.0, &mut message, time(now));
        match checked {
            Ok(Some(sequence)) => {
                *query = message.into_octets();
                query.truncate(start);
                Checked::Signed(Box::new(Signer(sequence)))
            }
            Ok(None) => {
                *query = message.into_octets();
                Checked::Unsigned
            }
            Err(error) => {
                // A wrong signature: the crate would answer that the message is malformed.
                let is_wrong = error.error() == TsigRcode::FORMERR;
                let built = error.build_message(&message, MessageBuilder::new_vec());
                let mut response = built.map(|built| built.finish()).unwrap_or_default();
                *query = message.into_octets();
                if is_wrong && signature(&response).is_some() {
                    correct(&mut response, TsigRcode::BADSIG.to_int());
                }
                Checked::Refused(response)
            }
        }
    }
}

/// Sets the error of the unsigned TSIG record that ends a message: its last six bytes are the original
/// identifier, the error and a length of 0.
fn correct(message: &mut [u8], error: u16) {
    if let Some([_, _, place @ .., _, _]) = message.last_chunk_mut::<6>() {
        *place = error.to_be_bytes();
    }
}

/// Signs the responses to a signed query.
#[derive(Clone)]
pub struct Signer(ServerSequence<Arc<tsig::Key>>);

impl Signer {
    /// The key.
    pub fn key(&self) -> Key {
        Key(Arc::clone(self.0.wrapped_key()))
    }

    /// Signs the next message of the response. One without [`room`](Key::room) below 65,535 bytes stays
    /// unsigned, which the client refuses.
    pub fn sign(&mut self, response: &mut Vec<u8>, now: u64) {
        let mut message = MessageBuilder::from_target(Prefilled::new(std::mem::take(response)))
            .unwrap_or_else(|never| match never {})
            .additional();
        let signed = self.0.answer(&mut message, time(now));
        debug_assert!(signed.is_ok(), "the writer has left room for a signature");
        *response = message.finish().into_bytes();
    }
}

/// Verifies the responses to a signed query.
pub struct Verifier(Option<ClientSequence<Arc<tsig::Key>>>);

impl Verifier {
    /// Verifies the next message, and removes its signature. Up to 99 messages in a row may have none (RFC
    /// 8945 §5.3.1).
    ///
    /// # Errors
    /// The signature is missing or wrong, or the server says why it does not answer.
    pub fn check(&mut self, response: &mut Vec<u8>, now: u64) -> Result<(), ValidationError> {
        let sequence = self.0.as_mut().ok_or(ValidationError::FormErr)?;
        let start = signature(response);
        let mut message =
            Message::from_octets(std::mem::take(response)).map_err(|_| ValidationError::FormErr)?;
        let before = message.header_counts().arcount();
        sequence.answer(&mut message, time(now))?;
        let is_signed = message.header_counts().arcount() != before;
        *response = message.into_octets();
        match start {
            Some(start) => response.truncate(start),
            // Bytes after the signature, which it does not cover.
            None if is_signed => return Err(ValidationError::FormErr),
            None => {}
        }
        Ok(())
    }

    /// Ends the response: its last message must be signed.
    ///
    /// # Errors
    /// It is not.
    pub fn done(self) -> Result<(), ValidationError> {
        self.0.map_or(Err(ValidationError::FormErr), ClientSequence::done)
    }
}

fn time(now: u64) -> Time48 {
    Time48::from_u64(now & 0xffff_ffff_ffff)
}

#[cfg(test)]
mod tests {
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
        let Checked::Refused(response) = keys.check(query, now) else { panic!("accepted") };
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
        assert!(matches!(checked, Err(ValidationError::ServerUnsigned)), "{checked:?}");
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
        assert!(matches!(checked, Err(ValidationError::FormErr)), "{checked:?}");
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
}
