//! The rules of all lists, and the lookup of one name.

use crate::filter::Filter;
use crate::lists::{Lists, Verdict};
use crate::reversed::Reversed;
use crate::table::Table;
use alloc::vec::Vec;
use hashlane_hash::scheme::BytesHash as _;
use hashlane_hash::siphash::SipHash13;

/// Rules of up to 64 lists, by name. They do not change; [`Builder`](crate::Builder) makes them.
///
/// A lookup hashes the suffixes of a name, the longest first, and skips lengths that no rule has. Before
/// that, one read of a filter of all suffixes with few labels tells most names that match nothing. A hit is
/// compared with the bytes of the rule's name: no wrong rule matches. The hash is SipHash-1-3 under a secret
/// key, so that names which were chosen to collide cost no more than others.
#[derive(Clone)]
pub struct Rules {
    pub(crate) hash: SipHash13,
    pub(crate) table: Table,
    pub(crate) filter: Filter,
    /// Labels of the suffixes in the filter.
    pub(crate) pivot: usize,
    /// A bit for each number of labels that a rule has.
    pub(crate) depths: u128,
    /// By the numbers of the table.
    pub(crate) lists: Vec<Lists>,
    pub(crate) names: usize,
}

/// Keeps keys out of logs.
impl core::fmt::Debug for Rules {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rules").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Rules {
    /// Number of names that have rules.
    pub const fn len(&self) -> usize {
        self.names
    }

    /// True without rules.
    pub const fn is_empty(&self) -> bool {
        self.names == 0
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.table.memory()
            + self.filter.memory()
            + size_of::<Lists>() * self.lists.capacity()
    }

    /// The rules that cover a name.
    #[inline]
    pub fn verdict(&self, name: &Reversed) -> Verdict {
        let labels = name.labels();
        let passes = labels >= self.pivot && self.filter.may_have(self.hash.hash(name.suffix(self.pivot)));
        let mut verdict = Verdict::default();
        let mut depths = self.probed(labels, passes);
        while let Some(depth) = next(&mut depths) {
            let suffix = name.suffix(depth);
            self.add(&mut verdict, self.hash.hash(suffix), suffix, depth, labels);
        }
        verdict
    }

    /// A bit for each number of labels to look up, of a name with `labels`, which passes the filter or not.
    #[inline(always)]
    pub(crate) fn probed(&self, labels: usize, passes: bool) -> u128 {
        let most = if passes { labels } else { labels.min(self.pivot - 1) };
        // A name has at most 127 labels.
        self.depths & (u128::MAX >> (127 - most.min(127)))
    }

    /// Adds the rules of a suffix of a name with `labels` labels, which has `depth`.
    #[inline(always)]
    pub(crate) fn add(&self, verdict: &mut Verdict, hash: u64, suffix: &[u8], depth: usize, labels: usize) {
        if let Some(number) = self.table.find(hash, suffix)
            && let Some(lists) = self.lists.get(number as usize)
        {
            verdict.add(lists, depth, labels);
        }
    }
}

/// Takes the highest number of labels out of a set.
#[inline(always)]
pub(crate) fn next(depths: &mut u128) -> Option<usize> {
    let depth = 127_usize.checked_sub(depths.leading_zeros() as usize)?;
    *depths &= !(1 << depth);
    Some(depth)
}
