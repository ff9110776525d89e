//! Hash functions for packet paths: bytes → number.
//!
//! - [`scheme`]: a [`Key`](scheme::Key), the description of a hash ([`SchemeInfo`](scheme::SchemeInfo)) and
//!   the traits: a hash of bytes, a prefix hash with a running state.
//! - [`words`]: keys of a fixed number of words, one or many at once.
//! - [`ragged`]: keys of any lengths, many at once.
//! - [`prefix`]: every prefix of a name at once, for one name or a burst of names.
//! - one module per family: [`crc32c`], [`siphash`] and [`halfsiphash`], [`city`], [`jhash`], [`toeplitz`],
//!   [`multilinear`], [`suffix`] (every suffix of a name).
//! - [`fixed`]: SipHash of a fixed number of words. [`siphash128`]: SipHash with 128 bits of result.
//! - [`for_each_hash!`]: the list of all hashes of this crate.
//! - `arch`: the CPU's instructions, the only place with `unsafe`.
#![no_std]
#![deny(unsafe_code)]

// For the detection of CPU features at run time; nothing else of it is used outside the tests.
#[cfg(any(test, not(target_os = "none")))]
extern crate std;

mod arch;
pub mod city;
pub mod crc32c;
mod expand;
pub mod fixed;
pub mod halfsiphash;
pub mod jhash;
mod load;
pub mod multilinear;
pub mod prefix;
pub mod ragged;
pub mod scheme;
pub mod siphash;
pub mod siphash128;
pub mod suffix;
pub mod toeplitz;
#[cfg(test)]
mod vectors;
pub mod words;

/// Calls the macro `$callback` with every hash of this crate that implements [`Scheme`](scheme::Scheme), in
/// groups.
///
/// A new hash is its file, its `mod` line above, and its type in this list. Every group hashes bytes. Group
/// `prefix` also implements [`PrefixHash`](scheme::PrefixHash). Group `every_prefix` also implements
/// [`EveryPrefix`](prefix::EveryPrefix).
///
/// ```
/// use hashlane_hash::scheme::Scheme;
///
/// macro_rules! ids {
///     ($($group:ident: $($hash:ty),*;)*) => { [$($(<$hash>::INFO.id),*),*] };
/// }
/// let ids = hashlane_hash::for_each_hash!(ids);
/// assert!(ids.contains(&"siphash-2-4"));
/// ```
#[macro_export]
macro_rules! for_each_hash {
    ($callback:ident) => {
        $callback! {
            every_prefix:
                $crate::crc32c::Crc32c,
                $crate::siphash::SipHash13,
                $crate::siphash::SipHash24;
            prefix:
                $crate::crc32c::Crc32cShifted,
                $crate::crc32c::Crc32cMasked;
            bytes:
                $crate::city::CityHash64,
                $crate::jhash::Jhash,
                $crate::halfsiphash::HalfSipHash13,
                $crate::halfsiphash::HalfSipHash24,
                $crate::toeplitz::Toeplitz,
                $crate::multilinear::Multilinear,
                $crate::suffix::SuffixHash;
        }
    };
}

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
