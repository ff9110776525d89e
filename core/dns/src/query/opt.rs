//! The OPT record of a query (RFC 6891 §6.1).

use crate::render::Edns;
use crate::wire::Rcode;

/// An OPT record in wire form.
#[derive(Clone, Copy)]
pub(super) struct Opt<'d> {
    /// Offset of its owner in the message.
    pub(super) start: usize,
    /// UDP payload size, in place of a class.
    pub(super) payload: u16,
    /// Extended rcode, version and flags, in place of a time to live.
    pub(super) ttl: [u8; 4],
    /// The record's data.
    pub(super) options: &'d [u8],
}

impl<'d> Opt<'d> {
    /// The record's fields.
    ///
    /// # Errors
    /// BADVERS if the version is not 0, FORMERR if the options do not fill the record's data.
    #[inline]
    pub(super) fn edns(self) -> Result<Edns<'d>, Rcode> {
        let [rcode, version, flags, _] = self.ttl;
        if version != 0 {
            return Err(Rcode::BAD_VERSION);
        }
        if !are_options(self.options) {
            return Err(Rcode::FORMAT_ERROR);
        }
        Ok(Edns {
            payload: self.payload,
            rcode: Rcode(u16::from(rcode) << 4),
            version,
            dnssec_ok: flags & 0x80 != 0,
            options: self.options,
        })
    }
}

/// True if `bytes` is a sequence of options, each a code, a length and that many bytes (RFC 6891 §6.1.2).
fn are_options(mut bytes: &[u8]) -> bool {
    while let [_, _, a, b, rest @ ..] = bytes {
        match rest.get(usize::from(u16::from_be_bytes([*a, *b]))..) {
            Some(rest) => bytes = rest,
            None => return false,
        }
    }
    bytes.is_empty()
}
