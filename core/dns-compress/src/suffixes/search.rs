//! Names whose parent is not known: the search for the longest suffix that the message has.

use super::compare::{common_end, follows};
use super::parents::{Parent, ParentPlace};
use super::slots::Entry;
use super::{First, SuffixTable};
use crate::compressor::{CompressedName, POINTER_LIMIT};
use crate::slices::Parts as _;

/// Number of names in a message after which a name that shares nothing with them is not expected to be the
/// first of several with its parent.
const MAX_APART: usize = 16;

/// Number of names in a row that shared nothing with earlier ones, after which the next is expected to share
/// nothing either.
pub(super) const MIN_APART: u8 = 8;

/// True if so many labels take longer to read, and so many bytes to hash and to compare, than it takes to
/// find a name by its ends: three nanoseconds for a label, a quarter of one for a byte.
#[inline(always)]
pub(super) const fn is_slow(labels: usize, bytes: usize) -> bool {
    12 * labels + bytes >= 128
}

/// Bytes of a name that may have so many labels that they are not read for each name that shares some.
const MANY_BYTES: usize = 64;

/// A suffix of a name that is in the message.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// Its first label, by the labels of the name.
    pub(super) label: usize,
    /// Offset in the message; 0 for the root.
    pub(super) at: usize,
    /// Offset of the label before it there, of the same name; 0 if it is the first, or not asked for.
    pub(super) left: usize,
}

/// The place of a name, or the parent that it is to be placed under.
pub(super) enum Placed {
    At(CompressedName),
    /// Offset, label before it, and sum, as in [`Parent`].
    Under(usize, usize, u64),
}

impl SuffixTable {
    /// Places a name whose parent is the first name or a suffix of it, or remembers that parent.
    #[inline(always)]
    fn place_under_first(
        &mut self,
        written: &[u8],
        bytes: &[u8],
        from: usize,
        key: ParentPlace,
    ) -> Option<Placed> {
        let (case, first) = (self.case, self.first.bytes(written));
        let (label, rest) = bytes.split_at_checked(from)?;
        let start = first.len().checked_sub(rest.len())?;
        if !case.eq(first.get(start..)?, rest) {
            return None;
        }
        let (mut left, mut at) = (0, 0);
        while at < start {
            (left, at) = (at, at + 1 + usize::from(*first.get(at)?));
        }
        // The end of a label may spell the parent.
        if at != start {
            return None;
        }
        let base = usize::from(self.first.at);
        let target = if rest.len() == 1 { 0 } else { base + start };
        let left = if start == 0 { 0 } else { base + left };
        if left.max(target) >= POINTER_LIMIT {
            return None;
        }
        if left > 0 && self.is_label(written, left, label) {
            return Some(Placed::At(CompressedName::at(left as u16)));
        }
        let sum = self.hash.sum(rest, |word| case.fold8(word));
        self.parents.keep(key, rest, self.slots.message(), target as u16, left as u16, sum);
        Some(Placed::Under(target, left, sum))
    }

    /// Places a name that shares nothing with earlier ones; `None` if it seems to share its last label.
    #[inline(always)]
    pub(super) fn place_apart(&mut self, written: &[u8], bytes: &[u8]) -> Option<CompressedName> {
        let (mut last, mut at) = (0, 0);
        while let Some(&len) = bytes.get(at)
            && len > 0
        {
            (last, at) = (at, at + 1 + usize::from(len));
        }
        let (case, first, suffix) = (self.case, self.first.bytes(written), bytes.get(last..)?);
        let end = first.len().checked_sub(suffix.len()).and_then(|start| first.get(start..));
        if end.is_some_and(|end| case.eq(end, suffix)) {
            return None;
        }
        let hash = self.hash.hash_folded(suffix, |word| case.fold8(word));
        let Err(free) = self.slots.find(hash, |slot| self.stands(written, suffix, slot)) else { return None };
        let entry = Entry { at: written.len(), lead: last, literal: suffix.len() };
        self.slots.insert(entry, written.len() + bytes.len(), hash, free);
        Some(CompressedName::new(bytes.len(), None))
    }

