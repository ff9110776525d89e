//! Offset names: the bytes of all components, and an array with the end of each.
//!
//! ```text
//! name    = count *(type end) length segments
//! count   : 1 byte     number of components
//! type    : 1 byte     of a component
//! end     : 2 bytes    of a component, from the start of the segments, in network order
//! length  : 2 bytes    of the segments, in network order
//! ```
//! Ends do not decrease, and the last is the length (0 for a name without components).
//!
//! # Reading of the source
//! This is the encoding that represents the CCN packet header of Alcatel-Lucent's Bell Labs
//! (draft-ccn-packet-header-00, Gallo, Perino and Muscariello, January 2015) in Mosko, "Name hashing
//! performance for three encoding schemes" (CCNxCon 2015). That talk gives sizes, not bytes: the name
//! BellLabs, Presentations, packetFormat.ppt, 0x01 has "2 + 45 = 47B plus 13B of index". We read it so:
//!
//! - 45 is the text `/BellLabs/Presentations/packetFormat.ppt/0x01`: 37 bytes of three components, the byte
//!   0x01 spelled as four characters, and 4 separators. As bytes, the components are 38.
//! - 2 is the length field.
//! - 13 is a count of 1 byte, and 3 for each of four components: 1 of type and 2 of end.
//!
//! The talk's own instruction counts for hashing (12 bytes in an 8 and a 4, 10 bytes in an 8 and a 2) have no
//! room for a separator. So this encoding has none: a value may hold any byte, `/` included, and the index
//! alone separates components. The example is then 2 + 38 bytes and 13 of index.
//!
//! # Types
//! Types are NDN's numbers, so that nothing is lost against the other encodings. The type byte has 1 to 254.
//! 255 means that the component's first two bytes in the segments are its type, in network order, 255 or more
//! (so that each type has one form), and its value follows.

use alloc::vec::Vec;
use core::ops::Range;

use crate::MAX_NAME_LEN;
use crate::component::Component;
use crate::error::ParseError;
use crate::layout::Layout;
use crate::view::Name;
use crate::walk::{Encoding, Walk};

/// The offset encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset;

/// A checked offset name.
pub type OffsetName<'a> = Name<'a, Offset>;

/// The type byte of a component whose type is in the segments.
const LONG_TYPE: u8 = 255;

/// The bytes of one entry of the index.
const ENTRY: usize = 3;

/// The bytes of the count and of the length field.
const FRAME: usize = 3;

/// The walk over an offset name: its index, its segments, and the entry of the next component.
#[derive(Clone, Copy, Debug)]
pub struct OffsetWalk<'a> {
    index: &'a [u8],
    segments: &'a [u8],
    next: usize,
    /// The end of the component before `next`.
    end: usize,
}

impl Encoding for Offset {
    const ID: &'static str = "offset";
    type Walk<'a> = OffsetWalk<'a>;

    #[inline]
    fn walk(name: &[u8]) -> Result<OffsetWalk<'_>, ParseError> {
        if name.len() > MAX_NAME_LEN {
            return Err(ParseError::NameTooLong { len: name.len() });
        }
        let Some((&count, rest)) = name.split_first() else {
            return Err(ParseError::Truncated { at: 0 });
        };
        let index_len = usize::from(count) * ENTRY;
        let Some((index, rest)) = rest.split_at_checked(index_len) else {
            return Err(ParseError::Truncated { at: 1 + rest.len() / ENTRY * ENTRY });
        };
        let at = 1 + index_len;
        let Some((&length, segments)) = rest.split_first_chunk::<2>() else {
            return Err(ParseError::Truncated { at });
        };
        let length = u16::from_be_bytes(length);
        if segments.len() < usize::from(length) {
            return Err(ParseError::Truncated { at: at + 2 });
        }
        if segments.len() > usize::from(length) {
            return Err(ParseError::TrailingBytes { at: at + 2 + usize::from(length) });
        }
        if length != index.last_chunk().map_or(0, end_of) {
            return Err(ParseError::LastEnd { at });
        }
        Ok(OffsetWalk { index, segments, next: 0, end: 0 })
    }
}

#[inline]
fn end_of(&[_, a, b]: &[u8; ENTRY]) -> u16 {
    u16::from_be_bytes([a, b])
}

