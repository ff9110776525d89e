//! TLV elements: type, length, value.
//!
//! ```text
//! element = type length value      numbers of 1, 3, 5 or 9 bytes, in their shortest form
//! ```
//! Types are 1 to 2³²−1. Elements of a packet are ordered. An unknown or misplaced element is ignored, unless
//! it is *critical*: its type is at most 31, or odd. A packet with such an element is rejected (NDN Packet
//! Format 0.3, TLV, Considerations for Evolvability).

use crate::invariant::part;
use alloc::vec::Vec;
use hashlane_name::error::ParseError as NameError;
use hashlane_name::tlv::{NumberError, read_number, write_number};

/// Rule that a packet breaks, and its offset in bytes from the start of the parsed input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The input ends inside an element.
    #[error("truncated: the input ends inside the element at offset {at}")]
    Truncated {
        /// Offset of the element.
        at: usize,
    },
    /// A type or length is not in its shortest form.
    #[error("the number at offset {at} is not in its shortest form")]
    NotShortest {
        /// Offset of the number.
        at: usize,
    },
    /// A type is 0 or above 2³²−1.
    #[error("type out of range at offset {at}: not between 1 and 4294967295")]
    TypeOutOfRange {
        /// Offset of the type.
        at: usize,
    },
    /// The input continues after the end of the packet.
    #[error("trailing bytes after the packet, from offset {at}")]
    TrailingBytes {
        /// Offset of the first byte after the packet.
        at: usize,
    },
    /// The outer element has another type than expected.
    #[error("unexpected packet type {typ}")]
    UnexpectedType {
        /// Type of the element.
        typ: u32,
    },
    /// A critical element is unknown, repeated or out of order.
    #[error("critical element of type {typ} at offset {at} is unknown, repeated or out of order")]
    Critical {
        /// Type of the element.
        typ: u32,
        /// Offset of the element.
        at: usize,
    },
    /// A required element is missing.
    #[error("missing element of type {typ}")]
    Missing {
        /// Type of the element.
        typ: u32,
    },
    /// The value of an element has an invalid length: a number of other than 1, 2, 4 or 8 bytes, a Nonce of
    /// other than 4.
    #[error("invalid length of the element of type {typ} at offset {at}")]
    Length {
        /// Type of the element.
        typ: u32,
        /// Offset of the element.
        at: usize,
    },
    /// The value of an element is not valid for its type.
    #[error("invalid value of the element of type {typ} at offset {at}")]
    Value {
        /// Type of the element.
        typ: u32,
        /// Offset of the element.
        at: usize,
    },
    /// A name breaks a rule of names.
    #[error("in the name at offset {at}: {error}")]
    Name {
        /// Offset of the name.
        at: usize,
        /// Rule of names, with the offset in the name.
        error: NameError,
    },
    /// A name that must not be empty has no component.
    #[error("empty name at offset {at}")]
    EmptyName {
        /// Offset of the name.
        at: usize,
    },
    /// An Interest has parameters without a digest in its name, a digest without parameters, or several
    /// digests.
    #[error("parameters require one digest of them in the name, and the reverse")]
    ParametersDigest,
}

/// TLV element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Type, 1 to 2³²−1.
    pub typ: u32,
    /// Value.
    pub value: &'a [u8],
    /// Offset of the element.
    pub at: usize,
    /// Offset of its value.
    pub value_at: usize,
}

impl Element<'_> {
    /// Offset of the first byte after the element.
    #[inline]
    pub fn end(&self) -> usize {
        self.value_at + self.value.len()
    }

    /// Value as a NonNegativeInteger: 1, 2, 4 or 8 bytes in network order.
    ///
    /// # Errors
    /// [`WireError::Length`].
    #[inline]
    pub fn number(&self) -> Result<u64, WireError> {
        match *self.value {
            [a] => Ok(a.into()),
            [a, b] => Ok(u16::from_be_bytes([a, b]).into()),
            [a, b, c, d] => Ok(u32::from_be_bytes([a, b, c, d]).into()),
            [a, b, c, d, e, f, g, h] => Ok(u64::from_be_bytes([a, b, c, d, e, f, g, h])),
            _ => Err(self.wrong_length()),
        }
    }

    /// Checks that the value is empty.
    ///
    /// # Errors
    /// [`WireError::Length`].
    #[inline]
    pub fn empty(&self) -> Result<(), WireError> {
        if self.value.is_empty() { Ok(()) } else { Err(self.wrong_length()) }
    }

    /// Value of exactly `N` bytes.
    ///
    /// # Errors
    /// [`WireError::Length`].
    #[inline]
    pub fn array<const N: usize>(&self) -> Result<[u8; N], WireError> {
        self.value.try_into().map_err(|_| self.wrong_length())
    }

    /// Elements in the value.
    #[inline]
    pub fn elements<'a>(&self) -> Elements<'a>
    where
        Self: 'a,
    {
        Elements { bytes: self.value, at: 0, base: self.value_at }
    }

    /// Checks that a reader which does not expect this element may ignore it.
    ///
    /// # Errors
    /// [`WireError::Critical`].
    #[inline]
    pub fn ignored(&self) -> Result<(), WireError> {
        if is_critical(self.typ) { Err(WireError::Critical { typ: self.typ, at: self.at }) } else { Ok(()) }
    }

    pub(crate) fn wrong_length(&self) -> WireError {
        WireError::Length { typ: self.typ, at: self.at }
    }

    pub(crate) fn wrong_value(&self) -> WireError {
        WireError::Value { typ: self.typ, at: self.at }
    }
}

