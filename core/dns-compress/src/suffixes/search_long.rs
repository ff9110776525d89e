//! The search for the longest suffix of a long name that the message has.

use super::SuffixTable;
use super::compare::{follows, reads_suffix};
use super::long::Shared;
use super::search::{Known, MIN_APART, is_slow};
use super::slots::{Entry, Slot};
use crate::compressor::{CompressedName, POINTER_LIMIT};
use crate::slices::Parts as _;

/// Number of a remembered name that has the end of a long one, if there is one.
#[derive(Clone, Copy)]
enum Name {
    /// The name itself.
    Own(u8),
    /// Another one.
    Other(u8),
}

impl SuffixTable {
    /// Places a long name. One that the message has whole is found by its hash, whatever it shares with
    /// others; another one takes the time of its words, and of its labels to the left of the longest end that
    /// a remembered name has.
    #[inline(never)]
    pub(super) fn place_long(&mut self, written: &[u8], bytes: &[u8]) -> CompressedName {
        let hash = self.name_hash.fold(bytes, self.case, &mut self.folded);
        let Self { long, folded, case, .. } = self;
        let free = match long.find(hash, folded.name(), written, *case) {
            Ok(place) => return place,
            Err(free) => free,
        };
        let (place, name) = self.place_new_long(written, bytes);
        let at = if place.literal() == 0 { place.pointer().map_or(0, usize::from) } else { written.len() };
        let (lead, literal) = match name {
            // It has all labels of this one.
            Name::Own(number) if at < POINTER_LIMIT => (number, 0),
            Name::Own(number) | Name::Other(number) => (number, place.literal()),
        };
        let entry = Entry { at, lead: usize::from(lead), literal };
        self.long.add_whole(entry, written.len() + place.len(), hash, free);
        place
    }

    /// Places a long name that is not known to be in the message.
    #[inline(always)]
    fn place_new_long(&mut self, written: &[u8], bytes: &[u8]) -> (CompressedName, Name) {
        if self.apart >= MIN_APART {
            if let Some(place) = self.place_apart(written, bytes) {
                return (place, Name::Other(0));
            }
            self.apart = 0;
        }
        let (case, len) = (self.case, bytes.len());
        let shared = self.long.sum(&self.hash, &self.folded, &mut self.sums);
        let other = Name::Other(shared.map_or(0, |shared| shared.name));
        if let Some(shared) = shared
            && shared.bytes == len
            && let at @ 1.. = self.long.label(shared, len)
        {
            return (CompressedName::at(at as u16), other);
        }
        let (read, end, mut known) = self.read_labels(written, bytes, shared);
        let mut reached =
            (known.at > 0 && known.at < POINTER_LIMIT).then_some((self.label_at(known.label), known.at));
        while let Some(label) = known.label.checked_sub(1) {
            let start = self.label_at(label);
            let hash = self.hash.suffix(&self.sums, len - start);
            let (suffix, own) = (bytes.part(start..), bytes.part(start..self.label_at(known.label)));
            let found = self.slots.find(hash, |slot| {
                let at = slot.at();
                let same = written.get(at..at + own.len()).is_some_and(|here| case.eq(here, own));
                same && follows(written, at + own.len(), known.at)
                    || self.stands_long(written, suffix, slot, shared)
            });
            match found {
                Ok(slot) => {
                    known = self.extend_slot(written, bytes, label, slot);
                    if known.at < POINTER_LIMIT {
                        reached = Some((self.label_at(known.label), known.at));
                    }
                }
                Err(free) => {
                    let place = reached
                        .map_or(CompressedName::new(len, None), |(from, at)| CompressedName::to(from, at));
                    let entry = Entry { at: written.len(), lead: start, literal: place.literal() - start };
                    self.slots.insert(entry, written.len() + place.len(), hash, free);
                    self.apart = if known.at > 0 { 0 } else { self.apart.saturating_add(1) };
                    let kept =
                        reached.and_then(|_| self.keep_long(written.len(), (shared, end, read), known.label));
                    return (place, kept.map_or(other, Name::Own));
                }
            }
        }
        self.apart = 0;
        let kept = self.keep_long(written.len(), (shared, end, read), 0);
        let place = reached.map_or(CompressedName::new(len, None), |(from, at)| CompressedName::to(from, at));
        (place, kept.map_or(other, Name::Own))
    }

