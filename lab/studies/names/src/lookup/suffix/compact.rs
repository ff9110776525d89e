//! Sorted fingerprints of all suffixes of the rules, without their text: wrong matches are possible.
//!
//! An entry of 8 bytes for each suffix of a rule: 60 bits of its hash and a flag that says if it is a rule.
//! The entries are sorted; an index by their highest bits leads to about eight of them. A lookup goes from
//! the shortest suffix of a name to the longest, and ends at one that no rule has. The layout is that which
//! folbricht/routedns#647 describes; the code and the hash are ours.

use super::text::{Text, suffixes};
use crate::lookup::strings::Strings;
use crate::lookup::table::{Answer, Table};
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_peers::hashes::FoldHash;

/// Flag of a suffix that is a rule.
const RULE: u64 = 1;

/// Bits of an entry that are flags.
const FLAGS: u64 = 0xf;

/// Entries of a bucket on average.
const IN_BUCKET: usize = 8;

/// Labels of a name at most.
const MAX_LABELS: usize = 127;

pub(super) struct Compact {
    hash: FoldHash,
    entries: Vec<u64>,
    /// Start of each bucket in the entries, and the end of the last one.
    index: Vec<u32>,
    shift: u32,
}

impl Compact {
    pub(super) fn new(rules: &Strings, key: &Key) -> Self {
        let hash = FoldHash::new(key);
        let mut entries = Vec::with_capacity(rules.len() * 3);
        for rule in rules.iter() {
            let flagged = suffixes(rule).zip([RULE].into_iter().chain(core::iter::repeat(0)));
            entries.extend(flagged.map(|(suffix, flags)| hash.hash(suffix) & !FLAGS | flags));
        }
        entries.sort_unstable();
        entries.dedup_by(|later, earlier| {
            let is_same = (*later ^ *earlier) & !FLAGS == 0;
            *earlier |= if is_same { *later & FLAGS } else { 0 };
            is_same
        });
        entries.shrink_to_fit();
        let bits = (entries.len() / IN_BUCKET).max(2).next_power_of_two().ilog2();
        let shift = u64::BITS - bits;
        let mut index = Vec::with_capacity((1 << bits) + 1);
        for bucket in 0..1_u64 << bits {
            index.push(entries.partition_point(|entry| entry >> shift < bucket) as u32);
        }
        index.push(entries.len() as u32);
        Self { hash, entries, index, shift }
    }

    /// Flags of a suffix that some rule has.
    #[inline(always)]
    fn flags(&self, suffix: &[u8]) -> Option<u64> {
        let hash = self.hash.hash(suffix);
        let bucket = (hash >> self.shift) as usize;
        let (from, to) = (*self.index.get(bucket)?, *self.index.get(bucket + 1)?);
        let entries = self.entries.get(from as usize..to as usize)?;
        entries.iter().find(|entry| (*entry ^ hash) & !FLAGS == 0).map(|entry| entry & FLAGS)
    }
}

impl Table for Compact {
    #[inline(never)]
    fn find(&mut self, names: &Strings) -> Answer {
        let (mut answer, mut text) = (Answer::default(), Text::new());
        let mut lens = [0; MAX_LABELS];
        for name in names.iter() {
            let name = text.lower(name);
            let mut labels = 0;
            for (place, suffix) in lens.iter_mut().zip(suffixes(name)) {
                *place = suffix.len();
                labels += 1;
            }
            let mut longest = 0;
            for (number, len) in (1..).zip(lens.iter().take(labels).rev()) {
                match self.flags(name.get(name.len() - len..).unwrap_or_default()) {
                    Some(flags) if flags & RULE != 0 => longest = number,
                    Some(_) => {}
                    None => break,
                }
            }
            answer.add_labels(longest);
        }
        answer
    }

    fn memory(&self) -> Option<usize> {
        Some(8 * self.entries.capacity() + 4 * self.index.capacity())
    }
}