/// True if a packet with an unknown or misplaced element of this type is rejected.
#[inline]
pub const fn is_critical(typ: u32) -> bool {
    typ <= 31 || typ & 1 == 1
}

/// Sequence of elements.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of `bytes` in the parsed input, for errors.
    base: usize,
}

impl<'a> Elements<'a> {
    /// Creates a reader of the elements in `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, base: 0 }
    }

    /// Reads the next element; `None` at the end.
    ///
    /// # Errors
    /// The rule that its type or length breaks. The reader must not be used after an error.
    #[inline(always)]
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot end at an error")]
    pub fn next(&mut self) -> Result<Option<Element<'a>>, WireError> {
        let at = self.at;
        // Nearly all types and lengths take one byte each.
        if let Some(&[typ, len]) = self.bytes.get(at..at + 2)
            && typ.wrapping_sub(1) < 252
            && len < 253
            && let Some(value) = self.bytes.get(at + 2..at + 2 + usize::from(len))
        {
            self.at = at + 2 + usize::from(len);
            return Ok(Some(Element {
                typ: typ.into(),
                value,
                at: self.base + at,
                value_at: self.base + at + 2,
            }));
        }
        if at == self.bytes.len() {
            return Ok(None);
        }
        let (element, end) = large(self.bytes, at, self.base)?;
        self.at = end;
        Ok(Some(element))
    }

    /// Bytes that have not been read.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        part(self.bytes, self.at..)
    }
}

/// Reads an element with a long type or length. Returns the offset after it, too.
#[cold]
fn large(bytes: &[u8], at: usize, base: usize) -> Result<(Element<'_>, usize), WireError> {
    let number = |from: usize| match read_number(part(bytes, from..)) {
        Ok((number, taken)) => Ok((number, from + taken)),
        Err(NumberError::NotShortest) => Err(WireError::NotShortest { at: base + from }),
        Err(_) => Err(WireError::Truncated { at: base + at }),
    };
    let (typ, after_type) = number(at)?;
    let typ = match u32::try_from(typ) {
        Ok(typ) if typ > 0 => typ,
        _ => return Err(WireError::TypeOutOfRange { at: base + at }),
    };
    let (len, start) = number(after_type)?;
    let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
    let value = end.and_then(|end| bytes.get(start..end)).ok_or(WireError::Truncated { at: base + at })?;
    let element = Element { typ, value, at: base + at, value_at: base + start };
    Ok((element, start + value.len()))
}

/// Reads the one element in `bytes`.
///
/// # Errors
/// The rule that it breaks, or [`WireError::TrailingBytes`].
#[inline(always)]
pub fn single(bytes: &[u8]) -> Result<Element<'_>, WireError> {
    let mut elements = Elements::new(bytes);
    let element = elements.next()?.ok_or(WireError::Truncated { at: 0 })?;
    if elements.at < bytes.len() {
        return Err(WireError::TrailingBytes { at: elements.at });
    }
    Ok(element)
}

/// Length of the element at the start of `bytes`, with type and length; `None` if more bytes are needed to
/// tell.
///
/// # Errors
/// As [`Elements::next`].
pub fn frame(bytes: &[u8]) -> Result<Option<u64>, WireError> {
    let number = |from: usize| match read_number(part(bytes, from..)) {
        Ok((number, taken)) => Ok(Some((number, from + taken))),
        Err(NumberError::NotShortest) => Err(WireError::NotShortest { at: from }),
        Err(_) => Ok(None),
    };
    let Some((typ, after_type)) = number(0)? else { return Ok(None) };
    if typ == 0 || typ > u64::from(u32::MAX) {
        return Err(WireError::TypeOutOfRange { at: 0 });
    }
    let Some((len, start)) = number(after_type)? else { return Ok(None) };
    Ok(Some(len.saturating_add(start as u64)))
}

