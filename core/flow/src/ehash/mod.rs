//! Hashes of tuples: they choose the bucket in a table of established connections ("ehash" in Linux).
//!
//! [`SipHash13`] and [`SipHash24`] hash every bit of both ends under a 128-bit key, eight tuples at once in a
//! burst.

mod words;

pub use words::{Jhash2, SipHash13, SipHash24, Words};

use crate::tuple::Tuple;
use hashlane_hash::scheme::{Key, Scheme, SchemeInfo};

/// A hash of a [`Tuple`], made from a 128-bit key.
///
/// [`INFO`](Self::INFO) states the keying of a scheme. Its check value is the hash of [`Tuple::CHECK`] under
/// [`Key::VECTOR`]; a scheme made from a hash of bytes or words keeps the check value of that hash.
pub trait TupleHash: Clone {
    /// Facts about the scheme.
    const INFO: SchemeInfo;

    /// The scheme under `key`.
    fn new(key: &Key) -> Self;

    /// The hash of one tuple; results narrower than 64 bits are zero-extended.
    fn hash(&self, tuple: &Tuple) -> u64;

    /// Writes the hash of each of `tuples` to its place in `out`, equal to [`hash`](Self::hash) of it. Tuples
    /// beyond the length of `out` are ignored, and places beyond the number of tuples unchanged.
    ///
    /// Schemes that can hash several tuples at once override it.
    #[inline]
    fn hash_burst(&self, tuples: &[Tuple], out: &mut [u64]) {
        for (tuple, out) in tuples.iter().zip(out) {
            *out = self.hash(tuple);
        }
    }
}

/// A hash of bytes, over the 36 bytes of the tuple. Its check value is still the one of the hash of bytes.
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