    /// True if the message has `suffix`, an end of the name in hand, at the slot's offset. Labels are
    /// compared up to the shared end, whose offsets the remembered name has.
    #[inline(always)]
    fn stands_long(&self, written: &[u8], suffix: &[u8], slot: Slot, shared: Option<Shared>) -> bool {
        let (at, literal) = (slot.at(), slot.literal());
        let Some((labels, rest)) = suffix.split_at_checked(literal) else { return false };
        if !written.get(at..at + literal).is_some_and(|here| self.case.eq(here, labels)) {
            return false;
        }
        let known = |at, rest: &[u8]| {
            let is_shared =
                |shared: Shared| rest.len() <= shared.bytes && self.long.label(shared, rest.len()) == at;
            shared.is_some_and(is_shared).then_some(true)
        };
        rest.is_empty() || reads_suffix(written, at + literal, rest, self.case, known)
    }

    /// Reads the labels of a name from the left, up to one that the remembered name has. Returns the number
    /// of labels read, the bytes from there to the end (0 if it has none of them), and the longest suffix
    /// that the message is known to have.
    #[inline(always)]
    fn read_labels(&mut self, written: &[u8], bytes: &[u8], shared: Option<Shared>) -> (usize, usize, Known) {
        let (mut labels, mut at) = (0, 0);
        while let Some(&len) = bytes.get(at)
            && let Some(start) = self.starts.get_mut(labels)
        {
            *start = at as u8;
            let end = bytes.len() - at;
            if let Some(shared) = shared
                && end <= shared.bytes
                && let offset @ 1.. = self.long.label(shared, end)
            {
                let known = Known { label: labels, at: offset, left: 0 };
                return (labels, end, self.extend_left(written, bytes, known));
            }
            if len == 0 {
                break;
            }
            (labels, at) = (labels + 1, at + 1 + usize::from(len));
        }
        let known = self.share_with_first(written, bytes, labels);
        if known.at > 0 {
            self.long.learn(written, usize::from(self.first.at));
            self.put_offsets(known, labels);
        }
        (labels, 0, known)
    }

    /// The longest suffix of the name in hand that the name of a slot has, which has the one from `label` on.
    #[inline(always)]
    fn extend_slot(&mut self, written: &[u8], bytes: &[u8], label: usize, slot: Slot) -> Known {
        self.long.learn(written, slot.name());
        if slot.at() < POINTER_LIMIT {
            return self.extend_left(written, bytes, Known { label, at: slot.at(), left: 0 });
        }
        // Of the name that lies across the limit, its labels before the limit alone are known.
        let known = self.extend(written, bytes, label, slot.name(), slot.at());
        self.put_offsets(known, label + 1);
        known
    }

    /// The longest suffix of the name in hand that continues a known one to the left in the message.
    #[inline(always)]
    pub(super) fn extend_left(&mut self, written: &[u8], bytes: &[u8], mut known: Known) -> Known {
        self.put_offset(known.label, known.at);
        while let Some(label) = known.label.checked_sub(1)
            && let Some(left) = self.long.before(known.at)
        {
            let own = bytes.part(self.label_at(label)..self.label_at(known.label));
            if own.len() != known.at - left || !self.is_label(written, left, own) {
                break;
            }
            known = Known { label, at: left, left: 0 };
            self.put_offset(label, left);
        }
        known
    }

    /// Puts the offsets of the labels up to number `end`, which stand one after the other in the message.
    #[inline(always)]
    fn put_offsets(&mut self, known: Known, end: usize) {
        for label in known.label..end {
            self.put_offset(label, known.at + self.label_at(label) - self.label_at(known.label));
        }
    }

    #[inline(always)]
    fn put_offset(&mut self, label: usize, at: usize) {
        if let Some(offset) = self.offsets.get_mut(label) {
            // Of offsets from 2¹⁴ on, no pointer can lead to any.
            *offset = at.min(usize::from(u16::MAX)) as u16;
        }
    }

    /// Remembers a name at offset `at` whose first `new` labels are new there, if many of its labels or bytes
    /// were read, and with it the time that the next such name would take: `read`, and the last `end` bytes
    /// belong to the shared name.
    #[inline(always)]
    fn keep_long(
        &mut self,
        at: usize,
        (shared, end, read): (Option<Shared>, usize, usize),
        new: usize,
    ) -> Option<u8> {
        let Self { long, starts, offsets, sums, folded, .. } = self;
        let len = folded.name().len();
        if !is_slow(read, len - end) {
            return None;
        }
        let labels =
            starts.iter().zip(offsets.iter()).take(read).enumerate().map(|(label, (start, offset))| {
                let start = usize::from(*start);
                let offset = if label < new { at + start } else { usize::from(*offset) };
                (len - start, offset)
            });
        let kept = long.keep(folded, sums, (shared, end), labels);
        // A later name may share the remembered name's end, and continue it as this one does.
        let mut before = None;
        for start in starts.iter().take(new).map(|start| usize::from(*start)) {
            long.learn_label(at + start, before.map(|before| start - before));
            before = Some(start);
        }
        kept
    }
}
