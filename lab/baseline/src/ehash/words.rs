//! The hashes that make one word of each address and then one hash of both and the ports.

use super::{Secrets, foreign_port, ports, tuple_hash};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::fixed::{hsiphash_4u32, siphash_2u64};
use hashlane_hash::jhash;
use hashlane_hash::jhash::jhash_3words;
use hashlane_hash::scheme::{Keying, SchemeInfo};

tuple_hash!(
    /// The hash of Linux before 6.5 under its secrets: [`base`].
    Base,
    base,
    SchemeInfo {
        id: "base",
        source: "Linux 6.4 inet6_ehashfn; q2ven/inet6_ehashfn src/base.c",
        width: 32,
        keying: Keying::Seed(64),
        check: 0xc48a_087e,
        safe: "For studies: under every secret, foreign addresses hash alike that differ in their first \
               two words by the same bits, and so do local addresses that differ above their last word.",
    }
);

tuple_hash!(
    /// The first remedy that was proposed, under its secrets: [`v1`].
    V1,
    v1,
    SchemeInfo {
        id: "v1",
        source: "q2ven/inet6_ehashfn src/v1.c",
        width: 32,
        keying: Keying::Seed(64),
        check: 0x3e6a_57d0,
        safe: "For studies: local addresses that differ above their last word hash alike under every \
               secret.",
    }
);

tuple_hash!(
    /// The hash of Linux since 6.5 under its secrets: [`jhash2`].
    Jhash2,
    jhash2,
    SchemeInfo {
        id: "jhash2",
        source: "Linux 6.5 inet6_ehashfn; q2ven/inet6_ehashfn src/jhash2.c",
        width: 32,
        keying: Keying::Seed(64),
        check: 0x950d_b1e0,
        safe: "For studies: local addresses that differ above their last word hash alike under every \
               secret.",
    }
);

tuple_hash!(
    /// The variant with hsiphash under its secrets: [`hsiphash`].
    HSipHash,
    hsiphash,
    SchemeInfo {
        id: "hsiphash",
        source: "q2ven/inet6_ehashfn src/hsiphash.c",
        width: 32,
        keying: Keying::Seed(128),
        check: 0xa014_3dd1,
        safe: "For studies: the foreign address alone is hashed under the key; local addresses that \
               differ above their last word hash alike under every key.",
    }
);

tuple_hash!(
    /// The variant with siphash under its secrets: [`siphash`].
    SipHash,
    siphash,
    SchemeInfo {
        id: "siphash",
        source: "q2ven/inet6_ehashfn src/siphash.c",
        width: 32,
        keying: Keying::Seed(128),
        check: 0x9a08_d426,
        safe: "For studies: the foreign address alone is hashed under the key; local addresses that \
               differ above their last word hash alike under every key.",
    }
);

tuple_hash!(
    /// The hash of Linux since 6.15 under its secrets: [`lport`].
    LinearPort,
    lport,
    SchemeInfo {
        id: "lport",
        source: "Linux 6.15 inet6_ehashfn",
        width: 32,
        keying: Keying::Seed(64),
        check: 0xdaed_4a3b,
        safe: "For studies: local addresses that differ above their last word hash alike under every \
               secret, and local ports that follow one another take buckets that do.",
    }
);

/// The hash of Linux before 6.5. Of the foreign address's words 0 and 1 it takes the exclusive or.
#[inline(always)]
pub fn base(tuple: &Tuple, secrets: &Secrets) -> u32 {
    let [a, b, c, d] = tuple.foreign_words();
    joined(tuple, jhash_3words(a ^ b, c, d, secrets.ipv6), secrets)
}

/// The first remedy that was proposed: word 0 of the foreign address goes with the local one, and the ports
/// go in twice.
#[inline(always)]
pub fn v1(tuple: &Tuple, secrets: &Secrets) -> u32 {
    let [a, b, c, d] = tuple.foreign_words();
    let local = jhash_3words(last_local(tuple), ports(tuple), a, secrets.ipv6);
    jhash_3words(local, jhash_3words(b, c, d, secrets.ipv6), ports(tuple), secrets.initval())
}

/// The hash of Linux since 6.5: `jhash2` of the foreign address.
#[inline(always)]
pub fn jhash2(tuple: &Tuple, secrets: &Secrets) -> u32 {
    joined(tuple, jhash::jhash2(&tuple.foreign_words(), secrets.ipv6), secrets)
}

/// The foreign address through `hsiphash_4u32` of 64-bit machines.
#[inline(always)]
pub fn hsiphash(tuple: &Tuple, secrets: &Secrets) -> u32 {
    joined(tuple, hsiphash_4u32(tuple.foreign_words(), &secrets.key), secrets)
}

/// The foreign address through `siphash_2u64`, cut to the low half of the result.
#[inline(always)]
pub fn siphash(tuple: &Tuple, secrets: &Secrets) -> u32 {
    let [_, _, first, second, _] = tuple.words();
    joined(tuple, siphash_2u64(first, second, &secrets.key) as u32, secrets)
}

/// The hash of Linux since 6.15: as [`jhash2`], but the local port is added to the result, so that a search
/// for a free port goes from bucket to bucket without hashing again.
#[inline(always)]
pub fn lport(tuple: &Tuple, secrets: &Secrets) -> u32 {
    let foreign = jhash::jhash2(&tuple.foreign_words(), secrets.ipv6);
    let hash = jhash_3words(last_local(tuple), foreign, foreign_port(tuple), secrets.initval());
    hash.wrapping_add(u32::from(tuple.local_port()))
}

/// `__inet6_ehashfn`: both addresses, each as one word, and the ports.
#[inline(always)]
fn joined(tuple: &Tuple, foreign: u32, secrets: &Secrets) -> u32 {
    jhash_3words(last_local(tuple), foreign, ports(tuple), secrets.initval())
}

/// All that these hashes take of the local address.
#[inline(always)]
fn last_local(tuple: &Tuple) -> u32 {
    tuple.local_words()[3]
}
