//! Names backwards, byte by byte.

use core::fmt;

/// Bytes of the longest name in dotted text, without a dot at its end (RFC 1035 §2.3.4).
pub const MAX_LEN: usize = 253;

/// Labels of a name at most.
pub const MAX_LABELS: usize = 127;

/// Bytes of the longest label (RFC 1035 §2.3.4).
const MAX_LABEL_LEN: usize = 63;

/// Words of 64 places, one for each end of a suffix.
const PLACES: usize = 4;

/// Bytes that a comparison may read beyond the name.
pub(crate) const STEP: usize = 32;

/// A domain name in dotted text backwards, with ASCII letters in lower case: `moc.elpmaxe.www`.
///
/// A suffix of the name is a prefix of these bytes, and ends before a dot or where the name ends. No label
/// contains a dot, so that two suffixes with the same bytes have the same labels.
#[derive(Clone)]
pub struct Reversed {
    /// Bytes after the name are left over from earlier names.
    bytes: [u8; 64 * PLACES + STEP],
    len: u8,
    /// A bit for the end of each suffix in `bytes`.
    ends: [u64; PLACES],
}

/// Violation of a rule by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name has no label: it is empty, or the root.
    #[error("no label; a rule or a query needs a name such as example.com")]
    Empty,
    /// Two dots in a row, or a dot at the start.
    #[error("an empty label; write one dot between labels")]
    EmptyLabel,
    /// A label is longer than 63 bytes.
    #[error("a label of {len} bytes; a label has at most 63 (RFC 1035)")]
    LabelTooLong {
        /// Bytes of the label.
        len: usize,
    },
    /// The name is longer than 253 bytes of text.
    #[error("a name of {len} bytes; a name has at most 253 (RFC 1035)")]
    TooLong {
        /// Bytes of the text.
        len: usize,
    },
}

impl Default for Reversed {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Reversed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reversed({})", self.bytes().escape_ascii())
    }
}

