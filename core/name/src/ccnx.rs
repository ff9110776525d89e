//! CCNx names: type and length of two bytes each, for the name and for every segment.
//!
//! ```text
//! name    = 0x0000 length *segment
//! segment = type length value          type 0x0001..=0xffff, all numbers in network order
//! ```
//! A name without segments (`ccnx:/`) and a segment without bytes are well formed. Type 0x0000 is reserved
//! for segments; all others pass: T_NAMESEGMENT 0x0001, T_IPID 0x0002, T_ORG 0x0fff, applications' own 0x1000
//! to 0x1fff, and those not yet assigned. Further rules of CCNx messages are for a message parser.
//!
//! [`Component`] has NDN's type numbers, where the generic component is 8 and 1 is a digest. So the two
//! numbers swap places, [1 ↔ 8](swap_type), and every other number stays: nothing is lost, and a generic
//! component is a name segment.
//!
//! Source: RFC 8609 §3.6.1.

use alloc::vec::Vec;
use core::ops::Range;

use crate::component::{Component, GENERIC};
use crate::error::ParseError;
use crate::layout::Layout;
use crate::view::Name;
use crate::walk::{Encoding, Walk};
use crate::{MAX_COMPONENTS, MAX_NAME_LEN};

/// The CCNx encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ccnx;

/// A checked CCNx name.
pub type CcnxName<'a> = Name<'a, Ccnx>;

/// T_NAME, the type of a name.
pub const T_NAME: u16 = 0;
/// T_NAMESEGMENT, the type of a generic segment.
pub const T_NAMESEGMENT: u16 = 1;

/// The bytes of a type and a length.
const HEADER: usize = 4;

/// The NDN number of the CCNx segment type `typ`, and the reverse: 1 and 8 swap, all others stay.
#[inline]
pub const fn swap_type(typ: u16) -> u16 {
    match typ {
        T_NAMESEGMENT => GENERIC,
        GENERIC => T_NAMESEGMENT,
        other => other,
    }
}

/// The walk over a CCNx name: its segments, and the start of the next one.
#[derive(Clone, Copy, Debug)]
pub struct CcnxWalk<'a> {
    value: &'a [u8],
    position: usize,
    /// The value's length if a value that short cannot hold too many segments, else 0: segments that end here
    /// or before need not be counted.
    uncounted: usize,
    /// Number of counted segments still allowed.
    left: u32,
}

impl Encoding for Ccnx {
    const ID: &'static str = "ccnx";
    type Walk<'a> = CcnxWalk<'a>;

    #[inline]
    fn walk(name: &[u8]) -> Result<CcnxWalk<'_>, ParseError> {
        match *name {
            [0, 0, a, b, ref value @ ..]
                if usize::from(u16::from_be_bytes([a, b])) == value.len() && name.len() <= MAX_NAME_LEN =>
            {
                let uncounted = if value.len() <= HEADER * MAX_COMPONENTS { value.len() } else { 0 };
                Ok(CcnxWalk { value, position: 0, uncounted, left: MAX_COMPONENTS as u32 })
            }
            _ => Err(frame_error(name)),
        }
    }
}

/// The rule that the frame of `name` breaks.
#[cold]
fn frame_error(name: &[u8]) -> ParseError {
    match *name {
        _ if name.len() > MAX_NAME_LEN => ParseError::NameTooLong { len: name.len() },
        [a, b, ..] if u16::from_be_bytes([a, b]) != T_NAME => {
            ParseError::NotAName { typ: u64::from(u16::from_be_bytes([a, b])) }
        }
        [_, _, a, b, ref value @ ..] if usize::from(u16::from_be_bytes([a, b])) < value.len() => {
            ParseError::TrailingBytes { at: HEADER + usize::from(u16::from_be_bytes([a, b])) }
        }
        _ => ParseError::Truncated { at: 0 },
    }
}

impl<'a> Walk<'a> for CcnxWalk<'a> {
    #[inline]
    fn bytes(&self) -> &'a [u8] {
        self.value
    }

    #[inline]
    fn next_end(&mut self) -> Result<Option<usize>, ParseError> {
        let start = self.position;
        if let Some(&[t0, t1, l0, l1]) = self.value.get(start..start + HEADER) {
            let end = start + HEADER + usize::from(u16::from_be_bytes([l0, l1]));
            if u16::from_be_bytes([t0, t1]) != 0 && end <= self.uncounted {
                self.position = end;
                return Ok(Some(end));
            }
        } else if start == self.value.len() {
            return Ok(None);
        }
        match counted_end(self.value, start, self.left) {
            Ok(end) => {
                self.position = end;
                self.left -= 1;
                Ok(Some(end))
            }
            Err(error) => Err(error),
        }
    }
}

/// The end of the segment at `start` of a long name, or the rule that it breaks in any. It takes no walk, so
/// that the walk can stay in registers.
#[cold]
fn counted_end(value: &[u8], start: usize, left: u32) -> Result<usize, ParseError> {
    let at = HEADER + start;
    if left == 0 {
        return Err(ParseError::TooManyComponents { at });
    }
    match *value.get(start..).unwrap_or_default() {
        [0, 0, ..] => Err(ParseError::ZeroType { at }),
        [_, _, l0, l1, ref rest @ ..] => {
            let len = usize::from(u16::from_be_bytes([l0, l1]));
            if len <= rest.len() { Ok(start + HEADER + len) } else { Err(ParseError::Overrun { at }) }
        }
        _ => Err(ParseError::Overrun { at }),
    }
}

impl Layout for Ccnx {
    const CHECKS_DIGESTS: bool = false;

    #[inline]
    fn component<'a>(walk: &Self::Walk<'a>, span: Range<usize>) -> Component<'a> {
        match walk.value.get(span) {
            Some([t0, t1, _, _, value @ ..]) => {
                Component { typ: swap_type(u16::from_be_bytes([*t0, *t1])), value }
            }
            _ => Component { typ: 0, value: &[] },
        }
    }

    #[inline]
    fn component_len(component: Component<'_>) -> usize {
        HEADER + component.value.len()
    }

    #[inline]
    fn name_len(body: usize) -> usize {
        HEADER + body
    }

    fn write<'c>(
        components: impl Iterator<Item = Component<'c>> + Clone,
        _count: usize,
        body: usize,
        out: &mut Vec<u8>,
    ) {
        let header = |typ: u16, len: usize, out: &mut Vec<u8>| {
            out.extend_from_slice(&typ.to_be_bytes());
            out.extend_from_slice(&(len as u16).to_be_bytes());
        };
        header(T_NAME, body, out);
        for component in components {
            header(swap_type(component.typ), component.value.len(), out);
            out.extend_from_slice(component.value);
        }
    }
}
