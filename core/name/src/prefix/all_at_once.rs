//! Each prefix hashed from its start, or the longest alone.

use super::HashBuffer;
use crate::error::ParseError;
use crate::walk::{Encoding, Walk};
use hashlane_hash::scheme::{BytesHash, BytesKernel};

/// Hashes bytes 0 to the end of component i for each i, the shortest prefix first, without intermediate
/// results: [`Walk::end_of`] finds the end of each prefix anew.
///
/// # Errors
/// The error of [`Encoding::walk`] or of the walk; `buffer` is then unspecified.
#[inline]
pub fn all_at_once<E: Encoding, H: BytesHash>(
    hash: &H,
    name: &[u8],
    buffer: &mut HashBuffer,
) -> Result<(), ParseError> {
    hash.run(FromStart { walk: E::walk(name)?, buffer })
}

/// Hashes each prefix from its start, the longest first, from an array of ends that one walk has written.
///
/// # Errors
/// As [`all_at_once`].
#[inline]
pub fn all_at_once_longest_first<E: Encoding, H: BytesHash>(
    hash: &H,
    name: &[u8],
    buffer: &mut HashBuffer,
) -> Result<(), ParseError> {
    hash.run(FromEnds { walk: E::walk(name)?, buffer })
}

/// Hashes the longest prefix alone, from its start: one hash, of the bytes of all components. Checks the
/// frame of the name; the components are neither walked nor checked.
///
/// # Errors
/// The error of [`Encoding::walk`]; `buffer` is then unspecified.
#[inline]
pub fn all_in_one<E: Encoding, H: BytesHash>(
    hash: &H,
    name: &[u8],
    buffer: &mut HashBuffer,
) -> Result<(), ParseError> {
    hash.run(Whole { walk: E::walk(name)?, buffer })
}

struct FromStart<'k, W> {
    walk: W,
    buffer: &'k mut HashBuffer,
}

impl<'a, W: Walk<'a>> BytesKernel for FromStart<'_, W> {
    type Output = Result<(), ParseError>;

    #[inline(always)]
    fn run<H: BytesHash>(self, hash: &H) -> Self::Output {
        let Self { walk, buffer } = self;
        buffer.clear();
        let bytes = walk.bytes();
        let mut component = 0;
        while let Some(end) = walk.end_of(component)? {
            buffer.push_hash(hash.hash(&bytes[..end.min(bytes.len())]));
            component += 1;
        }
        Ok(())
    }
}

struct FromEnds<'k, W> {
    walk: W,
    buffer: &'k mut HashBuffer,
}

impl<'a, W: Walk<'a>> BytesKernel for FromEnds<'_, W> {
    type Output = Result<(), ParseError>;

    #[inline(always)]
    fn run<H: BytesHash>(self, hash: &H) -> Self::Output {
        let Self { mut walk, buffer } = self;
        let bytes = walk.bytes();
        let (ends, hashes) = buffer.collect_ends(&mut walk)?;
        for (place, end) in hashes.iter_mut().zip(ends.iter().rev()) {
            *place = hash.hash(&bytes[..(*end as usize).min(bytes.len())]);
        }
        Ok(())
    }
}

struct Whole<'k, W> {
    walk: W,
    buffer: &'k mut HashBuffer,
}

impl<'a, W: Walk<'a>> BytesKernel for Whole<'_, W> {
    type Output = Result<(), ParseError>;

    #[inline(always)]
    fn run<H: BytesHash>(self, hash: &H) -> Self::Output {
        let Self { walk, buffer } = self;
        buffer.clear();
        buffer.push_hash(hash.hash(walk.bytes()));
        Ok(())
    }
}