/// The high bits of eight bytes.
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// A bit for each dot among eight bytes, the lowest for the lowest byte.
#[inline(always)]
const fn dots8(word: u64) -> u64 {
    let word = word ^ u64::from_ne_bytes([b'.'; 8]);
    // The high bit of each byte that is 0.
    let zero = !(((word & !HIGH) + !HIGH) | word) & HIGH;
    // The product collects the eight bits in its highest byte.
    (zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Eight bytes with upper-case ASCII letters in lower case.
#[inline(always)]
const fn lower8(word: u64) -> u64 {
    let low = word & !HIGH;
    let from_a = low + u64::from_ne_bytes([0x80 - b'A'; 8]);
    let beyond_z = low + u64::from_ne_bytes([0x7f - b'Z'; 8]);
    word | (from_a & !beyond_z & !word & HIGH) >> 2
}

/// Fewer than eight bytes backwards: the last is the lowest of the word.
#[inline(always)]
fn short_backwards(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_be_bytes(*last))
                | u64::from(u32::from_be_bytes(*first)) << (8 * (bytes.len() - 4))
        }
        _ => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

impl Reversed {
    /// The root, which matches nothing.
    pub const fn new() -> Self {
        Self { bytes: [0; 64 * PLACES + STEP], len: 0, ends: [0; PLACES] }
    }

    /// Takes a name in dotted text, with or without a dot at its end. Any byte but a dot may stand in a
    /// label; a backslash has no meaning.
    ///
    /// # Errors
    /// The rule that the text breaks; this name is then unspecified.
    #[inline(always)]
    pub fn set(&mut self, text: &[u8]) -> Result<(), NameError> {
        let text = match text {
            [text @ .., b'.'] => text,
            text => text,
        };
        let dots = match text.len() {
            16..32 => self.halves::<2>(text),
            8..16 => self.halves::<1>(text),
            32..64 => self.halves::<4>(text),
            1..8 => {
                let word = lower8(short_backwards(text));
                self.write(0, word);
                dots8(word)
            }
            0 => return Err(NameError::Empty),
            _ => return self.set_long(text),
        };
        let end = 1 << text.len();
        // A dot first, last, or after another.
        if dots & (dots << 1 | 1 | end >> 1) != 0 {
            return Err(NameError::EmptyLabel);
        }
        self.len = text.len() as u8;
        self.ends = [dots | end, 0, 0, 0];
        Ok(())
    }

    /// Writes eight bytes from `at` on.
    #[inline(always)]
    fn write(&mut self, at: usize, word: u64) {
        if let Some(place) = self.bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *place = word.to_le_bytes();
        }
    }

    /// Writes a text of `8 * N` to `16 * N` bytes, fewer than 64, as two halves that overlap: no branch
    /// depends on its length. The result has a bit for each dot.
    #[inline(always)]
    fn halves<const N: usize>(&mut self, text: &[u8]) -> u64 {
        let (first, last) = (text.as_chunks::<8>().0, text.as_rchunks::<8>().1);
        let (Some(first), Some(last)) = (first.first_chunk::<N>(), last.last_chunk::<N>()) else { return 0 };
        let second = text.len() - 8 * N;
        let mut dots = 0;
        for at in 0..N {
            let low = lower8(u64::from_be_bytes(last[N - 1 - at]));
            let high = lower8(u64::from_be_bytes(first[N - 1 - at]));
            self.write(8 * at, low);
            self.write(second + 8 * at, high);
            dots |= dots8(low) << (8 * at) | dots8(high) << (second + 8 * at);
        }
        dots
    }

    /// Takes a text of any length, without a dot at its end.
    #[cold]
    #[inline(never)]
    fn set_long(&mut self, text: &[u8]) -> Result<(), NameError> {
        if text.len() > MAX_LEN {
            return Err(NameError::TooLong { len: text.len() });
        }
        (self.len, self.ends) = (text.len() as u8, [0; PLACES]);
        let mut label = 0;
        for (at, (to, byte)) in self.bytes.iter_mut().zip(text.iter().rev()).enumerate() {
            *to = byte.to_ascii_lowercase();
            if *byte == b'.' {
                check_label(label)?;
                set_bit(&mut self.ends, at);
                label = 0;
            } else {
                label += 1;
            }
        }
        set_bit(&mut self.ends, text.len());
        check_label(label)
    }

    /// The bytes of the whole name, backwards.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// The first bytes of the name backwards, from `at` on; those beyond its end are unspecified.
    #[inline(always)]
    pub(crate) fn step(&self, at: usize) -> &[u8; STEP] {
        self.bytes.get(at..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; STEP])
    }

    /// Number of labels.
    #[inline(always)]
    pub fn labels(&self) -> usize {
        self.labels_within(self.len.into())
    }

    /// True if the first `end` bytes are a suffix of the name.
    #[inline(always)]
    pub(crate) fn ends_at(&self, end: usize) -> bool {
        self.ends.get(end / 64).is_some_and(|ends| ends >> (end % 64) & 1 != 0)
    }

    /// Labels of the suffix that is the first `end` bytes.
    #[inline(always)]
    pub(crate) fn labels_within(&self, end: usize) -> usize {
        let below = |from: usize| match end.checked_sub(from) {
            Some(end) => u64::MAX >> (63 - end.min(63)),
            None => 0,
        };
        let labels = |word: usize, ends: &u64| (ends & below(64 * word)).count_ones() as usize;
        let [first, rest @ ..] = &self.ends;
        let mut all = labels(0, first);
        if end >= 64 {
            all += (1..).zip(rest).map(|(word, ends)| labels(word, ends)).sum::<usize>();
        }
        all
    }

    /// The bytes of the last `labels` labels of the name, backwards; of the whole name if it has fewer.
    #[inline(always)]
    pub fn suffix(&self, labels: usize) -> &[u8] {
        self.bytes.get(..self.end(labels).unwrap_or(self.len.into())).unwrap_or_default()
    }

    /// Bytes of the last `labels` labels. `None` if there are fewer.
    #[inline(always)]
    pub(crate) fn end(&self, labels: usize) -> Option<usize> {
        let [first, ..] = self.ends;
        let last = (1..labels).fold(first, |ends, _| ends & ends.wrapping_sub(1));
        match labels {
            0 => Some(0),
            _ if last != 0 => Some(last.trailing_zeros() as usize),
            _ if self.len < 64 => None,
            _ => self.end_of_long(labels),
        }
    }

    /// [`end`](Self::end) in a name of more than 63 bytes.
    #[inline(always)]
    pub(crate) fn end_of_long(&self, labels: usize) -> Option<usize> {
        let mut left = labels.checked_sub(1)?;
        for (number, ends) in self.ends.iter().enumerate() {
            let here = ends.count_ones() as usize;
            if left < here {
                let last = (0..left).fold(*ends, |ends, _| ends & ends.wrapping_sub(1));
                return Some(64 * number + last.trailing_zeros() as usize);
            }
            left -= here;
        }
        None
    }

    /// Bytes of the suffix with one label more than the suffix of `end` bytes. `None` if the name has no more
    /// labels.
    #[inline(always)]
    pub(crate) fn end_after(&self, end: usize) -> Option<usize> {
        let mut word = (end + 1) / 64;
        let mut ends = self.ends.get(word)? & u64::MAX << ((end + 1) % 64);
        while ends == 0 {
            word += 1;
            ends = *self.ends.get(word)?;
        }
        Some(64 * word + ends.trailing_zeros() as usize)
    }
}

