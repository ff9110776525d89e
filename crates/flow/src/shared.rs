//! A table of flows for one writing thread and any number of readers, all wait-free.
//!
//! [`table()`] makes it with a fixed capacity. Values are words: a connection's place in an array, an
//! address, a backend. It is [`hashlane_table::shared`] over a tuple's words and its hash; that module states
//! the guarantees of a find while the writer works. Nothing in this repository calls it yet.

pub use hashlane_table::shared::InsertError;

use crate::burst::{BURST, Hash, Keys, Prefetch};
use crate::ehash::TupleHash;
use crate::hashed::KeyHash;
use crate::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_table::shared;
use hashlane_table::stage::Stage;

/// Makes a table for `flows` flows, hashed under `key`: its writer, and the first of its readers.
///
/// # Panics
/// More than 2³¹ flows, or more than fit in memory.
pub fn table<H: TupleHash>(flows: usize, key: &Key) -> (Writer<H>, Reader<H>) {
    let (writer, reader) = shared::table(flows);
    (Writer { table: writer, hash: H::new(key) }, Reader { table: reader, hash: H::new(key) })
}

/// Inserts and removes flows. There is one for each table.
#[derive(Debug)]
pub struct Writer<H> {
    table: shared::Writer<5>,
    hash: H,
}

impl<H: TupleHash> Writer<H> {
    /// Number of flows.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns true if the table has no flows.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Maximum number of flows.
    pub fn capacity(&self) -> usize {
        self.table.capacity()
    }

    /// The value of a flow.
    #[inline]
    pub fn find(&self, tuple: &Tuple) -> Option<u64> {
        self.table.find(self.hash.hash_key(tuple), tuple.as_ref())
    }

    /// Inserts a flow or changes its value; returns the old value. Readers find the old value or the new one.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the flow is not in the table and the table is full.
    pub fn insert(&mut self, tuple: &Tuple, value: u64) -> Result<Option<u64>, InsertError> {
        self.table.insert(self.hash.hash_key(tuple), tuple.as_ref(), value)
    }

    /// Takes out a flow; the value that it had.
    pub fn remove(&mut self, tuple: &Tuple) -> Option<u64> {
        self.table.remove(self.hash.hash_key(tuple), tuple.as_ref())
    }
}

/// Finds flows while the [`Writer`] inserts and removes. A clone, for another thread, reads the same table.
#[derive(Clone, Debug)]
pub struct Reader<H> {
    table: shared::Reader<5>,
    hash: H,
}

impl<H: TupleHash> Reader<H> {
    /// The value of a flow.
    #[inline]
    pub fn find(&self, tuple: &Tuple) -> Option<u64> {
        self.table.find(self.hash.hash_key(tuple), tuple.as_ref())
    }

    /// Finds the flow of each of `tuples`, and calls `each` with its position among them and its value, in
    /// order.
    ///
    /// It hashes 32 tuples at a time, and their cache misses overlap. Each is found at a moment of its own.
    #[inline]
    pub fn find_burst(&self, tuples: &[Tuple], mut each: impl FnMut(usize, Option<u64>)) {
        for (burst, tuples) in tuples.chunks(BURST).enumerate() {
            let mut hashes = [0; BURST];
            let mut keys = Keys::new(tuples, &mut hashes);
            Hash(&self.hash).run(&mut keys);
            let (bucket, entry) = (|hash| self.table.prefetch(hash), |hash| self.table.prefetch_entry(hash));
            Prefetch { bucket, entry }.run(&mut keys);
            for (at, (tuple, hash)) in tuples.iter().zip(keys.hashes()).enumerate() {
                each(burst * BURST + at, self.table.find(*hash, tuple.as_ref()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv6Addr;
    use hashlane_hash::scheme::{Keying, SchemeInfo};
    use proptest::prelude::*;
    use std::vec::Vec;

    /// A weak hash of `WIDTH` bits that fills chosen buckets.
    #[derive(Clone)]
    struct Sum<const WIDTH: u32>(u64);

    impl<const WIDTH: u32> TupleHash for Sum<WIDTH> {
        const INFO: SchemeInfo = SchemeInfo {
            id: "sum",
            source: "this test",
            width: WIDTH,
            keying: Keying::Seed(64),
            check: 0,
            safe: "nowhere",
        };

        fn new(key: &Key) -> Self {
            Self(key.halves().0)
        }

        fn hash(&self, tuple: &Tuple) -> u64 {
            let sum = tuple.words().iter().fold(self.0, |sum, word| sum.wrapping_mul(31).wrapping_add(*word));
            sum.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - WIDTH)
        }
    }

    fn tuple(at: u16) -> Tuple {
        Tuple::new(Ipv6Addr::LOCALHOST, 443, Ipv6Addr::from_bits(u128::from(at) << 64), at)
    }

    fn finds_what_was_inserted<H: TupleHash>(inserted: &[u16], removed: &[u16], sought: &[u16]) {
        let (mut writer, reader) = table::<H>(inserted.len(), &Key::VECTOR);
        let mut map = std::collections::BTreeMap::new();
        for at in inserted {
            assert_eq!(writer.insert(&tuple(*at), !u64::from(*at)), Ok(map.insert(*at, !u64::from(*at))));
        }
        for at in removed {
            assert_eq!(writer.remove(&tuple(*at)), map.remove(at));
        }
        assert_eq!((writer.len(), writer.is_empty()), (map.len(), map.is_empty()));
        let expected: Vec<_> = sought.iter().map(|at| map.get(at).copied()).enumerate().collect();
        let tuples: Vec<_> = sought.iter().map(|at| tuple(*at)).collect();
        let mut found = Vec::new();
        reader.find_burst(&tuples, |at, value| found.push((at, value)));
        assert_eq!(found, expected);
        for (tuple, (_, value)) in tuples.iter().zip(expected) {
            assert_eq!((reader.find(tuple), writer.find(tuple)), (value, value));
        }
    }

    proptest! {
        #[test]
        fn a_burst_finds_what_one_at_a_time_finds(
            inserted in prop::collection::vec(0..200u16, 0..150),
            removed in prop::collection::vec(0..200u16, 0..50),
            sought in prop::collection::vec(0..200u16, 0..150),
        ) {
            finds_what_was_inserted::<Sum<64>>(&inserted, &removed, &sought);
            finds_what_was_inserted::<Sum<32>>(&inserted, &removed, &sought);
        }
    }

    #[test]
    fn a_full_table_takes_no_other_flow() {
        let (mut writer, reader) = table::<Sum<64>>(1, &Key::VECTOR);
        assert_eq!((writer.insert(&tuple(1), 10), writer.insert(&tuple(1), 11)), (Ok(None), Ok(Some(10))));
        assert_eq!((writer.insert(&tuple(2), 20), writer.capacity()), (Err(InsertError::Full), 1));
        assert_eq!((reader.find(&tuple(1)), reader.find(&tuple(2))), (Some(11), None));
    }
}
