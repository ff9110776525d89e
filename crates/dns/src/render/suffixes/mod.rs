//! The suffixes of the names of a message, in a hash table.

mod parents;
mod recent;
mod slots;

use super::compressor::{Compressor, POINTER_LIMIT, Place};
use crate::wire::HEADER_LEN;
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::suffix::{SuffixHash, SuffixSums};
use hashlane_name::dns::{Case, MAX_LABELS, Name};
use parents::{Parent, ParentPlace, Parents};
use recent::{MAX_MISSES, MIN_REPEATS, RECENT, Recent, SHORT, WHOLE, Whole};
use slots::{Entry, Slot, Slots, spread};

/// Purpose of the keys of the hash, for their derivation.
const PURPOSE: &[u8; 8] = b"dns-name";

/// Number of names in a message after which a name that shares nothing with them is not expected to be the
/// first of several with its parent.
const MAX_APART: usize = 16;

/// Clearings of the table, each after 255 messages, under one key. Deriving a key and expanding it takes one
/// or two microseconds: less than a nanosecond for each message.
const CLEARS: u8 = 16;

/// Compressor that finds the longest suffix written before. Its time is linear in the bytes of the names, for
/// all names.
///
/// The names of a message are a tree, from the root on: a name hangs on the suffix that it shares with an
/// earlier one. The table has one slot for each name, under the hash of the shortest of its suffixes that was
/// new; the labels before that suffix are compared in the message. So a name takes one lookup for each
/// earlier name that it shares labels with and one that finds nothing, however many labels it has. One pass
/// over a name gives the hashes of all its suffixes ([`SuffixHash`]); each hit is compared with the bytes of
/// the message. The message's first name, nearly always the question's, is compared before anything is
/// hashed, and enters the table only if another name follows.
///
/// A pointer leads only to an offset at which a label was written in this message, after its header, and not
/// cut since. A cut removes the names behind it, so that bytes of other fields are never taken for a name.
///
/// Most names have one label before an end that was written recently. 256 such ends are remembered in their
/// spelling, with the sum of their words: then only the rest of the name is hashed, looked up and compared.
/// Names that repeat soon with the same spelling are found without a hash: short ones by their bytes, long
/// ones by their ends.
///
/// **Bounds.** The hash is keyed and strongly universal, and a slot holds 24 bits of it: for names chosen
/// without knowledge of hashes, one comparison in 2²⁴ is in vain. Whatever the hashes, a lookup reads at most
/// 16 slots, of which at most a quarter are taken (half in the largest table). The table has 256 to 16,384
/// slots of 10 bytes; after a huge message it shrinks once 64 ordinary ones have followed. Slots contain the
/// message's number, so the table is cleared only once in 255 messages.
///
/// **Observers.** The result does not depend on the hashes, except that a lookup gives up after 16 slots, so
/// the length of a response tells almost nothing of them. The time does: each slot with another suffix costs
/// a comparison of some nanoseconds. The hash is close to linear, so many collisions of suffixes that
/// somebody chose would tell its key. Therefore the key is drawn anew after 4,080 messages, by SipHash-2-4
/// under the key of [`new`](Self::new). An observer over a network, who sees a difference of 10 ns in jitter
/// of 10 µs, learns at most 10⁻⁶ bits from a response (½ log₂ (1 + 10⁻⁶), the capacity of such a channel),
/// and so less than a hundredth of a bit of each key; with a hundred comparisons more in each response, 30
/// bits. The words for one place in a name have 128. An observer on the same core, who measures without
/// jitter, could learn enough: for that one, the bound of 16 slots holds.
#[derive(Clone)]
pub struct SuffixTable {
    hash: SuffixHash,
    /// The key that the keys of the hash are derived from, and their number.
    key: Key,
    drawn: u64,
    /// False for a table that keeps its key.
    redraws: bool,
    /// Times that the table is cleared before the next key.
    clears: u8,
    case: Case,
    slots: Slots,
    first: First,
    /// Number of further names worth looking up in [`whole`](Self::whole) without a hit.
    tries: u8,
    /// Number of repeated names since the last time that `tries` ran out.
    repeats: u8,
    /// Recent short names.
    whole: [Whole; WHOLE],
    /// Recent long names: a slot for each, with the check of [`Recent`] in place of a hash.
    recent: [Slot; RECENT],
    parents: Parents,
    sums: SuffixSums,
    /// Offsets of the labels of a name, and of its root.
    starts: [u8; MAX_LABELS + 1],
}

