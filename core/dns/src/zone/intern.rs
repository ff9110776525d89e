//! The tree of names while it grows.

use super::flags::Flags;
use super::names::{NameId, Names};
use crate::query::Hash;
use crate::slices::Parts as _;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{MAX_LABELS, Name};
use hashlane_table::index::Index;

/// Labels that are remembered.
const RECENT: usize = 1 << RECENT_BITS;
const RECENT_BITS: u32 = 14;

/// A label that was stored lately: a tag, so that another label is rarely read, and its offset; 0 is free.
#[derive(Clone, Copy, Default)]
struct Recent {
    tag: u32,
    offset: u32,
}

/// The tree, and an index of all its names by the hash of the whole name.
pub(super) struct Interner {
    pub(super) names: Names,
    /// The hash of each name.
    hashes: Vec<u64>,
    index: Index,
    hash: Hash,
    /// Labels that were stored lately, by a hash of the label. Many names have labels such as `ns1`.
    recent: Vec<Recent>,
}

impl Interner {
    pub(super) fn new(key: &Key) -> Self {
        let mut hash = Hash::new(key);
        let hashes = hash.name(Name::ROOT).to_vec();
        let mut index = Index::with_capacity(1 << 10);
        hashes.iter().for_each(|hash| index.enter(*hash, NameId::ROOT.0));
        Self { names: Names::new(), hashes, index, hash, recent: vec![Recent::default(); RECENT] }
    }

    /// The hashes of a name. Prefetches the buckets of the name, and of the name above it.
    #[inline]
    pub(super) fn prefetch(&mut self, name: Name<'_>) -> &[u64] {
        let suffixes = self.hash.name(name);
        suffixes.iter().take(2).for_each(|suffix| self.index.prefetch(*suffix));
        suffixes
    }

    /// Prefetches the node of a name.
    #[inline(always)]
    pub(super) fn prefetch_node(&self, hash: u64) {
        if let Some(place) = self.index.first_place(hash) {
            self.names.prefetch(NameId(place));
        }
    }

    /// Prefetches the label of a name.
    #[inline(always)]
    pub(super) fn prefetch_label(&self, hash: u64) {
        if let Some(place) = self.index.first_place(hash) {
            self.names.prefetch_label(NameId(place));
        }
    }

    /// The id of a name with these hashes, which is added if it is new. `None` if there are too many names.
    pub(super) fn intern(&mut self, name: Name<'_>, suffixes: &[u64]) -> Option<NameId> {
        let Self { names, hashes, index, recent, .. } = self;
        let mut labels = name.labels();
        // Offsets of the labels that are new.
        let mut new = [0; MAX_LABELS];
        let mut count = 0;
        let mut at = NameId::ROOT;
        for suffix in suffixes {
            let is = |place| names.matches(NameId(place), labels.clone(), usize::MAX, NameId::ROOT);
            if let Some(found) = index.find(*suffix, is) {
                at = NameId(found.place);
                break;
            }
            *new.get_mut(count)? = (name.len() - labels.rest().len()) as u8;
            labels.next()?;
            count += 1;
        }
        for (offset, suffix) in new.iter().zip(suffixes).take(count).rev() {
            let [len, rest @ ..] = name.as_bytes().get(usize::from(*offset)..)? else { return None };
            let label = label_of(names, recent, rest.get(..usize::from(*len))?)?;
            at = names.add(at, label)?;
            hashes.push(*suffix);
            if hashes.len() > index.capacity() {
                *index = index_of(hashes.iter().copied().zip(0..), 2 * index.capacity());
            } else {
                index.enter(*suffix, at.0);
            }
        }
        Some(at)
    }

    /// The names, and the hash of each.
    pub(super) fn into_parts(self) -> (Names, Vec<u64>) {
        (self.names, self.hashes)
    }

    /// Marks an owner and the names above it, up to one that is marked, as existing, in the spelling of
    /// `name`. `None` if there are too many labels.
    pub(super) fn exist(&mut self, owner: NameId, name: Name<'_>) -> Option<()> {
        let Self { names, recent, .. } = self;
        let mut at = owner;
        for label in name.labels() {
            if names.flags(at).has(Flags::EXISTS) {
                break;
            }
            names.add_flags(at, Flags::EXISTS);
            if names.label(at).get(1..) != Some(label) {
                let label = label_of(names, recent, label)?;
                names.set_label(at, label);
            }
            at = names.parent(at);
        }
        Some(())
    }
}

/// An index of places by their hashes, at most `entries`.
pub(super) fn index_of(places: impl Iterator<Item = (u64, u32)>, entries: usize) -> Index {
    let mut index = Index::with_capacity(entries);
    // Buckets are prefetched this far ahead.
    let mut ahead = [(0, 0); 16];
    let mut count = 0;
    for (hash, place) in places {
        index.prefetch(hash);
        if let Some(slot) = ahead.get_mut(count % 16) {
            let (hash, place) = core::mem::replace(slot, (hash, place));
            if count >= 16 {
                index.enter(hash, place);
            }
        }
        count += 1;
    }
    ahead.iter().take(count).for_each(|(hash, place)| index.enter(*hash, *place));
    index
}

/// The offset of a label, one that was stored lately or a new one.
fn label_of(names: &mut Names, recent: &mut [Recent], label: &[u8]) -> Option<u32> {
    let (place, tag) = place_of(label);
    let place = recent.get_mut(place)?;
    // Offset 0 is the root's label, which no other label equals.
    if place.tag == tag && names.label_at(place.offset).get(1..) == Some(label) {
        return Some(place.offset);
    }
    let offset = names.add_label(label)?;
    *place = Recent { tag, offset };
    Some(offset)
}

/// A place and a tag by the length and the first and last eight bytes. Labels that collide on purpose cost
/// their own memory only, so a hash without a key will do.
fn place_of(label: &[u8]) -> (usize, u32) {
    let mut ends = [[0; 8]; 2];
    let (first, last) = (label.len().min(8), label.len().saturating_sub(8));
    for (end, bytes) in ends.iter_mut().zip([label.part(..first), label.part(last..)]) {
        for (byte, of_label) in end.iter_mut().zip(bytes) {
            *byte = *of_label;
        }
    }
    let [first, last] = ends.map(u64::from_le_bytes);
    let mixed = (first ^ last.rotate_left(29) ^ label.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> (64 - RECENT_BITS)) as usize, (mixed >> 16) as u32)
}
