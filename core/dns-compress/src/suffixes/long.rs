//! Long names, in memory: their ends are found without reading their labels.
//!
//! Reading a name label by label takes three nanoseconds for each, as each length leads to the next. A record
//! of 16 bytes can bring three names of 127 labels that differ from earlier ones at the left alone. So the
//! words of a long name are remembered with the offset in the message of each of its labels, under the sums
//! that [`SuffixSums`] has for its ends: the labels to the left of the longest end that is known are read,
//! and no others.

use super::super::compressor::POINTER_LIMIT;
use super::recent::SPREAD;
use super::slots::SMALL_MESSAGES;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::suffix::SuffixSums;

/// Words of eight bytes in the longest name.
const WORDS: usize = 32;

/// Number of remembered names. A message has room for 64 names of 255 bytes below the limit of pointers, and
/// for more that share an end.
const NAMES: usize = 128;

/// Words between two ends of a name that are found.
const STEP: usize = 2;

/// Words of the shortest end that is found.
const LEAST: usize = 4;

/// Places of ends; the names have at most 15 each.
const PLACES: usize = 2048;

/// Distance of a label without one before it in its name.
const LEFTMOST: u8 = 0xff;

/// A name.
#[derive(Clone)]
struct LongName {
    /// Its words from the end, as [`SuffixSums::word`] has them.
    words: [u64; WORDS],
    /// Length in bytes.
    len: u8,
    /// Offset in the message of the label that starts this many bytes before the end; 0 if none starts there,
    /// or no pointer reaches it.
    at: [u16; 8 * WORDS],
}

/// The longest end of a name that a remembered name has, too.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    name: u8,
    /// Bytes, from the end.
    pub(super) bytes: usize,
}

