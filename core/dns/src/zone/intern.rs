//! The tree of names while it grows.

use super::flags::Flags;
use super::hashes::Hashes;
use super::names::{NameId, Names};
use super::room::{enter_all, reserve};
use super::slots::Slots;
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

/// Names that a tree keeps as [bare](NameId::is_bare) ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bare {
    /// Those that are not at or below the apex, as in a zone.
    Outside,
    /// None, so that all names are numbered in one row.
    None,
}

/// The tree, and its names by the hash of the whole name.
pub(super) struct Interner {
    pub(super) names: Names,
    /// The hashes of the names; of bare ones, which the zone's index does not have, the lower halves.
    hashes: Hashes,
    bare_hashes: Vec<u32>,
    bare: Bare,
    slots: Slots,
    pub(super) hash: Hash,
    /// Labels that were stored lately, by a hash of the label. Many names have labels such as `ns1`.
    recent: Vec<Recent>,
}

impl Interner {
    /// The root, the apex, and the names between them; and the number of the apex.
    pub(super) fn new(apex: Name<'_>, key: &Key, bare: Bare) -> (Self, NameId) {
        let mut hash = Hash::new(key);
        let suffixes = hash.name(apex).to_vec();
        let mut interner = Self {
            names: Names::new(),
            hashes: Hashes::default(),
            bare_hashes: Vec::new(),
            bare,
            slots: Slots::default(),
            hash,
            recent: vec![Recent::default(); RECENT],
        };
        let mut hashes = suffixes.iter().rev().copied();
        interner.remember(NameId::ROOT, hashes.next().unwrap_or_default());
        let labels: Vec<&[u8]> = apex.labels().collect();
        let mut id = NameId::ROOT;
        for ((at, label), hash) in labels.iter().enumerate().rev().zip(hashes) {
            // The first names and labels are never too many.
            let Some(label) = label_of(&mut interner.names, &mut interner.recent, label) else { break };
            let Some(next) = interner.add(id, label, at == 0) else { break };
            interner.remember(next, hash);
            id = next;
        }
        debug_assert!(
            interner.names.name(id).view().eq_ignore_case(apex),
            "an empty tree has room for a name"
        );
        let flags = if bare == Bare::Outside { Flags::EXISTS.with(Flags::WITHIN) } else { Flags::EXISTS };
        interner.names.add_flags(id, flags);
        (interner, id)
    }

    /// Adds a name, which is not in the slots yet. `None` if there are too many.
    fn add(&mut self, parent: NameId, label: u32, is_apex: bool) -> Option<NameId> {
        let Self { names, bare, .. } = self;
        let is_within = names.flags(parent).has(Flags::WITHIN);
        if *bare == Bare::Outside && !is_within && !is_apex {
            return names.add_bare(parent, label);
        }
        let id = names.add(parent, label)?;
        if is_within {
            names.set_flags(id, Flags::WITHIN);
        }
        Some(id)
    }

    /// Enters the last name of its kind into the slots.
    fn remember(&mut self, id: NameId, hash: u64) {
        let Self { hashes, bare_hashes, slots, names, .. } = self;
        if id.is_bare() {
            reserve(bare_hashes, 1);
            bare_hashes.push(low(hash));
        } else {
            hashes.push(hash);
        }
        if names.len() > slots.capacity() {
            let bare = bare_hashes.iter().copied().zip((0..).map(NameId::bare));
            slots.grow(hashes.low().zip((0..).map(NameId)).chain(bare));
        } else {
            slots.enter(low(hash), id);
        }
    }

    /// Prefetches the slots of a hash.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        self.slots.prefetch(low(hash));
    }

    /// Prefetches the node of the name that likely has a hash, and returns it.
    #[inline(always)]
    pub(super) fn prefetch_node(&self, hash: u64) -> Option<NameId> {
        let id = self.slots.first(low(hash))?;
        self.names.prefetch_any(id);
        Some(id)
    }

    /// The id of a name with these hashes, which is added if it is new. `None` if there are too many names.
    pub(super) fn intern(&mut self, name: Name<'_>, suffixes: &[u64]) -> Option<NameId> {
        let Self { names, slots, .. } = self;
        let mut labels = name.labels();
        // Offsets of the labels that are new.
        let mut new = [0; MAX_LABELS];
        let mut count = 0;
        let mut at = NameId::ROOT;
        for suffix in suffixes {
            let is = |id| names.matches(id, labels.clone(), usize::MAX, NameId::ROOT);
            if let Some(found) = slots.find(low(*suffix), is) {
                at = found;
                break;
            }
            *new.get_mut(count)? = (name.len() - labels.rest().len()) as u8;
            labels.next()?;
            count += 1;
        }
        for (offset, suffix) in new.iter().zip(suffixes).take(count).rev() {
            let [len, rest @ ..] = name.as_bytes().get(usize::from(*offset)..)? else { return None };
            let label = label_of(&mut self.names, &mut self.recent, rest.get(..usize::from(*len))?)?;
            at = self.add(at, label, false)?;
            self.remember(at, *suffix);
        }
        Some(at)
    }

    /// The names, and the hashes of those that are not bare.
    pub(super) fn into_parts(self) -> (Names, Hashes) {
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

/// The half of a hash that slots use.
#[inline(always)]
const fn low(hash: u64) -> u32 {
    hash as u32
}

/// An index of places by their hashes, at most `entries`.
pub(super) fn index_of(places: impl Iterator<Item = (u64, u32)>, entries: usize) -> Index {
    let mut index = Index::with_capacity(entries);
    let prefetch = |index: &Index, (hash, _)| index.prefetch(hash);
    enter_all(&mut index, places, prefetch, |index, (hash, place)| index.enter(hash, place));
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
