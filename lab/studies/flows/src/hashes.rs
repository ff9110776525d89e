//! The hashes of tuples, and the tables that they lead into.
//!
//! The id of a scheme of the model `tuples` is a hash and the manner of calling it: `jhash2/single`,
//! `siphash-2-4/burst`, `siphash-2-4/burst-256` where registers of 256 bits are the widest that may be used.
//! The id of the models `table` and `flood` is a shape, a hash and the manner of asking:
//! `batched/siphash-1-3/burst`.

use crate::cpp_flows::CppFlows;
use crate::flows::{Flows, Front, Size};
use crate::timed_hash::{Burst, Single, TimedHash, one};
use hashlane_baseline::ehash::{self, Base, HSipHash, Secrets, SipHash, V1};
use hashlane_flow::ehash::{SipHash13, SipHash24, TupleBytes, TupleHash};
use hashlane_flow::table::Flow;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{Key, Keying, SchemeInfo};
use hashlane_peers::hashbrown::Hashbrown;
use hashlane_table::Table;
use hashlane_table::batched::Batched;
use hashlane_table::chained::Chained;
use hashlane_table::swiss::Swiss;

type NewTable = fn(&str, bool, &Key, Size) -> Option<Box<dyn Flows>>;

/// A registered hash of tuples, and what is made with it.
pub(crate) struct Registered {
    /// Its statement of itself.
    pub(crate) info: SchemeInfo,
    /// Address of its machine code in this process.
    pub(crate) code: usize,
    /// Hashes tuples under a key.
    pub(crate) hash: fn(&Key, &[Tuple]) -> Vec<u64>,
    /// The timed hash, in bursts or not.
    timed: fn(bool, &Key) -> Box<dyn TimedHash>,
    /// An empty table of a shape, asked for bursts or not.
    table: NewTable,
}

impl Registered {
    fn of<H: TupleHash + 'static>() -> Self {
        fn front<H: TupleHash + 'static, T: Table<Tuple, Flow<u32>> + 'static>(
            bursts: bool,
            key: &Key,
            size: Size,
        ) -> Option<Box<dyn Flows>> {
            Some(Box::new(Front::<H, T>::new(bursts, key, size)))
        }
        Self {
            info: H::INFO,
            code: one::<H> as fn(&H, &Tuple) -> u64 as usize,
            hash: |key, tuples| hash_all(&H::new(key), tuples),
            timed: |bursts, key| match bursts {
                true => Box::new(Burst(H::new(key))),
                false => Box::new(Single(H::new(key))),
            },
            table: |shape, bursts, key, size| match shape {
                "chained" => front::<H, Chained<_, _>>(bursts, key, size),
                "swiss" => front::<H, Swiss<_, _>>(bursts, key, size),
                "batched" => front::<H, Batched<_, _>>(bursts, key, size),
                // It has nothing to prefetch, so that a burst would be one at a time under another name.
                "hashbrown" if !bursts => front::<H, Hashbrown<_, _>>(bursts, key, size),
                _ => None,
            },
        }
    }
}

/// All registered hashes of tuples.
pub(crate) fn tuple_hashes() -> Vec<Registered> {
    macro_rules! list {
        (bytes: $($hash:ty),*;) => { list!($(TupleBytes<$hash>,)*) };
        ($($hash:ty,)*) => { vec![$(Registered::of::<$hash>()),*] };
    }
    let mut all = hashlane_baseline::for_each_tuple_hash!(list);
    all.extend(hashlane_flow::for_each_tuple_hash!(list));
    all.extend(hashlane_peers::for_each_hash!(list));
    all
}

/// The hash of that id; `None` if it is unknown.
pub(crate) fn tuple_hash(id: &str) -> Option<Registered> {
    tuple_hashes().into_iter().find(|hash| hash.info.id == id)
}

/// `true` if the hash of that id takes a secret key, for the templates of study files.
pub(crate) fn has_secret(id: &str) -> bool {
    tuple_hash(id).is_some_and(|hash| matches!(hash.info.keying, Keying::Secret(_)))
}

fn hash_all(hash: &impl TupleHash, tuples: &[Tuple]) -> Vec<u64> {
    tuples.iter().map(|tuple| hash.hash(tuple)).collect()
}

/// Hashes of tuples by a hash that q2ven/inet6_ehashfn compares, under the secrets of its tests; `None` for
/// other hashes.
pub(crate) fn hashes_of_source(id: &str, tuples: &[Tuple]) -> Option<Vec<u64>> {
    Some(match id {
        "base" => hash_all(&Base(Secrets::SOURCE), tuples),
        "v1" => hash_all(&V1(Secrets::SOURCE), tuples),
        "jhash2" => hash_all(&ehash::Jhash2(Secrets::SOURCE), tuples),
        "hsiphash" => hash_all(&HSipHash(Secrets::SOURCE), tuples),
        "siphash" => hash_all(&SipHash(Secrets::SOURCE), tuples),
        _ => return None,
    })
}

