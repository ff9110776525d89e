//! Names with their labels in reverse order.

use core::fmt;

/// Bytes of the longest name: a length before each label, without the root (RFC 1035 §2.3.4).
pub const MAX_LEN: usize = 254;

/// Labels of a name at most.
pub const MAX_LABELS: usize = 127;

/// Bytes of the longest label (RFC 1035 §2.3.4).
const MAX_LABEL_LEN: usize = 63;

/// Bytes of a label that are copied at a time.
const STEP: usize = 16;

/// Bytes of the longest text whose dots are found together.
const SHORT: usize = 64;

/// A domain name, its last label first, each with its length before it and with ASCII letters in lower case.
///
/// A suffix of the name is a prefix of these bytes. The lengths bind the labels: of two names, the bytes of
/// one are a prefix of the other's only if the name is a suffix of the other.
#[derive(Clone)]
pub struct Reversed {
    /// Labels are written in steps of [`STEP`] bytes, beyond their ends.
    bytes: [u8; MAX_LEN + STEP],
    len: u8,
    labels: u8,
    /// The end of each suffix in `bytes`, the shortest first.
    ends: [u8; MAX_LABELS],
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

/// A bit for each dot among eight bytes, the lowest for the first.
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

/// At most seven bytes as the lowest of a word.
#[inline(always)]
fn short(bytes: &[u8]) -> u64 {
    let at = |at: usize| bytes.get(at).map_or(0, |byte| u64::from(*byte));
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first))
                | u64::from(u32::from_le_bytes(*last)) << (8 * (bytes.len() - 4))
        }
        _ => at(0) | at(1) << 8 | at(2) << 16,
    }
}

/// A text, read in steps from any place.
trait Steps {
    /// [`STEP`] bytes from `at` on, fewer at the end of the text, in lower case; the first is the lowest.
    fn step(&self, at: usize) -> u128;
}

/// At least [`STEP`] bytes.
struct Long<'a>(&'a [u8]);

impl Steps for Long<'_> {
    #[inline(always)]
    fn step(&self, at: usize) -> u128 {
        // Of the last bytes, those before `at` are shifted out.
        let from = at.min(self.0.len().saturating_sub(STEP));
        let bytes = self.0.get(from..).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or_default();
        lower16(u128::from_le_bytes(bytes)) >> (8 * (at - from) as u32 % 128)
    }
}

/// Fewer than [`STEP`] bytes, in lower case.
struct Short(u128);

impl Steps for Short {
    #[inline(always)]
    fn step(&self, at: usize) -> u128 {
        self.0 >> (8 * at as u32 % 128)
    }
}

#[inline(always)]
const fn lower16(bytes: u128) -> u128 {
    lower8(bytes as u64) as u128 | (lower8((bytes >> 64) as u64) as u128) << 64
}

impl Reversed {
    /// The root, which matches nothing.
    pub const fn new() -> Self {
        Self { bytes: [0; MAX_LEN + STEP], len: 0, labels: 0, ends: [0; MAX_LABELS] }
    }

    /// Takes a name in dotted text, with or without a dot at its end. Any byte but a dot may stand in a
    /// label; a backslash has no meaning.
    ///
    /// # Errors
    /// The rule that the text breaks; this name is then unspecified.
    #[inline]
    pub fn set(&mut self, text: &[u8]) -> Result<(), NameError> {
        let text = text.strip_suffix(b".").unwrap_or(text);
        (self.len, self.labels) = (0, 0);
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > SHORT {
            return self.set_long(text);
        }
        let (words, rest) = text.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain([short(rest)]);
        let dots = words.zip(0..8).fold(0, |dots, (word, at)| dots | dots8(word) << (8 * at));
        if text.len() >= STEP {
            return self.set_dotted(&Long(text), dots, text.len());
        }
        let folded = match text.split_first_chunk() {
            Some((first, rest)) => u128::from(u64::from_le_bytes(*first)) | u128::from(short(rest)) << 64,
            None => short(text).into(),
        };
        self.set_dotted(&Short(lower16(folded)), dots, text.len())
    }

    /// Takes a text of `end` bytes, given the places of its dots.
    #[inline(always)]
    fn set_dotted(&mut self, text: &impl Steps, mut dots: u64, mut end: usize) -> Result<(), NameError> {
        loop {
            // After the last dot that is left; 0 without one.
            let start = SHORT - dots.leading_zeros() as usize;
            self.push(text, start, end - start)?;
            let Some(dot) = start.checked_sub(1) else { return Ok(()) };
            (dots, end) = (dots & !(1 << dot), dot);
        }
    }

    /// Takes a text of any length, without a dot at its end.
    #[cold]
    #[inline(never)]
    fn set_long(&mut self, text: &[u8]) -> Result<(), NameError> {
        if text.len() >= MAX_LEN {
            return Err(NameError::TooLong { len: text.len() });
        }
        let mut end = text.len();
        loop {
            let start = text.iter().take(end).rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
            self.push(&Long(text), start, end - start)?;
            let Some(dot) = start.checked_sub(1) else { return Ok(()) };
            end = dot;
        }
    }

    /// Adds the label of `len` bytes at `start` of a text. The name then has at most [`MAX_LEN`] bytes.
    #[inline(always)]
    fn push(&mut self, text: &impl Steps, start: usize, len: usize) -> Result<(), NameError> {
        if len == 0 {
            return Err(NameError::EmptyLabel);
        }
        if len > MAX_LABEL_LEN {
            return Err(NameError::LabelTooLong { len });
        }
        let at = usize::from(self.len);
        let Some([place, to @ ..]) = self.bytes.get_mut(at..) else { return Ok(()) };
        *place = len as u8;
        let steps = to.as_chunks_mut().0.iter_mut().zip(0..len.div_ceil(STEP));
        steps.for_each(|(to, step)| *to = text.step(start + STEP * step).to_le_bytes());
        self.len = (at + 1 + len) as u8;
        if let Some(end) = self.ends.get_mut(usize::from(self.labels)) {
            *end = self.len;
            self.labels += 1;
        }
        Ok(())
    }

    /// The bytes of the whole name.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Number of labels.
    #[inline(always)]
    pub fn labels(&self) -> usize {
        usize::from(self.labels)
    }

    /// The bytes of the last `labels` labels of the name; of the whole name if it has fewer.
    #[inline(always)]
    pub fn suffix(&self, labels: usize) -> &[u8] {
        let end = labels.checked_sub(1).map_or(0, |last| self.ends().get(last).copied().unwrap_or(self.len));
        self.bytes.get(..usize::from(end)).unwrap_or_default()
    }

    /// The end of each suffix in the bytes, the shortest first.
    #[inline(always)]
    pub(crate) fn ends(&self) -> &[u8] {
        self.ends.get(..usize::from(self.labels)).unwrap_or_default()
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
        let label = |label: &&[u8]| [&[label.len() as u8], label.to_ascii_lowercase().as_slice()].concat();
        Some(labels.iter().rev().flat_map(label).collect())
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
                    let labels = text.strip_suffix(b".").unwrap_or(&text).split(|byte| *byte == b'.').count();
                    prop_assert_eq!(name.labels(), labels);
                    prop_assert_eq!(name.suffix(labels), name.bytes());
                    prop_assert_eq!(name.suffix(1), &bytes[..1 + usize::from(bytes[0])]);
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