/// A suffix of a name that is in the message.
#[derive(Clone, Copy)]
struct Known {
    /// Its first label, by the labels of the name.
    label: usize,
    /// Offset in the message; 0 for the root.
    at: usize,
    /// Offset of the label before it there, of the same name; 0 if it is the first.
    left: usize,
}

/// The message's first name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    /// No name yet.
    None,
    /// It is there, and not in the table.
    Waiting { at: u16, len: u8 },
    /// It is there and in the table.
    Kept { at: u16, len: u8 },
}

impl SuffixTable {
    /// A table with a hash under `key`, a secret random key.
    pub fn new(key: &Key) -> Self {
        Self {
            hash: SuffixHash::new(&key.derive(PURPOSE, 0)),
            key: *key,
            drawn: 0,
            redraws: true,
            clears: CLEARS,
            case: Case::Ignored,
            slots: Slots::new(),
            first: First::None,
            tries: 0,
            repeats: 0,
            whole: [Whole::NONE; WHOLE],
            recent: [Slot::FREE; RECENT],
            parents: Parents::NONE,
            sums: SuffixSums::default(),
            starts: [0; MAX_LABELS + 1],
        }
    }

    /// A table with its hash under `key` itself, for ever: for measuring an attack by someone who knows the
    /// key, and for nothing else.
    pub fn with_known_key(key: &Key) -> Self {
        Self { hash: SuffixHash::new(key), redraws: false, ..Self::new(key) }
    }

    /// Place of a name in the table, out of 2¹⁴, by its [`SuffixHash`]: the places in smaller tables are the
    /// high bits of this one.
    pub const fn place_of(hash: u32) -> u32 {
        spread(hash) >> 18
    }

    /// Counts a clearing of the table, and draws the next key after the last of [`CLEARS`]. No slot and no
    /// parent has a hash of the old one.
    #[cold]
    fn redraw(&mut self) {
        self.clears -= 1;
        if self.clears > 0 {
            return;
        }
        self.clears = CLEARS;
        if self.redraws {
            self.drawn = self.drawn.wrapping_add(1);
            self.hash = SuffixHash::new(&self.key.derive(PURPOSE, self.drawn));
        }
    }

    /// Clears the caches of recent names and parents; the slots have all these names, too.
    fn clear_recent(&mut self) {
        self.whole = [Whole::NONE; WHOLE];
        self.recent = [Slot::FREE; RECENT];
        self.parents.clear();
    }

