//! Geometries of tables, and the exact number of entries that each compares.
//!
//! No table is built for the counts: they follow from the hashes. [`time`] measures lookups in real tables.

mod chained;
mod file;
mod index;
mod probing;
mod swiss;
pub mod time;

pub use file::FileError;
pub use index::Index;

use crate::draw::Draw;
use hashlane_hash::scheme::Key;

/// Most keys of a count. Keys of one hash cost n²/2 steps in tables without chains.
pub const MAX_KEYS: usize = 1 << 14;

/// Most buckets of a table.
pub const MAX_BUCKETS: usize = 1 << 24;

/// Shape of a hash table.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Name in reports.
    pub name: String,
    /// Collision resolution.
    pub kind: Resolution,
    /// Buckets (slots, with open addressing) of the empty table, from 1 to [`MAX_BUCKETS`].
    pub buckets: usize,
    /// Most entries for each bucket before the table doubles; `None` for a table that never grows.
    pub grows_at: Option<f64>,
    /// Bits of the hash that choose the bucket.
    pub index: Index,
    /// Lowest bits of the hash that the table takes: 32 or 64.
    pub hash_bits: u32,
    /// True if an entry holds its hash, and its key is compared only if the hashes are equal.
    pub stores_hash: bool,
    /// Bits of its seed that an outsider does not know, from 0 (a fixed seed) to [`MAX_SEED_BITS`].
    pub seed_bits: u32,
}

/// Bits of a seed; all are random in a table that is seeded well.
pub const MAX_SEED_BITS: u32 = 128;

/// Collision resolution of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Lists of entries, the newest last.
    Chained,
    /// Open addressing, one slot after the other.
    Linear,
    /// Open addressing by groups of 16 slots with tags of 7 bits, in triangular steps.
    Swiss {
        /// True if the tag is the highest seven bits (hashbrown), false if it is the lowest (Abseil).
        upper_tag: bool,
    },
}

/// Work of one kind of operation, summed over all keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Entries, slots or groups visited.
    pub visited: u64,
    /// Entries whose keys are compared byte by byte.
    pub compared: u64,
}

impl Count {
    /// The larger of both figures.
    pub fn work(&self) -> u64 {
        self.visited.max(self.compared)
    }
}

/// Work of inserting all keys into an empty table, each after a lookup that does not find it, and of looking
/// up each of them afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Insertions.
    pub insert: Count,
    /// Lookups.
    pub lookup: Count,
}

impl Geometry {
    /// The named geometries: `chained`, `linear`, `swiss`, `hashbrown`, `linux-ehash`.
    pub fn named() -> [Self; 5] {
        let of = |name: &str, kind, buckets, grows_at, hash_bits, stores_hash| Self {
            name: name.to_owned(),
            kind,
            buckets,
            grows_at,
            index: Index::Mask,
            hash_bits,
            stores_hash,
            seed_bits: MAX_SEED_BITS,
        };
        [
            of("chained", Resolution::Chained, 16, Some(1.0), 64, false),
            of("linear", Resolution::Linear, 16, Some(0.5), 64, false),
            of("swiss", Resolution::Swiss { upper_tag: false }, 16, Some(0.875), 64, false),
            of("hashbrown", Resolution::Swiss { upper_tag: true }, 4, Some(0.875), 64, false),
            of("linux-ehash", Resolution::Chained, 1 << 16, None, 32, true),
        ]
    }

    /// Seed of a table: its lowest [`seed_bits`](Self::seed_bits) are random, and the others are public.
    pub fn seed(&self, draw: &mut Draw) -> Key {
        let random = u128::from_le_bytes(draw.key().to_bytes());
        self.seed_of(random)
    }

    /// Seed whose unknown bits are the lowest ones of `number`.
    pub fn seed_of(&self, number: u128) -> Key {
        let unknown = u128::MAX.checked_shr(MAX_SEED_BITS.saturating_sub(self.seed_bits)).unwrap_or(0);
        let public = u128::from_le_bytes(Key::VECTOR.to_bytes());
        Key::new((number & unknown | public & !unknown).to_le_bytes())
    }

    /// Bucket of `hash` once the table holds `keys` keys.
    pub fn bucket(&self, hash: u64, keys: usize) -> usize {
        self.bucket_of(hash, self.buckets_for(keys))
    }

    /// Bucket of `hash` in a table of `buckets` buckets.
    pub(crate) fn bucket_of(&self, hash: u64, buckets: usize) -> usize {
        self.home(self.taken(hash), buckets)
    }

    /// Lowest bits of a hash that choose the bucket of a table with `keys` keys, a tag below them included;
    /// `None` if other bits choose it.
    pub(crate) fn lowest_bits(&self, keys: usize) -> Option<u32> {
        let tag = if self.kind == (Resolution::Swiss { upper_tag: false }) { 7 } else { 0 };
        (self.index == Index::Mask).then(|| tag + self.buckets_for(keys).ilog2())
    }

