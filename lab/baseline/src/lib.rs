//! The historical schemes that the studies compare with: cited, frozen, tested.
//!
//! - [`dns`]: BIND 10's compressions of names, before and after its ticket 1603.
//! - [`ehash`]: the hashes of connections of the Linux kernel, and those proposed in their place.
//! - [`rss`]: hashes without a secret: Toeplitz under the published key, jhash without a seed.
//! - [`separated`]: offset names with separators, which Alcatel-Lucent compared with TLV names.
//!
//! They implement the same traits as the schemes for use, and are for studies alone.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod dns;
pub mod ehash;
pub mod rss;
pub mod separated;

/// Calls the macro `$callback` with every [`TupleHash`](hashlane_flow::ehash::TupleHash) of this crate, in
/// the form of [`hashlane_flow::for_each_tuple_hash!`].
#[macro_export]
macro_rules! for_each_tuple_hash {
    ($callback:ident) => {
        $callback! {
            $crate::ehash::Base,
            $crate::ehash::V1,
            $crate::ehash::Jhash2,
            $crate::ehash::HSipHash,
            $crate::ehash::SipHash,
            $crate::ehash::LinearPort,
            $crate::ehash::Flat,
            $crate::ehash::V4,
            $crate::rss::PublishedToeplitz,
            $crate::rss::UnseededJhash,
        }
    };
}