    /// Bytes of memory that the table holds.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.slots.memory()
    }

    /// Places a short name that was not written recently.
    #[inline(never)]
    fn place_short(&mut self, written: &[u8], bytes: &[u8], from: usize) -> Place {
        let Some((label, rest)) = bytes.split_at_checked(from) else {
            return Place { literal: bytes.len(), pointer: None };
        };
        let key = ParentPlace::of(rest);
        match self.parents.find(key, rest, self.slots.message()) {
            Some(&Parent { at, left, sum, .. }) => {
                self.place_under_parent(written, bytes, label, (usize::from(at), usize::from(left), sum))
            }
            None => self.place_new(written, bytes, from, key),
        }
    }

    /// Places a long name.
    #[inline(never)]
    fn place_long(&mut self, written: &[u8], bytes: &[u8], from: usize) -> Place {
        let recent = Recent::of(bytes);
        if let Some(at) = recent.and_then(|recent| self.find_recent(written, bytes, recent)) {
            return Place { literal: 0, pointer: Some(at) };
        }
        let place = self.place_short(written, bytes, from);
        let (at, literal) = match place {
            // A name that ends in a pointer there is found only by its hash.
            Place { literal: 0, pointer } => (pointer.map_or(0, usize::from), bytes.len()),
            Place { literal, .. } => (written.len(), literal),
        };
        if let Some(Recent { place, check }) = recent
            && at < POINTER_LIMIT
        {
            self.recent[place] = self.slots.slot(Entry { at, lead: 0, literal }, check);
        }
        place
    }

    /// The offset of a recent name with exactly this spelling.
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

    /// True if the message has `suffix` at the slot's offset. A call of its own: the loop over suffixes that
    /// were never written needs the registers.
    #[inline(never)]
    fn stands(&self, written: &[u8], suffix: &[u8], slot: Slot) -> bool {
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
            _ => reads_suffix(written, target, rest, self.case),
        }
    }

    /// Places a name of this label and a remembered parent, at that offset; `left` and `sum` are those of
    /// [`Parent`].
    #[inline(always)]
    fn place_under_parent(
        &mut self,
        written: &[u8],
        bytes: &[u8],
        label: &[u8],
        (target, left, sum): (usize, usize, u64),
    ) -> Place {
        let (case, from, rest) = (self.case, label.len(), bytes.len() - label.len());
        if left > 0 && self.is_label(written, left, target, label) {
            return Place { literal: 0, pointer: Some(left as u16) };
        }
        let hash = self.hash.resume(bytes, |word| case.fold8(word), rest / 8, sum);
        let found = self.slots.find(hash, |slot| {
            let at = slot.at();
            let same = written.get(at..at + from).is_some_and(|here| case.eq(here, label));
            same && follows(written, at + from, target) || self.stands(written, bytes, slot)
        });
        let (literal, pointer) = if target == 0 { (bytes.len(), None) } else { (from, Some(target as u16)) };
        let place = Place { literal, pointer };
        match found {
            Ok(slot) if slot.at() < POINTER_LIMIT => {
                return Place { literal: 0, pointer: Some(slot.at() as u16) };
            }
            Ok(_) => {}
            Err(free) => {
                let entry = Entry { at: written.len(), lead: 0, literal };
                self.slots.insert(entry, written.len() + place.len(), hash, free);
            }
        }
        place
    }

    /// True if `label` stands in the message from `at` to `end`.
    #[inline(always)]
    fn is_label(&self, written: &[u8], at: usize, end: usize, label: &[u8]) -> bool {
        let (Some(there), Some((last, _))) = (written.get(at..end), label.split_last()) else { return false };
        // Labels of a series mostly differ at their ends.
        let differ = there.last().map_or(0xff, |there| there ^ last);
        differ & 0xdf == 0 && self.case.eq(there, label)
    }

    /// Places a name whose bytes from `from` on, with their place among the parents, are not remembered.
    #[inline(never)]
    fn place_new(&mut self, written: &[u8], bytes: &[u8], from: usize, key: ParentPlace) -> Place {
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
        let mut known = Known { label: labels, at: 0, left: 0 };
        // Where a known suffix starts, to which a pointer can lead.
        let mut reached = None;
        // The name without its first label, once it is known.
        let mut parent = (labels == 1).then_some(known);
        // The key of the name without two labels, unless it is remembered.
        let mut end_key = None;
        if labels > 2 {
            let (second, third) = (self.label_at(1), self.label_at(2));
            let end = bytes.get(third..).unwrap_or_default();
            let key = ParentPlace::of(end);
            match self.parents.find(key, end, self.slots.message()) {
                Some(Parent { at, left, .. }) => {
                    let (at, left) = (usize::from(*at), usize::from(*left));
                    let label = bytes.get(second..third).unwrap_or_default();
                    if left == 0 || !self.is_label(written, left, at, label) {
                        (known, reached) = (Known { label: 2, at, left }, Some((third, at)));
                    }
                }
                None => end_key = Some(key),
            }
        }
        while let Some(label) = known.label.checked_sub(1) {
            let (start, end) = (self.label_at(label), self.label_at(known.label));
            let hash = self.hash.suffix(&self.sums, bytes.len() - start);
            let suffix = bytes.get(start..).unwrap_or_default();
            let own = bytes.get(start..end).unwrap_or_default();
            let found = self.slots.find(hash, |slot| {
                let at = slot.at();
                let same = written.get(at..at + own.len()).is_some_and(|here| case.eq(here, own));
                same && follows(written, at + own.len(), known.at) || self.stands(written, suffix, slot)
            });
            let free = match found {
                Ok(slot) => {
                    known = self.extend(written, bytes, label, slot);
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
            let (literal, pointer) = match reached {
                Some((from, at)) => (from, Some(at as u16)),
                None => (bytes.len(), None),
            };
            let place = Place { literal, pointer };
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
                // Among many names that share nothing, the next shares nothing either.
                _ if self.slots.used() > MAX_APART => {}
                _ => self.keep_parent(key, bytes, from, (written.len() + from, written.len())),
            }
            return place;
        }
        let (at, left) = parent.map_or((known.at + from, known.at), |Known { at, left, .. }| (at, left));
        self.keep_parent(key, bytes, from, (at, left));
        match reached {
            Some((from, at)) => Place { literal: from, pointer: Some(at as u16) },
            None => Place { literal: bytes.len(), pointer: None },
        }
    }

    /// Offset of a label in the present name.
    #[inline(always)]
    fn label_at(&self, label: usize) -> usize {
        self.starts.get(label).copied().map_or(0, usize::from)
    }

    /// The longest suffix of the name in hand that the name of `slot` has, which has the one from `label`.
    #[inline]
    fn extend(&self, written: &[u8], bytes: &[u8], label: usize, slot: Slot) -> Known {
        let (name, at) = (slot.name(), slot.at());
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
        let rest = name.get(from..).unwrap_or_default();
        if at < POINTER_LIMIT {
            let (message, sum) = (self.slots.message(), self.sums.sum(rest.len() / 8));
            self.parents.keep(key, rest, message, at as u16, left as u16, sum);
        }
    }

    /// Puts the message's first name, which is uncompressed, into the table.
    #[inline]
    fn keep_first(&mut self, written: &[u8], at: u16, len: u8) {
        self.first = First::Kept { at, len };
        let at = usize::from(at);
        let Some(name) = written.get(at..at + usize::from(len)) else { return };
        let from = 1 + name.first().copied().map_or(0, usize::from);
        let key = ParentPlace::of(name.get(from..).unwrap_or_default());
        self.place_new(written.get(..at).unwrap_or_default(), name, from, key);
    }
}

