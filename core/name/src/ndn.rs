//! NDN names: one Name TLV with types and lengths of variable size.
//!
//! ```text
//! name      = 7 length *component
//! component = type length value        type 1..=65535
//! ```
//! Types and lengths are [numbers](crate::tlv) of 1, 3, 5 or 9 bytes in their shortest form. The two digest
//! types, 1 and 2, have values of 32 bytes. So a list of components has exactly one encoding, and comparing
//! two names' values byte by byte (the shorter first when one begins the other) is their canonical order.
//!
//! Source: NDN packet format 0.3, sections TLV and Name.

use alloc::vec::Vec;
use core::ops::Range;

use crate::component::{Component, DIGEST_LEN, IMPLICIT_SHA256_DIGEST, PARAMETERS_SHA256_DIGEST};
use crate::error::ParseError;
use crate::layout::Layout;
use crate::tlv::{number_len, read_number, write_number};
use crate::view::Name;
use crate::walk::{Encoding, Walk};
use crate::{MAX_COMPONENTS, MAX_NAME_LEN};

/// The NDN encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ndn;

/// A checked NDN name.
pub type NdnName<'a> = Name<'a, Ndn>;

/// The TLV-TYPE of a name.
pub const TYPE_NAME: u8 = 7;

/// Length up to which a name cannot have too many components, as the smallest takes two bytes: they need not
/// be counted.
const UNCOUNTED: usize = 2 * MAX_COMPONENTS;

/// The walk over an NDN name: its TLV-VALUE, and the start of the next component.
#[derive(Clone, Copy, Debug)]
pub struct NdnWalk<'a> {
    value: &'a [u8],
    position: usize,
    /// Number of counted components still allowed.
    left: u32,
}

impl Encoding for Ndn {
    const ID: &'static str = "ndn";
    type Walk<'a> = NdnWalk<'a>;

    #[inline]
    fn walk(name: &[u8]) -> Result<NdnWalk<'_>, ParseError> {
        let value = match *name {
            [typ, len, ref value @ ..]
                if value.len() < 253
                    && u16::from_be_bytes([typ, len])
                        == u16::from_be_bytes([TYPE_NAME, value.len() as u8]) =>
            {
                value
            }
            _ => long_frame(name)?,
        };
        Ok(NdnWalk { value, position: 0, left: MAX_COMPONENTS as u32 })
    }
}

/// The value of a name whose length takes more than one byte, or the rule that the frame breaks.
#[cold]
fn long_frame(name: &[u8]) -> Result<&[u8], ParseError> {
    if name.len() > MAX_NAME_LEN {
        return Err(ParseError::NameTooLong { len: name.len() });
    }
    let (typ, taken) = read_number(name).map_err(|e| e.at(0))?;
    if typ != u64::from(TYPE_NAME) {
        return Err(ParseError::NotAName { typ });
    }
    let after_type = name.get(taken..).unwrap_or_default();
    let (len, len_taken) = read_number(after_type).map_err(|e| e.at(taken))?;
    let value = after_type.get(len_taken..).unwrap_or_default();
    match len.cmp(&(value.len() as u64)) {
        core::cmp::Ordering::Equal => Ok(value),
        core::cmp::Ordering::Greater => Err(ParseError::Truncated { at: 0 }),
        core::cmp::Ordering::Less => Err(ParseError::TrailingBytes { at: taken + len_taken + len as usize }),
    }
}

