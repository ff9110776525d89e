//! Verification of the responses to a signed query.

use super::{Key, SignatureError, ValidationError, clock, time};
use domain::base::Message;
use domain::tsig::ClientSequence;
use hashlane_dns::query::signature;

/// Verifies the responses to a signed query.
pub struct Verifier {
    pub(super) sequence: Option<ClientSequence<Key>>,
    pub(super) key: Key,
    /// MAC of the query.
    pub(super) mac: Vec<u8>,
}

impl Verifier {
    /// Verifies the next message, and removes its signature. Up to 99 messages in a row may have none (RFC
    /// 8945 §5.3.1).
    ///
    /// # Errors
    /// The signature is missing or wrong, or the server says why it does not answer.
    pub fn check(&mut self, response: &mut Vec<u8>, now: u64) -> Result<(), SignatureError> {
        if let Some(clock::Difference { server, is_signed }) =
            clock::difference(&self.key, &self.mac, response)
        {
            return Err(SignatureError::Clock { key: self.key.clone(), now, server, is_signed });
        }
        self.verify(response, now).map_err(|error| SignatureError::new(&self.key, error))
    }

    fn verify(&mut self, response: &mut Vec<u8>, now: u64) -> Result<(), ValidationError> {
        let sequence = self.sequence.as_mut().ok_or(ValidationError::FormErr)?;
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
    pub fn done(self) -> Result<(), SignatureError> {
        let Self { sequence, key, .. } = self;
        sequence
            .map_or(Err(ValidationError::FormErr), ClientSequence::done)
            .map_err(|error| SignatureError::new(&key, error))
    }
}