    /// Buckets of the table once it holds `keys` keys.
    pub fn buckets_for(&self, keys: usize) -> usize {
        let mut buckets = self.buckets;
        while keys > self.capacity(buckets) && buckets < MAX_BUCKETS {
            buckets *= 2;
        }
        buckets
    }

    /// Work of the table with keys of these hashes, in the order of their insertion. Hashes after the first
    /// [`MAX_KEYS`] are left out, as are those that a table without growth has no slot for.
    pub fn count(&self, hashes: &[u64]) -> Counts {
        let hashes: Vec<u64> = hashes.iter().take(MAX_KEYS).map(|hash| self.taken(*hash)).collect();
        match self.kind {
            Resolution::Chained => chained::count(self, &hashes),
            Resolution::Linear => probing::count(self, &hashes),
            Resolution::Swiss { upper_tag } => swiss::count(self, upper_tag, &hashes),
        }
    }

    /// Bits of `hash` that the table takes.
    fn taken(&self, hash: u64) -> u64 {
        if self.hash_bits == 32 { hash & u64::from(u32::MAX) } else { hash }
    }

    /// Bucket of the taken bits of a hash among `buckets`.
    fn home(&self, hash: u64, buckets: usize) -> usize {
        match self.kind {
            // The bits of the tag choose no group.
            Resolution::Swiss { upper_tag: false } => {
                self.index.bucket(hash >> 7, self.hash_bits - 7, buckets)
            }
            _ => self.index.bucket(hash, self.hash_bits, buckets),
        }
    }

    /// Most entries in `buckets` before the table doubles.
    fn capacity(&self, buckets: usize) -> usize {
        match self.grows_at {
            // As hashbrown: a table of less than a group keeps one slot empty.
            Some(_) if matches!(self.kind, Resolution::Swiss { .. }) && buckets < 16 => {
                buckets.saturating_sub(1).max(1)
            }
            Some(load) => ((buckets as f64 * load) as usize).max(1),
            None if self.kind == Resolution::Chained => usize::MAX,
            // A lookup of open addressing ends at an empty slot.
            None => buckets.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    fn named(name: &str) -> Geometry {
        Geometry::named().into_iter().find(|geometry| geometry.name == name).unwrap()
    }

    #[test]
    fn public_bits_of_a_seed_are_the_same_for_all_tables() {
        let seeds = |seed_bits, number| {
            let geometry = Geometry { seed_bits, ..named("chained") };
            u128::from_le_bytes(geometry.seed_of(number).to_bytes())
        };
        assert_eq!([0, 1].map(|number| seeds(0, number)), [u128::from_le_bytes(Key::VECTOR.to_bytes()); 2]);
        assert_eq!(seeds(4, 0xab) ^ seeds(4, 0xc3), 0xb ^ 3);
        assert_eq!(seeds(MAX_SEED_BITS, 7 << 100), 7 << 100);
    }

    #[test]
    fn n_keys_of_one_hash_cost_half_the_square_of_n() {
        let n = 4096u64;
        for geometry in Geometry::named() {
            let counts = geometry.count(&vec![0x1234_5678_9abc_def0; n as usize]);
            assert_eq!(counts.lookup.compared, n * (n + 1) / 2, "{}", geometry.name);
            assert_eq!(counts.insert.compared, n * (n - 1) / 2, "{}", geometry.name);
        }
    }

    #[test]
    fn random_keys_are_compared_about_once() {
        let mut draw = Draw::new(1);
        let hashes: Vec<u64> = (0..4096).map(|_| draw.word()).collect();
        for geometry in Geometry::named() {
            let counts = geometry.count(&hashes);
            assert!(counts.lookup.compared >= 4096, "{}: {counts:?}", geometry.name);
            assert!(counts.lookup.work() < 2 * 4096, "{}: {counts:?}", geometry.name);
        }
    }

    #[test]
    fn tables_grow_as_stated() {
        assert_eq!(named("chained").buckets_for(4096), 4096);
        assert_eq!(named("hashbrown").buckets_for(3), 4);
        assert_eq!(named("hashbrown").buckets_for(4), 8);
        assert_eq!(named("hashbrown").buckets_for(8), 16);
        assert_eq!(named("hashbrown").buckets_for(4096), 8192);
        assert_eq!(named("linux-ehash").buckets_for(1 << 20), 1 << 16);
        assert_eq!(
            (named("swiss").lowest_bits(4096), named("chained").lowest_bits(4096)),
            (Some(20), Some(12))
        );
    }

    #[test]
    fn keys_beyond_the_limit_are_left_out() {
        let limit = named("linux-ehash").count(&vec![7; MAX_KEYS]);
        assert_eq!(named("linux-ehash").count(&vec![7; MAX_KEYS + 9]), limit);
    }

    #[test]
    fn a_full_table_without_growth_refuses_keys() {
        let geometry = Geometry { buckets: 64, grows_at: None, ..named("linear") };
        assert_eq!(geometry.count(&[5; 200]), geometry.count(&[5; 63]));
    }
}
