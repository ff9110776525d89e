//! The hashes of tuples, and the tables that they lead into.
//!
//! The id of a scheme of the model `tuples` is a hash and the manner of calling it: `jhash2/single`,
//! `siphash-2-4/burst`, `siphash-2-4/burst-256` where registers of 256 bits are the widest that may be used.
//! That of the models `table` and `flood` is a shape, a hash and the manner of asking:
//! `batched/siphash-1-3/burst`.

use crate::cpp_subject::CppFlows;
use crate::flow_subject::{Flows, Front, Size};
use crate::tuple_subject::{Burst, Registered, Single, TupleSubject, one};
use hashlane_baseline::ehash::{self, Base, HSipHash, Secrets, SipHash, V1};
use hashlane_flow::ehash::{SipHash13, SipHash24, TupleBytes, TupleHash};
use hashlane_flow::table::Flow;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{Key, Keying};
use hashlane_peers::hashbrown::Hashbrown;
use hashlane_table::Table;
use hashlane_table::batched::Batched;
use hashlane_table::chained::Chained;
use hashlane_table::swiss::Swiss;

/// Something to do with a hash of tuples, whichever it is.
pub trait WithTupleHash {
    /// Result of the visit.
    type Output;

    /// Does it, with the hash under its key.
    fn with<H: TupleHash + 'static>(self, hash: H) -> Self::Output;
}

/// Does `work` with the hash of that id, under `key`; `None` if the id is unknown.
pub fn with_tuple_hash<W: WithTupleHash>(id: &str, key: &Key, work: W) -> Option<W::Output> {
    macro_rules! by_id {
        (bytes: $($hash:ty),*;) => { by_id!($(TupleBytes<$hash>,)*) };
        ($($hash:ty,)*) => {
            $(if id == <$hash>::INFO.id {
                return Some(work.with(<$hash>::new(key)));
            })*
        };
    }
    hashlane_baseline::for_each_tuple_hash!(by_id);
    hashlane_flow::for_each_tuple_hash!(by_id);
    hashlane_peers::for_each_hash!(by_id);
    None
}

/// All registered hashes of tuples.
pub fn tuple_hashes() -> Vec<Registered> {
    fn registered<H: TupleHash + 'static>() -> Registered {
        Registered {
            info: H::INFO,
            check: H::new(&Key::VECTOR).hash(&Tuple::CHECK),
            code: one::<H> as fn(&H, &Tuple) -> u64 as usize,
        }
    }
    macro_rules! list {
        (bytes: $($hash:ty),*;) => { list!($(TupleBytes<$hash>,)*) };
        ($($hash:ty,)*) => { vec![$(registered::<$hash>()),*] };
    }
    [
        hashlane_baseline::for_each_tuple_hash!(list),
        hashlane_flow::for_each_tuple_hash!(list),
        hashlane_peers::for_each_hash!(list),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// `true` if the hash of that id takes a secret key, for the templates of study files.
pub(crate) fn has_secret(id: &str) -> bool {
    tuple_hashes().iter().any(|hash| hash.info.id == id && matches!(hash.info.keying, Keying::Secret(_)))
}

/// Does `work` with a hash that q2ven/inet6_ehashfn compares, under the secrets of its tests; `None` for
/// others.
pub fn with_source_hash<W: WithTupleHash>(id: &str, work: W) -> Option<W::Output> {
    Some(match id {
        "base" => work.with(Base(Secrets::SOURCE)),
        "v1" => work.with(V1(Secrets::SOURCE)),
        "jhash2" => work.with(ehash::Jhash2(Secrets::SOURCE)),
        "hsiphash" => work.with(HSipHash(Secrets::SOURCE)),
        "siphash" => work.with(SipHash(Secrets::SOURCE)),
        _ => return None,
    })
}

/// Timed subject for the scheme `id` of the model `tuples`, under `key`; `None` if the id is unknown.
pub fn tuples(id: &str, key: &Key) -> Option<Box<dyn TupleSubject>> {
    struct InSingles;
    impl WithTupleHash for InSingles {
        type Output = Box<dyn TupleSubject>;
        fn with<H: TupleHash + 'static>(self, hash: H) -> Self::Output {
            Box::new(Single::new(hash))
        }
    }
    struct InBursts;
    impl WithTupleHash for InBursts {
        type Output = Box<dyn TupleSubject>;
        fn with<H: TupleHash + 'static>(self, hash: H) -> Self::Output {
            Box::new(Burst::new(hash))
        }
    }
    match id.split_once('/')? {
        (hash, "single") => with_tuple_hash(hash, key, InSingles),
        (hash, "burst") => with_tuple_hash(hash, key, InBursts),
        ("siphash-1-3", "burst-256") => Some(Box::new(Burst::new(SipHash13::new(key).in_256_bits()))),
        ("siphash-2-4", "burst-256") => Some(Box::new(Burst::new(SipHash24::new(key).in_256_bits()))),
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
    let known = hashlane_peers_cpp::IDS.contains(&table) && manner == if bursts { "burst" } else { "single" };
    known.then_some(table)
}

/// The reason that a C++ table cannot be timed here; `None` if it can, and of other schemes.
pub(crate) fn missing(id: &str) -> Option<String> {
    hashlane_peers_cpp::missing(cpp(id)?.split('/').next()?)
}

/// An empty table for the scheme `id` of the models `table` and `flood`. `None` if the id is unknown.
pub fn flows(id: &str, key: &Key, size: Size) -> Option<Box<dyn Flows>> {
    struct In<'k> {
        shape: &'k str,
        bursts: bool,
        key: &'k Key,
        size: Size,
    }
    impl In<'_> {
        fn front<H: TupleHash + 'static, T: Table<Tuple, Flow<u32>> + 'static>(&self) -> Box<dyn Flows> {
            Box::new(Front::<H, T>::new(self.bursts, self.key, self.size))
        }
    }
    impl WithTupleHash for In<'_> {
        type Output = Option<Box<dyn Flows>>;
        fn with<H: TupleHash + 'static>(self, _: H) -> Self::Output {
            match self.shape {
                "chained" => Some(self.front::<H, Chained<_, _>>()),
                "swiss" => Some(self.front::<H, Swiss<_, _>>()),
                "batched" => Some(self.front::<H, Batched<_, _>>()),
                // It has nothing to prefetch, so that a burst would be one at a time under another name.
                "hashbrown" if !self.bursts => Some(self.front::<H, Hashbrown<_, _>>()),
                _ => None,
            }
        }
    }
    let (shape, rest) = id.split_once('/')?;
    let (hash, manner) = rest.split_once('/')?;
    let bursts = match manner {
        "single" => false,
        "burst" => true,
        _ => return None,
    };
    with_tuple_hash(hash, key, In { shape, bursts, key, size })?
}

fn ids() -> String {
    let ids: Vec<_> = tuple_hashes().iter().map(|hash| hash.info.id).collect();
    ids.join(", ")
}

/// Syntax of the ids of the model `tuples`, for messages.
pub fn tuples_help() -> String {
    format!(
        "a scheme is <hash>/single or <hash>/burst (of siphash-1-3 and siphash-2-4 also burst-256); hashes: {}",
        ids()
    )
}

/// Syntax of the ids of the models `table` and `flood`, for messages.
pub fn flows_help() -> String {
    format!(
        "a scheme is <shape>/<hash>/<manner>; shapes: chained, swiss, batched, hashbrown; manners: single, \
         burst (not of hashbrown); hashes: {}; of the model table also a C++ table: {}, each with /single, of \
         dpdk with /burst",
        ids(),
        hashlane_peers_cpp::IDS.join(", ")
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
