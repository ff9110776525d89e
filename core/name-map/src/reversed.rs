//! Names with their labels in reverse order.

use core::fmt;

/// Bytes of the longest name: a length before each label, without the root (RFC 1035 §2.3.4).
pub const MAX_LEN: usize = 254;

/// Labels of a name at most.
pub const MAX_LABELS: usize = 127;

/// Bytes of the longest label (RFC 1035 §2.3.4).
const MAX_LABEL_LEN: usize = 63;

/// A domain name, its last label first, each with its length before it and with ASCII letters in lower case.
///
/// A suffix of the name is a prefix of these bytes. The lengths bind the labels: of two names, the bytes of
/// one are a prefix of the other's only if the name is a suffix of the other.
#[derive(Clone)]
pub struct Reversed {
    /// Each label is written in steps of eight bytes, up to seven beyond its end.
    bytes: [u8; 264],
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

/// Eight bytes with upper-case ASCII letters in lower case.
#[inline(always)]
const fn lower8(word: u64) -> u64 {
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let low = word & !HIGH;
    let from_a = low + u64::from_ne_bytes([0x80 - b'A'; 8]);
    let beyond_z = low + u64::from_ne_bytes([0x7f - b'Z'; 8]);
    word | (from_a & !beyond_z & !word & HIGH) >> 2
}

impl Reversed {
    /// The root, which matches nothing.
    pub const fn new() -> Self {
        Self { bytes: [0; 264], len: 0, labels: 0, ends: [0; MAX_LABELS] }
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
        if text.len() >= MAX_LEN {
            return Err(NameError::TooLong { len: text.len() });
        }
        let mut end = text.len();
        let mut at = 0;
        loop {
            let start = text.iter().take(end).rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
            let len = end - start;
            if len == 0 {
                return Err(NameError::EmptyLabel);
            }
            if len > MAX_LABEL_LEN {
                return Err(NameError::LabelTooLong { len });
            }
            let Some(label) = text.get(start..end) else { break };
            self.push(&mut at, label);
            if start == 0 {
                break;
            }
            end = start - 1;
        }
        self.len = at as u8;
        Ok(())
    }

    /// Adds a label of 1 to 63 bytes at `at`, with at most [`MAX_LEN`] bytes in all.
    #[inline(always)]
    fn push(&mut self, at: &mut usize, label: &[u8]) {
        if let Some(place) = self.bytes.get_mut(*at) {
            *place = label.len() as u8;
        }
        let (words, rest) = label.as_chunks::<8>();
        let mut to = *at + 1;
        for word in words {
            self.put(to, u64::from_le_bytes(*word));
            to += 8;
        }
        if !rest.is_empty() {
            self.put(to, short(rest));
        }
        *at += 1 + label.len();
        if let Some(end) = self.ends.get_mut(usize::from(self.labels)) {
            *end = *at as u8;
            self.labels += 1;
        }
    }

    #[inline(always)]
    fn put(&mut self, at: usize, word: u64) {
        if let Some(to) = self.bytes.get_mut(at..).and_then(|bytes| bytes.first_chunk_mut()) {
            *to = lower8(word).to_le_bytes();
        }
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

/// One to seven bytes as the lowest of a word.
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
