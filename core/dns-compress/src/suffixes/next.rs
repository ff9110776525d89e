//! Names that repeat or have a parent that was written recently: found without a search by labels.

use super::SuffixTable;
use super::compare::{follows, pointer_at, reads_suffix};
use super::parents::{LONGEST, Parent, ParentPlace};
use super::recent::{MAX_MISSES, MIN_REPEATS, Recent, SHORT, Whole};
use super::search::Placed;
use super::slots::{Entry, Slot};
use crate::compressor::{CompressedName, POINTER_LIMIT};

impl SuffixTable {
    /// Places a name that is neither the root nor the message's first.
    #[inline(never)]
    pub(super) fn place_next(&mut self, written: &[u8], bytes: &[u8]) -> CompressedName {
        if bytes.len() > LONGEST + 1 {
            return self.place_longer(written, bytes);
        }
        let first = self.first;
        if usize::from(first.len) == bytes.len() && self.case.eq(first.bytes(written), bytes) {
            return CompressedName::at(first.at);
        }
        if !self.begun {
            self.begin();
        }
        if bytes.len() > SHORT {
            return self.place_middle(written, bytes);
        }
        let whole = (self.tries > 0).then(|| Whole::of(bytes, self.slots.message()));
        if let Some(whole) = whole {
            if let Some(at) = self.whole.get(whole.place()).and_then(|kept| whole.same(kept)) {
                self.tries = MAX_MISSES;
                return CompressedName::at(at);
            }
            self.tries -= 1;
        }
        let place = self.place_unseen(written, bytes);
        if let Some(whole) = whole {
            self.keep_whole(whole, written.len(), place);
        } else if place.literal() == 0 {
            self.repeats += 1;
            if self.repeats == MIN_REPEATS {
                (self.tries, self.repeats) = (MAX_MISSES, 0);
            }
        }
        place
    }

    /// Places a name of more bytes than the longest parent and a length.
    #[inline(never)]
    fn place_longer(&mut self, written: &[u8], bytes: &[u8]) -> CompressedName {
        let first = self.first;
        let is_long = bytes.first().is_some_and(|len| bytes.len() > LONGEST + 1 + usize::from(*len));
        if usize::from(first.len) == bytes.len() {
            // Long names that are spelled otherwise than the first one are found by their hash.
            let own = first.bytes(written);
            if if is_long && self.begun { own == bytes } else { self.case.eq(own, bytes) } {
                return CompressedName::at(first.at);
            }
        }
        if !self.begun {
            self.begin();
        }
        if is_long { self.place_long(written, bytes) } else { self.place_middle(written, bytes) }
    }

    /// Places a name of more than [`SHORT`] bytes that is not long.
    #[inline(always)]
    fn place_middle(&mut self, written: &[u8], bytes: &[u8]) -> CompressedName {
        let Some(recent) = Recent::of(bytes) else { return self.place_unseen(written, bytes) };
        if let Some(at) = self.find_recent(written, bytes, recent) {
            return CompressedName::at(at);
        }
        let place = self.place_unseen(written, bytes);
        self.keep_recent(recent, written.len(), bytes.len(), place);
        place
    }

    /// Remembers a short name that was placed so at offset `len`.
    #[inline(always)]
    fn keep_whole(&mut self, whole: Whole, len: usize, place: CompressedName) {
        let at = if place.literal() == 0 { place.pointer().map_or(0, usize::from) } else { len };
        if let Some(kept) = self.whole.get_mut(whole.place())
            && at < POINTER_LIMIT
        {
            *kept = whole.at(at as u16);
        }
    }

    /// Places a name that was not written recently.
    #[inline(always)]
    fn place_unseen(&mut self, written: &[u8], bytes: &[u8]) -> CompressedName {
        let from = 1 + usize::from(bytes.first().copied().unwrap_or_default());
        let Some((label, rest)) = bytes.split_at_checked(from) else {
            return CompressedName::new(bytes.len(), None);
        };
        let key = ParentPlace::of(rest);
        let parent = match self.parents.find(key, rest, self.slots.message()) {
            Some(Parent { at, left, sum, .. }) => (usize::from(*at), usize::from(*left), *sum),
            None if self.is_deep && bytes.len() > SHORT => {
                let place = self.place_long(written, bytes);
                self.keep_parent_of(key, bytes, from, written, place);
                return place;
            }
            None => match self.place_new(written, bytes, from, key) {
                Placed::At(place) => return place,
                Placed::Under(at, left, sum) => (at, left, sum),
            },
        };
        self.place_under_parent(written, bytes, label, parent)
    }

    /// Remembers a long name that was placed so at offset `len`.
    #[inline(never)]
    fn keep_recent(
        &mut self,
        Recent { place: kept, check }: Recent,
        len: usize,
        bytes: usize,
        place: CompressedName,
    ) {
        let (at, literal) = match place.literal() {
            // A name that ends in a pointer there is found only by its hash.
            0 => (place.pointer().map_or(0, usize::from), bytes),
            literal => (len, literal),
        };
        if at < POINTER_LIMIT {
            self.recent[kept] = self.slots.slot(Entry { at, lead: 0, literal }, check);
        }
    }

