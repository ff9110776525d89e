//! Signatures of messages (TSIG, RFC 8945), by the crate `domain`; signatures of BADTIME are made here.
//!
//! The newest time of a key's signatures is not kept, so that a message can be repeated within its 300
//! seconds: a repeated query for a transfer, or NOTIFY, changes nothing.

mod clock;
mod prefilled;
mod reasons;
#[cfg(test)]
mod tests;
mod verifier;

use data_encoding::BASE64;
use domain::base::Message;
use domain::base::iana::TsigRcode;
use domain::base::message_builder::MessageBuilder;
use domain::base::name::ToName as _;
use domain::rdata::tsig::Time48;
use domain::tsig::{self, Algorithm, ClientSequence, KeyName, KeyStore as _, ServerSequence};
use hashlane_dns::query::signature;
use hashlane_name::dns::Name;
use prefilled::Prefilled;
use ring::hmac;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use domain::tsig::ValidationError;
pub use reasons::{Refusal, SignatureError};
pub use verifier::Verifier;

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
pub struct Key(Arc<(tsig::Key, hmac::Key)>);

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
        let hash = match algorithm {
            Algorithm::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Algorithm::Sha256 => hmac::HMAC_SHA256,
            Algorithm::Sha384 => hmac::HMAC_SHA384,
            Algorithm::Sha512 => hmac::HMAC_SHA512,
        };
        Ok(Self(Arc::new((key, hmac::Key::new(hash, &secret)))))
    }

    fn shared(&self) -> &tsig::Key {
        &self.0.0
    }

    fn hmac(&self) -> &hmac::Key {
        &self.0.1
    }

    /// Bytes of a signature.
    pub fn room(&self) -> usize {
        self.shared().compose_len().into()
    }

    /// Name of the algorithm.
    pub fn algorithm(&self) -> impl fmt::Display {
        self.shared().algorithm()
    }

    /// Signs a query, and gives what verifies the responses. `now` is in seconds since 1970.
    pub fn sign(&self, query: &mut Vec<u8>, now: u64) -> Verifier {
        let mut message = MessageBuilder::from_target(Prefilled::new(std::mem::take(query)))
            .unwrap_or_else(|never| match never {})
            .additional();
        // A query is short, and has room for one record more.
        let sequence = ClientSequence::request(self.clone(), &mut message, time(now));
        *query = message.finish().into_bytes();
        let mac = clock::record(query).map(|(_, tsig)| tsig.data().mac().to_vec()).unwrap_or_default();
        Verifier { sequence: sequence.ok(), key: self.clone(), mac }
    }

    /// True if both are the same key.
    pub fn is(&self, other: &Self) -> bool {
        self.shared().name() == other.shared().name()
            && self.shared().algorithm() == other.shared().algorithm()
    }
}

impl AsRef<tsig::Key> for Key {
    fn as_ref(&self) -> &tsig::Key {
        self.shared()
    }
}

/// The name of the key.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared().name().fmt(f)
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
pub struct Keys(HashMap<(KeyName, Algorithm), Key>);

impl FromIterator<Key> for Keys {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        let named = |key: Key| ((key.shared().name().clone(), key.shared().algorithm()), key);
        Self(keys.into_iter().map(named).collect())
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.values()).finish()
    }
}

/// A received query after its signature was looked at.
pub enum Checked {
    /// It has none.
    Unsigned,
    /// It is signed by the key. The signature was removed.
    Signed(Box<Signer>),
    /// Its signature is not valid.
    Refused {
        /// The response that says so.
        response: Vec<u8>,
        /// Cause, for the log.
        reason: Refusal,
    },
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
                let built = error.clone().build_message(&message, MessageBuilder::new_vec());
                let mut response = built.map(|built| built.finish()).unwrap_or_default();
                *query = message.into_octets();
                let mut error = error.error();
                // A wrong signature: the crate would answer that the message is malformed.
                if error == TsigRcode::FORMERR && signature(&response).is_some() {
                    error = TsigRcode::BADSIG;
                    correct(&mut response, error.to_int());
                }
                if error == TsigRcode::BADTIME {
                    self.sign_clock(query, &mut response);
                }
                Checked::Refused { response, reason: Refusal::new(query, error, now) }
            }
        }
    }

    /// Signs a response to a query whose time differs.
    fn sign_clock(&self, query: &[u8], response: &mut [u8]) {
        let Some((_, tsig)) = clock::record(query) else { return };
        let algorithm = Algorithm::from_name(tsig.data().algorithm());
        if let Some(key) = algorithm.and_then(|algorithm| self.0.get_key(tsig.owner(), algorithm)) {
            clock::sign(&key, tsig.data().mac(), response);
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
pub struct Signer(ServerSequence<Key>);

impl Signer {
    /// The key.
    pub fn key(&self) -> Key {
        self.0.wrapped_key().clone()
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

fn time(now: u64) -> Time48 {
    Time48::from_u64(now & 0xffff_ffff_ffff)
}