fn set_bit(words: &mut [u64; PLACES], at: usize) {
    if let Some(word) = words.get_mut(at / 64) {
        *word |= 1 << (at % 64);
    }
}

fn check_label(len: usize) -> Result<(), NameError> {
    match len {
        0 => Err(NameError::EmptyLabel),
        1..=MAX_LABEL_LEN => Ok(()),
        _ => Err(NameError::LabelTooLong { len }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn naive(text: &[u8]) -> Option<Vec<u8>> {
        let text = text.strip_suffix(b".").unwrap_or(text);
        let labels: Vec<&[u8]> = text.split(|byte| *byte == b'.').collect();
        if text.len() > 253 || labels.iter().any(|label| !(1..=63).contains(&label.len())) {
            return None;
        }
        Some(text.iter().rev().map(u8::to_ascii_lowercase).collect())
    }

    proptest! {
        #[test]
        fn is_as_the_labels_one_by_one_say(
            text in proptest::collection::vec(prop_oneof![4 => any::<u8>(), 1 => Just(b'.')], 0..270),
        ) {
            let mut name = Reversed::new();
            // Leftovers of an earlier name do not count.
            name.set(&[b'X'; 63]).unwrap();
            match naive(&text) {
                Some(bytes) => {
                    prop_assert_eq!(name.set(&text), Ok(()));
                    prop_assert_eq!(name.bytes(), &bytes);
                    let dots = (0..bytes.len()).filter(|at| bytes[*at] == b'.');
                    let ends: Vec<usize> = dots.chain([bytes.len()]).collect();
                    prop_assert_eq!(name.labels(), ends.len());
                    prop_assert!((0..=bytes.len()).filter(|end| name.ends_at(*end)).eq(ends.iter().copied()));
                    for (labels, end) in (1..).zip(&ends) {
                        prop_assert_eq!(name.end(labels), Some(*end));
                        prop_assert_eq!(name.suffix(labels), &bytes[..*end]);
                        prop_assert_eq!(name.labels_within(*end), labels);
                    }
                    prop_assert_eq!(name.end(ends.len() + 1), None);
                    let next = ends.iter().skip(1).map(|end| Some(*end)).chain([None]);
                    prop_assert!(ends.iter().map(|end| name.end_after(*end)).eq(next));
                    let len = bytes.len().min(STEP);
                    prop_assert_eq!(&name.step(0)[..len], &bytes[..len]);
                }
                None => prop_assert!(name.set(&text).is_err()),
            }
        }
    }

    #[test]
    fn the_longest_name_fits() {
        let mut text = [b'a'; 253];
        (1..253).step_by(2).for_each(|dot| text[dot] = b'.');
        let mut name = Reversed::new();
        name.set(&text).unwrap();
        assert_eq!((name.labels(), name.bytes().len()), (MAX_LABELS, MAX_LEN));
        assert_eq!(name.set(&[b'a'; 254]), Err(NameError::TooLong { len: 254 }));
        assert_eq!(name.set(b"."), Err(NameError::Empty));
        assert_eq!(name.set(b"a..b"), Err(NameError::EmptyLabel));
    }
}
