//! A checked view of a name in wire form.

use super::labels::write_label;
use super::{Case, LabelSequence, Labels, MAX_NAME_LEN, ParseError};
use core::fmt;

/// A name in wire form, whole and without pointers: 1 to 255 bytes, the last of them the root.
///
/// The view is checked at its creation; none of its operations can fail. Two views are equal (`==`) if their
/// bytes are; [`eq_ignore_case`](Self::eq_ignore_case) compares as the DNS does.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name<'a>(&'a [u8]);

impl<'a> Name<'a> {
    /// The root, a name without labels.
    pub const ROOT: Name<'static> = Name(&[0]);

    /// The name `bytes`.
    ///
    /// # Errors
    /// The first rule broken, and its offset. A name outside a message cannot have a pointer.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let name = Self::parse_first(bytes)?;
        match name.len() == bytes.len() {
            true => Ok(name),
            false => Err(ParseError::TrailingBytes { at: name.len() }),
        }
    }

    /// The name at the start of `bytes`.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), except that bytes may follow the name.
    #[inline]
    pub fn parse_first(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut at = 0;
        loop {
            match bytes.get(at) {
                Some(0) => break,
                Some(&len @ 1..=63) => {
                    let next = at + 1 + usize::from(len);
                    if next > bytes.len() {
                        return Err(ParseError::Truncated { at });
                    }
                    if next >= MAX_NAME_LEN {
                        return Err(ParseError::NameTooLong { at });
                    }
                    at = next;
                }
                Some(0xc0..) => return Err(ParseError::PointerNotAllowed { at }),
                Some(_) => return Err(ParseError::ReservedLabelType { at }),
                None => return Err(ParseError::Truncated { at }),
            }
        }
        Ok(Self(&bytes[..=at]))
    }

    /// A view of bytes that were checked before.
    #[inline(always)]
    pub(super) const fn checked(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes, 1 to 255.
    #[inline(always)]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Length in bytes, 1 to 255.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty, reason = "no name is empty: the root has a byte")]
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Returns true for the root.
    #[inline]
    pub const fn is_root(self) -> bool {
        self.0.len() == 1
    }

    /// The labels from the left, without the root.
    #[inline]
    pub const fn labels(self) -> Labels<'a> {
        Labels::over(self.0)
    }

    /// Number of labels without the root: 0 to 127.
    pub fn label_count(self) -> usize {
        self.labels().count()
    }

    /// The labels from number `first` on, counted from 0 on the left, to the root; the root alone if there
    /// are fewer.
    pub fn labels_from(self, first: usize) -> LabelSequence<'a> {
        LabelSequence::of(self).strip_left(first)
    }

    /// Compares two names as the DNS does.
    #[inline]
    pub fn eq_ignore_case(self, other: Name<'_>) -> bool {
        // Length bytes are below the letters, so that folding leaves them alone.
        Case::Ignored.eq(self.0, other.0)
    }

    /// Returns true if this name is `ancestor` or below it, as the DNS compares.
    pub fn is_within(self, ancestor: Name<'_>) -> bool {
        let mut labels = self.labels();
        while labels.rest().len() > ancestor.len() {
            labels.next();
        }
        Case::Ignored.eq(labels.rest(), ancestor.0)
    }
}

/// The presentation form, as [`text`](super::text) describes it, with the dot at its end.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(".");
        }
        self.labels().try_for_each(|label| {
            write_label(f, label)?;
            f.write_str(".")
        })
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({self})")
    }
}

impl<'a> LabelSequence<'a> {
    /// All labels of a name, and its root.
    #[inline]
    pub const fn of(name: Name<'a>) -> Self {
        Self { bytes: name.as_bytes() }
    }

    /// The sequence as a name, if it ends with the root.
    #[inline]
    pub fn as_name(self) -> Option<Name<'a>> {
        self.is_absolute().then(|| Name::checked(self.bytes))
    }
}
