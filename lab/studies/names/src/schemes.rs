//! Lists that turn the id of a scheme in a study file into a timed method.
//!
//! The id of a scheme of the model `names` is an encoding, a way of hashing its prefixes, and a hash, from
//! general to particular: `ndn/one-by-one/longest-first/crc32c`.

use crate::model::{BURST, Burst, OneName, Single, WalkOnly};
use crate::packed::ENCODINGS;
use crate::timed::{Model, TimedMethod};
use hashlane_baseline::separated::Separated;
use hashlane_hash::prefix::EveryPrefix;
use hashlane_hash::scheme::{Key, PrefixHash, Scheme, SchemeInfo};
use hashlane_name::prefix::{
    all_at_once, all_at_once_longest_first, all_in_one, one_by_one, one_by_one_longest_first,
};
use hashlane_name::walk::Encoding;

/// Statement of a registered hash about itself, and its hash of bytes under a key.
pub struct Registered {
    /// Its statement.
    pub info: SchemeInfo,
    /// Hashes bytes under a key, by the same code as everywhere.
    pub hash: fn(&Key, &[u8]) -> u64,
}

fn hash_of<H: Scheme>(key: &Key, bytes: &[u8]) -> u64 {
    H::new(key).hash(bytes)
}

/// All registered hashes.
pub fn schemes() -> Vec<Registered> {
    macro_rules! list {
        ($($group:ident: $($hash:ty),*;)*) => {
            [$($(Registered { info: <$hash>::INFO, hash: hash_of::<$hash> }),*),*]
        };
    }
    let own = hashlane_hash::for_each_hash!(list);
    own.into_iter().chain(hashlane_peers::for_each_hash!(list)).collect()
}

fn timed(model: impl Model + 'static) -> Option<TimedMethod> {
    Some(TimedMethod::here(model))
}

// The ways of a hash, by its group in the lists of hashes; each group has the ways of the next, too.

fn every_prefix<E: Encoding, H: EveryPrefix + Scheme + 'static>(
    way: &[&str],
    key: &Key,
) -> Option<TimedMethod> {
    match way {
        ["one-pass"] => timed(Single::<E, H>::new(H::new(key))),
        ["burst"] => timed(Burst::<E, H>::new(H::new(key))),
        _ => prefix::<E, H>(way, key),
    }
}

fn prefix<E: Encoding, H: PrefixHash + Scheme + 'static>(way: &[&str], key: &Key) -> Option<TimedMethod> {
    match way {
        ["one-by-one"] => timed(OneName::new(H::new(key), one_by_one::<E, H>)),
        ["one-by-one", "longest-first"] => timed(OneName::new(H::new(key), one_by_one_longest_first::<E, H>)),
        _ => bytes::<E, H>(way, key),
    }
}

fn bytes<E: Encoding, H: Scheme + 'static>(way: &[&str], key: &Key) -> Option<TimedMethod> {
    match way {
        ["all-at-once"] => timed(OneName::new(H::new(key), all_at_once::<E, H>)),
        ["all-at-once", "longest-first"] => {
            timed(OneName::new(H::new(key), all_at_once_longest_first::<E, H>))
        }
        ["all-in-one"] => timed(OneName::new(H::new(key), all_in_one::<E, H>)),
        _ => None,
    }
}

/// Timed method for the scheme `id` of the model `names`, under `key`; `None` if the id is unknown.
pub(crate) fn names(id: &str, key: &Key) -> Option<TimedMethod> {
    macro_rules! by_id {
        ($($id:ident: $encoding:ty),* $(,)?) => {
            |encoding: &str, rest: &[&str]| match encoding {
                $(<$encoding>::ID => of_encoding::<$encoding>(rest, key),)*
                _ => None,
            }
        };
    }
    let parts: Vec<&str> = id.split('/').collect();
    let (encoding, rest) = parts.split_first()?;
    hashlane_name::for_each_encoding!(by_id, separated: Separated)(encoding, rest)
}

fn of_encoding<E: Encoding>(parts: &[&str], key: &Key) -> Option<TimedMethod> {
    let (id, way) = parts.split_last()?;
    macro_rules! by_id {
        ($($group:ident: $($hash:ty),*;)*) => {
            $($(if *id == <$hash>::INFO.id {
                return $group::<E, $hash>(way, key);
            })*)*
        };
    }
    match parts {
        ["walk"] => return timed(WalkOnly::<E, 1>::default()),
        ["walk", "burst"] => return timed(WalkOnly::<E, BURST>::default()),
        _ => {}
    }
    hashlane_hash::for_each_hash!(by_id);
    hashlane_peers::for_each_hash!(by_id);
    None
}

/// Syntax of the ids of the model `names`, for messages.
pub fn names_help() -> String {
    let ids: Vec<_> = schemes().iter().map(|scheme| scheme.info.id).collect();
    format!(
        "a scheme is <encoding>/<method>/<hash>; encodings: {}; methods: one-by-one, \
         one-by-one/longest-first, all-at-once, all-at-once/longest-first, all-in-one, one-pass, burst (and \
         walk, walk/burst without a hash); hashes: {}",
        ENCODINGS.join(", "),
        ids.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