impl<'a> Walk<'a> for OffsetWalk<'a> {
    #[inline]
    fn bytes(&self) -> &'a [u8] {
        self.segments
    }

    #[inline]
    fn next_end(&mut self) -> Result<Option<usize>, ParseError> {
        let next = self.next;
        let Some(&[typ, a, b]) = self.index.get(next..next + ENTRY) else {
            return Ok(None);
        };
        let start = self.end;
        let end = usize::from(u16::from_be_bytes([a, b]));
        if end < start || end > self.segments.len() || typ.wrapping_sub(1) >= LONG_TYPE - 1 {
            check_rare(self.segments, start..end, typ, 1 + next, Offset::name_len(self.index.len()))?;
        }
        self.next += ENTRY;
        self.end = end;
        Ok(Some(end))
    }

    #[inline(always)]
    fn end_of(&self, index: usize) -> Result<Option<usize>, ParseError> {
        let at = self.next + ENTRY * index;
        let Some(entry) = self.index.get(at..).and_then(<[u8]>::first_chunk) else { return Ok(None) };
        let end = usize::from(end_of(entry));
        if end > self.segments.len() {
            return Err(ParseError::Overrun { at: 1 + at });
        }
        Ok(Some(end))
    }
}

/// Checks a rare form of component. Its entry is at `entry_at` of a name whose segments start at
/// `segments_at`. Takes no walk, so that the walk can stay in registers.
#[cold]
fn check_rare(
    segments: &[u8],
    span: Range<usize>,
    typ: u8,
    entry_at: usize,
    segments_at: usize,
) -> Result<(), ParseError> {
    if span.end < span.start {
        return Err(ParseError::EndDecreases { at: entry_at + 1 });
    }
    let at = segments_at + span.start;
    let Some(bytes) = segments.get(span) else {
        return Err(ParseError::Overrun { at: entry_at });
    };
    if typ == 0 {
        return Err(ParseError::ZeroType { at: entry_at });
    }
    match bytes.first_chunk::<2>() {
        None => Err(ParseError::Truncated { at }),
        Some(&long) if u16::from_be_bytes(long) < u16::from(LONG_TYPE) => Err(ParseError::NotShortest { at }),
        Some(_) => Ok(()),
    }
}

impl Layout for Offset {
    const CHECKS_DIGESTS: bool = false;

    #[inline]
    fn component<'a>(walk: &Self::Walk<'a>, span: Range<usize>) -> Component<'a> {
        let bytes = walk.segments.get(span).unwrap_or_default();
        let typ = walk.index.get(walk.next.wrapping_sub(ENTRY)).copied().unwrap_or_default();
        match (typ, bytes) {
            (LONG_TYPE, [a, b, value @ ..]) => Component { typ: u16::from_be_bytes([*a, *b]), value },
            (typ, value) => Component { typ: u16::from(typ), value },
        }
    }

    #[inline]
    fn component_len(component: Component<'_>) -> usize {
        ENTRY + segment_len(component)
    }

    #[inline]
    fn name_len(body: usize) -> usize {
        FRAME + body
    }

    fn write<'c>(
        components: impl Iterator<Item = Component<'c>> + Clone,
        count: usize,
        body: usize,
        out: &mut Vec<u8>,
    ) {
        out.push(count as u8);
        let mut end = 0;
        for component in components.clone() {
            end += segment_len(component);
            out.push(short_type(component.typ).unwrap_or(LONG_TYPE));
            out.extend_from_slice(&(end as u16).to_be_bytes());
        }
        debug_assert_eq!(end + count * ENTRY, body);
        out.extend_from_slice(&(end as u16).to_be_bytes());
        for component in components {
            if short_type(component.typ).is_none() {
                out.extend_from_slice(&component.typ.to_be_bytes());
            }
            out.extend_from_slice(component.value);
        }
    }
}

/// The type byte of a type that has one.
#[inline]
fn short_type(typ: u16) -> Option<u8> {
    u8::try_from(typ).ok().filter(|&typ| typ != LONG_TYPE)
}

/// The bytes of `component` in the segments.
#[inline]
fn segment_len(component: Component<'_>) -> usize {
    component.value.len() + if short_type(component.typ).is_some() { 0 } else { 2 }
}
