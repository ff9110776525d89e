//! Growth in steps of bounded work.

use crate::index::{Found, Index};
use crate::layout::Layout;

/// New buckets that a step clears.
const CLEARED: usize = 64;

/// Places that a step looks at.
const MOVED: usize = 8;

/// The state of a growth to twice the buckets.
///
/// Clearing takes one insertion for 32 buckets, in which the old buckets fill by another 1/32 of an entry
/// each; moving takes one for eight places, in which the new ones take 1/16 more than they begin with. So
/// each growth has long ended before the next begins.
#[derive(Clone, Debug, Default)]
pub(crate) enum Growth<L> {
    #[default]
    None,
    /// The new buckets are cleared.
    Clearing(Index<L>),
    /// The new buckets are in use. The places from `next` to `end` stand in the old ones, or in the new ones
    /// if they were taken since. Places that were moved stay in the old ones, too, where no find heeds them.
    Moving { old: Index<L>, next: u32, end: u32 },
    /// The old buckets are freed.
    Freeing(Index<L>),
}

impl<L: Layout> Growth<L> {
    /// The old buckets, while they are of use.
    #[inline(always)]
    pub(crate) fn old(&self) -> Option<&Index<L>> {
        match self {
            Self::Moving { old, .. } => Some(old),
            _ => None,
        }
    }

    /// The first place of this hash in the old buckets that was not moved and satisfies `is`.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, is: impl FnMut(u32) -> bool) -> Option<Found> {
        match self {
            Self::Moving { old, next, .. } => find_from(old, *next, hash, is),
            _ => None,
        }
    }

    /// Removes a place of this hash, which [`find`](Self::find) found, from the old buckets.
    pub(crate) fn remove(&mut self, hash: u64, found: Found) {
        match self {
            Self::Moving { old, .. } => old.remove(hash, found),
            _ => debug_assert!(false, "a place was found in buckets that are gone"),
        }
    }

    /// Bytes of memory of the buckets that are not in use alone.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Clearing(index) | Self::Moving { old: index, .. } | Self::Freeing(index) => index.memory(),
        }
    }

    /// Takes a step. `index` are the buckets in use, `places` the bound of the places' numbers; `hash_at`
    /// gives the hash of the entry at a place, if there is one.
    #[cold]
    #[inline(never)]
    pub(crate) fn step(&mut self, index: &mut Index<L>, places: usize, hash_at: impl Fn(u32) -> Option<u64>) {
        *self = match core::mem::take(self) {
            Self::None => Self::clear(Index::without_buckets(), index, places),
            Self::Clearing(new) => Self::clear(new, index, places),
            Self::Moving { old, next, end } => {
                let stop = end.min(next.saturating_add(MOVED as u32));
                move_places(index, next..stop, hash_at);
                if stop == end { Self::Freeing(old) } else { Self::Moving { old, next: stop, end } }
            }
            Self::Freeing(mut old) => {
                if old.drop_block() {
                    Self::Freeing(old)
                } else {
                    Self::None
                }
            }
        };
    }

    /// Clears buckets of `new`, and takes them into use once they are twice as many.
    fn clear(mut new: Index<L>, index: &mut Index<L>, places: usize) -> Self {
        let left = 2 * index.buckets() - new.buckets();
        new.extend(left.min(CLEARED));
        if left > CLEARED {
            return Self::Clearing(new);
        }
        Self::Moving { old: core::mem::replace(index, new), next: 0, end: places as u32 }
    }
}

/// The first place of this hash from `next` on that satisfies `is`.
#[cold]
#[inline(never)]
fn find_from<L: Layout>(
    old: &Index<L>,
    next: u32,
    hash: u64,
    mut is: impl FnMut(u32) -> bool,
) -> Option<Found> {
    old.find(hash, |place| place >= next && is(place))
}

/// Enters the hashes of these places into `index`, but for those that stand there.
fn move_places<L: Layout>(
    index: &mut Index<L>,
    places: core::ops::Range<u32>,
    hash_at: impl Fn(u32) -> Option<u64>,
) {
    let mut hashes = [None; MOVED];
    for (hash, place) in hashes.iter_mut().zip(places.clone()) {
        *hash = hash_at(place);
        if let Some(hash) = *hash {
            index.prefetch(hash);
        }
    }
    for (hash, place) in hashes.into_iter().zip(places) {
        if let Some(hash) = hash
            && index.find(hash, |other| other == place).is_none()
        {
            index.enter(hash, place);
        }
    }
}
