//! The header of a message (RFC 1035 §4.1.1).

use core::fmt;
pub use hashlane_dns_compress::HEADER_LEN;

/// A header without the counts of the sections, which a message keeps itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Identifier by which a client matches answers to queries.
    pub id: u16,
    /// Flags, opcode and response code.
    pub flags: Flags,
}

impl Header {
    /// Header of a query.
    pub const fn query(id: u16) -> Self {
        Self { id, flags: Flags(0) }
    }

    /// Header of a response, with no other flag and [`Rcode::NO_ERROR`].
    pub const fn response(id: u16) -> Self {
        Self { id, flags: Flags::RESPONSE }
    }

    /// The first four bytes of the message.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.id.to_be_bytes(), self.flags.0.to_be_bytes());
        [a, b, c, d]
    }
}

/// The second 16 bits of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// QR: a response.
    pub const RESPONSE: Self = Self(0x8000);
    /// AA: the server has authority for the name.
    pub const AUTHORITATIVE: Self = Self(0x0400);
    /// TC: the message was cut.
    pub const TRUNCATED: Self = Self(0x0200);
    /// RD: the asker wants recursion.
    pub const RECURSION_DESIRED: Self = Self(0x0100);
    /// RA: the server offers recursion.
    pub const RECURSION_AVAILABLE: Self = Self(0x0080);
    /// AD: the data are authentic (RFC 4035 §3.2.3).
    pub const AUTHENTIC: Self = Self(0x0020);
    /// CD: the asker checks signatures itself (RFC 4035 §3.2.2).
    pub const CHECKING_DISABLED: Self = Self(0x0010);

    /// Returns true if all of `flags` are set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These and `flags`.
    #[must_use]
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    /// These but `flags`.
    #[must_use]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }

    /// The kind of query.
    pub const fn opcode(self) -> Opcode {
        Opcode((self.0 >> 11) as u8 & 0xf)
    }

    /// The same with another opcode.
    #[must_use]
    pub const fn with_opcode(self, opcode: Opcode) -> Self {
        Self(self.0 & !0x7800 | (opcode.0 as u16 & 0xf) << 11)
    }

    /// The low four bits of the response code; the others are in the OPT record.
    pub const fn rcode(self) -> Rcode {
        Rcode(self.0 & 0xf)
    }

    /// The same with the low four bits of another response code.
    #[must_use]
    pub const fn with_rcode(self, rcode: Rcode) -> Self {
        Self(self.0 & !0xf | rcode.0 & 0xf)
    }
}

/// The kind of a message, 0 to 15.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opcode(pub u8);

impl Opcode {
    /// A question.
    pub const QUERY: Self = Self(0);
    /// A word to a secondary server that a zone has changed (RFC 1996).
    pub const NOTIFY: Self = Self(4);
    /// A change of a zone (RFC 2136).
    pub const UPDATE: Self = Self(5);
}

/// The result of a query, 0 to 4095.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rcode(pub u16);

impl Rcode {
    /// Well.
    pub const NO_ERROR: Self = Self(0);
    /// The question could not be read.
    pub const FORMAT_ERROR: Self = Self(1);
    /// The server could not answer.
    pub const SERVER_FAILURE: Self = Self(2);
    /// The name does not exist.
    pub const NAME_ERROR: Self = Self(3);
    /// The server does not know how to do this.
    pub const NOT_IMPLEMENTED: Self = Self(4);
    /// The server does not want to.
    pub const REFUSED: Self = Self(5);
    /// YXDOMAIN: the name that a DNAME makes is too long (RFC 6672 §2.2).
    pub const NAME_TOO_LONG: Self = Self(6);
    /// NOTAUTH: the server has no authority for the zone, or a signature is not valid (RFC 8945 §5.3.2).
    pub const NOT_AUTHORITATIVE: Self = Self(9);
    /// An EDNS version that the server does not have (RFC 6891 §6.1.3).
    pub const BAD_VERSION: Self = Self(16);
}

/// The mnemonic of IANA's registry, or the number.
impl fmt::Display for Rcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN"];
        match (names.get(usize::from(self.0)), self.0) {
            (Some(name), _) => f.write_str(name),
            (None, 9) => f.write_str("NOTAUTH"),
            (None, 16) => f.write_str("BADVERS"),
            (None, code) => write!(f, "RCODE{code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_the_rfc_puts_them() {
        let flags = Flags::RESPONSE.with(Flags::AUTHORITATIVE).with(Flags::RECURSION_DESIRED);
        let flags = flags.with_opcode(Opcode::NOTIFY).with_rcode(Rcode::REFUSED);
        assert_eq!(flags.0, 0b1010_0101_0000_0101);
        assert_eq!((flags.opcode(), flags.rcode()), (Opcode::NOTIFY, Rcode::REFUSED));
        assert_eq!(flags.with_rcode(Rcode::BAD_VERSION).rcode(), Rcode::NO_ERROR);
        assert!(
            flags.contains(Flags::AUTHORITATIVE) && !flags.without(Flags::RESPONSE).contains(Flags::RESPONSE)
        );
        assert_eq!(Header { id: 0x0102, flags }.to_bytes(), [1, 2, 0xa5, 0x05]);
    }
}