impl<'a> Walk<'a> for NdnWalk<'a> {
    #[inline]
    fn bytes(&self) -> &'a [u8] {
        self.value
    }

    #[inline]
    fn next_end(&mut self) -> Result<Option<usize>, ParseError> {
        let start = self.position;
        if let Some(&[typ, len]) = self.value.get(start..start + 2) {
            let end = start + 2 + usize::from(len);
            // Types 0 to 2 and numbers of more than one byte are rare, and so are errors: all take the slow
            // path.
            if typ.wrapping_sub(3) < 250
                && len < 253
                && end <= self.value.len()
                && self.value.len() <= UNCOUNTED
            {
                self.position = end;
                return Ok(Some(end));
            }
        } else if start == self.value.len() {
            return Ok(None);
        }
        match rare_end(self.value, start, self.left) {
            Ok(end) => {
                self.position = end;
                self.left -= 1;
                Ok(Some(end))
            }
            Err(error) => Err(error),
        }
    }

    #[inline(always)]
    fn for_each_end(mut self, mut each: impl FnMut(usize)) -> Result<(), ParseError> {
        let value = self.value;
        let mut position = self.position;
        if value.len() >= 253 {
            while let Some(end) = self.next_end()? {
                each(end);
            }
            return Ok(());
        }
        // In so short a value a length of several bytes runs past the end, and there cannot be too many
        // components.
        loop {
            if let Some(&[typ, len]) = value.get(position..position + 2) {
                let end = position + 2 + usize::from(len);
                if typ.wrapping_sub(3) < 250 && end <= value.len() {
                    position = end;
                    each(end);
                    continue;
                }
            } else if position == value.len() {
                return Ok(());
            }
            position = rare_end(value, position, self.left)?;
            self.left -= 1;
            each(position);
        }
    }
}

/// The end of the component at `start`, of any form. Takes no walk, so that the walk can stay in registers.
#[cold]
fn rare_end(value: &[u8], start: usize, left: u32) -> Result<usize, ParseError> {
    let frame = Ndn::name_len(value.len()) - value.len();
    let at = frame + start;
    if left == 0 {
        return Err(ParseError::TooManyComponents { at });
    }
    // A number cut off by the end of the name is a component that runs past it.
    let read = |from: usize| match read_number(value.get(from..).unwrap_or_default()) {
        Ok((number, taken)) => Ok((number, from + taken)),
        Err(error) => match error.at(frame + from) {
            ParseError::Truncated { .. } => Err(ParseError::Overrun { at }),
            other => Err(other),
        },
    };
    let (typ, after_type) = read(start)?;
    let typ = match u16::try_from(typ) {
        Ok(0) => return Err(ParseError::ZeroType { at }),
        Ok(typ) => typ,
        Err(_) => return Err(ParseError::TypeTooLarge { at }),
    };
    let (len, after_len) = read(after_type)?;
    if len > (value.len() - after_len) as u64 {
        return Err(ParseError::Overrun { at });
    }
    if is_digest(typ) && len != DIGEST_LEN as u64 {
        return Err(ParseError::DigestLength { at });
    }
    Ok(after_len + len as usize)
}

impl Layout for Ndn {
    const CHECKS_DIGESTS: bool = true;

    #[inline]
    fn component<'a>(walk: &Self::Walk<'a>, span: Range<usize>) -> Component<'a> {
        let bytes = walk.value.get(span).unwrap_or_default();
        let (typ, taken) = read_number(bytes).unwrap_or_default();
        let (len, _) = read_number(bytes.get(taken..).unwrap_or_default()).unwrap_or_default();
        let value = bytes.get(bytes.len().saturating_sub(len as usize)..).unwrap_or_default();
        Component { typ: typ as u16, value }
    }

    #[inline]
    fn component_len(component: Component<'_>) -> usize {
        let len = component.value.len();
        number_len(u64::from(component.typ)) + number_len(len as u64) + len
    }

    #[inline]
    fn name_len(body: usize) -> usize {
        1 + number_len(body as u64) + body
    }

    fn write<'c>(
        components: impl Iterator<Item = Component<'c>> + Clone,
        _count: usize,
        body: usize,
        out: &mut Vec<u8>,
    ) {
        out.push(TYPE_NAME);
        write_number(body as u64, out);
        for component in components {
            write_number(u64::from(component.typ), out);
            write_number(component.value.len() as u64, out);
            out.extend_from_slice(component.value);
        }
    }
}

/// Returns true if `typ` is one of the two types whose value is a SHA-256 digest.
#[inline]
pub(crate) const fn is_digest(typ: u16) -> bool {
    matches!(typ, IMPLICIT_SHA256_DIGEST | PARAMETERS_SHA256_DIGEST)
}
