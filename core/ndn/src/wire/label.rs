//! Short byte strings of link headers: PIT tokens and InterestDigests.

use super::lp::MAX_PIT_TOKEN;
use crate::invariant::part;

/// Byte string of a link header, at most 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    len: u8,
    bytes: [u8; MAX_PIT_TOKEN],
}

/// PIT token: returned to the downstream with the answer.
pub type PitToken = Label;

impl Label {
    /// Empty label.
    pub const NONE: Self = Self { len: 0, bytes: [0; MAX_PIT_TOKEN] };

    /// Creates a label; bytes after the 32nd are cut off.
    #[inline]
    pub fn new(token: &[u8]) -> Self {
        let mut bytes = [0; MAX_PIT_TOKEN];
        let len = token.len().min(MAX_PIT_TOKEN);
        bytes.iter_mut().zip(token).for_each(|(to, from)| *to = *from);
        Self { len: len as u8, bytes }
    }

    /// Bytes of the label.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        part(&self.bytes, ..usize::from(self.len))
    }
}

impl core::fmt::Debug for Label {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:02x?}", self.as_bytes())
    }
}
