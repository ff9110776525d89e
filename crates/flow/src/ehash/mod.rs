//! Hashes of tuples: what an established-connections table ("ehash" in Linux) takes its bucket from.
//!
//! [`SipHash13`] and [`SipHash24`] hash every bit of both ends under a 128-bit key, eight tuples side by side in a burst.

mod words;

pub use words::{Jhash2, SipHash13, SipHash24, Words};

use crate::tuple::Tuple;
use hashlane_hash::scheme::{Key, Scheme, SchemeInfo};

/// A hash of a [`Tuple`], made from a 128-bit key.
///
/// A scheme without a key, or with less of one, says so in its [`INFO`](Self::INFO). The check value there is the hash
/// of [`Tuple::CHECK`] under [`Key::VECTOR`], unless the scheme is one of bytes or words, whose check value is kept.
pub trait TupleHash: Clone {
    /// What the scheme states of itself.
    const INFO: SchemeInfo;

    /// The scheme under `key`.
    fn new(key: &Key) -> Self;

    /// The hash of one tuple; results narrower than 64 bits are zero-extended.
    fn hash(&self, tuple: &Tuple) -> u64;

    /// Writes the hash of each of `tuples` to its place in `out`, equal to [`hash`](Self::hash) of it. Tuples beyond
    /// the length of `out` are left out, and places beyond the number of tuples left as they are.
    ///
    /// Schemes that can hash several side by side do so here; the others one after the other.
    #[inline]
    fn hash_burst(&self, tuples: &[Tuple], out: &mut [u64]) {
        for (tuple, out) in tuples.iter().zip(out) {
            *out = self.hash(tuple);
        }
    }
}

/// A hash as wide as the tables want it: the upper half of a narrow one is a copy of the lower half.
#[inline(always)]
pub(crate) fn widened<H: TupleHash>(hash: u64) -> u64 {
    if H::INFO.width <= 32 { hash << 32 | hash } else { hash }
}

/// A hash of bytes, over the 36 bytes of the tuple. Its check value remains that of the hash of bytes.
#[derive(Clone, Debug)]
pub struct TupleBytes<H>(H);

impl<H: Scheme> TupleHash for TupleBytes<H> {
    const INFO: SchemeInfo = H::INFO;

    fn new(key: &Key) -> Self {
        Self(H::new(key))
    }

    #[inline(always)]
    fn hash(&self, tuple: &Tuple) -> u64 {
        self.0.hash(tuple.as_bytes())
    }
}
