//! Every prefix of a name at once, for one name or for a group of names.
//!
//! A name is bytes and the ends of its prefixes. Hashing its prefixes one by one is a chain: each component
//! waits for the one before it, and the number of steps depends on its length, which a CPU cannot predict.
//! This module splits the work into three steps:
//! 1. **stage** ([`Group`]): copies the bytes to a place of known size, as words of 8 from the start of the
//!    name, whatever its components, and notes the end of each prefix;
//! 2. **chain**: computes the running state over the words and stores it for every word. Names of a group
//!    advance together, so that one name's wait is the others' time;
//! 3. **finish**: computes each prefix from the state before its last word and its part of that word. No
//!    prefix waits for another, and no branch depends on a length.
//!
//! The results equal [`hash`](crate::scheme::BytesHash::hash) over the bytes of each prefix.

mod crc32c;
mod group;
mod siphash;

pub use group::{Group, Prefixes};

use crate::arch::stage::STRIDE;
use crate::scheme::Concatenative;

/// A hash that can take a [`Group`].
pub trait EveryPrefix: Concatenative {
    /// Writes the hash of every staged prefix to `out`, name after name, in the order of addition.
    ///
    /// `out` must be as long as [`Group::room`]. Hashes beyond its end are dropped, and places after the last
    /// prefix get unspecified values.
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
    /// The result of the work.
    type Output;

    /// Does the work with `hash`.
    fn run<H: EveryPrefix>(self, hash: &H) -> Self::Output;
}

#[cfg(test)]
mod tests;
