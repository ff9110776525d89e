//! The lists that turn the id of a scheme in a study file into what is timed: here names, in `tuples` tuples and
//! tables.
//!
//! The id of a scheme of the model `names` is an encoding, a way of hashing its prefixes, and a hash, from general to
//! particular: `ndn/one-by-one/longest-first/crc32c`.

mod renderers;
mod tuples;

pub use renderers::{is_built_in, is_renderer, renderer, renderers_help};
pub use tuples::{
    WithTupleHash, flows, flows_help, tuple_hashes, tuples, tuples_help, with_source_hash, with_tuple_hash,
};

use crate::model::names::{BURST, Burst, OneName, Single, WalkOnly};
use crate::probe::cycles::Subject;
use hashlane_hash::city::CityHash64;
use hashlane_hash::crc32c::{Crc32c, Crc32cMasked, Crc32cShifted};
use hashlane_hash::halfsiphash::{HalfSipHash13, HalfSipHash24};
use hashlane_hash::jhash::Jhash;
use hashlane_hash::multilinear::Multilinear;
use hashlane_hash::scheme::{Key, Scheme, SchemeInfo};
use hashlane_hash::siphash::{SipHash13, SipHash24};
use hashlane_hash::suffix::SuffixHash;
use hashlane_hash::toeplitz::Toeplitz;
use hashlane_name::ccnx::Ccnx;
use hashlane_name::ndn::Ndn;
use hashlane_name::offset::Offset;
use hashlane_name::prefix::{all_at_once, all_at_once_longest_first, one_by_one, one_by_one_longest_first};
use hashlane_name::walk::Encoding;
use hashlane_peers::ahash::AHash;
use hashlane_peers::foldhash::FoldHash;
use hashlane_peers::rapidhash::RapidHash;
use hashlane_peers::xxh3::Xxh3;

/// The registered hashes, by what they can do: every one hashes octets; a *prefix* hash also goes on from component
/// to component; an *every-prefix* hash also takes names side by side.
macro_rules! hashes {
    ($with:ident) => {
        $with! {
            every_prefix: Crc32c, SipHash13, SipHash24;
            prefix: Crc32cShifted, Crc32cMasked;
            bytes: CityHash64, Jhash, HalfSipHash13, HalfSipHash24, Toeplitz, Multilinear, SuffixHash, Xxh3,
                RapidHash, FoldHash, AHash;
        }
    };
}

/// What every registered hash states of itself, and the hash of octets under a key.
pub struct Registered {
    /// What it states.
    pub info: SchemeInfo,
    /// Hashes octets under a key, by the same code as everywhere.
    pub hash: fn(&Key, &[u8]) -> u64,
}

macro_rules! list {
    ($($group:ident: $($hash:ty),*;)*) => {
        vec![$($(Registered { info: <$hash>::INFO, hash: hash_of::<$hash> }),*),*]
    };
}

fn hash_of<H: Scheme>(key: &Key, bytes: &[u8]) -> u64 {
    H::new(key).hash(bytes)
}

/// All registered hashes.
pub fn schemes() -> Vec<Registered> {
    hashes!(list)
}

macro_rules! every_prefix_by_id {
    (every_prefix: $($hash:ty),*; $($rest:tt)*) => {
        fn side_by_side<E: Encoding>(way: &[&str], id: &str, key: &Key) -> Option<Box<dyn Subject>> {
            match (way, id) {
                $((["one-pass"], id) if id == <$hash>::INFO.id => {
                    Some(Box::new(Single::<E, $hash>::new(<$hash>::new(key))))
                })*
                $((["burst"], id) if id == <$hash>::INFO.id => {
                    Some(Box::new(Burst::<E, $hash>::new(<$hash>::new(key))))
                })*
                _ => None,
            }
        }
    };
}
hashes!(every_prefix_by_id);

macro_rules! prefix_by_id {
    (every_prefix: $($every:ty),*; prefix: $($prefix:ty),*; $($rest:tt)*) => {
        fn going_on<E: Encoding>(way: &[&str], id: &str, key: &Key) -> Option<Box<dyn Subject>> {
            match (way, id) {
                $((["one-by-one"], id) if id == <$every>::INFO.id => {
                    Some(Box::new(OneName::new(<$every>::new(key), one_by_one::<E, $every>)))
                })*
                $((["one-by-one"], id) if id == <$prefix>::INFO.id => {
                    Some(Box::new(OneName::new(<$prefix>::new(key), one_by_one::<E, $prefix>)))
                })*
                $((["one-by-one", "longest-first"], id) if id == <$every>::INFO.id => {
                    Some(Box::new(OneName::new(<$every>::new(key), one_by_one_longest_first::<E, $every>)))
                })*
                $((["one-by-one", "longest-first"], id) if id == <$prefix>::INFO.id => {
                    Some(Box::new(OneName::new(<$prefix>::new(key), one_by_one_longest_first::<E, $prefix>)))
                })*
                _ => None,
            }
        }
    };
}
hashes!(prefix_by_id);