    /// Remembers the parent of a name that is placed so at the end of the message.
    #[inline(never)]
    fn keep_parent_of(
        &mut self,
        key: ParentPlace,
        bytes: &[u8],
        from: usize,
        written: &[u8],
        place: CompressedName,
    ) {
        let (at, left) = match (place.literal(), place.pointer().map(usize::from)) {
            // The label alone is new, or it stands before a pointer.
            (literal, Some(target)) if literal == from || literal == 0 => {
                let end = if literal == 0 { pointer_at(written, target + from) } else { Some(target) };
                match end.map(|at| (at, self.long.left_of(at))) {
                    Some((at, Some(left))) => (at, left),
                    Some((_, None)) => return,
                    None => (target + from, target),
                }
            }
            _ => (written.len() + from, written.len()),
        };
        let rest = bytes.get(from..).unwrap_or_default();
        // The root is not pointed to.
        if left.max(at) < POINTER_LIMIT && rest.len() > 1 {
            let sum = self.hash.sum(rest, |word| self.case.fold8(word));
            self.parents.keep(key, rest, self.slots.message(), at as u16, left as u16, sum);
        }
    }

    /// The offset of a recent name with exactly this spelling.
    #[inline(never)]
    fn find_recent(&self, written: &[u8], bytes: &[u8], recent: Recent) -> Option<u16> {
        let slot = *self.recent.get(recent.place)?;
        if slot.tag() != self.slots.tag(recent.check) {
            return None;
        }
        let (at, literal) = (slot.at(), slot.literal());
        let (labels, rest) = bytes.split_at_checked(literal)?;
        if written.get(at..at + literal)? != labels {
            return None;
        }
        if !rest.is_empty() {
            let target = pointer_at(written, at + literal)?;
            if written.get(target..target + rest.len())? != rest {
                return None;
            }
        }
        Some(at as u16)
    }

    /// True if the message has `suffix` at the slot's offset. A separate call: the loop over suffixes that
    /// were never written needs the registers.
    #[inline(never)]
    pub(super) fn stands(&self, written: &[u8], suffix: &[u8], slot: Slot) -> bool {
        let (at, literal) = (slot.at(), slot.literal());
        let Some((labels, rest)) = suffix.split_at_checked(literal) else { return false };
        let Some(here) = written.get(at..at + literal) else { return false };
        if !self.case.eq(here, labels) {
            return false;
        }
        if rest.is_empty() {
            return true;
        }
        // Nearly always the pointer leads to an uncompressed name.
        let Some(target) = pointer_at(written, at + literal) else { return false };
        match written.get(target..target + rest.len()) {
            Some(there) if self.case.eq(there, rest) => true,
            _ => reads_suffix(written, target, rest, self.case, |_, _| None),
        }
    }

    /// Places a name of this label and a remembered parent, at that offset; `left` and `sum` as in
    /// [`Parent`].
    #[inline(always)]
    fn place_under_parent(
        &mut self,
        written: &[u8],
        bytes: &[u8],
        label: &[u8],
        (target, left, sum): (usize, usize, u64),
    ) -> CompressedName {
        let (case, from, rest) = (self.case, label.len(), bytes.len() - label.len());
        if left > 0 && self.is_label(written, left, label) {
            return CompressedName::at(left as u16);
        }
        let hash = self.hash.resume(bytes, |word| case.fold8(word), rest / 8, sum);
        let found = self.slots.find(hash, |slot| {
            let at = slot.at();
            let same = written.get(at..at + from).is_some_and(|here| case.eq(here, label));
            same && follows(written, at + from, target) || self.stands(written, bytes, slot)
        });
        let literal = if target == 0 { bytes.len() } else { from };
        let place = CompressedName::to(literal, target);
        match found {
            Ok(slot) if slot.at() < POINTER_LIMIT => {
                return CompressedName::at(slot.at() as u16);
            }
            Ok(_) => {}
            Err(free) => {
                let entry = Entry { at: written.len(), lead: 0, literal };
                self.slots.insert(entry, written.len() + place.len(), hash, free);
            }
        }
        place
    }

    /// True if `label`, with its length before it, stands in the message at `at`.
    #[inline(always)]
    pub(super) fn is_label(&self, written: &[u8], at: usize, label: &[u8]) -> bool {
        let (Some(there), Some((last, _))) = (written.get(at..at + label.len()), label.split_last()) else {
            return false;
        };
        // Labels of a series mostly differ at their ends.
        let differ = there.last().map_or(0xff, |there| there ^ last);
        differ & 0xdf == 0 && self.case.eq(there, label)
    }
}