impl Compressor for SuffixTable {
    #[inline]
    fn start(&mut self, case: Case) {
        if self.slots.start() {
            self.clear_recent();
            self.redraw();
        }
        (self.tries, self.repeats) = (0, 0);
        (self.first, self.case) = (First::None, case);
    }

    #[inline]
    fn place(&mut self, written: &[u8], name: Name<'_>) -> Place {
        let bytes = name.as_bytes();
        if bytes.len() == 1 {
            return Place::whole(name);
        }
        match self.first {
            First::None => {
                if (HEADER_LEN..POINTER_LIMIT).contains(&written.len()) {
                    self.first = First::Waiting { at: written.len() as u16, len: bytes.len() as u8 };
                }
                return Place::whole(name);
            }
            First::Waiting { at, len } | First::Kept { at, len } => {
                if usize::from(len) == bytes.len()
                    && let Some(first) = written.get(usize::from(at)..usize::from(at) + usize::from(len))
                    && self.case.eq(first, bytes)
                {
                    return Place { literal: 0, pointer: Some(at) };
                }
            }
        }
        if let First::Waiting { at, len } = self.first {
            self.keep_first(written, at, len);
        }
        let from = 1 + usize::from(bytes.first().copied().unwrap_or_default());
        if bytes.len() > SHORT {
            return self.place_long(written, bytes, from);
        }
        if self.tries == 0 {
            let place = self.place_short(written, bytes, from);
            if place.literal == 0 {
                self.repeats += 1;
                if self.repeats == MIN_REPEATS {
                    (self.tries, self.repeats) = (MAX_MISSES, 0);
                }
            }
            return place;
        }
        let whole = Whole::of(bytes, self.slots.message());
        let kept = whole.place();
        if let Some(at) = self.whole.get(kept).and_then(|kept| whole.same(kept)) {
            self.tries = MAX_MISSES;
            return Place { literal: 0, pointer: Some(at) };
        }
        self.tries -= 1;
        let place = self.place_short(written, bytes, from);
        let at = match place {
            Place { literal: 0, pointer: Some(at) } => usize::from(at),
            _ => written.len(),
        };
        if let Some(kept) = self.whole.get_mut(kept)
            && at < POINTER_LIMIT
        {
            *kept = whole.at(at as u16);
        }
        place
    }

