//! Runs of labels of a name.

use super::{Case, MAX_NAME_LEN};
use core::fmt::{self, Write};
use hashlane_hash::scheme::BytesHash;

/// A run of labels of a name, borrowed from it: the unit of name compression.
///
/// A run that ends with the root is a name, see [`as_name`](Self::as_name); without the root it is a relative
/// name. It may be empty.
#[derive(Clone, Copy)]
pub struct LabelSequence<'a> {
    pub(super) bytes: &'a [u8],
}

impl<'a> LabelSequence<'a> {
    /// The bytes, each label with its length before it: 0 to 255.
    #[inline]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns true if the run ends with the root.
    pub fn is_absolute(self) -> bool {
        let mut labels = self.labels();
        labels.by_ref().for_each(drop);
        labels.rest() == [0]
    }

    /// The labels, without the root.
    #[inline]
    pub const fn labels(self) -> Labels<'a> {
        Labels::over(self.bytes)
    }

    /// The sequence without its first `count` labels; the root stays.
    pub fn strip_left(self, count: usize) -> Self {
        let mut labels = self.labels();
        labels.by_ref().take(count).for_each(drop);
        Self { bytes: labels.rest() }
    }

    /// The sequence without its last `count` labels; a root at the end counts as one.
    pub fn strip_right(self, count: usize) -> Self {
        let labels = self.labels().count() + usize::from(self.is_absolute());
        let mut kept = self.labels();
        match labels.checked_sub(count) {
            Some(keep) if keep == labels => return self,
            Some(keep) => kept.by_ref().take(keep).for_each(drop),
            None => {}
        }
        let end = self.bytes.len() - kept.rest().len();
        Self { bytes: &self.bytes[..end] }
    }

    /// Returns true if both have the same labels.
    #[inline]
    pub fn equals(self, other: LabelSequence<'_>, case: Case) -> bool {
        case.eq(self.bytes, other.bytes)
    }

    /// The hash of the bytes, of length and of labels; with [`Case::Ignored`], of the bytes in lower case.
    pub fn hash<H: BytesHash>(self, hash: &H, case: Case) -> u64 {
        match case {
            Case::Sensitive => hash.hash(self.bytes),
            Case::Ignored => {
                let mut folded = [0; MAX_NAME_LEN];
                let folded = &mut folded[..self.bytes.len()];
                for (folded, byte) in folded.iter_mut().zip(self.bytes) {
                    *folded = case.fold(*byte);
                }
                hash.hash(folded)
            }
        }
    }
}

/// The presentation form; with a trailing dot if the sequence ends with the root.
impl fmt::Display for LabelSequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bytes == [0] {
            return f.write_str(".");
        }
        let mut labels = self.labels();
        if let Some(first) = labels.next() {
            write_label(f, first)?;
        }
        for label in labels.by_ref() {
            f.write_str(".")?;
            write_label(f, label)?;
        }
        if labels.rest() == [0] { f.write_str(".") } else { Ok(()) }
    }
}

impl fmt::Debug for LabelSequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LabelSequence({self})")
    }
}

/// Writes a label in presentation form, without a dot.
pub(super) fn write_label(f: &mut fmt::Formatter<'_>, label: &[u8]) -> fmt::Result {
    label.iter().try_for_each(|&byte| match byte {
        b'.' | b'\\' | b'"' | b'(' | b')' | b';' | b'@' | b'$' => write!(f, "\\{}", char::from(byte)),
        0x21..=0x7e => f.write_char(char::from(byte)),
        _ => write!(f, "\\{byte:03}"),
    })
}

/// The labels of a name from the left; see [`Name::labels`](super::Name::labels).
#[derive(Clone, Debug)]
pub struct Labels<'a> {
    rest: &'a [u8],
}

impl<'a> Labels<'a> {
    /// Over a run of labels that was checked before.
    #[inline]
    pub(super) const fn over(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// The bytes not yet walked over, the root included.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Labels<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let (&len, rest) = self.rest.split_first()?;
        let (label, rest) = rest.split_at_checked(usize::from(len)).filter(|_| len > 0)?;
        self.rest = rest;
        Some(label)
    }
}
