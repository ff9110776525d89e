//! Long names, in memory: their ends are found without reading their labels.
//!
//! Reading a name label by label takes three nanoseconds for each, as each length leads to the next. A record
//! of 16 bytes can bring three names of 127 labels that differ from earlier ones at the left alone. So the
//! bytes of a long name are remembered with the offset in the message of each of its labels, under the sums
//! that [`SuffixSums`] has for its ends: only the words and the labels to the left of the longest end that is
//! known are summed up and read.

use super::compare::{pointer_at, reads_suffix};
use super::folded::{Folded, common_end, is_folded};
use super::recent::SPREAD;
use super::slots::{Entry, Free, SMALL_MESSAGES, Slots};
use crate::compressor::{CompressedName, POINTER_LIMIT};
use crate::slices::Parts as _;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::suffix::{MAX_LEN, SuffixHash, SuffixSums};
use hashlane_name::dns::Case;

/// Words of eight bytes in the longest name.
const WORDS: usize = MAX_LEN / 8;

/// Number of remembered names. A message has room for 64 names of 255 bytes below the limit of pointers, and
/// for more that share an end.
const NAMES: usize = 128;

/// Number of names that are found whole: nearly all that a message has room for below the limit of pointers.
const WHOLES: usize = 2048;

/// Once as many are remembered, of how many further names one takes the place of another: copying all of them
/// would take longer than what it saves.
const SELDOM: u8 = 8;

/// Words between two ends of a name that are found.
const STEP: usize = 2;

/// Words of the shortest end that is found.
const LEAST: usize = 4;

/// Ends of the longest name that are found.
const ENDS: usize = (WORDS - LEAST) / STEP + 1;

/// Names compared for one, after which the last of them is to be compared first.
const MANY: usize = 3;

/// Places of ends; the names have at most 15 each.
const PLACES: usize = 8192;

/// Distance of a label without one before it in its name.
const LEFTMOST: u8 = 0xff;

/// A name.
#[derive(Clone)]
pub(super) struct LongName {
    /// Its bytes, at the end of the array, with the case of letters folded; others are unspecified.
    folded: [u8; MAX_LEN],
    /// Sums of its ends: of the last [`LEAST`] words, of [`STEP`] words more, and so on.
    sums: [u64; ENDS],
    /// Length in bytes.
    len: u8,
    /// A bit for each offset of `at` that is not 0, from the lowest of the first word on.
    starts: [u64; 4],
    /// Offset in the message of the label that starts this many bytes before the end; 0 if none starts there,
    /// or no pointer reaches it.
    at: [u16; 8 * WORDS],
}

impl LongName {
    /// Number of bytes at the end of both names that are equal.
    #[inline(always)]
    fn common(&self, folded: &[u8]) -> usize {
        common_end(folded, self.folded.part(MAX_LEN - usize::from(self.len)..))
    }

    /// True if the label that starts `end` bytes before the end is at that offset in the message.
    #[inline(always)]
    pub(super) fn has_label(&self, at: usize, end: usize) -> bool {
        at > 0 && self.at.get(end).is_some_and(|own| usize::from(*own) == at)
    }

    /// True if its last bytes are these.
    #[inline(always)]
    pub(super) fn ends_with(&self, folded: &[u8]) -> bool {
        folded.len() <= usize::from(self.len) && self.folded.ends_with(folded)
    }

    /// Of the labels that a pointer reaches, the first of those that start in the last `bytes` bytes: its
    /// bytes to the end; 0 if no label starts there.
    #[inline(always)]
    fn first_label(&self, bytes: usize) -> usize {
        for (word, bits) in self.starts.iter().enumerate().rev() {
            let bits = bits & mask((bytes + 1).saturating_sub(64 * word));
            if bits != 0 {
                return 64 * word + 63 - bits.leading_zeros() as usize;
            }
        }
        0
    }
}

/// The lowest bits, as many as that; all if there are fewer.
const fn mask(bits: usize) -> u64 {
    if bits < 64 { (1 << bits) - 1 } else { u64::MAX }
}

/// The longest end of a name that a remembered name has, too.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    pub(super) name: u8,
    /// Bytes, from the end.
    pub(super) bytes: usize,
}

