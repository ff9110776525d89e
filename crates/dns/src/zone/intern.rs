//! The tree of names while it grows.

use super::names::{Flags, NameId, Names};
use crate::query::Hash;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{MAX_LABELS, Name};
use hashlane_table::index::Index;

/// Labels that are remembered, a power of two.
const RECENT: usize = 1 << 14;

/// The tree, and an index of all its names by the hash of the whole name.
pub(super) struct Interner {
    pub(super) names: Names,
    /// The hash of each name.
    pub(super) hashes: Vec<u64>,
    index: Index,
    hash: Hash,
    /// Offsets of labels that were stored lately, by a hash of the label; 0 in a free place. Many names have
    /// labels such as `ns1`.
    recent: Vec<u32>,
}

impl Interner {
    pub(super) fn new(key: &Key) -> Self {
        let mut hash = Hash::new(key);
        let hashes = hash.name(Name::ROOT).to_vec();
        let mut index = Index::with_capacity(1 << 10);
        hashes.iter().for_each(|hash| index.enter(*hash, NameId::ROOT.0));
        Self { names: Names::new(), hashes, index, hash, recent: vec![0; RECENT] }
    }

    /// The id of a name, which is added if it is new. `None` if there are too many names.
    pub(super) fn intern(&mut self, name: Name<'_>) -> Option<NameId> {
        let Self { names, hashes, index, hash, recent } = self;
        let suffixes = hash.name(name);
        let mut labels = name.labels();
        let mut new: [&[u8]; MAX_LABELS] = [&[]; MAX_LABELS];
        let mut count = 0;
        let mut at = NameId::ROOT;
        for suffix in suffixes {
            let is = |place| names.matches(NameId(place), labels.clone(), usize::MAX, NameId::ROOT);
            if let Some(found) = index.find(*suffix, is) {
                at = NameId(found.place);
                break;
            }
            let Some(label) = labels.next() else { break };
            *new.get_mut(count)? = label;
            count += 1;
        }
        let new = new.iter().zip(suffixes).take(count);
        for (label, suffix) in new.rev() {
            let label = label_of(names, recent, label)?;
            at = names.add(at, label)?;
            hashes.push(*suffix);
            if hashes.len() > index.capacity() {
                *index = index_of(hashes.iter().copied().zip(0..), 2 * hashes.len());
            } else {
                index.enter(*suffix, at.0);
            }
        }
        Some(at)
    }

    /// Marks an owner and the names above it, up to one that is marked, as existing, in the spelling of `name`.
    /// `None` if there are too many labels.
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
    places.for_each(|(hash, place)| index.enter(hash, place));
    index
}

/// The offset of a label, one that was stored lately or a new one.
fn label_of(names: &mut Names, recent: &mut [u32], label: &[u8]) -> Option<u32> {
    let place = recent.get_mut(place_of(label))?;
    // Offset 0 is the root's label, which no other label equals.
    if names.label_at(*place).get(1..) == Some(label) {
        return Some(*place);
    }
    let offset = names.add_label(label)?;
    *place = offset;
    Some(offset)
}

/// Labels that collide on purpose cost their own memory only, so a hash without a key will do.
fn place_of(label: &[u8]) -> usize {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = label.iter().fold(0xcbf2_9ce4_8422_2325, mix);
    (hash ^ hash >> 32) as usize % RECENT
}
