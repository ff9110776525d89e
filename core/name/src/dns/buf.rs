//! A name that owns its bytes.

use super::{MAX_LABEL_LEN, MAX_NAME_LEN, Name, ParseError};
use core::fmt;

/// A name in wire form that owns its bytes, in place: 256 bytes for any name.
// In this order, so that the length and the first labels come with one cache line.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NameBuf {
    len: u8,
    bytes: [u8; MAX_NAME_LEN],
}

impl NameBuf {
    /// The root.
    pub const ROOT: Self = Self { bytes: [0; MAX_NAME_LEN], len: 1 };

    /// A view of it.
    #[inline(always)]
    pub fn view(&self) -> Name<'_> {
        Name::checked(self.as_bytes())
    }

    /// The bytes, 1 to 255.
    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Makes it the root.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        (self.bytes[0], self.len) = (0, 1);
    }

    /// Appends a label before the root.
    ///
    /// # Errors
    /// The label is empty or longer than 63 bytes, or the name would be longer than 255. The name is then
    /// unchanged.
    pub fn push(&mut self, label: &[u8]) -> Result<(), ParseError> {
        let root = usize::from(self.len) - 1;
        let end = root + 1 + label.len();
        if !(1..=MAX_LABEL_LEN).contains(&label.len()) {
            return Err(ParseError::LabelLength { at: root, len: label.len() });
        }
        if end >= MAX_NAME_LEN {
            return Err(ParseError::NameTooLong { at: root });
        }
        self.bytes[root] = label.len() as u8;
        self.bytes[root + 1..end].copy_from_slice(label);
        self.bytes[end] = 0;
        self.len = end as u8 + 1;
        Ok(())
    }

    /// Appends checked labels, with their lengths, before the root. Returns false if the name would be longer
    /// than 255 bytes; it is then unchanged.
    #[inline]
    pub(super) fn append(&mut self, labels: &[u8]) -> bool {
        let root = usize::from(self.len) - 1;
        let end = root + labels.len();
        if end >= MAX_NAME_LEN {
            return false;
        }
        self.bytes[root..end].copy_from_slice(labels);
        self.bytes[end] = 0;
        self.len = end as u8 + 1;
        true
    }
}

impl From<Name<'_>> for NameBuf {
    #[inline]
    fn from(name: Name<'_>) -> Self {
        let mut buf = Self::ROOT;
        buf.bytes[..name.len()].copy_from_slice(name.as_bytes());
        buf.len = name.len() as u8;
        buf
    }
}

/// Byte by byte, like [`Name`].
impl PartialEq for NameBuf {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for NameBuf {}

impl fmt::Display for NameBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

impl fmt::Debug for NameBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.view(), f)
    }
}
