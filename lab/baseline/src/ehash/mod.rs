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

mod flat;
mod v4;
mod words;

pub use flat::{Flat, flat};
pub use v4::{V4, v4, v4_lport};
pub use words::{Base, HSipHash, Jhash2, LinearPort, SipHash, V1};
pub use words::{base, hsiphash, jhash2, lport, siphash, v1};

use hashlane_flow::tuple::Tuple;
use hashlane_hash::fixed::siphash_1u64;
use hashlane_hash::scheme::Key;

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

/// A [`TupleHash`](hashlane_flow::ehash::TupleHash) made from a function of a tuple and secrets.
macro_rules! tuple_hash {
    ($(#[$doc:meta])* $name:ident, $function:ident, $info:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub $crate::ehash::Secrets);

        impl hashlane_flow::ehash::TupleHash for $name {
            const INFO: hashlane_hash::scheme::SchemeInfo = $info;

            fn new(key: &hashlane_hash::scheme::Key) -> Self {
                Self($crate::ehash::Secrets::new(key))
            }

            #[inline(always)]
            fn hash(&self, tuple: &Tuple) -> u64 {
                u64::from($function(tuple, &self.0))
            }
        }
    };
}
use tuple_hash;
