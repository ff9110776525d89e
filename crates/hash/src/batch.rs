//! Many keys at once, so that the latency of one hides behind the others.
//!
//! A key is a name of which only the whole is hashed: the keys of a batch go through a [`Group`] side by side.

use crate::prefix::{EveryKernel, EveryPrefix, Group};
use crate::scheme::BytesHash;

/// A hash of many keys at once.
pub trait BatchHash: BytesHash {
    /// Writes the hash of each of `keys` to its place in `out`, equal to [`BytesHash::hash`] of it; `group` is room to
    /// work in. Keys beyond the length of `out` are left out, and places beyond the number of keys left as they are.
    fn hash_batch(&self, group: &mut Group, keys: &[&[u8]], out: &mut [u64]);
}

impl<H: EveryPrefix> BatchHash for H {
    #[inline]
    fn hash_batch(&self, group: &mut Group, keys: &[&[u8]], out: &mut [u64]) {
        self.run_every(Batch { group, keys, out });
    }
}

struct Batch<'a> {
    group: &'a mut Group,
    keys: &'a [&'a [u8]],
    out: &'a mut [u64],
}

impl EveryKernel for Batch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let Self { group, keys, out } = self;
        for (keys, out) in keys.chunks(Group::NAMES).zip(out.chunks_mut(Group::NAMES)) {
            group.clear();
            for key in keys {
                // A key that is too long for a group keeps its place in it, and is hashed alone.
                let octets = if key.len() <= Group::OCTETS { key } else { [].as_slice() };
                if let Some(mut prefixes) = group.push(hash, octets) {
                    prefixes.push(octets.len());
                    let _ = prefixes.add();
                }
            }
            hash.every_prefix(group);
            for ((out, key), of_group) in out.iter_mut().zip(keys).zip(group.hashes()) {
                *out = if key.len() <= Group::OCTETS { *of_group } else { hash.hash(key) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crc32c::Crc32c;
    use crate::scheme::{Key, Scheme};
    use crate::siphash::{SipHash13, SipHash24};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn agrees<H: EveryPrefix + Scheme>(key: &Key, keys: &[&[u8]], group: &mut Group) {
        let hash = H::new(key);
        let mut out = std::vec![7; keys.len() + 1];
        hash.hash_batch(group, keys, &mut out);
        let mut expected: Vec<_> = keys.iter().map(|key| hash.hash(key)).collect();
        expected.push(7);
        assert_eq!(out, expected);
        hash.hash_batch(group, keys, &mut []);
    }

    proptest! {
        #[test]
        fn hashes_each_key_as_it_does_alone(
            key: [u8; 16],
            keys in vec(prop_oneof![9 => vec(any::<u8>(), 0..60), 1 => vec(any::<u8>(), 480..540)], 0..40),
        ) {
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let (key, mut group) = (Key::new(key), Group::new());
            agrees::<Crc32c>(&key, &keys, &mut group);
            agrees::<SipHash24>(&key, &keys, &mut group);
            agrees::<SipHash13>(&key, &keys, &mut group);
        }
    }
}
