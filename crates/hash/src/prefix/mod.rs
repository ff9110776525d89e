//! Every prefix of a name at once, for one name or for a group of names side by side.
//!
//! A name is bytes and the ends of its prefixes. Hashing its prefixes one by one is a chain: each component waits
//! for the one before it, and how many steps a component takes follows its length, which a CPU cannot predict. Here
//! the work is cut otherwise:
//! 1. **stage** ([`Group`]): the bytes are copied to a place of known size, where they count as words of 8 from the
//!    start of the name, wherever its components end, and each prefix notes where it ends;
//! 2. **chain**: the running state over the words is computed and kept for every word; names of a group go in step,
//!    so that one name's wait is the others' time;
//! 3. **finish**: each prefix is the state before its last word and what of that word belongs to it. No prefix waits
//!    for another, and nothing branches on a length.
//!
//! The results are those of [`hash`](crate::scheme::BytesHash::hash) over the bytes of each prefix.

mod crc32c;
mod group;
mod siphash;

pub use group::{Group, Prefixes};

use crate::arch::stage::STRIDE;
use crate::scheme::Concatenative;

/// A hash that can take a [`Group`].
pub trait EveryPrefix: Concatenative {
    /// Writes the hash of every staged prefix to `out`, name after name, in the order in which they were
    /// added.
    ///
    /// `out` must be as long as [`Group::room`]: what has no place in it is not written, and the places behind the
    /// last prefix are left with any value.
    fn every_prefix(&self, group: &mut Group, out: &mut [u64]);

    /// Copies `bytes`, no more than `place` holds, to the start of `place`, by the means that suit the CPU.
    #[doc(hidden)]
    #[inline(always)]
    fn stage(&self, place: &mut [u8; STRIDE], bytes: &[u8]) {
        place[..bytes.len()].copy_from_slice(bytes);
    }

    /// Runs `kernel` with this hash, compiled for the instructions that the CPU has; see
    /// [`BytesHash::run`](crate::scheme::BytesHash::run).
    #[inline(always)]
    fn run_every<K: EveryKernel>(&self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

/// A piece of work that is generic over the hash it uses. See [`EveryPrefix::run_every`].
pub trait EveryKernel {
    /// What the work results in.
    type Output;

    /// Does the work with `hash`.
    fn run<H: EveryPrefix>(self, hash: &H) -> Self::Output;
}

#[cfg(test)]
mod tests;
