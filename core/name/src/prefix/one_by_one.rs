//! Component by component, each hash going on from the one before.

use super::HashBuffer;
use crate::error::ParseError;
use crate::walk::{Encoding, Walk};
use hashlane_hash::scheme::{PrefixHash, PrefixKernel};

/// Hashes every prefix of `name`, the shortest first: H1 = hash(component 1), H2 = hash(H1, component 2), and
/// so on.
///
/// # Errors
/// The error of [`Encoding::walk`] or of the walk; `buffer` is then unspecified.
#[inline]
pub fn one_by_one<E: Encoding, H: PrefixHash>(
    hash: &H,
    name: &[u8],
    buffer: &mut HashBuffer,
) -> Result<(), ParseError> {
    hash.run_prefix(OneByOne { walk: E::walk(name)?, buffer })
}

/// Hashes every prefix as [`one_by_one`] does and yields the stored hashes in the order of table lookups: the
/// longest first.
///
/// # Errors
/// As [`one_by_one`].
#[inline]
pub fn one_by_one_longest_first<E: Encoding, H: PrefixHash>(
    hash: &H,
    name: &[u8],
    buffer: &mut HashBuffer,
) -> Result<(), ParseError> {
    hash.run_prefix(OneByOne { walk: E::walk(name)?, buffer })?;
    buffer.reverse();
    Ok(())
}

struct OneByOne<'k, W> {
    walk: W,
    buffer: &'k mut HashBuffer,
}

impl<'a, W: Walk<'a>> PrefixKernel for OneByOne<'_, W> {
    type Output = Result<(), ParseError>;

    #[inline(always)]
    fn run<H: PrefixHash>(self, hash: &H) -> Self::Output {
        let Self { mut walk, buffer } = self;
        buffer.clear();
        let bytes = walk.bytes();
        let mut state = hash.start();
        let mut from = 0;
        while let Some(end) = walk.next_end()? {
            hash.extend_within(&mut state, bytes, from, end);
            buffer.push_hash(hash.finish(&state));
            from = end;
        }
        Ok(())
    }
}