    fn truncate(&mut self, len: usize) {
        self.slots.truncate(len);
        self.clear_recent();
        if let First::Waiting { at, len: bytes } | First::Kept { at, len: bytes } = self.first
            && usize::from(at) + usize::from(bytes) > len
        {
            self.first = First::None;
        }
    }
}

/// Number of bytes at the end of `a` and `b` that are equal.
#[inline(always)]
fn common_end(case: Case, a: &[u8], b: &[u8]) -> usize {
    let (mut left_a, mut left_b, mut same) = (a, b, 0);
    while let (Some((rest_a, end_a)), Some((rest_b, end_b))) =
        (left_a.split_last_chunk(), left_b.split_last_chunk())
    {
        let differ = case.fold8(u64::from_le_bytes(*end_a)) ^ case.fold8(u64::from_le_bytes(*end_b));
        if differ != 0 {
            return same + differ.leading_zeros() as usize / 8;
        }
        (left_a, left_b, same) = (rest_a, rest_b, same + 8);
    }
    let ends = left_a.iter().rev().zip(left_b.iter().rev());
    same + ends.take_while(|(a, b)| case.fold(**a) == case.fold(**b)).count()
}

/// The target of the pointer at `at`, if one is there.
#[inline(always)]
fn pointer_at(written: &[u8], at: usize) -> Option<usize> {
    match *written.get(at..)? {
        [high @ 0xc0..=0xff, low, ..] => Some(usize::from(u16::from_be_bytes([high & 0x3f, low]))),
        _ => None,
    }
}

/// True if the name at `at` is the one at `target` (the root if that is 0): itself, or a pointer to it.
#[inline(always)]
fn follows(written: &[u8], at: usize, target: usize) -> bool {
    if target == 0 {
        return written.get(at) == Some(&0);
    }
    at == target || pointer_at(written, at) == Some(target)
}

/// True if a reader finds `suffix` at offset `at`, label by label; false for anything that no writer of names
/// writes.
fn reads_suffix(written: &[u8], mut at: usize, mut suffix: &[u8], case: Case) -> bool {
    loop {
        if let Some(target) = pointer_at(written, at) {
            // Pointers lead neither to pointers nor forward.
            if target >= at || pointer_at(written, target).is_some() {
                return false;
            }
            at = target;
        }
        let len = 1 + usize::from(suffix.first().copied().unwrap_or_default());
        let (Some(here), Some((label, rest))) = (written.get(at..at + len), suffix.split_at_checked(len))
        else {
            return false;
        };
        if !case.eq(here, label) {
            return false;
        }
        if len == 1 {
            return true;
        }
        (at, suffix) = (at + len, rest);
    }
}

#[cfg(test)]
mod tests;
