//! Buckets of one cache line, and the names one after the other.
//!
//! The buckets are those of `hashlane_table::index` for a table that is built at once: ten places for eight,
//! nine of ten taken for six of eight, and any number of buckets for a power of two: 7 bytes a name for 11 to
//! 21.

use alloc::vec;
use alloc::vec::Vec;
use bytemuck::{Pod, Zeroable};

/// Places of a bucket.
const WIDTH: usize = 10;

/// A bucket. Its places are tags of 16 bits and offsets of names.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
struct Bucket {
    /// 0 in a free place.
    tags: [u16; WIDTH],
    /// Names that passed this bucket because it was full.
    passed: u32,
    offsets: [u32; WIDTH],
}

/// Names by their hash, with a number for each. It never changes.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    buckets: Vec<Bucket>,
    /// Names one after the other: length in bytes, bytes, number.
    names: Vec<u8>,
}

/// The tag of a hash: its upper bits, never 0.
#[inline(always)]
const fn tag(hash: u64) -> u16 {
    (hash >> 48) as u16 | 1
}

/// Order in which names are added: that of their buckets.
#[inline(always)]
pub(crate) const fn order(hash: u64) -> u64 {
    hash.rotate_left(32)
}

impl Table {
    /// A table for `names` names of `bytes` bytes in all.
    pub(crate) fn with_capacity(names: usize, bytes: usize) -> Self {
        // Nine of ten places are taken on average.
        let buckets = (names * 10).div_ceil(9 * WIDTH).max(1);
        Self { buckets: vec![Bucket::zeroed(); buckets], names: Vec::with_capacity(bytes) }
    }

    #[inline(always)]
    fn first(&self, hash: u64) -> usize {
        (((hash & 0xffff_ffff) * self.buckets.len() as u64) >> 32) as usize
    }

    /// The bucket after one that is full.
    #[inline(always)]
    fn after(&self, bucket: usize) -> usize {
        if bucket + 1 < self.buckets.len() { bucket + 1 } else { 0 }
    }

    /// Adds a name that is not there. `None` if the names would take more than 4 GiB.
    pub(crate) fn add(&mut self, hash: u64, name: &[u8], number: u32) -> Option<()> {
        let offset = u32::try_from(self.names.len()).ok()?;
        self.names.push(name.len() as u8);
        self.names.extend_from_slice(name);
        let mut rest = number;
        while rest >= 0x80 {
            self.names.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.names.push(rest as u8);
        let mut at = self.first(hash);
        // There are more places than names.
        loop {
            let bucket = self.buckets.get_mut(at)?;
            if let Some(place) = bucket.tags.iter().position(|tag| *tag == 0) {
                (bucket.tags[place], bucket.offsets[place]) = (tag(hash), offset);
                return Some(());
            }
            bucket.passed = bucket.passed.saturating_add(1);
            at = self.after(at);
        }
    }

    /// The number of a name.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, name: &[u8]) -> Option<u32> {
        let mut at = self.first(hash);
        for _ in 0..self.buckets.len() {
            let bucket = self.buckets.get(at)?;
            let mut places = matching(&bucket.tags, tag(hash));
            while places != 0 {
                let offset = bucket.offsets[places.trailing_zeros() as usize % WIDTH];
                if let Some(number) = self.number(offset, name) {
                    return Some(number);
                }
                places &= places - 1;
            }
            if bucket.passed == 0 {
                return None;
            }
            at = self.after(at);
        }
        None
    }

    /// The number of the name at `offset`, if it is `name`.
    #[inline(always)]
    fn number(&self, offset: u32, name: &[u8]) -> Option<u32> {
        let (len, rest) = self.names.get(offset as usize..)?.split_first()?;
        if usize::from(*len) != name.len() {
            return None;
        }
        let (bytes, rest) = rest.split_at_checked(name.len())?;
        if bytes != name {
            return None;
        }
        let (mut number, mut shift) = (0, 0);
        for byte in rest {
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            shift = (shift + 7) % 32;
        }
        None
    }

    /// Prefetches the bucket of a hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.buckets.get(self.first(hash)) {
            hashlane_table::prefetch(bucket);
        }
    }

    /// Prefetches the name that a lookup compares first; its bucket should be in the cache. `false` if the
    /// bucket says that the name is not there.
    #[inline(always)]
    pub(crate) fn prefetch_name(&self, hash: u64) -> bool {
        let Some(bucket) = self.buckets.get(self.first(hash)) else { return false };
        let places = matching(&bucket.tags, tag(hash));
        if places == 0 {
            return bucket.passed > 0;
        }
        let offset = bucket.offsets[places.trailing_zeros() as usize % WIDTH];
        if let Some(name) = self.names.get(offset as usize) {
            hashlane_table::prefetch(name);
        }
        true
    }

    /// Bytes of memory on the heap.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Bucket>() * self.buckets.capacity() + self.names.capacity()
    }
}

/// A bit for each tag that equals `tag`.
#[inline(always)]
fn matching(tags: &[u16; WIDTH], tag: u16) -> u32 {
    let mut places = 0;
    for (place, other) in tags.iter().enumerate() {
        places |= u32::from(*other == tag) << place;
    }
    places
}
