//! A message that is written already, as the target of a builder that adds a record to it.

use domain::base::wire::Composer;
use domain::dep::octseq::builder::{OctetsBuilder, Truncate};
use std::convert::Infallible;

/// The bytes of a message. A builder begins with a header: that one is left out, as the message has its own.
pub(super) struct Prefilled {
    bytes: Vec<u8>,
    /// The builder has begun.
    has_begun: bool,
}

impl Prefilled {
    /// The target with a message, at least a header.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        debug_assert!(bytes.len() >= hashlane_dns::wire::HEADER_LEN, "a message has a header");
        Self { bytes, has_begun: false }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl OctetsBuilder for Prefilled {
    type AppendError = Infallible;

    fn append_slice(&mut self, slice: &[u8]) -> Result<(), Infallible> {
        if std::mem::replace(&mut self.has_begun, true) {
            self.bytes.extend_from_slice(slice);
        }
        Ok(())
    }
}

impl Truncate for Prefilled {
    fn truncate(&mut self, len: usize) {
        if self.has_begun {
            self.bytes.truncate(len);
        }
    }
}

impl AsRef<[u8]> for Prefilled {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsMut<[u8]> for Prefilled {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Composer for Prefilled {}