/// Timed hash for the scheme `id` of the model `tuples`, under `key`; `None` if the id is unknown.
pub(crate) fn tuples(id: &str, key: &Key) -> Option<Box<dyn TimedHash>> {
    match id.split_once('/')? {
        (hash, "single") => Some((tuple_hash(hash)?.timed)(false, key)),
        (hash, "burst") => Some((tuple_hash(hash)?.timed)(true, key)),
        ("siphash-1-3", "burst-256") => Some(Box::new(Burst(SipHash13::new(key).in_256_bits()))),
        ("siphash-2-4", "burst-256") => Some(Box::new(Burst(SipHash24::new(key).in_256_bits()))),
        _ => None,
    }
}

/// An empty table for the scheme `id` of the model `table`: one of [`flows`], or a C++ table. `None` if the
/// id is unknown, or [`missing`].
pub(crate) fn table(id: &str, key: &Key, size: Size) -> Option<Box<dyn Flows>> {
    match cpp(id) {
        Some(id) => CppFlows::new(id, key, size).map(|flows| Box::new(flows) as Box<dyn Flows>),
        None => flows(id, key, size),
    }
}

/// The id of a C++ table without the manner of asking; `None` of other schemes.
pub(crate) fn cpp(id: &str) -> Option<&str> {
    let (table, manner) = id.rsplit_once('/')?;
    let bursts = table.starts_with("dpdk/");
    let known =
        hashlane_peers_cpp::TABLES.contains(&table) && manner == if bursts { "burst" } else { "single" };
    known.then_some(table)
}

/// The reason that a C++ table cannot be timed here; `None` if it can, and of other schemes.
pub(crate) fn missing(id: &str) -> Option<String> {
    hashlane_peers_cpp::missing(cpp(id)?.split('/').next()?)
}

/// An empty table for the scheme `id` of the models `table` and `flood`. `None` if the id is unknown.
pub(crate) fn flows(id: &str, key: &Key, size: Size) -> Option<Box<dyn Flows>> {
    let (shape, rest) = id.split_once('/')?;
    let (hash, manner) = rest.split_once('/')?;
    let bursts = match manner {
        "single" => false,
        "burst" => true,
        _ => return None,
    };
    (tuple_hash(hash)?.table)(shape, bursts, key, size)
}

fn ids() -> String {
    let ids: Vec<_> = tuple_hashes().iter().map(|hash| hash.info.id).collect();
    ids.join(", ")
}

/// Syntax of the ids of the model `tuples`, for messages.
pub(crate) fn tuples_help() -> String {
    format!(
        "a scheme is <hash>/single or <hash>/burst (of siphash-1-3 and siphash-2-4 also burst-256); hashes: {}",
        ids()
    )
}

/// Syntax of the ids of the models `table` and `flood`, for messages.
pub(crate) fn flows_help() -> String {
    format!(
        "a scheme is <shape>/<hash>/<manner>; shapes: chained, swiss, batched, hashbrown; manners: single, \
         burst (not of hashbrown); hashes: {}; of the model table also a C++ table: {}, each with /single, of \
         dpdk with /burst",
        ids(),
        hashlane_peers_cpp::TABLES.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_tuple_hashes_are_unique() {
        let mut ids: Vec<_> = tuple_hashes().iter().map(|hash| hash.info.id).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    }

    #[test]
    fn unknown_tuple_schemes_are_none() {
        for id in ["", "siphash-2-4", "siphash-2-4/", "siphash-2-4/twice", "md5/single"] {
            assert!(tuples(id, &Key::VECTOR).is_none(), "{id}");
        }
        for id in [
            "",
            "swiss/siphash-2-4",
            "tree/siphash-2-4/single",
            "hashbrown/siphash-2-4/burst",
            "swiss//single",
        ] {
            assert!(flows(id, &Key::VECTOR, Size::steady(8)).is_none(), "{id}");
        }
        for id in ["boost/siphash-1-3/burst", "dpdk/crc32c/single", "absl/crc32c/single", "boost//single"] {
            assert!(cpp(id).is_none() && table(id, &Key::VECTOR, Size::steady(8)).is_none(), "{id}");
        }
        for id in ["boost/siphash-1-3/single", "dpdk/crc32c/burst", "absl/absl/single"] {
            assert_eq!(table(id, &Key::VECTOR, Size::steady(8)).is_none(), missing(id).is_some(), "{id}");
        }
        assert!(flows("swiss/siphash-2-4/burst", &Key::VECTOR, Size::steady(8)).is_some());
    }
}
