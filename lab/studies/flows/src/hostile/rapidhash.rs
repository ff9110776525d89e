//! Collisions of rapidhash: a multiplication by 0 erases the seed.

use hashlane_flow::tuple::Tuple;

/// Tuple `i` of those that rapidhash takes to the same value, under every seed; they are [`Tuple::CHECK`] but
/// for the foreign address, and differ from each other in its last word.
///
/// Of an input of 36 bytes, those at 20–27 are combined by exclusive or with the length and a secret of the
/// algorithm, and multiplied by the last eight bytes combined with everything before, seed included. If that
/// factor is 0, so is the product, and the rest is fixed. The secrets are in the header `rapidhash.h`; only a
/// table that draws its own secrets hides the bytes from an attacker.
///
/// In a tuple those bytes are 4–11 of the foreign address. An attacker who has no more than a /64 cannot set
/// the upper half of them, and must forge the source address or have the surrounding /32.
pub(crate) fn tuple(i: u32) -> Tuple {
    /// The second secret of the header.
    const SECRET: u64 = 0x8bb8_4b93_962e_acc9;
    let mut bytes = *Tuple::CHECK.as_bytes();
    bytes[20..28].copy_from_slice(&(SECRET ^ Tuple::LEN as u64).to_le_bytes());
    bytes[28..32].copy_from_slice(&i.to_be_bytes());
    Tuple::from_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_hash::scheme::{BytesHash, Key, Scheme};
    use hashlane_peers::hashes::RapidHash;
    use proptest::prelude::*;

    proptest! {
        /// The seed erases the bytes before and after those.
        #[test]
        fn all_other_octets_are_erased(key: [u8; 16], mut bytes: [u8; 36], i: u32) {
            let hash = RapidHash::new(&Key::new(key));
            bytes[20..28].copy_from_slice(&tuple(i).as_bytes()[20..28]);
            prop_assert_eq!(hash.hash(&bytes), hash.hash(tuple(0).as_bytes()));
            bytes[20] ^= 1;
            prop_assert_ne!(hash.hash(&bytes), hash.hash(tuple(0).as_bytes()));
        }
    }
}
