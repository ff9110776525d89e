//! The data of a record, and the names in it.

use super::RecordType;
use hashlane_name::dns::{self, Name};

/// The places of names in the data of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes before the first name.
    pub before: usize,
    /// Character strings between these bytes and the first name (RFC 1035 §3.3).
    pub strings: usize,
    /// Number of consecutive names: 1 or 2.
    pub names: usize,
    /// Number of bytes after the names; `None` for any number.
    pub after: Option<usize>,
}

impl RecordType {
    /// Returns true if names in the data may be compressed: only in the types of RFC 1035 itself (RFC 3597
    /// §4), as a reader cannot resolve pointers in types that it does not know.
    #[inline(always)]
    pub const fn compresses(self) -> bool {
        // NS MD MF CNAME SOA MB MG MR PTR MINFO MX.
        const TYPES: u32 = 0b1101_0011_1111_1100;
        self.0 < 32 && TYPES >> self.0 & 1 == 1
    }

    /// The places of names in the data, for the types whose names a reader must expect to be compressed (RFC
    /// 3597 §4: the types of RFC 1035, and RP, AFSDB, RT, SIG, PX, NXT, NAPTR and SRV).
    pub const fn layout(self) -> Option<Layout> {
        const fn of(before: usize, names: usize, after: Option<usize>) -> Option<Layout> {
            Some(Layout { before, strings: 0, names, after })
        }
        match self {
            Self::NS | Self::MD | Self::MF | Self::CNAME | Self::MB | Self::MG | Self::MR | Self::PTR => {
                of(0, 1, Some(0))
            }
            Self::SOA => of(0, 2, Some(20)),
            Self::MINFO | Self::RP => of(0, 2, Some(0)),
            Self::MX | Self::AFSDB | Self::RT => of(2, 1, Some(0)),
            Self::PX => of(2, 2, Some(0)),
            Self::SIG => of(18, 1, None),
            Self::NXT => of(0, 1, None),
            Self::SRV => of(6, 1, Some(0)),
            Self::NAPTR => Some(Layout { before: 4, strings: 3, names: 1, after: Some(0) }),
            _ => None,
        }
    }
}

impl Layout {
    /// Bytes before the first name in `data`, its character strings among them.
    pub(crate) fn before_names(&self, data: &[u8]) -> Option<usize> {
        let mut before = self.before;
        for _ in 0..self.strings {
            before += 1 + usize::from(*data.get(before)?);
        }
        (before <= data.len()).then_some(before)
    }
}

/// The data of a record: bytes, at most two names, bytes.
///
/// The names are those that may be compressed; a name in the data of any other type is bytes like all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rdata<'a> {
    /// Before the names.
    pub before: &'a [u8],
    /// The names, in their order.
    pub names: [Option<Name<'a>>; 2],
    /// After the names.
    pub after: &'a [u8],
}

impl<'a> Rdata<'a> {
    /// Data without names that may be compressed, such as an address.
    #[inline]
    pub const fn opaque(bytes: &'a [u8]) -> Self {
        Self { before: bytes, names: [None; 2], after: &[] }
    }

    /// Data that consist of a name, as of NS, CNAME and PTR.
    #[inline]
    pub const fn name(name: Name<'a>) -> Self {
        Self { before: &[], names: [Some(name), None], after: &[] }
    }

    /// Parses the data of a record of `rtype`, in wire form without pointers. Any type may have empty data
    /// (RFC 2136 §2.4).
    ///
    /// # Errors
    /// For types that compress names: a malformed name, or missing or trailing bytes. The data of all other
    /// types are accepted as they are.
    pub fn parse(rtype: RecordType, data: &'a [u8]) -> Result<Self, RdataError> {
        let Some(layout) = rtype.layout().filter(|_| rtype.compresses() && !data.is_empty()) else {
            return Ok(Self::opaque(data));
        };
        let before = layout.before_names(data).ok_or(RdataError::Truncated { at: data.len() })?;
        let (before, mut rest) = data.split_at(before);
        let mut names = [None; 2];
        for slot in names.iter_mut().take(layout.names) {
            let at = data.len() - rest.len();
            let name = Name::parse_first(rest).map_err(|error| RdataError::Name { at, error })?;
            rest = &rest[name.len()..];
            *slot = Some(name);
        }
        match layout.after {
            Some(after) if after > rest.len() => Err(RdataError::Truncated { at: data.len() }),
            Some(after) if after < rest.len() => {
                Err(RdataError::TrailingBytes { at: data.len() - rest.len() + after })
            }
            _ => Ok(Self { before, names, after: rest }),
        }
    }

    /// Length of the data without compression.
    pub fn len(&self) -> usize {
        let names: usize = self.names.iter().flatten().map(|name| name.len()).sum();
        self.before.len() + names + self.after.len()
    }

    /// Returns true if there is no data.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The rule that the data of a record break; offsets are from their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RdataError {
    /// Bytes are missing.
    #[error("record data cut off at byte {at}")]
    Truncated {
        /// Offset of the missing bytes.
        at: usize,
    },
    /// Bytes follow that the type does not have.
    #[error("trailing bytes in the record data, at byte {at}")]
    TrailingBytes {
        /// The first of them.
        at: usize,
    },
    /// Malformed name.
    #[error("name at byte {at} of the record data: {error}")]
    Name {
        /// Offset of the name; the offset of the error counts from there.
        at: usize,
        /// The rule that it breaks.
        error: dns::ParseError,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compressed_in_the_types_of_rfc_1035_alone() {
        let compressed = (0..=u16::MAX).map(RecordType).filter(|rtype| rtype.compresses());
        let types = [2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 15].map(RecordType);
        assert!(compressed.eq(types));
        assert!(types.iter().all(|rtype| rtype.layout().is_some()));
        assert!(!RecordType::SRV.compresses() && !RecordType::DNAME.compresses());
    }

    #[test]
    fn splits_data_at_their_names() {
        let soa = b"\x01a\0\x01b\0aaaabbbbccccddddeeee";
        let rdata = Rdata::parse(RecordType::SOA, soa).unwrap();
        let names = rdata.names.map(|name| name.map(Name::as_bytes));
        assert_eq!(names, [Some(&b"\x01a\0"[..]), Some(b"\x01b\0")]);
        assert_eq!((rdata.after, rdata.len()), (&b"aaaabbbbccccddddeeee"[..], soa.len()));
        let srv = Rdata::parse(RecordType::SRV, b"\0\0\0\0\0\0\x01a\0").unwrap();
        assert_eq!((srv.before.len(), srv.names), (9, [None, None]));
        assert!(Rdata::parse(RecordType::TXT, b"").unwrap().is_empty());
        assert!(Rdata::parse(RecordType::MX, b"").unwrap().is_empty());
    }

    #[test]
    fn refuses_data_that_the_type_cannot_have() {
        let error = |rtype, data| Rdata::parse(rtype, data).unwrap_err();
        assert_eq!(error(RecordType::MX, b"\0"), RdataError::Truncated { at: 1 });
        assert_eq!(error(RecordType::SOA, b"\0\0aaaa"), RdataError::Truncated { at: 6 });
        assert_eq!(error(RecordType::NS, b"\x01a\0x"), RdataError::TrailingBytes { at: 3 });
        let pointer = dns::ParseError::PointerNotAllowed { at: 0 };
        assert_eq!(error(RecordType::MX, b"\0\x0a\xc0\x0c"), RdataError::Name { at: 2, error: pointer });
    }
}
