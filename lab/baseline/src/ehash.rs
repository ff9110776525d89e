//! `inet6_ehashfn` and `inet_ehashfn`, which choose the bucket of an established connection in Linux.
//!
//! | scheme | the foreign address | the rest | source |
//! | --- | --- | --- | --- |
//! | [`Base`] | jhash of three words, the first two joined by exclusive or | as below | Linux to 6.4 |
//! | [`V1`] | jhash of three words; the fourth with the local address | as below, ports twice | proposed 2023 |
//! | [`Jhash2`] | jhash of four words | as below | Linux since 6.5 |
//! | [`HSipHash`] | SipHash-1-3, to 32 bits | as below | considered 2023 |
//! | [`SipHash`] | SipHash-2-4, to 32 bits | as below | considered 2023 |
//! | [`LinearPort`] | as `Jhash2` | as below, the local port added last | Linux since 6.15 |
//! | [`Flat`] | all nine words of the tuple in one jhash, the local port added last | | Linux after 6.18 |
//! | [`V4`] | IPv4: one word each, and the ports, in one jhash | | Linux to 6.14 |
//! | [`v4_lport`] | IPv4: as `V4`, the local port added last | | Linux since 6.15 |
//!
//! "As below" is one jhash of three words: the last word of the local address, the hash of the foreign
//! address, and the ports. The first three words of the local address are ignored, so that all local
//! addresses with one last word hash alike under every secret.
//!
//! The kernel draws its secrets when it first needs them, within the hash; here they are an argument,
//! [`Secrets`], so that a study times the hash alone. Words of addresses and the foreign port are read in the
//! order of a little-endian machine, on every machine; the local port is a number, as in the kernel.

mod function;

pub use function::{Function, UnknownFunction};

use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::fixed::{hsiphash_4u32, siphash_1u64, siphash_2u64};
use hashlane_hash::jhash::{self, JHASH_INITVAL, jhash_3words};
use hashlane_hash::scheme::{Key, Keying::Seed, SchemeInfo};

/// The random values that the kernel mixes into the hashes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secrets {
    /// `inet6_ehash_secret`, or `inet_ehash_secret` for IPv4.
    pub ehash: u32,
    /// `ipv6_hash_secret`, later `tcp_ipv6_hash_secret`: for the foreign address, and for all of [`flat`].
    pub ipv6: u32,
    /// `net_hash_mix()`, one for each network namespace.
    pub mix: u32,
    /// The key of the variants with SipHash.
    pub key: Key,
}

impl Secrets {
    /// The secrets of the programs in q2ven/inet6_ehashfn, with which its histograms come out digit for
    /// digit: the two first numbers of glibc's unseeded `rand()`, no mix, and the public key of the kernel's
    /// SipHash test. Never for live traffic.
    pub const SOURCE: Self = Self { ehash: 1_804_289_383, ipv6: 846_930_886, mix: 0, key: Key::VECTOR };

    /// Secrets derived from `key`, by SipHash-2-4 under it: of the word 0, the low half is `ehash` and the
    /// high half `ipv6`; of the word 1, the low half is `mix`; of the words 2 and 3, the little-endian bytes
    /// are the key.
    pub fn new(key: &Key) -> Self {
        let [secrets, mix, k0, k1] = [0, 1, 2, 3].map(|i| siphash_1u64(i, key));
        let bytes = u128::from(k0) | u128::from(k1) << 64;
        Self {
            ehash: secrets as u32,
            ipv6: (secrets >> 32) as u32,
            mix: mix as u32,
            key: Key::new(bytes.to_le_bytes()),
        }
    }

    /// The initial value of the last jhash.
    #[inline(always)]
    fn initval(&self) -> u32 {
        self.ehash.wrapping_add(self.mix)
    }
}

/// Keeps secrets out of logs.
impl core::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secrets(..)")
    }
}

/// The foreign port as a little-endian kernel reads its `__be16`.
#[inline(always)]
fn foreign_port(tuple: &Tuple) -> u32 {
    u32::from(tuple.foreign_port().swap_bytes())
}

/// Both ports in one word: the local one as a number, above.
#[inline(always)]
fn ports(tuple: &Tuple) -> u32 {
    u32::from(tuple.local_port()) << 16 | foreign_port(tuple)
}

