//! Buckets in memory: tags and places together, or apart.
//!
//! - [`Together`]: a bucket is a cache line of eight tags and eight places. A lookup that finds reads one.
//! - [`Apart`]: seven tags of a bucket are 16 bytes, and the places have an array of their own. The tags of a
//!   million entries take 4 MB and stay in the cache, so that lookups which find nothing cost little. A
//!   lookup that finds reads one line more.

use crate::group::{Positions, Tags16 as Tags, prefetch};
use crate::segments::Segments;
use core::fmt::Debug;

/// Arrangement of buckets.
pub trait Layout: Clone + Debug {
    /// Positions of a bucket that are taken on average when the table grows.
    const MOST: usize;

    /// A bucket.
    type Bucket<'a>: Bucket
    where
        Self: 'a;

    /// No buckets, with room for some.
    fn with_capacity(buckets: usize) -> Self;

    /// Adds an empty bucket.
    fn push_empty(&mut self);

    /// Number of buckets.
    fn len(&self) -> usize;

    /// Bytes of memory on the heap.
    fn memory(&self) -> usize;

    /// Frees a part of the memory, and the buckets in it. Returns false if none was left.
    fn drop_block(&mut self) -> bool;

    /// A bucket by number.
    fn get(&self, at: usize) -> Option<Self::Bucket<'_>>;

    /// Puts a place into a free position of a bucket. Counts a full bucket, and returns false.
    fn put(&mut self, at: usize, tag: u16, place: u32) -> bool;

    /// Frees a position of a bucket.
    fn clear(&mut self, at: usize, position: usize);

    /// Counts an entry less that passed a bucket because it was full.
    fn leave(&mut self, at: usize);

    /// Prefetches the tags of a bucket.
    fn prefetch(&self, at: usize);
}

/// A bucket to read.
pub trait Bucket: Copy {
    /// The positions with a tag.
    fn matching(&self, tag: u16) -> Positions;

    /// The place at a position.
    fn place(&self, position: usize) -> u32;

    /// True if entries passed this bucket because it was full.
    fn is_passed(&self) -> bool;
}

/// A bucket of one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Line {
    /// 0 in a free position.
    tags: Tags,
    places: [u32; Tags::WIDTH],
    /// Entries that passed this bucket because it was full.
    passed: u32,
}

impl Line {
    const EMPTY: Self = Self { tags: Tags::all(0), places: [0; Tags::WIDTH], passed: 0 };
}

impl Bucket for &Line {
    #[inline(always)]
    fn matching(&self, tag: u16) -> Positions {
        self.tags.matching(tag)
    }

    #[inline(always)]
    fn place(&self, position: usize) -> u32 {
        self.places[position]
    }

    #[inline(always)]
    fn is_passed(&self) -> bool {
        self.passed != 0
    }
}

/// Buckets of one cache line: eight tags and eight places.
#[derive(Clone, Debug)]
pub struct Together(Segments<Line>);

impl Layout for Together {
    const MOST: usize = 6;

    type Bucket<'a> = &'a Line;

    fn with_capacity(buckets: usize) -> Self {
        Self(Segments::with_capacity(buckets))
    }