macro_rules! bytes_by_id {
    ($($group:ident: $($hash:ty),*;)*) => {
        fn from_start<E: Encoding>(way: &[&str], id: &str, key: &Key) -> Option<Box<dyn Subject>> {
            match (way, id) {
                $($((["all-at-once"], id) if id == <$hash>::INFO.id => {
                    Some(Box::new(OneName::new(<$hash>::new(key), all_at_once::<E, $hash>)))
                })*)*
                $($((["all-at-once", "longest-first"], id) if id == <$hash>::INFO.id => {
                    Some(Box::new(OneName::new(<$hash>::new(key), all_at_once_longest_first::<E, $hash>)))
                })*)*
                _ => None,
            }
        }
    };
}
hashes!(bytes_by_id);

/// What is timed for the scheme `id` of the model `names`, under `key`; `None` where there is no such scheme.
pub fn names(id: &str, key: &Key) -> Option<Box<dyn Subject>> {
    let parts: Vec<&str> = id.split('/').collect();
    let (encoding, rest) = parts.split_first()?;
    match *encoding {
        "offset" => of_encoding::<Offset>(rest, key),
        "ccnx" => of_encoding::<Ccnx>(rest, key),
        "ndn" => of_encoding::<Ndn>(rest, key),
        _ => None,
    }
}

fn of_encoding<E: Encoding>(parts: &[&str], key: &Key) -> Option<Box<dyn Subject>> {
    match parts {
        ["walk"] => Some(Box::new(WalkOnly::<E, 1>::default())),
        ["walk", "burst"] => Some(Box::new(WalkOnly::<E, BURST>::default())),
        [way @ .., hash] => side_by_side::<E>(way, hash, key)
            .or_else(|| going_on::<E>(way, hash, key))
            .or_else(|| from_start::<E>(way, hash, key)),
        [] => None,
    }
}

/// How the ids of the model `names` are made, for messages.
pub fn names_help() -> String {
    let ids: Vec<_> = schemes().iter().map(|scheme| scheme.info.id).collect();
    format!(
        "a scheme is <encoding>/<way>/<hash>; encodings: offset, ccnx, ndn; ways: one-by-one, \
         one-by-one/longest-first, all-at-once, all-at-once/longest-first, one-pass, burst (and walk, walk/burst \
         without a hash); hashes: {}",
        ids.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_hash::scheme::BytesHash;
    use hashlane_hash::scheme::{CHECK_INPUT, Keying};
    use std::collections::HashMap;

    #[test]
    fn every_check_value_holds() {
        for scheme in schemes() {
            let hash = (scheme.hash)(&Key::VECTOR, CHECK_INPUT);
            assert_eq!(hash, scheme.info.check, "{}: {hash:#x}", scheme.info.id);
            assert!(scheme.info.width == 64 || hash >> scheme.info.width == 0, "{}", scheme.info.id);
        }
    }

    /// Inputs that differ in their length and in zeros at their end, and in what an octet or a word would
    /// have to be for a length that is mixed into it to cancel.
    fn lengths_and_zeros() -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for len in 0..=80_u8 {
            for at in 0..usize::from(len).min(24) {
                for byte in [0x60 ^ len, 0x60_u8.wrapping_sub(len), 0x60 + len, 0x60 ^ len << 3] {
                    let mut input = vec![0; usize::from(len)];
                    input[at] = byte;
                    all.push(input);
                }
            }
            all.push(vec![0; usize::from(len)]);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Two inputs may collide by chance in 32 bits under one key, but not under two.
    #[test]
    fn no_two_inputs_collide_under_many_keys_of_a_scheme_against_attackers() {
        let inputs = lengths_and_zeros();
        let against_attackers = |info: &SchemeInfo| {
            // The universal ones claim it of inputs that are chosen without knowledge of results, as these
            // are.
            matches!(info.keying, Keying::Secret(_)) || info.id.starts_with("multilinear")
        };
        let draw = SipHash24::new(&Key::VECTOR);
        let mut tested = 0;
        for scheme in schemes().iter().filter(|scheme| against_attackers(&scheme.info)) {
            tested += 1;
            let mut colliding = HashMap::new();
            for number in 0..32_u8 {
                let halves = [0, 1].map(|half| draw.hash(&[number, half]).to_le_bytes());
                let key = Key::new(halves.concat().try_into().unwrap());
                let mut seen = HashMap::new();
                for input in &inputs {
                    if let Some(other) = seen.insert((scheme.hash)(&key, input), input) {
                        *colliding.entry((other, input)).or_insert(0) += 1;
                    }
                }
            }
            let most = colliding.iter().max_by_key(|(_, keys)| **keys);
            let id = scheme.info.id;
            assert!(most.is_none_or(|(_, keys)| *keys < 2), "{id}: {} pairs, {most:?}", colliding.len());
            assert!(scheme.info.width < 64 || most.is_none(), "{id}: {most:?}");
        }
        assert!(tested >= 7, "{tested}");
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = schemes().iter().map(|scheme| scheme.info.id).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    }

    #[test]
    fn unknown_ids_are_none() {
        for id in [
            "",
            "ndn",
            "ndn/",
            "ndn/walk/",
            "xns/walk",
            "ndn/one-pass/cityhash64",
            "ndn/one-by-one/xxh3",
            "ndn/burst",
            "ndn/crc32c",
        ] {
            assert!(names(id, &Key::VECTOR).is_none(), "{id}");
        }
    }
}
