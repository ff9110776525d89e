//! Runs of labels of a name.

use super::view::Labels;
use super::{Case, MAX_NAME_LEN, Name, text};
use core::fmt;
use hashlane_hash::scheme::BytesHash;

/// A run of labels of a name, borrowed from it: what compression of names looks for.
///
/// With the root at its end it is a name of its own, and [`as_name`](Self::as_name) gives it; without the root it is a
/// relative name. It may be empty.
#[derive(Clone, Copy)]
pub struct LabelSequence<'a> {
    octets: &'a [u8],
}

impl<'a> LabelSequence<'a> {
    /// All labels of a name, and its root.
    #[inline]
    pub const fn of(name: Name<'a>) -> Self {
        Self { octets: name.as_bytes() }
    }

    /// The octets, each label with its length before it: 0 to 255.
    #[inline]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.octets
    }

    /// The sequence as a name, where the root is its end.
    #[inline]
    pub fn as_name(self) -> Option<Name<'a>> {
        self.is_absolute().then(|| Name::checked(self.octets))
    }

    /// Whether the root is its end.
    pub fn is_absolute(self) -> bool {
        let mut labels = self.labels();
        labels.by_ref().for_each(drop);
        labels.rest() == [0]
    }

    /// The labels, without the root.
    #[inline]
    pub const fn labels(self) -> Labels<'a> {
        Labels::over(self.octets)
    }

    /// The sequence without its first `count` labels; the root stays.
    pub fn strip_left(self, count: usize) -> Self {
        let mut labels = self.labels();
        labels.by_ref().take(count).for_each(drop);
        Self { octets: labels.rest() }
    }

    /// The sequence without its last `count` labels; the root, where it is the end, counts as one.
    pub fn strip_right(self, count: usize) -> Self {
        let labels = self.labels().count() + usize::from(self.is_absolute());
        let mut kept = self.labels();
        match labels.checked_sub(count) {
            Some(keep) if keep == labels => return self,
            Some(keep) => kept.by_ref().take(keep).for_each(drop),
            None => {}
        }
        let end = self.octets.len() - kept.rest().len();
        Self { octets: &self.octets[..end] }
    }

    /// Whether both have the same labels.
    #[inline]
    pub fn same(self, other: LabelSequence<'_>, case: Case) -> bool {
        case.eq(self.octets, other.octets)
    }

    /// The hash of the octets, of length and of labels; with [`Case::Ignored`], of the octets in lower case.
    pub fn hash<H: BytesHash>(self, hash: &H, case: Case) -> u64 {
        match case {
            Case::Sensitive => hash.hash(self.octets),
            Case::Ignored => {
                let mut folded = [0; MAX_NAME_LEN];
                let folded = &mut folded[..self.octets.len()];
                for (folded, octet) in folded.iter_mut().zip(self.octets) {
                    *folded = case.fold(*octet);
                }
                hash.hash(folded)
            }
        }
    }
}

/// The presentation form; with a dot at its end where the root is the end.
impl fmt::Display for LabelSequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.as_name() {
            return name.fmt(f);
        }
        for (number, label) in self.labels().enumerate() {
            if number > 0 {
                f.write_str(".")?;
            }
            text::write_label(f, label)?;
        }
        Ok(())
    }
}

impl fmt::Debug for LabelSequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LabelSequence({self})")
    }
}