    #[inline(always)]
    fn push_empty(&mut self) {
        self.0.push(Line::EMPTY);
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    fn memory(&self) -> usize {
        self.0.memory()
    }

    fn drop_block(&mut self) -> bool {
        self.0.drop_block()
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Option<&Line> {
        self.0.get(at)
    }

    #[inline(always)]
    fn put(&mut self, at: usize, tag: u16, place: u32) -> bool {
        let Some(line) = self.0.get_mut(at) else { return false };
        let Some(position) = line.tags.matching(0).next() else {
            line.passed = line.passed.saturating_add(1);
            return false;
        };
        line.tags.set(position, tag);
        line.places[position] = place;
        true
    }

    #[inline(always)]
    fn clear(&mut self, at: usize, position: usize) {
        if let Some(line) = self.0.get_mut(at) {
            line.tags.set(position, 0);
        }
    }

    #[inline(always)]
    fn leave(&mut self, at: usize) {
        // A count that is full has lost count, and stays.
        if let Some(line) = self.0.get_mut(at).filter(|line| line.passed != u32::MAX) {
            line.passed = line.passed.saturating_sub(1);
        }
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        if let Some(line) = self.0.get(at) {
            prefetch(line);
        }
    }
}

/// Positions of a bucket whose tags are apart from its places.
const POSITIONS: usize = Tags::WIDTH - 1;

/// Seven tags, 0 in a free position, and the number of entries that passed because all were taken.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Group(Tags);

impl Group {
    #[inline(always)]
    fn matching(&self, tag: u16) -> Positions {
        self.0.matching(tag).below(POSITIONS)
    }

    #[inline(always)]
    fn passed(&self) -> u16 {
        self.0.last()
    }
}

/// The places of seven tags; the last is unused.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Places([u32; Tags::WIDTH]);

/// Buckets of seven tags, and their places in another array.
#[derive(Clone, Debug)]
pub struct Apart {
    groups: Segments<Group>,
    places: Segments<Places>,
}

/// A bucket of [`Apart`].
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    group: &'a Group,
    places: &'a Segments<Places>,
    at: usize,
}

impl Bucket for Parts<'_> {
    #[inline(always)]
    fn matching(&self, tag: u16) -> Positions {
        self.group.matching(tag)
    }

    #[inline(always)]
    fn place(&self, position: usize) -> u32 {
        // As many buckets have places as have tags.
        self.places.get(self.at).map_or(0, |places| places.0[position])
    }

    #[inline(always)]
    fn is_passed(&self) -> bool {
        self.group.passed() != 0
    }
}

impl Apart {
    /// Prefetches the places of a bucket.
    #[inline(always)]
    pub(crate) fn prefetch_places(&self, at: usize) {
        if let Some(places) = self.places.get(at) {
            prefetch(places);
        }
    }
}

impl Layout for Apart {
    const MOST: usize = 5;

    type Bucket<'a> = Parts<'a>;

    fn with_capacity(buckets: usize) -> Self {
        Self { groups: Segments::with_capacity(buckets), places: Segments::with_capacity(buckets) }
    }

    #[inline(always)]
    fn push_empty(&mut self) {
        self.groups.push(Group(Tags::all(0)));
        self.places.push(Places([0; Tags::WIDTH]));
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.groups.len()
    }

    fn memory(&self) -> usize {
        self.groups.memory() + self.places.memory()
    }

    fn drop_block(&mut self) -> bool {
        let groups = self.groups.drop_block();
        self.places.drop_block() | groups
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Option<Parts<'_>> {
        Some(Parts { group: self.groups.get(at)?, places: &self.places, at })
    }

    #[inline(always)]
    fn put(&mut self, at: usize, tag: u16, place: u32) -> bool {
        let Some(group) = self.groups.get_mut(at) else { return false };
        let Some(position) = group.matching(0).next() else {
            group.0.set(POSITIONS, group.passed().saturating_add(1));
            return false;
        };
        group.0.set(position, tag);
        if let Some(places) = self.places.get_mut(at) {
            places.0[position] = place;
        }
        true
    }

    #[inline(always)]
    fn clear(&mut self, at: usize, position: usize) {
        if let Some(group) = self.groups.get_mut(at) {
            group.0.set(position, 0);
        }
    }

    #[inline(always)]
    fn leave(&mut self, at: usize) {
        // A count that is full has lost count, and stays.
        if let Some(group) = self.groups.get_mut(at).filter(|group| group.passed() != u16::MAX) {
            group.0.set(POSITIONS, group.passed().saturating_sub(1));
        }
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        if let Some(group) = self.groups.get(at) {
            prefetch(group);
        }
    }
}