/// The long names of a message. They take memory from the first on: 2.5 KiB, and 164 KiB once one is
/// remembered with its labels.
#[derive(Clone)]
pub(super) struct LongNames {
    /// All of them by their hash, in place of a lead each with the number of a name that has its end. Names
    /// that no pointer reaches are among them: one that repeats is written as before.
    wholes: Slots,
    /// True once the message has a long name, so that [`wholes`](Self::wholes) are this message's.
    begun: bool,
    names: Vec<LongName>,
    /// The name that is replaced next.
    next: u8,
    /// Names that were not remembered since the last that was.
    skipped: u8,
    /// Names by their ends: number of the generation (8 bits from the top), 16 bits of the sum, name (8).
    ends: Vec<u32>,
    /// Generation of valid ends, not 0.
    generation: u8,
    /// For the offset of a label that is known to be one, the bytes from the label before it in the same
    /// name, or [`LEFTMOST`]; 0 for all other offsets.
    left: Vec<u8>,
    /// Offsets from here on are 0 in `left`.
    left_end: usize,
    /// Messages in a row without long names.
    idle: u8,
}

impl LongNames {
    pub(super) const NONE: Self = Self {
        wholes: Slots::NONE,
        begun: false,
        names: Vec::new(),
        next: 0,
        skipped: 0,
        ends: Vec::new(),
        generation: 1,
        left: Vec::new(),
        left_end: 0,
        idle: 0,
    };

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.wholes.memory()
            + self.names.capacity() * size_of::<LongName>()
            + self.ends.capacity() * size_of::<u32>()
            + self.left.capacity()
    }

    /// Begins a message. Gives the memory back after enough messages in a row without long names.
    #[inline(always)]
    pub(super) fn start(&mut self) {
        if self.begun {
            (self.begun, self.idle) = (false, 0);
            if self.left_end > 0 {
                self.forget(0);
            }
        } else if !self.wholes.is_none() {
            self.idle += 1;
            if self.idle == SMALL_MESSAGES {
                *self = Self::NONE;
            }
        }
    }

    /// Adds a name to those that are found whole, by its hash; `free` is from [`find`](Self::find).
    #[inline(always)]
    pub(super) fn add_whole(&mut self, entry: Entry, end: usize, hash: u32, free: Free) {
        if self.wholes.used() < WHOLES {
            self.wholes.insert_any(entry, end, hash, free);
        }
    }

    #[cold]
    fn begin(&mut self) {
        self.begun = true;
        if self.wholes.is_none() {
            self.wholes = Slots::new();
        }
        self.wholes.start();
    }

    /// Forgets all names that do not end within the first `len` bytes of the message, and the labels of all.
    pub(super) fn truncate(&mut self, len: usize) {
        if self.begun {
            self.wholes.truncate(len);
            self.forget(len);
        }
    }

    /// Forgets all names with their labels, and the labels from offset `len` of the message on.
    #[cold]
    fn forget(&mut self, len: usize) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.ends.fill(0);
            self.generation = 1;
        }
        self.names.clear();
        self.next = 0;
        if let Some(left) = self.left.get_mut(len..self.left_end) {
            left.fill(0);
            self.left_end = len;
        }
    }

    /// The place of an end, and its mark there, without a name.
    #[inline(always)]
    fn place(&self, sum: u64, words: usize) -> (usize, u32) {
        let mixed = (sum ^ words as u64).wrapping_mul(SPREAD);
        let mark = u32::from(self.generation) << 24 | (mixed >> 27) as u32 & 0x00ff_ff00;
        ((mixed >> 51) as usize % PLACES, mark)
    }

    #[inline(always)]
    fn probe(&self, sum: u64, words: usize) -> Option<(u8, &LongName)> {
        let (place, mark) = self.place(sum, words);
        let found = *self.ends.get(place)?;
        let name = self.names.get(usize::from(found as u8))?;
        (found & 0xffff_ff00 == mark).then_some((found as u8, name))
    }

    /// Takes the sums of a name. Returns the longest end that a remembered name has: the words of that end
    /// are not summed up, as the sum is known with the name, and `sums` has nothing of them.
    #[inline]
    pub(super) fn sum(
        &mut self,
        hash: &SuffixHash,
        folded: &Folded,
        sums: &mut SuffixSums,
    ) -> Option<Shared> {
        let bytes = folded.name();
        let (len, fold) = (bytes.len(), |word| word);
        let mut summed = (0, hash.sum(&[], fold));
        let mut best: Option<Shared> = None;
        // A name is under each of its ends, so that a name that is not under one is under no longer one; but
        // one place may have gone to another.
        let (mut names, mut missed) = (0, 0);
        // Bytes from the first label that is known to the end: no shorter suffix is asked for.
        let mut from = 0;
        let mut end = if self.ends.is_empty() { WORDS } else { LEAST };
        while end <= len / 8 {
            hash.resume_sums(bytes.part(len - 8 * end..), fold, summed, sums);
            summed = (end, sums.sum(end));
            let Some((number, name)) = self.probe(summed.1, end) else {
                missed += 1;
                if missed == 2 {
                    break;
                }
                end += STEP;
                continue;
            };
            let same = name.common(bytes);
            let label = name.first_label(same);
            if same < 8 * end || label < from {
                break;
            }
            (best, from) = (Some(Shared { name: number, bytes: same }), label);
            if let Some(known) = (label / 8).checked_sub(LEAST).map(|more| more / STEP)
                && let Some(sum) = name.sums.get(known)
                && LEAST + STEP * known > summed.0
            {
                summed = (LEAST + STEP * known, *sum);
            }
            (end, names) = (end + ((same / 8 - end) / STEP + 1) * STEP, names + 1);
        }
        if let Some(best) = best
            && names >= MANY
        {
            self.put_first(best);
        }
        hash.resume_sums(bytes, fold, summed, sums);
        best
    }

    /// The place of a name that the message has whole, by its hash.
    ///
    /// # Errors
    /// It is not known; the error is where [`add_whole`](Self::add_whole) puts it.
    #[inline(always)]
    pub(super) fn find(
        &mut self,
        hash: u32,
        folded: &[u8],
        written: &[u8],
        case: Case,
    ) -> Result<CompressedName, Free> {
        if !self.begun {
            self.begin();
        }
        let found = self.wholes.find(hash, |slot| {
            let (at, literal) = (slot.name(), slot.literal());
            let Some((labels, rest)) = folded.split_at_checked(literal) else { return false };
            if literal > 0 && !written.get(at..at + literal).is_some_and(|here| is_folded(case, here, labels))
            {
                return false;
            }
            let name = self.names.get(usize::from(slot.lead()));
            // Labels are compared up to one that the remembered name has there.
            let known = |at, rest: &[u8]| {
                name.filter(|name| name.has_label(at, rest.len())).map(|name| name.ends_with(rest))
            };
            rest.is_empty() || reads_suffix(written, at + literal, rest, case, known)
        });
        let (at, literal) = found.map(|slot| (slot.name(), slot.literal()))?;
        if at < POINTER_LIMIT {
            return Ok(CompressedName::at(at as u16));
        }
        // No suffix can be pointed to that could not then: it is written as it was.
        let target = if literal < folded.len() { pointer_at(written, at + literal) } else { None };
        Ok(CompressedName::to(literal, target.unwrap_or(0)))
    }

    /// Puts a name under all of its shared ends. Names that branch off one another would otherwise be
    /// compared one after the other each time: now the next that shares these ends is compared with this one
    /// first.
    #[inline(never)]
    fn put_first(&mut self, shared: Shared) {
        let Some(sums) = self.names.get(usize::from(shared.name)).map(|name| name.sums) else { return };
        for (words, sum) in (LEAST..=shared.bytes / 8).step_by(STEP).zip(sums) {
            self.put(shared.name, sum, words);
        }
    }

    /// Puts a name under an end of that many words.
    #[inline(always)]
    fn put(&mut self, name: u8, sum: u64, words: usize) {
        let (place, mark) = self.place(sum, words);
        if let Some(end) = self.ends.get_mut(place) {
            *end = mark | u32::from(name);
        }
    }

    /// Offset in the message of the label that starts `end` bytes before the end of both names; 0 if no label
    /// of the remembered name starts there, or no pointer reaches it.
    #[inline(always)]
    pub(super) fn label(&self, shared: Shared, end: usize) -> usize {
        let name = self.names.get(usize::from(shared.name));
        name.and_then(|name| name.at.get(end)).copied().map_or(0, usize::from)
    }

    /// The label before the one at offset `at`, of the same name; `None` for the first label, or if it is not
    /// known.
    #[inline(always)]
    pub(super) fn before(&self, at: usize) -> Option<usize> {
        self.left_of(at).filter(|left| *left > 0)
    }

    /// The offset of the label before the one at offset `at`, of the same name: 0 for the first label, `None`
    /// if it is not known.
    #[inline(always)]
    pub(super) fn left_of(&self, at: usize) -> Option<usize> {
        match self.left.get(at).copied().unwrap_or(0) {
            0 => None,
            LEFTMOST => Some(0),
            bytes => at.checked_sub(usize::from(bytes)),
        }
    }

    /// Makes the labels of the name at `name` known, up to the pointer or the root that ends it, unless they
    /// are.
    #[inline(always)]
    pub(super) fn learn(&mut self, written: &[u8], name: usize) {
        if name < POINTER_LIMIT && self.left.get(name).is_none_or(|left| *left == 0) {
            self.learn_new(written, name);
        }
    }

    #[inline(never)]
    fn learn_new(&mut self, written: &[u8], name: usize) {
        if !self.begun {
            self.begin();
        }
        self.allocate();
        let (mut at, mut left) = (name, LEFTMOST);
        while let Some(place) = self.left.get_mut(at)
            && let Some(&len) = written.get(at)
        {
            *place = left;
            if !(1..=63).contains(&len) {
                break;
            }
            left = len + 1;
            at += usize::from(left);
        }
        self.left_end = self.left_end.max((at + 1).min(POINTER_LIMIT));
    }

    /// Makes the label at offset `at` known, `left` bytes behind the one before it, if any.
    #[inline(always)]
    pub(super) fn learn_label(&mut self, at: usize, left: Option<usize>) {
        if let Some(place) = self.left.get_mut(at) {
            *place = left.map_or(LEFTMOST, |left| left as u8);
            self.left_end = self.left_end.max(at + 1);
        }
    }

    fn allocate(&mut self) {
        if self.ends.is_empty() {
            self.ends = vec![0; PLACES];
            self.left = vec![0; POINTER_LIMIT];
            self.names = Vec::with_capacity(NAMES);
        }
    }

    /// Remembers a name, with its sums and its hash: for the last `end` bytes, the offsets of its labels come
    /// from the name that it shares an end with, and `labels`, each with its bytes to the end. Returns its
    /// number, unless it is not remembered.
    pub(super) fn keep(
        &mut self,
        folded: &Folded,
        sums: &SuffixSums,
        (shared, end): (Option<Shared>, usize),
        labels: impl Iterator<Item = (usize, usize)>,
    ) -> Option<u8> {
        self.allocate();
        if self.names.len() == NAMES {
            self.skipped = (self.skipped + 1) % SELDOM;
            if self.skipped > 0 {
                return None;
            }
        }
        let len = folded.name().len();
        let mut name = LongName {
            folded: *folded.array(),
            sums: [0; ENDS],
            len: len as u8,
            starts: [0; 4],
            at: [0; 8 * WORDS],
        };
        let mut known = 0;
        if let Some((shared, from)) =
            shared.and_then(|shared| Some((shared, self.names.get(usize::from(shared.name))?)))
        {
            (known, name.sums) = (shared.bytes / 8, from.sums);
            if let (Some(to), Some(at)) = (name.at.get_mut(..=end), from.at.get(..=end)) {
                to.copy_from_slice(at);
                name.starts = from.starts;
                for (word, bits) in name.starts.iter_mut().enumerate() {
                    *bits &= mask((end + 1).saturating_sub(64 * word));
                }
            }
        }
        for (end, at) in labels {
            if let (Some(label), Some(bits)) = (name.at.get_mut(end), name.starts.get_mut(end / 64)) {
                let reached = at < POINTER_LIMIT;
                *label = if reached { at as u16 } else { 0 };
                *bits |= u64::from(reached) << (end % 64);
            }
        }
        let number = self.next;
        self.next = (number + 1) % NAMES as u8;
        for (words, sum) in (LEAST..=len / 8).step_by(STEP).zip(&mut name.sums) {
            if words > known {
                *sum = sums.sum(words);
            }
            self.put(number, *sum, words);
        }
        match self.names.get_mut(usize::from(number)) {
            Some(place) => *place = name,
            None => self.names.push(name),
        }
        Some(number)
    }
}