    /// Places a name whose bytes from `from` on, with their place among the parents, are not remembered.
    #[inline(never)]
    pub(super) fn place_new(
        &mut self,
        written: &[u8],
        bytes: &[u8],
        from: usize,
        key: ParentPlace,
    ) -> Placed {
        if self.apart >= MIN_APART {
            if let Some(place) = self.place_apart(written, bytes) {
                return Placed::At(place);
            }
            self.apart = 0;
        }
        let placed = self.place_under_first(written, bytes, from, key);
        placed.unwrap_or_else(|| Placed::At(self.place_by_labels(written, bytes, from, key)))
    }

    /// Places a name by the hashes of its suffixes, from the last label on.
    #[inline(always)]
    fn place_by_labels(
        &mut self,
        written: &[u8],
        bytes: &[u8],
        from: usize,
        key: ParentPlace,
    ) -> CompressedName {
        let case = self.case;
        self.hash.sums(bytes, |word| case.fold8(word), &mut self.sums);
        let (mut labels, mut at) = (0, 0);
        while let Some(&len) = bytes.get(at)
            && let Some(start) = self.starts.get_mut(labels)
        {
            *start = at as u8;
            if len == 0 {
                break;
            }
            (labels, at) = (labels + 1, at + 1 + usize::from(len));
        }
        self.is_deep |= is_slow(labels, bytes.len());
        let mut known = Known { label: labels, at: 0, left: 0 };
        // Where a known suffix starts, to which a pointer can lead.
        let mut reached = None;
        // The name without its first label, once it is known.
        let mut parent = None;
        // The key of the name without two labels, unless it is remembered.
        let mut end_key = None;
        if labels > 2 {
            let (second, third) = (self.label_at(1), self.label_at(2));
            let end = bytes.part(third..);
            let key = ParentPlace::of(end);
            match self.parents.find(key, end, self.slots.message()) {
                Some(Parent { at, left, .. }) => {
                    let (at, left) = (usize::from(*at), usize::from(*left));
                    let label = bytes.part(second..third);
                    if left == 0 || !self.is_label(written, left, label) {
                        (known, reached) = (Known { label: 2, at, left }, Some((third, at)));
                    }
                }
                None => end_key = Some(key),
            }
        }
        if known.label == labels {
            known = self.share_with_first(written, bytes, labels);
            if known.at > 0 && known.at < POINTER_LIMIT {
                reached = Some((self.label_at(known.label), known.at));
            }
            if known.label == 1 {
                parent = Some(known);
            }
        }
        while let Some(label) = known.label.checked_sub(1) {
            let (start, end) = (self.label_at(label), self.label_at(known.label));
            let hash = self.hash.suffix(&self.sums, bytes.len() - start);
            let suffix = bytes.part(start..);
            let own = bytes.part(start..end);
            let found = self.slots.find(hash, |slot| {
                let at = slot.at();
                let same = written.get(at..at + own.len()).is_some_and(|here| case.eq(here, own));
                same && follows(written, at + own.len(), known.at) || self.stands(written, suffix, slot)
            });
            let free = match found {
                Ok(slot) => {
                    known = self.extend_any(written, bytes, label, slot.name(), slot.at());
                    if known.at < POINTER_LIMIT {
                        reached = Some((self.label_at(known.label), known.at));
                    }
                    if known.label == 1 {
                        parent = Some(known);
                    }
                    continue;
                }
                Err(free) => free,
            };
            let place = reached
                .map_or(CompressedName::new(bytes.len(), None), |(from, at)| CompressedName::to(from, at));
            let literal = place.literal();
            let entry = Entry { at: written.len(), lead: start, literal: literal - start };
            self.slots.insert(entry, written.len() + place.len(), hash, free);
            match known {
                Known { label: 1, at, left } => self.keep_parent(key, bytes, from, (at, left)),
                Known { label, at, left } if at > 0 => {
                    if let (2, Some(key)) = (label, end_key) {
                        self.keep_parent(key, bytes, end, (at, left));
                    }
                    self.keep_parent(key, bytes, from, (written.len() + from, written.len()));
                }
                _ => {
                    self.apart = self.apart.saturating_add(1);
                    // Among many names that share nothing, the next shares nothing either.
                    if self.slots.used() <= MAX_APART {
                        self.keep_parent(key, bytes, from, (written.len() + from, written.len()));
                    }
                    return place;
                }
            }
            self.apart = 0;
            return place;
        }
        self.apart = 0;
        let (at, left) = parent.map_or((known.at + from, known.at), |Known { at, left, .. }| (at, left));
        self.keep_parent(key, bytes, from, (at, left));
        reached.map_or(CompressedName::new(bytes.len(), None), |(from, at)| CompressedName::to(from, at))
    }

