//! The hash that takes every word of the tuple.

use super::{Secrets, foreign_port, tuple_hash};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::jhash::{JHASH_INITVAL, jhash2};
use hashlane_hash::scheme::{Keying, SchemeInfo};

tuple_hash!(
    /// One jhash over the whole tuple under its secrets: [`flat`].
    Flat,
    flat,
    SchemeInfo {
        id: "flat",
        source: "Linux after 6.18, inet6_ehashfn at commit d482bb509b7d",
        width: 32,
        keying: Keying::Seed(64),
        check: 0x1b29_1bf8,
        safe: "Tuples that no adversary chooses: every bit counts, but jhash makes no claim against one \
               who does, its secrets can be searched for, and local ports that follow one another take \
               buckets that do.",
    }
);

/// One jhash over both addresses and the foreign port, nine words; the local port is added to the result.
///
/// The mix goes into the first word. The lanes start from the secret of the foreign address alone,
/// [`Secrets::ipv6`], without the constant and the length of `jhash2`.
#[inline(always)]
pub fn flat(tuple: &Tuple, secrets: &Secrets) -> u32 {
    let [a, b, c, d] = tuple.local_words();
    let [e, f, g, h] = tuple.foreign_words();
    let words = [a ^ secrets.mix, b, c, d, e, f, g, h, foreign_port(tuple)];
    let start = secrets.ipv6.wrapping_sub(JHASH_INITVAL.wrapping_add(4 * 9));
    jhash2(&words, start).wrapping_add(u32::from(tuple.local_port()))
}