/// Defines hashes of tuples from functions of a tuple and secrets: rows of
/// `Name: function, keying, check, id, source, safe;`.
macro_rules! tuple_hashes {
    ($($name:ident: $function:ident, $keying:expr, $check:literal, $id:literal, $source:expr, $safe:expr;)*) => {
        $(#[doc = concat!("[`", stringify!($function), "`] under its secrets.")]
        #[derive(Clone, Debug)]
        pub struct $name(pub Secrets);

        impl TupleHash for $name {
            const INFO: SchemeInfo = SchemeInfo {
                id: $id,
                source: $source,
                width: 32,
                keying: $keying,
                check: $check,
                safe: $safe,
            };

            fn new(key: &Key) -> Self {
                Self(Secrets::new(key))
            }

            #[inline(always)]
            fn hash(&self, tuple: &Tuple) -> u64 {
                u64::from($function(tuple, &self.0))
            }
        })*
    };
}

const LAST_LOCAL_WORD: &str =
    "For studies: local addresses that differ above their last word hash alike under every secret.";
const FOREIGN_ADDRESS_KEYED: &str = "For studies: the foreign address alone is hashed under the key; local \
     addresses that differ above their last word hash alike under every key.";

tuple_hashes! {
    Base: base, Seed(64), 0xc48a_087e, "base", "Linux 6.4 inet6_ehashfn; q2ven/inet6_ehashfn src/base.c",
        "For studies: under every secret, foreign addresses hash alike that differ in their first \
         two words by the same bits, and so do local addresses that differ above their last word.";
    V1: v1, Seed(64), 0x3e6a_57d0, "v1", "q2ven/inet6_ehashfn src/v1.c", LAST_LOCAL_WORD;
    Jhash2: jhash2, Seed(64), 0x950d_b1e0,
        "jhash2", "Linux 6.5 inet6_ehashfn; q2ven/inet6_ehashfn src/jhash2.c", LAST_LOCAL_WORD;
    HSipHash: hsiphash, Seed(128), 0xa014_3dd1,
        "hsiphash", "q2ven/inet6_ehashfn src/hsiphash.c", FOREIGN_ADDRESS_KEYED;
    SipHash: siphash, Seed(128), 0x9a08_d426,
        "siphash", "q2ven/inet6_ehashfn src/siphash.c", FOREIGN_ADDRESS_KEYED;
    LinearPort: lport, Seed(64), 0xdaed_4a3b, "lport", "Linux 6.15 inet6_ehashfn",
        "For studies: local addresses that differ above their last word hash alike under every \
         secret, and local ports that follow one another take buckets that do.";
    Flat: flat, Seed(64), 0x1b29_1bf8,
        "flat", "Linux after 6.18, inet6_ehashfn at commit d482bb509b7d",
        "Tuples that no adversary chooses: every bit counts, but jhash makes no claim against one \
         who does, its secrets can be searched for, and local ports that follow one another take \
         buckets that do.";
    V4: v4, Seed(32), 0x6005_74e1, "v4", "Linux inet_ehashfn, to 6.14",
        "IPv4 tuples that no adversary chooses: of IPv6 addresses it takes the last word, and its \
         secret can be searched for.";
}

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
    jhash::jhash2(&words, start).wrapping_add(u32::from(tuple.local_port()))
}

/// `inet_ehashfn` of Linux to 6.14: both IPv4 addresses and the ports in one jhash. Of an address that is not
/// IPv4-mapped it takes the last word.
#[inline(always)]
pub fn v4(tuple: &Tuple, secrets: &Secrets) -> u32 {
    joined_v4(tuple, ports(tuple), secrets)
}

/// `inet_ehashfn` of Linux since 6.15 (commit 9544d60a2605): as [`v4`] with a local port of 0; the local port
/// is added to the result.
#[inline(always)]
pub fn v4_lport(tuple: &Tuple, secrets: &Secrets) -> u32 {
    joined_v4(tuple, foreign_port(tuple), secrets).wrapping_add(u32::from(tuple.local_port()))
}

/// `__inet_ehashfn`.
#[inline(always)]
fn joined_v4(tuple: &Tuple, ports: u32, secrets: &Secrets) -> u32 {
    jhash_3words(last_local(tuple), tuple.foreign_words()[3], ports, secrets.initval())
}