    /// Offset of a label in the present name.
    #[inline(always)]
    pub(super) fn label_at(&self, label: usize) -> usize {
        debug_assert!(label < self.starts.len(), "a name has at most as many labels");
        self.starts.get(label).copied().map_or(0, usize::from)
    }

    /// The longest suffix of the name in hand that the first name has.
    #[inline(always)]
    pub(super) fn share_with_first(&mut self, written: &[u8], bytes: &[u8], labels: usize) -> Known {
        let First { at, len } = self.first;
        let root = (usize::from(at) + usize::from(len)).saturating_sub(1);
        let known = self.extend_any(written, bytes, labels, usize::from(at), root);
        if known.label == labels { Known { at: 0, ..known } } else { known }
    }

    /// As [`extend`](Self::extend), but the labels of a name with many bytes are read once for all names.
    #[inline(always)]
    fn extend_any(&mut self, written: &[u8], bytes: &[u8], label: usize, name: usize, at: usize) -> Known {
        if at - name > MANY_BYTES && at < POINTER_LIMIT {
            return self.extend_learnt(written, bytes, label, name, at);
        }
        self.extend(written, bytes, label, name, at)
    }

    #[cold]
    #[inline(never)]
    fn extend_learnt(&mut self, written: &[u8], bytes: &[u8], label: usize, name: usize, at: usize) -> Known {
        self.long.learn(written, name);
        let known = self.extend_left(written, bytes, Known { label, at, left: 0 });
        Known { left: self.long.left_of(known.at).unwrap_or(0), ..known }
    }

    /// The longest suffix of the name in hand that the name at `name` has, which has the one from `label` at
    /// offset `at`.
    #[inline]
    pub(super) fn extend(&self, written: &[u8], bytes: &[u8], label: usize, name: usize, at: usize) -> Known {
        let none = Known { label, at, left: 0 };
        if name == at {
            return none;
        }
        let start = self.label_at(label);
        let (Some(there), Some(here)) = (written.get(name..at), bytes.get(..start)) else { return none };
        let same = common_end(self.case, there, here);
        if same == 0 && label > 2 {
            // Nobody asks for the label before it.
            return none;
        }
        // Both names are read from the left, up to a label where as much is left of both.
        let (mut from, mut left, mut label) = (0, 0, 0);
        while let Some(&len) = there.get(from) {
            let (rest, own) = (there.len() - from, start - self.label_at(label));
            if own > rest || own > same {
                label += 1;
            } else if rest > own || rest > same {
                (from, left) = (from + 1 + usize::from(len), name + from);
            } else {
                return Known { label, at: name + from, left };
            }
        }
        Known { left, ..none }
    }

    /// Remembers the name from `from` on, at that offset and after that label. The words have just been
    /// summed up.
    #[inline]
    fn keep_parent(&mut self, key: ParentPlace, name: &[u8], from: usize, (at, left): (usize, usize)) {
        let rest = name.part(from..);
        // The label before the root may be one that no pointer reaches.
        let left = if left < POINTER_LIMIT { left } else { 0 };
        if at < POINTER_LIMIT {
            let (message, sum) = (self.slots.message(), self.sums.sum(rest.len() / 8));
            self.parents.keep(key, rest, message, at as u16, left as u16, sum);
        }
    }
}
