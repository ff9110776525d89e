//! foldhash in its variant for quality, through the crate of the same name: the fast variant and one more
//! product.
//!
//! As with [`FoldHash`](crate::foldhash::FoldHash), the check value is of the pinned version on little-endian
//! machines with 64-bit words.

use core::hash::Hasher;

use ::foldhash::SharedSeed;
use ::foldhash::quality::FoldHasher;

use super::part::scheme;

scheme! {
    /// foldhash for quality under two seeds: one of 64 bits for each hasher, and a shared one grown from 64
    /// bits.
    FoldHashQuality((u64, u64) => (u64, SharedSeed), |(seed, shared)| (seed, SharedSeed::from_u64(shared))) {
        id: "foldhash-quality",
        source: "crate foldhash 0.2.0, quality",
        width: 64,
        check: 0x53f8_62d5_382b_b4e9,
        safe: "Tables that live as long as the process, by its author's claim of minimal resistance to \
               flooding; not against an adversary who watches it for long; no analysis is published.",
        hash: |(seed, shared), bytes| {
            let mut hasher = FoldHasher::with_seed(*seed, shared);
            hasher.write(bytes);
            hasher.finish()
        },
    }
}

#[cfg(test)]
mod tests {
    use core::hash::BuildHasher;

    use ::foldhash::quality::FixedState;
    use hashlane_hash::scheme::BytesHash;
    use proptest::prelude::*;

    use super::super::words::multiply;
    use super::*;

    proptest! {
        /// The crate's own seeded state multiplies its seed and stirs it with constants.
        #[test]
        fn agrees_with_the_crate_s_fixed_state(
            seed: u64,
            bytes in proptest::collection::vec(any::<u8>(), 0..=600),
        ) {
            const ARBITRARY3: u64 = 0x082e_fa98_ec4e_6c89;
            const ARBITRARY4: u64 = 0x4528_21e6_38d0_1377;
            let (low, high) = multiply(seed, ARBITRARY4);
            let adapter = FoldHashQuality((low ^ high ^ ARBITRARY3, SharedSeed::global_fixed().clone()));
            let mut direct = FixedState::with_seed(seed).build_hasher();
            direct.write(&bytes);
            prop_assert_eq!(adapter.hash(&bytes), direct.finish());
        }
    }
}