/// The long names of a message. They take memory from the first that is kept on: 121 KiB.
#[derive(Clone)]
pub(super) struct LongNames {
    names: Vec<LongName>,
    /// The name that is replaced next.
    next: u8,
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
        names: Vec::new(),
        next: 0,
        ends: Vec::new(),
        generation: 1,
        left: Vec::new(),
        left_end: 0,
        idle: 0,
    };

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.names.capacity() * size_of::<LongName>()
            + self.ends.capacity() * size_of::<u32>()
            + self.left.capacity()
    }

    /// Begins a message. Gives the memory back after enough messages in a row without long names.
    #[inline(always)]
    pub(super) fn start(&mut self) {
        if self.left_end > 0 {
            self.idle = 0;
            self.forget(0);
        } else if !self.ends.is_empty() {
            self.idle += 1;
            if self.idle == SMALL_MESSAGES {
                *self = Self::NONE;
            }
        }
    }

    /// Forgets all names, and the labels from offset `len` of the message on.
    #[cold]
    pub(super) fn forget(&mut self, len: usize) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.ends.fill(0);
            self.generation = 1;
        }
        if let Some(left) = self.left.get_mut(len..self.left_end) {
            left.fill(0);
            self.left_end = len;
        }
    }

    /// The place of an end, and its mark there, without a name.
    #[inline(always)]
    fn place(&self, sum: u64, words: usize) -> (usize, u32) {
        let mixed = (sum ^ words as u64).wrapping_mul(SPREAD);
        let mark = u32::from(self.generation) << 24 | (mixed >> 29) as u32 & 0x00ff_ff00;
        ((mixed >> 53) as usize % PLACES, mark)
    }

    #[inline(always)]
    fn probe(&self, sum: u64, words: usize) -> Option<u8> {
        let (place, mark) = self.place(sum, words);
        let found = *self.ends.get(place)?;
        (found & 0xffff_ff00 == mark).then_some(found as u8)
    }

    /// The longest end of a name of `len` bytes, with these sums, that a remembered name has. `whole` is the
    /// hash of the name.
    #[inline]
    pub(super) fn find(&self, sums: &SuffixSums, len: usize, whole: u32) -> Option<Shared> {
        if self.ends.is_empty() {
            return None;
        }
        if let Some(name) = self.probe(u64::from(whole), len) {
            let bytes = self.common(name, sums, len);
            if bytes == len {
                return Some(Shared { name, bytes });
            }
        }
        // A name is under each of its ends, so that a name that is not under one is under no longer one.
        // Names that an attacker repeats mostly share nearly all: the longest ends come first, in growing
        // steps, and then those between.
        let mut below = 1 + (len / 8).checked_sub(LEAST)? / STEP;
        let (mut known, mut step, mut best) = (0, 1, None);
        while known < below {
            let end = if best.is_none() { below.saturating_sub(step) } else { (known + below) / 2 };
            let words = LEAST + STEP * end;
            match self.probe(sums.sum(words), words) {
                Some(name) => (known, best) = (end + 1, Some(name)),
                None => (below, step) = (end, 2 * step),
            }
        }
        let name = best?;
        Some(Shared { name, bytes: self.common(name, sums, len) })
    }

    /// Number of bytes at the end of a remembered name and the name of the sums that are equal.
    #[inline(always)]
    fn common(&self, name: u8, sums: &SuffixSums, len: usize) -> usize {
        let Some(LongName { words, len: own, .. }) = self.names.get(usize::from(name)) else { return 0 };
        let mut same = 0;
        for (at, word) in words.iter().enumerate() {
            let differ = word ^ sums.word(at);
            if differ != 0 {
                same += differ.leading_zeros() as usize / 8;
                break;
            }
            same += 8;
        }
        same.min(len).min(usize::from(*own))
    }

    /// Offset in the message of the label that starts `end` bytes before the end of both names; 0 if no label
    /// of the remembered name starts there, or no pointer reaches it.
    #[inline(always)]
    pub(super) fn label(&self, shared: Shared, end: usize) -> usize {
        let name = self.names.get(usize::from(shared.name));
        name.and_then(|name| name.at.get(end)).copied().map_or(0, usize::from)
    }

    /// The label before the one at offset `at`, of the same name; `None` if there is none, or it is not
    /// known.
    #[inline(always)]
    pub(super) fn before(&self, at: usize) -> Option<usize> {
        match self.left.get(at).copied().unwrap_or(0) {
            0 | LEFTMOST => None,
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

    /// Remembers a name of `len` bytes, with these sums: the offsets of its labels are those of the name that
    /// it shares an end with, for the last `end` bytes, and `labels`, each with its bytes to the end.
    pub(super) fn keep(
        &mut self,
        (sums, len, whole): (&SuffixSums, usize, u32),
        (shared, end): (Option<Shared>, usize),
        labels: impl Iterator<Item = (usize, usize)>,
    ) {
        self.allocate();
        let mut name = LongName { words: [0; WORDS], len: len as u8, at: [0; 8 * WORDS] };
        if let Some(from) = shared.and_then(|shared| self.names.get(usize::from(shared.name)))
            && let (Some(to), Some(from)) = (name.at.get_mut(..=end), from.at.get(..=end))
        {
            to.copy_from_slice(from);
        }
        for (word, at) in name.words.iter_mut().zip(0..=len / 8) {
            *word = sums.word(at);
        }
        for (end, at) in labels {
            if let Some(label) = name.at.get_mut(end) {
                *label = if at < POINTER_LIMIT { at as u16 } else { 0 };
            }
        }
        let number = self.next;
        self.next = (number + 1) % NAMES as u8;
        match self.names.get_mut(usize::from(number)) {
            Some(place) => *place = name,
            None => self.names.push(name),
        }
        let ends = (LEAST..=len / 8).step_by(STEP).map(|words| (sums.sum(words), words));
        for (sum, words) in ends.chain([(u64::from(whole), len)]) {
            let (place, mark) = self.place(sum, words);
            if let Some(end) = self.ends.get_mut(place) {
                *end = mark | u32::from(number);
            }
        }
    }
}
