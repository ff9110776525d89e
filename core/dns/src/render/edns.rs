//! The OPT record (RFC 6891).

use crate::wire::Rcode;

/// The fields of the OPT record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edns<'a> {
    /// The longest datagram that the sender takes, in bytes.
    pub payload: u16,
    /// The response code; its low four bits are in the header.
    pub rcode: Rcode,
    /// The version, 0.
    pub version: u8,
    /// DO: the sender takes signatures (RFC 3225).
    pub dnssec_ok: bool,
    /// The options in wire form.
    pub options: &'a [u8],
}

impl Edns<'_> {
    /// Bytes of the record, so that they can be [reserved](super::Message::reserve).
    #[allow(clippy::len_without_is_empty, reason = "the record has a header")]
    pub const fn len(&self) -> usize {
        11 + self.options.len()
    }

    /// The field in place of a time to live (RFC 6891 §6.1.3).
    pub(super) const fn ttl(&self) -> u32 {
        (self.rcode.0 as u32 >> 4 & 0xff) << 24 | (self.version as u32) << 16 | (self.dnssec_ok as u32) << 15
    }
}
