//! The hash of IPv4 connections.

use super::{Secrets, foreign_port, ports, tuple_hash};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::jhash::jhash_3words;
use hashlane_hash::scheme::{Keying, SchemeInfo};

tuple_hash!(
    /// The hash of IPv4 connections under its secrets: [`v4`].
    V4,
    v4,
    SchemeInfo {
        id: "v4",
        source: "Linux inet_ehashfn, to 6.14",
        width: 32,
        keying: Keying::Seed(32),
        check: 0x6005_74e1,
        safe: "IPv4 tuples that no adversary chooses: of IPv6 addresses it takes the last word, and its \
               secret can be searched for.",
    }
);

/// `inet_ehashfn` of Linux to 6.14: both IPv4 addresses and the ports in one jhash. Of an address that is not
/// IPv4-mapped it takes the last word.
#[inline(always)]
pub fn v4(tuple: &Tuple, secrets: &Secrets) -> u32 {
    joined(tuple, ports(tuple), secrets)
}

/// `inet_ehashfn` of Linux since 6.15 (commit 9544d60a2605): as [`v4`] with a local port of 0; the local port
/// is added to the result.
#[inline(always)]
pub fn v4_lport(tuple: &Tuple, secrets: &Secrets) -> u32 {
    joined(tuple, foreign_port(tuple), secrets).wrapping_add(u32::from(tuple.local_port()))
}

/// `__inet_ehashfn`.
#[inline(always)]
fn joined(tuple: &Tuple, ports: u32, secrets: &Secrets) -> u32 {
    jhash_3words(tuple.local_words()[3], tuple.foreign_words()[3], ports, secrets.initval())
}