/// The element at the start of `bytes`, without the bytes after it, such as the padding of a short Ethernet
/// frame. `None` if there is no whole element. Its value is not looked at.
#[inline]
pub fn leading(bytes: &[u8]) -> Option<&[u8]> {
    let length = frame(bytes).ok()??;
    bytes.get(..usize::try_from(length).ok()?)
}

/// Appends an element.
pub fn write_element(typ: u32, value: &[u8], out: &mut Vec<u8>) {
    write_number(typ.into(), out);
    write_number(value.len() as u64, out);
    out.extend_from_slice(value);
}

/// Appends an element whose value is a NonNegativeInteger in its shortest form.
pub fn write_integer(typ: u32, number: u64, out: &mut Vec<u8>) {
    write_element(typ, shortest(&number.to_be_bytes()), out);
}

/// Shortest form of a NonNegativeInteger, given in big-endian order.
#[inline]
pub(crate) fn shortest(number: &[u8; 8]) -> &[u8] {
    part(number, 8 - integer_len(u64::from_be_bytes(*number))..)
}

/// Length of a NonNegativeInteger in its shortest form: 1, 2, 4 or 8 bytes.
#[inline]
pub const fn integer_len(number: u64) -> usize {
    match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// Appends an element whose value is written by `write`.
pub fn write_nested(typ: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    let mut head = Vec::with_capacity(10);
    write_number(typ.into(), &mut head);
    write_number((out.len() - start) as u64, &mut head);
    out.splice(start..start, head);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn reads_what_was_written() {
        let mut out = Vec::new();
        write_integer(10, 0x1_0000, &mut out);
        write_nested(0x1_0000, &mut out, |out| write_element(253, &[7; 300], out));
        let mut elements = Elements::new(&out);
        let first = elements.next().unwrap().unwrap();
        assert_eq!((first.typ, first.number(), first.end()), (10, Ok(0x1_0000), 6));
        let second = elements.next().unwrap().unwrap();
        assert_eq!((second.typ, second.at, second.end()), (0x1_0000, 6, out.len()));
        let inner = second.elements().next().unwrap().unwrap();
        assert_eq!((inner.typ, inner.value, inner.end()), (253, &[7; 300][..], out.len()));
        assert_eq!(elements.next(), Ok(None));
        assert_eq!(frame(&out), Ok(Some(6)));
    }

    #[test]
    fn refuses_what_is_no_element() {
        let next = |bytes: &[u8]| Elements::new(bytes).next().map(|_| ());
        for (bytes, error) in [
            (&[8][..], WireError::Truncated { at: 0 }),
            (&[8, 1], WireError::Truncated { at: 0 }),
            (&[0, 0], WireError::TypeOutOfRange { at: 0 }),
            (&[255, 0, 0, 0, 1, 0, 0, 0, 0, 0], WireError::TypeOutOfRange { at: 0 }),
            (&[253, 0, 8, 0], WireError::NotShortest { at: 0 }),
            (&[8, 253, 0, 1, 1], WireError::NotShortest { at: 1 }),
            (&[8, 255, 255, 255, 255, 255, 255, 255, 255, 255], WireError::Truncated { at: 0 }),
        ] {
            assert_eq!(next(bytes), Err(error), "{bytes:?}");
        }
        assert_eq!(single(&[8, 0, 8]), Err(WireError::TrailingBytes { at: 2 }));
    }

    #[test]
    fn an_integer_has_1_2_4_or_8_bytes() {
        for len in 0..10 {
            let value = vec![0; len];
            let element = Element { typ: 12, value: &value, at: 0, value_at: 2 };
            assert_eq!(element.number().is_ok(), [1, 2, 4, 8].contains(&len));
        }
    }

    #[test]
    fn tells_a_frame_from_its_first_bytes() {
        assert_eq!(frame(&[]), Ok(None));
        assert_eq!(frame(&[5]), Ok(None));
        assert_eq!(frame(&[5, 253, 1]), Ok(None));
        assert_eq!(frame(&[5, 253, 1, 0]), Ok(Some(260)));
        assert_eq!(frame(&[5, 255, 255, 255, 255, 255, 255, 255, 255, 255]), Ok(Some(u64::MAX)));
        assert_eq!(frame(&[0, 1]), Err(WireError::TypeOutOfRange { at: 0 }));
    }
}
